"""Uses what the first read, edit and command use, on examples: so patterns are compiled and tables looked up before.

Loaded by `warm_up` alone, after all that it imports. Nothing here looks at a file or changes anything.
"""

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from halocline.context.instructions.touched_files import find_relative_path, named_in
from halocline.edits.formats.blocks import parse_blocks, without_stray_fences
from halocline.edits.plan import all_or_none
from halocline.edits.text import decode_text
from halocline.hosts.files.declared_encodings import find_declared
from halocline.hosts.shell.direct import is_one_program, read_command
from halocline.policy.decision import PolicyContext
from halocline.policy.gate import decide_call
from halocline.policy.sensitive_names import is_secret, runs_later
from halocline.ports.blobs import blob_reference
from halocline.ports.tool import Summary
from halocline.protocol.child_environment import child_environment
from halocline.protocol.command_ends import command_end
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.state.evidence import claims, commands
from halocline.protocol.terminal_text import plain_output
from halocline.store.blobs import DiskBlobs
from halocline.task.calls.argument_repair import repair_arguments

TEXT = """
import os

token = os.environ["TOKEN"]  # see https://example.org/commit/0123456789abcdef0123456789abcdef01234567
password = "changeme"
"""
DIFF = "------- SEARCH\na = 1\n=======\na = 2\n+++++++ REPLACE"
NOWHERE = Path("/nonexistent")
PROGRAM = "/nonexistent/program 'a b' \"c\""
COMMANDS = ("cd src && grep -n 'name' file.py | head -5", "python -m pytest -q", "git status")


def judge_names() -> None:
    """Ask about a name that may be a secret's."""
    is_secret("secret.json")
    runs_later("mise.toml.md")


def read_text() -> None:
    """Redact a text, and look for files in a prompt."""
    repair_arguments({}, "model")
    redact_text(TEXT)
    find_declared(f"{NOWHERE}/a.py", {"*": ""})
    list(named_in("Look at `src/file.py` and src/other.py:12."))
    find_relative_path("src/file.py", str(NOWHERE))
    with suppress(KeyError):
        DiskBlobs(NOWHERE).get(blob_reference(b""))


def edit_text() -> None:
    """Apply an edit."""
    all_or_none(decode_text(b"a = 1\n"), without_stray_fences(parse_blocks(DIFF), "a = 1\n", "a.py"))


def judge_command(command: str) -> None:
    """Judge a command as in a folder that has nothing."""
    decide_call(
        Summary(command, ToolKind.EXECUTE, command=command),
        PolicyContext(NOWHERE, NOWHERE / "home", Mode.ACT, ApprovalMode.ASK),
    )


def read_program() -> None:
    """Read a command that is one program, and the output that a command may have."""
    is_one_program(PROGRAM)
    read_command(PROGRAM, child_environment({"NAME": "aB3" * 16}), str(NOWHERE))
    plain_output("\x1b[1mbold\x1b[0m")
    command_end("[exit code 0]")


def judge_work() -> None:
    """Judge a command of a turn as at its end."""
    commands.read_command("cd src && uv run pytest -q a.py; make; unknown")


def judge_claims() -> None:
    """Judge the last words of a turn as at its end."""
    claims.find_claims("Changed. All tests pass. The build works.")


USES: tuple[Callable[[], None], ...] = (
    judge_names,
    read_text,
    edit_text,
    *(lambda command=command: judge_command(command) for command in COMMANDS),
    read_program,
    judge_work,
    judge_claims,
)
