"""`/login` and `/logout` in a conversation: the key is typed unseen and is nowhere but in the store."""

import asyncio
import shlex
import time
from base64 import b64encode
from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer
from tests.surfaces.cli.halo_process import HALO, Halo, shell
from tests.surfaces.cli.live.conftest import Open
from tests.surfaces.cli.live.tmux_terminal import HINT, TmuxTerminal
from tests.tables import for_each

from halocline.protocol import events as ev
from halocline.surfaces.terminal.composing.pasting import Chips
from halocline.surfaces.terminal.composing.prompt import KEY_HELD, KeyGuard, may_be_key, resembles_key
from halocline.surfaces.terminal.composing.prompt_history import PromptHistory

pytestmark = [pytest.mark.slow, pytest.mark.process]

KEY = "sk-1234567890abcdef1234"


def files_with(text: str, *folders: Path) -> list[str]:
    files = [file for folder in folders for file in (folder, *folder.rglob("*")) if file.is_file()]
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


UNKNOWN = "q4gXl-gMvpuJBZQSSytHvwj0qGznRXzBd-m5TxMiOOk"
ROWS = [bytes(at * at % 251 for at in range(first, first + 57)) for first in range(0, 570, 57)]
PICTURE = "\n".join(b64encode(row).decode() for row in ROWS)


@for_each(
    "text, is_one",
    [
        (UNKNOWN, True),
        ("  9s0m6wtwo0gckjjgm8wfg8zui5tgz69u ", True),
        (f"{UNKNOWN}\n/login", True),
        ("0123456789abcdef0123456789abcdef", False),
        ("be5cacab-53e6-4859-8a55-f1925cdbcc14", False),
        ("b33bfb38ce3d6d5dcf1d4d85ac1b1a4d1dbcd1ba", False),
        ("sha256-LlgrXkeXPuOjTGMt6XUEWfvbPZ8Uf0hmIH6LbuUFPG8=", False),
        ("src/halocline/surfaces/cli/live/composer.py", False),
        ("/home/me/builds/AbCd1234EfGh5678IjKl", False),
        ("https://example.org/q4gXl-gMvpuJBZQSSytHvwj0qGznRXzBd", False),
        ("@tests/surfaces/web/pages/test_page_worktrees.py", False),
        ("getElementsByClassNameV2OfTheDocument", False),
        (f"What is this picture?\n{PICTURE}\nThanks.", False),
        ("do 3 things", False),
    ],
)
def test_a_prompt_that_may_be_a_key_of_unknown_form_is_one_random_word(text: str, is_one: bool) -> None:
    assert resembles_key(text) is is_one


def test_what_may_be_a_key_is_sent_when_enter_is_pressed_again_and_only_then() -> None:
    guard = KeyGuard()
    assert [guard.refuse(UNKNOWN), guard.refuse("hello"), guard.refuse(UNKNOWN)] == [KEY_HELD, "", KEY_HELD]
    guard.forget()
    assert [guard.refuse(UNKNOWN), guard.refuse(UNKNOWN), guard.refuse(UNKNOWN)] == [KEY_HELD, "", ""]


@pytest.mark.parametrize("key", ["Enter", "C-s"])
def test_what_may_be_a_key_stays_in_the_composer_until_it_is_sent_again_and_never_gets_into_the_history(
    halo: Halo, open_terminal: Open, key: str
) -> None:
    terminal = open_terminal(100, 30).starts("-m", halo.script({"text": "Hello."})).types(UNKNOWN).presses(key)
    terminal.sees("press Enter again")
    assert terminal.composer() == UNKNOWN
    assert [event for event in halo.log() if isinstance(event, ev.TurnStarted)] == []
    terminal.presses(key).saw("Hello.")
    assert UNKNOWN in str([event for event in halo.log() if isinstance(event, ev.TurnStarted)])
    assert files_with(UNKNOWN, *halo.home.glob("prompt_history")) == []


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
