import json

import pytest
from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, call, shell

HI = {"text": "Hello."}
KEY = "sk-1234567890abcdef"


async def recorded(halo: Halo, *turns: dict[str, object], key: str = KEY) -> str:
    model = halo.script(*turns)
    done = await halo.run(
        "run", "-y", "-p", "-m", model, "--record", "task.rec", "say hello", env={"OPENAI_API_KEY": key}
    )
    assert done.code == 0, done.err
    return "task.rec"


async def test_a_recording_replays_in_another_folder_and_home(halo: Halo) -> None:
    await recorded(halo, {"call": [shell("echo one > made")]}, HI)
    (halo.root / "task.rec").write_bytes((halo.folder / "task.rec").read_bytes())
    (halo.folder / "made").unlink()
    done = await halo.run("replay", "task.rec", cwd=halo.root, env={"HALOCLINE_HOME": str(halo.root / "other")})
    assert (done.code, done.err) == (0, "")
    assert "Identical: 2 steps" in done.out
    assert "2 requests compared." in done.out
    assert not (halo.folder / "made").exists()


async def test_a_task_replays_from_its_log_alone(halo: Halo) -> None:
    await recorded(halo, HI)
    done = await halo.run("replay", halo.tasks[-1][-4:])
    assert done.code == 0
    assert "no requests compared (a log and a report have none; halo run --record saves them)" in done.out


async def test_a_difference_is_shown_with_its_place_and_exit_code_1(halo: Halo) -> None:
    file = halo.folder / await recorded(halo, {"call": [call("read_file", path="nothing")]}, HI)
    file.write_text(file.read_text().replace("say hello", "say goodbye", 1))
    done = await halo.run("replay", "task.rec")
    assert done.code == 1
    assert "request of step 1, messages[0].content[0].text" in done.out
    assert 'recorded  "say hello"' in done.out
    assert 'now       "say goodbye"' in done.out


async def test_a_recording_that_was_cut_in_a_turn_is_unfinished_and_no_success(halo: Halo) -> None:
    file = halo.folder / await recorded(halo, {"call": [shell("echo one > made")]}, HI)
    lines = file.read_text().splitlines(keepends=True)
    ended = next(at for at, line in enumerate(lines) if '"tool_call_ended"' in line)
    file.write_text("".join(lines[:ended]) + lines[ended][:40])
    done = await halo.run("replay", "task.rec")
    assert done.code == 1
    assert done.out.startswith("Unfinished: identical as far as it goes, 1 step and")
    (told,) = (await halo.run("replay", "task.rec", "--json")).lines
    assert (told["unfinished"], told["differences"]) == (True, [])


async def test_a_replay_is_json_for_programs(halo: Halo) -> None:
    await recorded(halo, HI)
    (told,) = (await halo.run("replay", "task.rec", "--json")).lines
    assert (told["task"], told["steps"], told["requests"], told["differences"]) == (halo.tasks[-1], 1, 1, [])


async def test_a_key_of_the_environment_is_in_no_recording(halo: Halo) -> None:
    (halo.folder / "leak").write_text(KEY)
    await recorded(halo, {"call": [call("read_file", path="leak")]}, HI)
    text = (halo.folder / "task.rec").read_text()
    assert KEY not in text
    assert "[redacted stored key " in text
    assert (await halo.run("replay", "task.rec")).code == 0


@pytest.mark.parametrize("key", ["x", "none", "1", "test", "a" * 24 + "1" * 24, 'k"e\\y-0123456789'])
async def test_a_recording_replays_whatever_the_key_is(halo: Halo, key: str) -> None:
    (halo.folder / "app.py").write_text(f"test = None  # 1 x none\nkey = 0\n# {key}\n")
    await recorded(halo, {"call": [call("read_file", path="app.py")]}, HI, key=key)
    done = await halo.run("replay", "task.rec")
    assert (done.code, done.err) == (0, "")


async def test_an_existing_file_is_not_recorded_over_and_no_task_begins(halo: Halo) -> None:
    (halo.folder / "task.rec").write_text("mine")
    done = await halo.run("-p", "-m", halo.script(HI), "--record", "task.rec", "hello")
    assert done.code == 2
    assert "already exists" in done.err
    assert halo.tasks == []


async def test_what_is_neither_a_file_nor_a_task_is_named(halo: Halo) -> None:
    done = await halo.run("replay", "nothing-of-that-name")
    assert done.code == 2
    assert "nothing-of-that-name" in done.err


async def test_the_lines_of_a_recording_are_the_lines_of_the_log(halo: Halo) -> None:
    await recorded(halo, HI)
    lines = (halo.folder / "task.rec").read_text().splitlines()
    events = [line for line in lines if json.loads(line)["type"] not in ("recording_started", "request_made")]
    assert events == (halo.home / "tasks" / halo.tasks[-1] / "events.jsonl").read_text().splitlines()


async def test_a_stored_key_is_in_no_recording(halo: Halo) -> None:
    async with ModelServer([Turn(text=f"I know it: {KEY}")]) as server:
        where = ("--base-url", server.url("openai"))
        await halo.run("login", "openai", "--no-test", *where, stdin=f"{KEY}\n".encode())
        done = await halo.run("run", "-p", "-m", "openai/m", *where, "--record", "task.rec", "hello")
    assert done.code == 0, done.err
    assert KEY not in (halo.folder / "task.rec").read_text()
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
