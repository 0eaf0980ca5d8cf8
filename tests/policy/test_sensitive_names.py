from itertools import product

import pytest
from tests.pairings import Pair, both_pairings, in_turn
from tests.tables import for_each

from halocline.policy.gate import PolicyContext, decide_call
from halocline.policy.sensitive_names import (
    RUNS_LATER,
    RUNS_LATER_FILES,
    SECRET_FILES,
    SECRET_FOLDERS,
    SECRET_PATHS,
    is_secret,
    runs_later,
)
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import Verdict
from halocline.tools import apply_patch, read_file, replace_in_file, write_to_file

ASK, EDITS, AUTO = MODES = ApprovalMode.ASK, ApprovalMode.ACCEPT_EDITS, ApprovalMode.AUTO


def instances(patterns):
    return [pattern.replace("?", "_").replace("*", filling) for pattern in patterns for filling in ("", "x")]


SECRETS = [
    *instances(SECRET_FILES),
    *SECRET_PATHS,
    *(f"{folder}/x" for folder in SECRET_FOLDERS),
    *(".git-credentials", "service-account.json", "gcp_service_account_prod.json", "id_dsa", "id_ed25519_sk"),
    *("firebase-adminsdk-1.json", ".env.production", "prod.env", "terraform.tfstate.backup", "credentials.yaml"),
]
PLACES = [place.strip("/") for place in RUNS_LATER]
LATER = sorted({*PLACES, *(f"{place}/x" for place in PLACES), *instances(RUNS_LATER_FILES)})
READABLE = [
    *(".env.example", ".env.sample", ".env.template", ".env.dist", ".env.local.example", "example.env", "env.py"),
    *("secrets.example.yml", "credentials-sample.json", "terraform.tfvars.example", "id_rsa.pub", "credentials.py"),
    *("secret_store.ts", "secrets.go", "keys.py", "README.md", "environment.yml", "package.json", "tokenizer.json"),
    *("known_hosts.md", ".environment", "config.json", "kube/config", "docker/config.json", "auth.ts", "monkey.py"),
]
ORDINARY = [
    *("Makefile", "Dockerfile", "package.json", "pyproject.toml", "Cargo.toml", "src/a.py", "tests/conftest.py"),
    *("setup.py", "build.gradle", "CMakeLists.txt", ".gitignore", ".editorconfig", ".prettierrc", ".eslintrc.json"),
    *("docs/git.md", "src/agents/x.py", "src/cursor/x.ts", ".github/ISSUE_TEMPLATE/bug.md", "tsconfig.json"),
    *(
        "vite.config.ts",
        "README.md",
        "src/rules.py",
        "gradle.properties",
        "src/vim/x",
        "continue/x",
        "docker-compose.yml",
    ),
]


def context_in(tmp_path, approval_mode=ASK, **more):
    return PolicyContext(tmp_path / "w", tmp_path / "home", Mode.ACT, approval_mode, **more)


@pytest.fixture
def verdict(tmp_path):
    (tmp_path / "w").mkdir()
    return lambda call, mode=ASK: decide_call(call, context_in(tmp_path, mode)).verdict


def written(path):
    """All that the tools write to a file with."""
    patch = f"*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch"
    yield write_to_file.summary(write_to_file.Input(path, "x"))
    yield replace_in_file.summary(replace_in_file.Input(path, "x"))
    yield apply_patch.summary(apply_patch.Input(patch))
    yield apply_patch.summary(apply_patch.Input(patch.replace("Add", "Delete").replace("+x\n", "")))


def test_a_secret_is_never_read_unasked(verdict):
    for name in SECRETS:
        for path in (name, f"deep/er/{name}", f"deep/{name.upper()}"):
            call = read_file.summary(read_file.Input(path))
            assert {verdict(call, mode) for mode in MODES} == {Verdict.ASK}, path


def test_a_secret_is_never_written_unasked(verdict):
    for name in SECRETS:
        assert {verdict(call, mode) for call in written(name) for mode in MODES} == {Verdict.ASK}, name


@for_each("name", READABLE)
def test_examples_and_code_of_such_a_name_stay_readable(verdict, name):
    assert not is_secret(name)
    assert verdict(read_file.summary(read_file.Input(name))) is Verdict.ALLOW


@both_pairings
def test_what_runs_later_is_never_written_unasked(verdict, pair: Pair):
    ways = list(product(range(len([*written("x")])), MODES))
    for name, (number, mode) in pair(LATER, ways):
        for path in (name, f"deep/er/{name.upper()}"):
            assert verdict([*written(path)][number], mode) is Verdict.ASK, (path, number, mode)


@for_each("name", ORDINARY)
def test_ordinary_work_is_no_place_of_that_kind(verdict, name):
    assert not runs_later(name)
    assert {verdict(call, mode) for call in written(name) for mode in (EDITS, AUTO)} == {Verdict.ALLOW}


@pytest.mark.parametrize(
    "name", [".GIT/config", ".g\u200cit/config", ".VSCODE/tasks.json", ".vſcode/tasks.json", ".ｇit/config", ".EnvRC"]
)
def test_letters_are_compared_as_disks_may_fold_them(name):
    assert runs_later(name)


def test_the_first_ignore_file_is_never_made_unasked(verdict):
    for name in (".haloclineignore", ".clineignore", ".HaloclineIgnore"):
        assert {verdict(call, mode) for call in written(name) for mode in (EDITS, AUTO)} == {Verdict.ASK}
        assert verdict(Summary("", ToolKind.EXECUTE, command=f"echo x > {name}"), AUTO) is Verdict.ASK


WRITES = (
    *(
        "echo x > {}",
        "echo x >> {}",
        "echo x >| {}",
        "echo x &> {}",
        "cat > {} <<E\nx\nE",
        "cat <<E > {}\nx\nE",
        "cat <<'E' >> {} && ls\nx\nE",
        "ls | tee {}",
        "tee -a {} < a",
    ),
    *("cp a {}", "cp -t {} a", "cp --target-directory={} a", "mv a {}", "mv -t {} a", "install -m 755 a {}"),
    *("ln -s a {}", "ln -sf ../a {}", "ln -t {} a", "dd if=a of={}", "sed -i s/a/b/ {}", "sed -i.bak -e s/a/b/ {}"),
    *("sort a -o {}", "touch {}", "mkdir -p {}", "chmod +x {}", "tar cf {} src", "zip {} a", "gzip {}", "split a {}"),
    *("truncate -s 5 {}", "rm -r {}", "mv {} a", "patch {} a", "env A=1 cp a {}", "sh -c 'cp a {}'", "(echo x > {})"),
    *("cd src && cp a ../{}", "for x in 1; do cp a {}; done", "ln -s {} innocent"),
)


READS = ("cat {}", "head -n 1 {}", "grep x {}", "cp {} a", "cat < {}", "base64 {}", "python x.py {}", "diff {} a")
PUTS = ("cp -r x/{} .", "mv x/{} ./", "cp -t . x/{}", "ln -s x/{}", "cp a b x/{} src/", "install x/{} .")
WORDS = [name for name in (*LATER, *SECRETS) if "'" not in name and " " not in name and name != "credentials"]
"""Names that are one word of a command."""


@pytest.fixture
def unasked(verdict):
    """The commands of names and forms that run without a question."""

    def judge(pairs):
        commands = (form.format(name) for name, form in pairs)
        return [one for one in commands if verdict(Summary("", ToolKind.EXECUTE, command=one), AUTO) == "allow"]

    return judge


@pytest.mark.slow
def test_no_command_writes_to_such_a_place_unasked(unasked):
    assert unasked(in_turn(WORDS, WRITES)) == []


@pytest.mark.slow
@pytest.mark.parametrize("form", WRITES)
def test_no_command_of_this_form_writes_to_any_such_place_unasked(unasked, form):
    assert unasked(product(WORDS, [form])) == []


@both_pairings
def test_no_command_reads_a_secret_unasked(unasked, pair: Pair):
    assert unasked(pair(SECRETS, READS)) == []


@pytest.mark.slow
@both_pairings
def test_what_is_put_into_a_folder_is_judged_by_its_new_name(unasked, pair: Pair):
    assert unasked(pair([name for name in WORDS if "/" not in name], PUTS)) == []
