"""Units of the person's own systemd: how their words are written, where their files are, and how systemd is told."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from halocline.protocol.child_environment import child_environment
from halocline.protocol.errors import UsageError

OWN_PROGRAM = (sys.executable, "-m", "halocline")
KEPT = ("HALOCLINE_HOME", "PATH")
"""Variables that a unit gets as they are now; keys of models belong into the key store (`halo login`)."""


def unit_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the person's own units."""
    config = environment.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(config) / "systemd" / "user"


def list_environment(environment: Mapping[str, str]) -> list[str]:
    """Return the lines that give a unit its variables. Raises UsageError as `escape_text`."""
    kept = [f"{name}={environment[name]}" for name in KEPT if environment.get(name)]
    return [f"Environment={quote_word(one)}" for one in kept]


def quote_command(words: tuple[str, ...]) -> str:
    """Return the words of a command as systemd reads them. Raises UsageError as `escape_text`."""
    return " ".join(quote_word(word, is_command=True) for word in words)


def quote_word(word: str, *, is_command: bool = False) -> str:
    """Quote a word: systemd replaces `%` everywhere, and variables in commands. Raises UsageError."""
    text = escape_text(word).replace("\\", "\\\\").replace('"', '\\"')
    return f'"{text.replace("$", "$$") if is_command else text}"'


def escape_text(text: str) -> str:
    """Return a text that systemd leaves as it is. Raises UsageError for what systemd cannot hold."""
    if re.search(r"[\x00-\x1f\x7f]", text):
        raise UsageError(f"A service cannot have {text!r}: it holds a control character.", "Use another folder.")
    return text.replace("%", "%%")


def has_user_systemd() -> bool:
    """True if the person's own systemd runs here."""
    return not _ask_systemctl("show", "--property", "Version")[0]


def run_systemctl(hint: str, *words: str) -> str:
    """Tell the person's own systemd something; return what it prints. Raises UsageError with the hint if it fails."""
    code, printed, said = _ask_systemctl(*words)
    if code:
        command = " ".join(("systemctl", "--user", *words))
        raise UsageError(f"{command} failed: {said or 'no reason given'}.", hint)
    return printed


def _ask_systemctl(*words: str) -> tuple[int, str, str]:
    try:
        done = subprocess.run(
            ("systemctl", "--user", *words), capture_output=True, check=False, env=child_environment(os.environ)
        )
    except OSError:
        return 1, "", "systemd is not here"
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace").strip()
