"""The scripts of `halo completion`, in the shells themselves."""

import shlex
import shutil
import subprocess
from pathlib import Path

import pexpect
import pytest
from tests.surfaces.cli.halo_process import LIMIT, Halo

from halocline.surfaces.cli.command_table import COMMANDS

pytestmark = [pytest.mark.process, pytest.mark.slow]
CASES = {
    "tr": {"trust"},
    "mcp lo": {"login", "logout", "logs"},
    "tasks list --st": {"--status"},
    "run --mode ": {"plan", "act"},
    "run --effort lo --output-f": {"--output-format"},
    "-p --input-format ": {"text", "stream-json"},
    "completion ": {"bash", "zsh", "fish"},
    "tasks list --status re": {"refused", "refusal", "rewound"},
    "fix the tests run --mod": {"--model", "--models", "--mode"},
    "run -C fo": {"folder"},
    "run --image fo": {"folder", "for.png"},
}
"""What is typed after `halo`, and what is offered. Paths may end with a slash."""


@pytest.fixture
async def script(halo: Halo, shell: str) -> Path:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    done = await halo.run("completion", shell)
    assert (done.code, done.err) == (0, "")
    (halo.folder / "folder").mkdir()
    (halo.folder / "for.png").touch()
    path = halo.root / f"halo.{shell}"
    path.write_text(done.out)
    return path


def complete(shell: str, script: Path, line: str, folder: Path) -> set[str]:
    match shell:
        case "bash":
            words = shlex.join(["halo", *line.split(" ")])
            code = (
                f"source {script}; COMP_WORDS=({words}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                '_halo; printf "%s\\n" "${COMPREPLY[@]}"'
            )
        case _:
            code = f"source {script}; complete -C {shlex.quote('halo ' + line)} | cut -f1"
    done = subprocess.run([shell, "-c", code], cwd=folder, capture_output=True, text=True, check=True, timeout=LIMIT)
    assert done.stderr == ""
    return {word.rstrip("/") for word in done.stdout.split()}


@pytest.mark.parametrize("shell", ["bash", "fish"])
async def test_a_shell_offers_what_the_command_line_knows(halo: Halo, shell: str, script: Path) -> None:
    for line, expected in CASES.items():
        assert complete(shell, script, line, halo.folder) == expected, line
    assert complete(shell, script, "", halo.folder) == {*COMMANDS}


@pytest.mark.parametrize("shell", ["zsh"])
async def test_zsh_completes_what_is_typed(halo: Halo, shell: str, script: Path) -> None:
    zsh = pexpect.spawn(
        "zsh",
        ["-f", "-i"],
        cwd=str(halo.folder),
        env=halo.env | {"PS1": "> ", "TERM": "dumb"},
        encoding="utf-8",
        timeout=LIMIT,
        dimensions=(60, 200),
    )
    zsh.sendline(f"unsetopt zle_bracketed_paste; autoload -U compinit; compinit -D -u; source {script}; echo re''ady")
    zsh.expect("ready")
    for typed, completed in (
        ("halo trus\t", "halo trust"),
        ("halo tasks undel\t", "halo tasks undelete"),
        ("halo tasks list --stat\t", "halo tasks list --status"),
        ("halo run --mode pl\t", "halo run --mode plan"),
        ("halo run --image for\t", "halo run --image for.png"),
        ("halo mcp lo\t\t", "show the log of a server"),
    ):
        zsh.send(typed)
        zsh.expect_exact(completed)
        zsh.send("\x15")
    zsh.close(force=True)
