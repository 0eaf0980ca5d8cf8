"""What a search of a whole folder leaves out is what may hold secrets, and not the examples beside it; in each tool."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from halocline.hosts.ripgrep import Ripgrep
from halocline.policy.sensitive_names import is_secret
from halocline.policy.shell.programs.exclusions import FOR_DIFF, FOR_GIT, FOR_GREP, FOR_RIPGREP

EXAMPLES = (".env.example", ".env.sample", ".env.template", ".env.dist", ".ENV.Example")
NEAR = (
    *(".env", ".env.local", ".env.e", ".env.exampl", ".env.examples1", ".env.example.local", ".env.sampl", ".env.s"),
    *(".env.temp", ".env.template2", ".env.distance", ".env.d", ".env.prod", ".ENV.Exampl", ".env.exampleX", ".env.1"),
)
COMMANDS = {
    "grep": lambda: f"grep -rl KEY . {' '.join(FOR_GREP)}",
    "rg": lambda: f"{shlex.quote(Ripgrep().program)} --hidden -l KEY . {' '.join(FOR_RIPGREP)}",
    "git": lambda: f"git grep --untracked -l KEY -- . {' '.join(FOR_GIT)}",
    "diff": lambda: f"diff -rq . ../other {' '.join(FOR_DIFF)}",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    for place in (folder, tmp_path / "other"):
        place.mkdir()
        for name in (*EXAMPLES, *NEAR, "a.txt"):
            (place / name).write_text(f"KEY={place.name}\n")
    return folder


@pytest.mark.parametrize("tool", COMMANDS)
def test_examples_are_searched_and_what_is_near_to_them_is_not(folder: Path, tool: str):
    plain = {"PATH": os.environ["PATH"], "HOME": str(folder.parent)}
    subprocess.run(["git", "init", "-q"], cwd=folder, env=plain, check=True)
    done = subprocess.run(["sh", "-c", COMMANDS[tool]()], cwd=folder, env=plain, capture_output=True, text=True)
    assert not done.stderr
    words = {os.path.basename(word) for word in done.stdout.split() if ".git/" not in word}
    assert {*EXAMPLES, "a.txt"} <= words
    assert [name for name in words if name in NEAR] == []


def test_the_names_that_are_near_are_secret_and_the_examples_are_not():
    assert [name for name in NEAR if not is_secret(name)] == []
    assert [name for name in EXAMPLES if is_secret(name)] == []
