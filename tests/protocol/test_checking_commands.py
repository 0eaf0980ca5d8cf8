"""Which commands test or build, and what their exit codes say."""

import pytest
from tests.tables import for_each

from halocline.protocol.state.evidence.commands import Check, read_command

TESTING = """
pytest -q
python3 -m pytest tests/test_a.py::test_b -q
.venv/bin/python -m unittest
cd x && pytest
(cd web && npm test)
npm run test:unit -- --run
npm t
yarn jest
npx playwright test
cargo test --all
go test ./...
make check
make -j4 test
python test_calc.py
./run_tests.sh
bash scripts/test.sh
uv run pytest -x
poetry run python -m pytest
timeout 60 pytest
FOO=1 pytest
node --test
bundle exec rspec
./gradlew test
mvn -q verify
coverage run -m pytest
python manage.py test
pytest -n 2
"""
LOOKING = """
ls -la
git status
cat tests/test_a.py
grep -n x test.py
rm -f test.db
sed -i s/a/b/ a.py
echo pytest
npm install jest-test-utils
playwright install
pytest --version
pytest --collect-only
ruff check . && mypy
"""
UNKNOWN = """
./verify.sh
python verify.py
git commit -m 'tests pass'
echo $(pytest)
for i in 1 2; do pytest; done
! pytest
bash -c 'pytest'
docker compose run web pytest
cat <<EOF > x\\npytest\\nEOF
"""
BUILDING = """
make
make -j8 all
npm run build
tsc --noEmit
go build ./...
cargo check
cmake --build build
mvn -DskipTests package
"""


def lines(text: str) -> list[str]:
    return [line.replace("\\n", "\n") for line in text.strip().splitlines()]


@for_each("command", lines(TESTING))
def test_a_command_that_tests_is_known_and_its_exit_code_is_that_of_the_tests(command):
    read = read_command(command)
    assert Check.TEST in read.checks & read.decides & read.fails


@pytest.mark.parametrize("command", lines(BUILDING))
def test_a_command_that_builds_is_known(command):
    assert read_command(command).checks == {Check.BUILD}


@pytest.mark.parametrize("command", lines(LOOKING))
def test_a_command_that_only_looks_checks_nothing(command):
    read = read_command(command)
    assert read.checks == frozenset()
    assert not read.may_check


@pytest.mark.parametrize("command", lines(UNKNOWN))
def test_a_command_that_is_not_known_may_have_tested(command):
    read = read_command(command)
    assert read.may_check
    assert not read.checks


@pytest.mark.parametrize(
    ("command", "decides", "fails"),
    [
        ("pytest | tail -5", False, False),
        ("set -o pipefail; pytest | tail -5", True, True),
        ("pytest || true", False, False),
        ("pytest; echo done", False, False),
        ("pytest\necho done", False, False),
        ("pytest && ruff check .", True, False),
        ("ruff check . && pytest", True, True),
        ("pytest &", False, False),
        ("set -e; pytest; echo done", True, False),
        ("pytest -q > out.txt 2>&1; cat out.txt", False, False),
    ],
)
def test_the_exit_code_of_a_list_or_pipeline_counts_only_where_it_is_that_of_the_tests(command, decides, fails):
    read = read_command(command)
    assert (Check.TEST in read.decides, Check.TEST in read.fails) == (decides, fails)


def test_the_tests_that_a_command_names_are_kept():
    assert read_command("pytest -q tests/test_a.py::test_b src/x_test.go").named == (
        "tests/test_a.py::test_b",
        "src/x_test.go",
    )
