"""What a page asks and has done, over the wire."""

import subprocess
from base64 import b64decode

from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, asks, call, shell
from tests.surfaces.web.page import page, serving

from halocline.protocol import events as ev

HI = {"text": "Hello."}
EDIT = {"call": [call("write_to_file", path="a.txt", content="one\n")]}
PIXEL = b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


async def test_a_task_is_begun_read_and_listed(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "hi", model=halo.script(HI))
        ended = await one.turn(task)
        listed = await one.ask("tasks")
        facts = await one.ask("task", task=task)
    assert ended["reason"] == "end_turn"
    assert [info["task"] for info in listed] == [task]
    assert (facts["info"]["title"], facts["is_open"]) == ("hi", True)
    assert facts["writer"] == str(server.process.pid)


async def test_a_composer_is_told_of_words_files_and_models(halo: Halo) -> None:
    (halo.folder / "main.py").write_text("")
    async with serving(halo) as server, page(server) as one:
        here = str(halo.folder)
        words = await one.ask("words", workspace=here)
        before = await one.ask("mentionable", workspace=here)
        task = await one.begin(halo, "hi", model=halo.script(HI))
        after = await one.ask("mentionable", task=task)
        models = await one.ask("models", all=True)
    assert "compact" in [word["name"] for word in words]
    assert before["files"] == after["files"] == ["main.py"]
    assert any(model["name"].startswith("anthropic/") for model in models)


async def test_what_differs_since_a_moment_is_shown_and_taken_back_and_that_undone(halo: Halo) -> None:
    script = halo.script(EDIT, HI)
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "write", model=script, approval_mode="yolo")
        await one.turn(task)
        start = next(point for point in await one.ask("points", task=task) if point["kind"] == "prompt")
        differs = await one.ask("compare", task=task, old=start["seq"])
        plan = await one.ask("restore_plan", task=task, to=start["seq"])
        await one.command("go_back", task, to=start["seq"])
        back = (await one.facts(task, lambda now: now["rewinds"]))["rewinds"][0]
        gone = not (halo.folder / "a.txt").exists()
        await one.do("restore", task=task, checkpoint=back["undo"])
    assert [(file["path"], file["status"], file["added"]) for file in differs["files"]] == [("a.txt", "added", 1)]
    assert (plan["deletes"], plan["unsaved"]) == (["a.txt"], "")
    assert plan["messages"] > 0
    assert gone
    assert (halo.folder / "a.txt").read_text() == "one\n"


async def test_the_files_of_all_folders_of_a_task_are_mentioned_compared_and_put_back(halo: Halo) -> None:
    library = halo.root / "library"
    library.mkdir()
    (library / "lib.py").write_text("old\n")
    place = str(library / "lib.py")
    calls = [call("read_file", path=place), call("write_to_file", path=place, content="new\n")]
    script = halo.script({"call": calls}, HI)
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "write", model=script, approval_mode="yolo", add_dirs=[str(library)])
        await one.turn(task)
        start = next(point for point in await one.ask("points", task=task) if point["kind"] == "prompt")
        can_be_mentioned = await one.ask("mentionable", task=task)
        (differs,) = (await one.ask("compare", task=task, old=start["seq"]))["files"]
        plan = await one.ask("restore_plan", task=task, to=start["seq"])
        await one.do("revert", task=task, path=place, diff=differs["diff"])
        reverted = (library / "lib.py").read_text()
        await one.do("revert", task=task, path=place, diff=differs["diff"], back=False)
        await one.command("go_back", task, to=start["seq"])
        back = (await one.facts(task, lambda now: now["rewinds"]))["rewinds"][0]
        gone_back = (library / "lib.py").read_text()
        await one.do("restore", task=task, checkpoint=back["undo"])
    assert place in can_be_mentioned["files"]
    assert (differs["path"], plan["overwrites"], plan["unsaved"]) == (place, [place], "")
    assert (reverted, gone_back, (library / "lib.py").read_text()) == ("old\n", "old\n", "new\n")


async def test_a_folder_that_a_task_cannot_have_is_refused_before_it_begins(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        content = [{"type": "text", "text": "hi"}]
        wish = {"workspace": str(halo.folder), "content": content, "model": halo.script(HI)}
        answer = await one.answer("begin", **wish, add_dirs=[str(halo.folder)])
        assert (answer["type"], halo.tasks) == ("refused", [])
        assert "The task already has the folder" in answer["text"]


async def test_a_plan_names_the_commands_that_ran_since(halo: Halo) -> None:
    script = halo.script({"call": [shell("touch made")]}, HI)
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "run", model=script, approval_mode="yolo")
        await one.turn(task)
        plan = await one.ask("restore_plan", task=task, to=1)
    assert plan["commands"] == ["touch made"]


async def test_a_context_report_is_told_of_a_task_that_nobody_has_open(halo: Halo) -> None:
    await halo.run("run", "-m", halo.script(HI), "hi")
    (task,) = halo.tasks
    async with serving(halo) as server, page(server) as one:
        report = await one.ask("context", task=task)
    assert report["task"] == task


async def test_a_picture_is_given_shown_and_named_by_its_content(halo: Halo) -> None:
    async with serving(halo) as server:
        headers = {"origin": server.origin, **await server.session()}
        async with server.http(headers=headers) as http:
            model = halo.script(HI)
            given = await http.post("/upload", params={"model": model, "name": "a.png"}, content=PIXEL)
            (halo.home / "settings.toml").write_text('image_models = ["scripted/*"]\n')
            seen = await http.post("/upload", params={"model": model, "name": "a.png"}, content=PIXEL)
            image = seen.json()["parts"][1]
            shown = await http.get(f"/blob/{image['blob']}", params={"type": "text/html"})
    assert (given.json()["sees"], seen.json()["sees"]) == (False, True)
    assert given.json()["parts"] == seen.json()["parts"]
    assert (shown.content, shown.headers["content-type"]) == (PIXEL, "image/png")
    assert shown.headers["content-security-policy"].startswith("sandbox;")
    assert shown.headers["x-content-type-options"] == "nosniff"


async def test_a_text_is_given_as_a_note_and_what_is_no_text_is_refused(halo: Halo) -> None:
    async with serving(halo) as server:
        headers = {"origin": server.origin, **await server.session()}
        async with server.http(headers=headers) as http:
            where = {"model": halo.script(HI)}
            text = await http.post("/upload", params={"name": "notes\n.txt", **where}, content=b"remember")
            binary = await http.post("/upload", params={"name": "a.bin", **where}, content=b"\0\1\2")
    (note,) = text.json()["parts"]
    assert note["text"] == "[notes_.txt: a file of 8 bytes from the user]\nremember"
    assert (binary.status_code, binary.json()["text"]) == (422, "a.bin has no readable text.")


async def test_a_task_is_exported_as_a_file_and_nothing_else_is(halo: Halo) -> None:
    await halo.run("run", "-m", halo.script(HI), "hi")
    (task,) = halo.tasks
    async with serving(halo) as server, server.http(headers=await server.session()) as http:
        page_ = await http.get(f"/export/{task}.md")
        odd = await http.get(f"/export/{task}.exe")
        none = await http.get("/export/nothing.md")
    assert page_.text.startswith("# hi")
    assert page_.headers["content-disposition"] == f'attachment; filename="{task}.md"'
    assert (odd.status_code, none.status_code) == (404, 404)


async def test_a_folder_with_programs_of_its_own_is_asked_about_once(halo: Halo) -> None:
    hooks = halo.folder / ".halocline" / "hooks"
    hooks.mkdir(parents=True)
    (hooks / "PreToolUse").write_text("#!/bin/sh\n")
    (hooks / "PreToolUse").chmod(0o755)
    subprocess.run(["git", "init", "-q", halo.folder], check=True)
    async with serving(halo) as server, page(server) as one:
        before = await one.ask("trust", workspace=str(halo.folder))
        await one.do("trust", workspace=str(halo.folder), yes=True)
        after = await one.ask("trust", workspace=str(halo.folder))
    assert (before["needs"], before["trusted"], len(before["what"])) == (True, False, 1)
    assert (after["needs"], after["trusted"]) == (False, True)


async def test_another_model_is_taken_between_turns(halo: Halo) -> None:
    other = halo.script({"text": "Other."}, {"text": "Other."}, name="other")
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "hi", model=halo.script(HI))
        await one.turn(task)
        await one.do("change_model", task=task, model=other)
        changed = await one.facts(task, lambda now: now["model"] == other)
    assert changed["model"] == other


async def test_a_task_at_an_address_of_its_own_is_seen_and_goes_on_with_a_model_that_is_chosen(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello.")], key="k") as model:
        assert (await halo.run("-p", *asks(model), "hi")).code == 0
    (task,), other = halo.tasks, halo.script(HI, HI, name="other")
    async with serving(halo, env={"OPENAI_API_KEY": "k"}) as server, page(server) as one:
        await one.turn(task)
        prompt = {"type": "submit_prompt", "task": task, "content": [{"type": "text", "text": "again"}]}
        refused = await one.answer("command", command=prompt)
        assert "This task used openai/x at http://127.0.0.1" in refused["text"]
        assert "set that address under Models" in refused["hint"]
        await one.do("change_model", task=task, model=other)
        changed = await one.facts(task, lambda now: now["model"] == other)
    assert changed["model"] == other
    assert [event.model for event in halo.log() if isinstance(event, ev.ModelChanged)] == [other]


async def test_a_deleted_task_is_in_the_trash_and_comes_back(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "hi", model=halo.script(HI))
        await one.turn(task)
        await one.do("delete", task=task)
        gone, trash = await one.ask("tasks"), await one.ask("trash")
        await one.do("undelete", task=task)
        back = await one.ask("tasks")
    assert gone == []
    assert [kept["info"]["task"] for kept in trash["tasks"]] == [task]
    assert [info["task"] for info in back] == [task]


async def test_a_fork_has_the_past_of_its_task(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        task = await one.begin(halo, "hi", model=halo.script(HI))
        await one.turn(task)
        fork = await one.do("fork", task=task)
        listed = await one.ask("tasks")
    assert {info["task"] for info in listed} == {task, fork}


async def test_what_makes_no_sense_is_refused_in_words_and_the_page_goes_on(halo: Halo) -> None:
    async with serving(halo) as server, page(server) as one:
        unknown = await one.answer("query", name="nothing")
        wrong = await one.answer("query", name="points", arguments={"task": 5})
        outside = await one.answer("command", command={"type": "label", "task": "../../x", "name": "a"})
        await one.socket.send(b"\x00\x01")
        await one.socket.send("{")
        garbage = await one.until(lambda frame: frame["type"] == "refused")
        tasks = await one.ask("tasks")
    assert unknown["type"] == wrong["type"] == outside["type"] == "refused"
    assert outside["code"] == "task_not_found"
    assert garbage["code"] == "not_understood"
    assert tasks == []
