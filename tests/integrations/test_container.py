"""The file that makes a container, by the rules that linters of such files have. No engine runs it here."""

import re
import subprocess
import tomllib

import pytest
from tests.architecture.sources import ROOT

FILE = ROOT / "integrations/container/Containerfile"
GUIDE = (ROOT / "docs/guide/install.md").read_text(encoding="utf-8")
LONGEST = 20
"""Lines of the guide about it."""


def read_instructions() -> list[tuple[str, str]]:
    """Each instruction and its words: lines without comments, those that end with a backslash joined."""
    lines = [line for line in FILE.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
    joined = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [(line.split(" ", 1)[0], line.split(" ", 1)[1]) for line in joined]


INSTRUCTIONS = read_instructions()


def words_of(name: str) -> list[str]:
    return [words for found, words in INSTRUCTIONS if found == name]


def test_every_instruction_is_one_that_engines_know():
    known = {"FROM", "RUN", "COPY", "ARG", "USER", "ENV", "WORKDIR", "VOLUME", "ENTRYPOINT"}
    assert {name for name, _ in INSTRUCTIONS} <= known
    assert INSTRUCTIONS[0][0] == "FROM"


def test_the_base_is_a_python_that_the_tests_know_and_has_a_fixed_tag():
    (base,) = words_of("FROM")
    named = re.fullmatch(r"docker\.io/library/python:(3\.\d+)-slim-\w+", base)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert named
    assert f"Programming Language :: Python :: {named[1]}" in project["classifiers"]


@pytest.mark.parametrize("command", words_of("RUN"))
def test_a_command_is_shell_and_leaves_no_lists_or_caches(command: str):
    subprocess.run(["sh", "-n", "-c", command], check=True)
    assert "sudo" not in command
    for part in command.split("&&"):
        if "apt-get install" in part:
            assert {"--yes", "--no-install-recommends"} <= {*part.split()}
            assert command.rstrip().endswith("rm -rf /var/lib/apt/lists/*")
        if "pip install" in part:
            assert {"--no-cache-dir", "--no-deps"} <= {*part.split()}


def test_what_others_made_is_installed_by_its_hash():
    assert sum("--require-hashes -r /opt/halo/run.lock" in command for command in words_of("RUN")) == 1
    (copied,) = words_of("COPY")
    (lock, wheel, place) = copied.split()
    assert (ROOT / lock).is_file()
    assert (wheel, place) == ("dist/halocline-*.whl", "/opt/halo/")


def test_it_runs_as_a_person_who_is_not_root_and_in_a_folder_that_is_theirs():
    names = [name for name, _ in INSTRUCTIONS]
    assert words_of("USER") == ["halo"]
    assert "RUN" not in names[names.index("USER") :]
    (made,) = (command for command in words_of("RUN") if "useradd" in command)
    assert all(place in made for place in ("/workspace", "/home/halo/.halocline"))
    assert words_of("VOLUME") == ['["/workspace", "/home/halo/.halocline"]']


def test_what_it_starts_is_given_signals_and_takes_up_orphans():
    assert words_of("ENTRYPOINT") == ['["tini", "--", "halo"]']
    assert "tini" in words_of("RUN")[0].split()


def test_the_guide_says_in_a_few_lines_how_to_build_and_run_it():
    (part,) = re.findall(r"^## In a container\n(.*?)(?=^## )", GUIDE, re.MULTILINE | re.DOTALL)
    assert len(part.strip().splitlines()) <= LONGEST
    assert str(FILE.relative_to(ROOT)) in part
    assert all(volume in part for volume in ("/workspace", "/home/halo/.halocline"))
