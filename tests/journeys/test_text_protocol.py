import asyncio
import json
import os
import subprocess
import sys
from itertools import pairwise

import pytest
from tests.journeys.repair import PROJECT, PROMPT, REPAIRED, TURNS
from tests.journeys.soundness import assert_sound
from tests.providers.markup import markup, spoken

from halocline.client import Client
from halocline.protocol import events as ev
from halocline.protocol.errors import SettingsError
from halocline.protocol.kinds import ApprovalMode, Todo, TodoStatus
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.load import load_settings
from halocline.store.settings.settings import Settings
from halocline.testing.model_server import ModelServer

NAME = "ollama/llama3:8b"


async def play(journey, *turns, model=NAME, text_tools=("ollama/llama3*",), write_size=0):
    """One prompt over loopback HTTP. Gives what the server received."""
    async with ModelServer(turns, write_size=write_size) as server:
        settings = Settings(base_url=server.url("openai"), text_tools=text_tools)
        client = Client(Controller(Assembly(journey.home, settings, {})), "test")
        options = TaskOptions(model=model, approval_mode=ApprovalMode.YOLO)
        await journey.run(prompt=PROMPT, client=client, options=options)
    assert_sound(journey.logged)
    return server.requests


@pytest.mark.parametrize("write_size", [3, 0])
async def test_the_whole_repair_is_done_with_calls_written_as_text(journey, write_size):
    for name, text in PROJECT.items():
        journey.write(name, text)
    requests = await play(journey, *map(spoken, TURNS), write_size=write_size)
    assert {path.name: path.read_text() for path in journey.workspace.iterdir()} == {**PROJECT, "shop.py": REPAIRED}
    assert [status for _, status in journey.ends] == ["completed"] * 6
    assert journey.state.last_end.reason is StopReason.END_TURN
    assert not any("tools" in request.body for request in requests)


async def test_the_messages_of_each_request_begin_those_of_the_next(journey):
    for name, text in PROJECT.items():
        journey.write(name, text)
    sent = [request.body["messages"] for request in await play(journey, *map(spoken, TURNS))]
    for one, following in pairwise(sent):
        assert following[: len(one)] == one


async def test_a_file_that_the_token_limit_cut_is_not_written(journey):
    whole = markup("write_to_file", path="a.txt", content="one\n")
    cut = Turn(text=whole.partition("</content>")[0], stop=StopReason.MAX_TOKENS)
    await play(
        journey,
        cut,
        Turn(text=whole, expect=("Nothing was run", "cut off by the output limit")),
        Turn(text="Done."),
    )
    assert [status for _, status in journey.ends] == ["failed", "completed"]
    assert (journey.workspace / "a.txt").read_text() == "one\n"


async def test_a_model_that_prints_its_call_hears_of_it_and_goes_on(journey):
    journey.write("a.txt", "42\n")
    printed = Turn(text=f"I look.\n{markup('read_file', path='a.txt')}")
    made = Turn(calls=(Call("read_file", {"path": "a.txt"}),), expect=("Nothing was run", "printed as text"))
    await play(journey, printed, made, Turn(text="It says 42.", expect="1 | 42"), text_tools=())
    assert [status for _, status in journey.ends] == ["failed", "completed"]
    assert journey.state.last_message.text == "It says 42."


async def test_only_the_models_that_a_pattern_names_write_calls_as_text(journey):
    (request,) = await play(journey, Turn(text="Hello."), model="ollama/qwen3")
    assert "tools" in request.body


async def test_a_flag_lets_any_model_write_calls_as_text(tmp_path):
    script = tmp_path / "script.toml"
    turns = [{"text": markup("write_to_file", path="a.txt", content="one\n")}, {"text": "Done."}]
    script.write_text("".join(f"[[turn]]\ntext = {json.dumps(turn['text'])}\n" for turn in turns))
    words = [sys.executable, "-m", "halocline", "run", "-p", "-y", "--text-tools", "-m", f"scripted/{script}", "write"]
    ran = await asyncio.to_thread(
        subprocess.run,
        [*words, "-C", str(tmp_path)],
        env={**os.environ, "HALOCLINE_HOME": str(tmp_path / "home")},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout.strip()) == (0, "Done."), ran.stderr
    assert (tmp_path / "a.txt").read_text() == "one\n"


def test_the_patterns_are_a_list_in_the_settings(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text('text_tools = ["ollama/llama3*", "lmstudio/*"]\n')
    assert load_settings(file, {}).text_tools == ("ollama/llama3*", "lmstudio/*")
    file.write_text('text_tools = "ollama/llama3"\n')
    with pytest.raises(SettingsError, match="text_tools"):
        load_settings(file, {})


async def test_a_checklist_in_any_call_is_taken_for_the_to_do_list(journey):
    looks = markup("list_files", path=".", task_progress="- [ ] Look\n- [ ] Report")
    update = markup("update_todos", task_progress="- [x] Look\n- [ ] Report")
    await play(journey, Turn(text=looks), Turn(text=update), Turn(text="done"))
    assert [status for _, status in journey.ends] == ["completed"] * 2
    looked = Todo("Look", TodoStatus.COMPLETED)
    assert [event.todos[0] for event in journey.of(ev.TodosChanged)] == [Todo("Look"), looked]
