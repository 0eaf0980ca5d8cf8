"""`halo context`, as a person and a program read it."""

import json

from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, asks, call

READ = {"text": "I look.", "call": [call("read_file", path="a.py")], "usage": {"input": 5_000}}
EDIT = {"call": [call("write_to_file", path="a.py", content="y = 2\n")], "usage": {"input": 20, "cache_read": 5_000}}
LOST = {"text": "Done.", "usage": {"input": 6_000}}


async def worked(halo: Halo, *turns: dict) -> str:
    (halo.folder / "a.py").write_text("x = 1\n" * 200)
    done = await halo.run("-p", "--yolo", "-m", halo.script(*turns), "fix a.py")
    assert done.code == 0, done.err
    return halo.tasks[0]


async def test_the_parts_of_a_task_add_up_to_what_the_provider_counted(halo: Halo) -> None:
    task = await worked(halo, READ, EDIT, LOST)
    report = json.loads((await halo.run("context", task, "--json")).out)
    assert (report["task"], report["counted"]) == (task, 6_000)
    assert report["used"] == sum(part["tokens"] for part in report["parts"]) == 6_000
    (file,) = (part for part in report["parts"] if part["kind"] == "files read")
    assert file["name"] == "a.py"
    assert file["stale"] == file["tokens"] > 0


async def test_lines_fit_the_terminal_and_name_what_is_stale(halo: Halo) -> None:
    task = await worked(halo, READ, EDIT, LOST)
    for columns in (50, 80):
        shown = await halo.run("context", task, env={"COLUMNS": str(columns)})
        assert max(map(len, shown.out.splitlines())) <= columns
        assert "  a.py (stale) " in shown.out
    assert ("share" in shown.out, "█" in shown.out) == (True, True)


async def test_without_a_task_it_is_what_a_new_one_would_cost_and_nothing_is_begun(halo: Halo) -> None:
    shown = await halo.run("context", "-m", "anthropic/claude-opus-4-5")
    assert shown.out.startswith("A new task in this folder\nanthropic/claude-opus-4-5 · window of 200,000 tokens\n")
    assert "\nTotal " in shown.out
    assert "$0.0" in shown.out
    assert halo.tasks == []


async def test_the_prompt_that_is_shown_is_the_one_that_is_sent(halo: Halo) -> None:
    (halo.home / "prompts").mkdir(parents=True)
    (halo.home / "prompts" / "editing.md").write_text("Edit {with} care in {workspace}.")
    async with ModelServer([Turn(text="Hello.")]) as server:
        wishes = ["--append-system-prompt", "Be terse."]
        shown = await halo.run("context", "--prompt", *asks(server), *wishes)
        await halo.run("-p", *asks(server), *wishes, "hi")
        (request,) = server.requests
    assert request.body["messages"][0]["content"] == shown.out
    assert f"# Editing\nEdit {{with}} care in {halo.folder}.\n" in shown.out
    assert shown.out.endswith("# From the user\nBe terse.\n")
    task = await halo.run("context", halo.tasks[0], "--prompt")
    assert task.out == shown.out
    program = await halo.run("context", halo.tasks[0], "--prompt", "--json")
    assert json.loads(program.out) == {"prompt": shown.out}


async def test_a_file_can_be_the_whole_prompt_but_the_machine_stays(halo: Halo) -> None:
    (halo.folder / "me.md").write_text("You are a poet.\n")
    shown = await halo.run("context", "--prompt", "--system-prompt-file", "me.md")
    assert shown.out.startswith("You are a poet.\n\n# Machine\nWorkspace: ")
    missing = await halo.run("context", "--prompt", "--system-prompt-file", "you.md")
    assert (missing.code, "you.md for the system prompt: No such file" in missing.err) == (2, True)


async def test_a_lost_cache_is_told_with_its_step(halo: Halo) -> None:
    task = await worked(halo, READ, EDIT, LOST)
    said = "step 3: 0 of 5.0k tokens from the cache: the request is unchanged"
    cache = await halo.run("context", task, "--cache")
    assert cache.out.startswith("3 requests, 16.0k input tokens, 31 % of them from the cache.\n")
    assert said in cache.out
    assert said in (await halo.run("tasks", "show", task, "--cost")).out
    (miss,) = json.loads((await halo.run("context", task, "--cache", "--json")).out)["misses"]
    assert (miss["step"], miss["expected"], miss["cached"]) == (3, 5_020, 0)


async def test_what_a_prompt_is_made_of_cannot_be_changed_later(halo: Halo) -> None:
    task = await worked(halo, LOST)
    refused = await halo.run("-p", "--resume", task, "--append-system-prompt", "x", "go on")
    assert (refused.code, "cannot change after it starts" in refused.err) == (2, True)


async def test_a_new_task_has_no_cache_to_speak_of(halo: Halo) -> None:
    refused = await halo.run("context", "--cache")
    assert (refused.code, "halo context TASK --cache" in refused.err) == (2, True)


async def test_what_was_cut_for_a_small_window_is_told(halo: Halo) -> None:
    await halo.run("run", "-m", halo.script({"text": "Long."}), "word " * 20_000)
    said = await halo.run("context", halo.tasks[0], "--context-window", "9000")
    assert "Cut in the middle: 1 message, saving about" in said.out
    report = json.loads((await halo.run("context", halo.tasks[0], "--context-window", "9000", "--json")).out)
    assert (report["shortened"]["cut"], report["shortened"]["longest"] > 0) == (1, True)
