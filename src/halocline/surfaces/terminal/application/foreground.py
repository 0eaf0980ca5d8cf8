"""Programs that get the terminal (`!vim`, `!ssh`, `!sudo …`): in a process group of their own, until they end.

What must stay true: Ctrl-C and Ctrl-Z reach the program and not us, and the terminal is ours again afterwards.
"""

import asyncio
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from halocline.client.tasks import Client
from halocline.protocol.child_environment import ChildEnvironment, child_environment
from halocline.protocol.errors import UsageError

_EDITORS = ("vim", "vi", "nvim", "nano", "pico", "emacs", "micro", "hx", "joe", "less", "more", "most", "man", "info")
_MONITORS = ("top", "htop", "btop", "atop", "watch", "tmux", "screen", "fzf", "lazygit", "tig", "ranger", "mc", "nnn")
_REMOTE = ("ssh", "mosh", "telnet", "sftp", "ftp", "psql", "mysql", "sqlite3", "redis-cli", "gdb", "lldb", "ipython")
_WITH_ORDERS = ("-c", "-e", "-f", "--command", "--execute", "--file", "--batch")
"""Options by which `psql`, `mysql` and their like do one thing and end: their output is shared as any other."""
_SSH_VALUES = "BbcDEeFIiJLlmOopQRSWw"
"""Options of `ssh` with a value."""
_ASKING = ("sudo", "su", "doas", "passwd", "read", "select", "gh auth login", "git add -p", "git rebase -i")
PROGRAMS = frozenset((*_EDITORS, *_MONITORS, *_REMOTE, *_ASKING))
"""Programs that want a terminal, some with the words that follow."""
_ALONE = frozenset(("bash", "sh", "zsh", "fish", "python", "python3", "node", "irb", "ghci", "julia", "lua", "bc"))
"""Programs that want one if they get no words."""
ReleasedTerminal = AbstractAsyncContextManager[None]
INTERRUPT = "\x03"
FORCED = "!"
"""Before the command: it gets the terminal in any case."""


def find_terminal_command(text: str) -> str:
    """Return the command that wants the terminal from what follows the `!`; empty if it is none."""
    if text.startswith(FORCED):
        return text.removeprefix(FORCED).strip()
    try:
        words = shlex.split(text)
    except ValueError:
        return ""
    while words and "=" in words[0]:
        words = words[1:]
    name = os.path.basename(words[0]) if words else ""
    wants = name in PROGRAMS or " ".join((name, *words[1:3])) in PROGRAMS or (name in _ALONE and not words[1:])
    is_batch = name in _REMOTE[5:] and any(word.split("=")[0] in _WITH_ORDERS for word in words)
    return "" if is_batch or (name == "ssh" and _names_remote_command(words[1:])) else text if wants else ""


def _names_remote_command(words: list[str]) -> bool:
    """True if the words after `ssh` name a command behind the host, and want no terminal for it (`-t`)."""
    options = re.compile(f"-([^t{_SSH_VALUES}]*)(?:[{_SSH_VALUES}](.*))?")
    while words and (option := options.fullmatch(words[0])):
        words = words[2:] if option[2] == "" else words[1:]
    return len(words) > 1 and not words[0].startswith("-")


async def run_program(
    text: str,
    client: Client,
    task: str,
    say: Callable[[str], None],
    release: Callable[[], AbstractAsyncContextManager[None]],
    is_stopped: Callable[[], bool],
    take_typed: Callable[[], str] = str,
) -> bool:
    """Give the terminal to a command that wants it. False if it wants none, or needs a sandbox. Raises UsageError.

    Ctrl-C stops it from the Enter on: until the program has the terminal, it is a signal for us, which `is_stopped`
    tells, or a byte of what `take_typed` finds.
    """
    command, state = find_terminal_command(text), client.state(task)
    if not command or client.requires_sandbox(state.workspace):
        return False
    folder = state.host.shell.cwd or state.workspace
    try:
        async with release():
            if INTERRUPT in take_typed() or is_stopped():
                code = -signal.SIGINT
            else:
                code = await asyncio.to_thread(_run, command, folder, child_environment(os.environ), is_stopped)
    except OSError as error:
        raise UsageError(f"Cannot start it: {error.strerror}.") from error
    say(f"{command}: {f'exit code {code}' if code >= 0 else 'stopped'}. The model does not see it.")
    return True


def _run(command: str, folder: str, env: ChildEnvironment, is_stopped: Callable[[], bool]) -> int:
    """Run it with the terminal; return its exit code, negative for a signal."""
    terminal, ours = sys.stdin.fileno(), os.getpgrp()
    process = subprocess.Popen(("bash", "-c", command), cwd=folder, env=env, process_group=0)
    try:
        while True:
            _give_terminal(terminal, process.pid)
            os.killpg(process.pid, signal.SIGCONT)
            if is_stopped():
                os.killpg(process.pid, signal.SIGINT)
            _, status = os.waitpid(process.pid, os.WUNTRACED)
            if not os.WIFSTOPPED(status):
                process.returncode = os.waitstatus_to_exitcode(status)
                return process.returncode
            if os.WSTOPSIG(status) not in (signal.SIGTTIN, signal.SIGTTOU):  # those came before it had the terminal
                _give_terminal(terminal, ours)
                os.killpg(ours, signal.SIGTSTP)  # the person suspends both, until fg
    finally:
        _give_terminal(terminal, ours)


def _give_terminal(terminal: int, group: int) -> None:
    """Put a process group into the foreground, also from the background."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        os.tcsetpgrp(terminal, group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
