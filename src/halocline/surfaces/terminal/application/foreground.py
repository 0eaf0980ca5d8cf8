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
from contextlib import AbstractAsyncContextManager, nullcontext

from halocline.client.tasks import Client
from halocline.protocol.child_environment import ChildEnvironment, child_environment
from halocline.protocol.errors import UsageError
from halocline.surfaces.terminal.application.terminal_state import let_signals_arrive

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


def may_ask_secret(command: str) -> bool:
    """True for a program that may ask for a password: what is typed for it may not show, also before it has begun."""
    return re.search(r"\b(sudo|su|doas|passwd|ssh|sftp|ftp|login)\b", command) is not None


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
    is_stopped: Callable[[], bool],
    release: Callable[[], AbstractAsyncContextManager[None]] = nullcontext,
    take_typed: Callable[[], str] = str,
) -> bool:
    """Give the terminal to a command that wants it. False if it wants none, or needs a sandbox. Raises UsageError.

    Ctrl-C stops it from the Enter on: until the program has the terminal, it is a signal for us, which `is_stopped`
    tells, or a byte of what `take_typed` finds.
    """
    command, state = find_terminal_command(text), client.state(task)
    if not command or client.requires_sandbox(state.workspace):
        return False
    waiting, go = os.pipe()
    try:
        async with release():
            folder = state.host.shell.cwd or state.workspace
            process = _start(command, folder, child_environment(os.environ), waiting)
            typed = take_typed()
            code = await _run(process, go, lambda: INTERRUPT in typed or is_stopped())
    except OSError as error:
        raise UsageError(f"Cannot start it: {error.strerror}.") from error
    finally:
        os.close(waiting)
        os.close(go)
    say(f"{command}: {f'exit code {code}' if code >= 0 else 'stopped'}. The model does not see it.")
    return True


def _start(command: str, folder: str, env: ChildEnvironment, waiting: int) -> subprocess.Popen[bytes]:
    """Start it in a group of its own. It begins with a line of `waiting`."""
    words = ("bash", "-c", f'read -r <&{waiting} && exec bash -c "$0" {waiting}<&-', command)
    return subprocess.Popen(words, cwd=folder, env=env, process_group=0, pass_fds=(waiting,))


async def _run(process: subprocess.Popen[bytes], go: int, is_stopped: Callable[[], bool]) -> int:
    """Let it begin once the terminal is its own: each key is for us, or for it. Return its exit code."""
    ours = os.getpgrp()
    try:
        _give_terminal(process.pid)
        await let_signals_arrive()
        if is_stopped():
            os.killpg(process.pid, signal.SIGINT)
        os.write(go, b"\n")
        return await asyncio.to_thread(_wait, process, ours)
    finally:
        _give_terminal(ours)


def _wait(process: subprocess.Popen[bytes], ours: int) -> int:
    """Wait for its end. A person who suspends it, suspends us as well. Return its exit code, negative for a signal.

    We alone are stopped: a child of ours that is stopped before its `exec` would hold the thread that starts it.
    """
    while os.WIFSTOPPED(status := os.waitpid(process.pid, os.WUNTRACED)[1]):
        if os.WSTOPSIG(status) not in (signal.SIGTTIN, signal.SIGTTOU):  # those come before it has the terminal again
            _give_terminal(ours)
            signal.raise_signal(signal.SIGSTOP)
        _give_terminal(process.pid)
        os.killpg(process.pid, signal.SIGCONT)
    process.returncode = os.waitstatus_to_exitcode(status)
    return process.returncode


def _give_terminal(group: int) -> None:
    """Put a process group into the foreground, also from the background."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTTOU})
    try:
        os.tcsetpgrp(sys.stdin.fileno(), group)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
