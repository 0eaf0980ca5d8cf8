"""A real terminal emulator (tmux) with a shell in it, in which a person starts `halo`."""

import re
import shlex
import subprocess
import time
from collections.abc import Sequence
from uuid import uuid4

from tests.surfaces.cli.halo_process import HALO, LIMIT, Halo

from halocline.surfaces.cli.live.decision_keys import ALONE, SILENCE

PROMPT = "sh> "
CALM = SILENCE + ALONE + 0.4
"""Seconds after which a key counts, and in which it is seen to."""
HINT = "Ask anything"
READY = "? keys"
"""In the hint of every mode; plan mode has another one than `HINT` once the task is open."""


class TmuxTerminal:
    """A window of a tmux server of its own. Methods that look wait until they see it."""

    def __init__(self, halo: Halo, columns: int = 80, rows: int = 24) -> None:
        self.halo = halo
        self._server = f"halo-{uuid4().hex[:12]}"
        variables = " ".join(f"{name}={shlex.quote(value)}" for name, value in halo.env.items() if name != "TERM")
        bash = f"env -i TERM=screen-256color {variables} PS1={shlex.quote(PROMPT)} bash --norc --noprofile"
        shell = f"cd {shlex.quote(str(halo.folder))}; {bash}"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", str(columns), "-y", str(rows), shell)
        self.sees(PROMPT.strip())

    def _tmux(self, *words: str) -> str:
        done = subprocess.run(["tmux", "-L", self._server, *words], capture_output=True, text=True, check=False)
        return done.stdout

    def starts(self, *words: str) -> "TmuxTerminal":
        """Start `halo` and wait for its prompt."""
        return self.runs(shlex.join([*HALO, *words])).sees(READY)

    def runs(self, command: str) -> "TmuxTerminal":
        return self.types(command).presses("Enter")

    def types(self, text: str) -> "TmuxTerminal":
        self._tmux("send-keys", "-t", "t", "-l", "--", text)
        return self

    def sends(self, codes: str) -> "TmuxTerminal":
        """Send bytes as a terminal does, whatever they mean."""
        self._tmux("send-keys", "-t", "t", "-H", *(f"{byte:02x}" for byte in codes.encode()))
        return self

    def pastes(self, text: str) -> "TmuxTerminal":
        self._tmux("set-buffer", "--", text)
        self._tmux("paste-buffer", "-p", "-t", "t")
        return self

    def presses(self, *keys: str) -> "TmuxTerminal":
        """Press keys, as tmux names them."""
        self._tmux("send-keys", "-t", "t", *keys)
        return self

    def decides(self, *keys: str) -> "TmuxTerminal":
        """Press each key alone, in silence before and after it."""
        for key in keys:
            time.sleep(CALM)
            self.presses(key)
        time.sleep(ALONE)
        return self

    def says(self, prompt: str) -> "TmuxTerminal":
        return self.types(prompt).presses("Enter")

    def resizes(self, columns: int, rows: int) -> "TmuxTerminal":
        self._tmux("resize-window", "-t", "t", "-x", str(columns), "-y", str(rows))
        return self

    @property
    def screen(self) -> str:
        return self._tmux("capture-pane", "-p", "-t", "t")

    @property
    def everything(self) -> str:
        """The screen and what scrolled off."""
        return self._tmux("capture-pane", "-p", "-S", "-", "-t", "t")

    @property
    def colored(self) -> str:
        """The same as `everything`, with the codes of its colors."""
        return self._tmux("capture-pane", "-e", "-p", "-S", "-", "-t", "t")

    def takes_clipboard(self) -> "TmuxTerminal":
        """Let programs write the clipboard of this terminal, as many allow."""
        self._tmux("set-option", "-s", "set-clipboard", "on")
        return self

    @property
    def clipboard(self) -> str:
        return self._tmux("show-buffer")

    def sees(self, *texts: str) -> "TmuxTerminal":
        """Wait until all texts are on the screen."""
        return self._waits(lambda: all(text in self.screen for text in texts), texts)

    def sees_no(self, *texts: str) -> "TmuxTerminal":
        """Wait until none of the texts is on the screen."""
        return self._waits(lambda: not any(text in self.screen for text in texts), texts)

    def saw(self, *texts: str) -> "TmuxTerminal":
        """Wait until all texts were printed, on the screen or above it."""
        return self._waits(lambda: all(text in self.everything for text in texts), texts)

    def _waits(self, holds: "object", texts: Sequence[str]) -> "TmuxTerminal":
        end = time.monotonic() + LIMIT
        while time.monotonic() < end:
            if holds():  # type: ignore[operator]
                return self
            time.sleep(0.05)
        raise AssertionError(f"Timed out waiting for {texts} in:\n{self.everything}")

    def composer(self) -> str:
        """The line that is being typed."""
        return re.findall(r"^[❯›] ?(.*)$", self.screen, re.MULTILINE)[-1].rstrip()

    def modes(self) -> str:
        """The modes of the terminal, from its shell."""
        name = uuid4().hex[:8]
        self.runs(f"stty -a > {name}; printf 'E%s\\n' ND-{name}").sees(f"END-{name}")
        text = (self.halo.folder / name).read_text()
        (self.halo.folder / name).unlink()
        return text

    def close(self) -> None:
        self._tmux("kill-server")
