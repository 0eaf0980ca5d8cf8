"""`/login` and `/logout` in a conversation: the key is typed unseen and is nowhere but in the store."""

import asyncio
import shlex
import time
from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.halo_process import HALO, Halo, shell
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import HINT, TmuxTerminal
from tests.tables import for_each

from halocline.protocol import events as ev
from halocline.surfaces.terminal.composing.pasting import Chips
from halocline.surfaces.terminal.composing.prompt import may_be_key
from halocline.surfaces.terminal.composing.prompt_history import PromptHistory

pytestmark = [pytest.mark.slow, pytest.mark.process]

KEY = "sk-1234567890abcdef1234"


def files_with(text: str, *folders: Path) -> list[str]:
    files = [file for folder in folders for file in folder.rglob("*") if file.is_file()]
    return [file.name for file in files if text.encode() in file.read_bytes()]


async def test_a_key_is_typed_unseen_tried_kept_and_removed_within_a_conversation(
    halo: Halo, open_terminal: Open
) -> None:
    def talk(terminal: TmuxTerminal, address: str) -> None:
        terminal.says("/logout").sees("No key is stored.").says("/login").sees("openai-compatible").types(
            "openai-comp"
        ).sees_no("anthropic")
        terminal.presses("Down", "Enter").sees("Address of the server").says(address).sees("Key for")
        terminal.types(KEY).sees("*" * len(KEY)).presses("C-g").presses("Enter").sees("accepted the key", HINT)
        terminal.presses("C-_").presses("Up").sees("❯ /login openai-compatible").presses("C-c")
        terminal.says("/clear").sees("New task").says("/model").sees("openai-compatible/a-model").presses("Escape")
        terminal.sees(HINT).says("/logout openai-compatible").sees("Removed the key")
        assert KEY[4:12] not in terminal.everything

    async with ModelServer(key=KEY, models=("a-model",)) as server:
        terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."}))
        await asyncio.to_thread(talk, terminal, server.url("openai"))
    assert files_with(KEY, halo.home, halo.folder) == []


def test_a_key_typed_behind_a_login_before_the_screen_stands_reaches_no_model(halo: Halo, open_terminal: Open) -> None:
    for pause in (0.0, 0.25):
        terminal = open_terminal().runs(shlex.join([*HALO, "-m", halo.script({"text": "Hello."})]))
        terminal.says("/login")
        time.sleep(pause)
        terminal.says(KEY).sees("· act · ask ·", "/login").sees("may be a key").presses("Enter", "Enter")
        time.sleep(1)
    assert [event for task in halo.tasks for event in halo.log(task) if isinstance(event, ev.TurnStarted)] == []


def test_a_key_typed_into_the_list_of_providers_or_behind_the_command_is_shown_and_sent_nowhere(
    halo: Halo, open_terminal: Open
) -> None:
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."})).says("/login")
    terminal.sees("openai-compatible").types(KEY).sees("*" * len(KEY)).presses("Enter").sees(
        "No provider has this name"
    )
    terminal.presses("Enter", "Enter").sees("Name a provider").types(f"/login {KEY}").presses("Enter")
    terminal.sees("takes the name of a provider alone").presses("C-_", "Up", "Enter").sees("openai-compatible")
    assert KEY[4:12] not in terminal.everything
    assert [event for event in halo.log() if isinstance(event, ev.TurnStarted)] == []
    assert files_with(KEY, halo.home, halo.folder) == []


@for_each(
    "line, is_key",
    [
        (KEY, True),
        (f"export OPENAI_API_KEY={KEY}", True),
        (f"Authorization: Bearer {KEY}", True),
        ("0123456789abcdef0123456789abcdef", True),
        ("see /login openai for it", False),
        ("请修改test_page_connecting.py里的错误", False),
        ("https://github.com/some-organisation/some-long-repository-name", False),
        ("@tests/surfaces/web/pages/test_page_worktrees.py", False),
    ],
)
def test_a_line_typed_before_the_field_of_a_key_is_forgotten_only_if_it_may_be_one(line: str, is_key: bool) -> None:
    assert may_be_key(line) is is_key


@for_each(
    "prompt, kept",
    [
        (f"/login openai {KEY}", "/login openai"),
        (f"/login\topenai\t{KEY}", "/login openai"),
        (f"/login {KEY}", "/login"),
        (f"/logout {KEY}", "/logout"),
        ("/login openai", "/login openai"),
        ("see /login openai for it", "see /login openai for it"),
    ],
)
def test_of_a_login_the_history_keeps_the_provider_alone(tmp_path: Path, prompt: str, kept: str) -> None:
    history = PromptHistory(tmp_path / "history", Chips(), {"openai"}.__contains__)
    history.append_string(prompt)
    assert history.get_strings() == [kept]
    assert files_with(KEY, tmp_path) == []


@pytest.mark.parametrize("keys", [("Enter", "Up", "C-s"), ("C-s",), ("Enter", "Escape", "Enter")])
def test_a_key_typed_behind_a_login_that_waits_is_shown_and_sent_nowhere(
    halo: Halo, open_terminal: Open, keys: tuple[str, ...]
) -> None:
    script = halo.script({"call": [shell("sleep 6")]}, {"text": "Hello."})
    terminal = open_terminal(100, 30).starts("-m", script, "--yolo").says("go").sees("running sleep")
    terminal.says("/login anthropic").sees("❯ /login anthropic · runs").types(KEY).presses(keys[0])
    terminal.sees("not sent").sees_no(KEY)
    for key in keys[1:]:
        terminal.presses(key)
    time.sleep(7)
    assert not any(KEY in str(event) for event in halo.log())
    assert files_with(KEY, halo.home, halo.folder) == []
