"""`halo editor` as an extension uses it: the real process, over its pipes."""

import base64
import json
import subprocess
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.servers.model_server import ModelServer
from tests.surfaces.editor.extension import PAGE, Extension, Refused, start_extension

from halocline.providers.scripted.script import Call, Turn

pytestmark = pytest.mark.process
REPLACE = Call("replace_in_file", {"path": "old.txt", "diff": "------- SEARCH\nb\n=======\nB\n+++++++ REPLACE\n"})
WRITE = Call("write_to_file", {"path": "new.txt", "content": "one\ntwo\n"})
PATCH = Call(
    "apply_patch",
    {
        "input": "*** Begin Patch\n*** Update File: old.txt\n@@\n a\n-b\n+B\n c\n"
        "*** Add File: new.txt\n+one\n*** End Patch"
    },
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "old.txt").write_text("a\nb\nc\n")
    return folder


@pytest.fixture
async def model() -> AsyncIterator[ModelServer]:
    async with ModelServer([]) as server:
        yield server


async def begin(extension: Extension, folder: Path, server: ModelServer, text: str = "go", **more: object) -> str:
    await extension.open_page()
    return await extension.begin(folder, text, model="openai/x", **more)


def env(server: ModelServer) -> dict[str, str]:
    return {"HALOCLINE_BASE_URL": server.url("openai"), "OPENAI_API_KEY": "k"}


async def test_the_extension_gets_the_page_and_where_its_files_are(tmp_path: Path, folder: Path) -> None:
    async with start_extension(tmp_path, folder) as extension:
        greeted = await extension.ask("initialize")
        place = Path(greeted["folder"])
        assert "{base}" in greeted["page"]
        for name in ("first.js", "first.css", "js/editor.js", "js/editor.css", "js/transcript/task-view.js"):
            assert (place / "static" / name).is_file(), name
        assert (await extension.ask("initialize"))["folder"] == str(place)


async def test_no_file_of_the_page_leads_to_the_root_of_a_server(tmp_path: Path, folder: Path) -> None:
    async with start_extension(tmp_path, folder) as extension:
        place = Path((await extension.ask("initialize"))["folder"])
    own = [*place.glob("static/*.*"), *place.glob("static/js/**/*.js"), *place.glob("static/js/**/*.css")]
    assert [str(path) for path in own if "'/static" in path.read_text()] == []


async def test_a_task_works_in_all_folders_of_the_window_but_those_inside_others(tmp_path: Path, folder: Path) -> None:
    second, elsewhere = tmp_path / "second", tmp_path / "elsewhere"
    for one in (second / "inside", elsewhere):
        one.mkdir(parents=True)
    (second / "note.txt").write_text("It is here.\n")
    read = Call("read_file", {"path": "@second:note.txt"})
    async with (
        ModelServer([Turn(calls=(read,)), Turn(text="Done."), Turn(text="Done.")]) as server,
        start_extension(tmp_path, folder, second, second / "inside", **env(server)) as extension,
    ):
        await begin(extension, folder, server)
        await extension.turn_ended()
        assert "It is here." in str(server.requests[1].body)
        await extension.begin(elsewhere, "go", model="openai/x")
        await extension.until(lambda: len(roots_of(extension)) == 2)
        assert roots_of(extension) == [[str(second)], []]


def roots_of(extension: Extension) -> list[list[str]]:
    return [row.get("roots", []) for row in extension.rows("start_row")]


async def test_a_waiting_edit_opens_as_whole_files_and_is_accepted(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([Turn(calls=(REPLACE,)), Turn(text="Done.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        task = await begin(extension, folder, server)
        shown = (await extension.until(lambda: extension.of("diff/open")))[0]
        assert shown["files"] == [
            {"path": "old.txt", "file": str(folder / "old.txt"), "before": "a\nb\nc\n", "after": "a\nB\nc\n"}
        ]
        answer = await extension.ask("edit/decide", task=task, request=shown["request"], accept=True)
        assert answer == {"changed": []}
        await extension.turn_ended()
        assert extension.of("diff/close") == [{"task": task, "call": shown["call"]}]
    assert (folder / "old.txt").read_text() == "a\nB\nc\n"


@pytest.mark.parametrize(
    ("call", "texts"),
    [
        (REPLACE, {"old.txt": "a\nbee\nc\nd\n"}),
        (WRITE, {"new.txt": "one\n2\nthree"}),
        (PATCH, {"old.txt": "A\nB\nC\n"}),
        (PATCH, {"new.txt": "eins\nzwei\n", "old.txt": "a\nB\nc\nd\n"}),
    ],
)
async def test_what_a_person_changes_in_the_diff_is_what_is_written_and_the_model_is_told(
    tmp_path: Path, folder: Path, call: Call, texts: dict[str, str]
) -> None:
    async with (
        ModelServer([Turn(calls=(call,)), Turn(text="Done.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        task = await begin(extension, folder, server)
        shown = (await extension.until(lambda: extension.of("diff/open")))[0]
        answer = await extension.ask("edit/decide", task=task, request=shown["request"], accept=True, texts=texts)
        assert answer == {"changed": sorted(texts)}
        await extension.turn_ended()
        told = json.dumps(server.requests[-1].body)
    assert {path: (folder / path).read_text() for path in texts} == texts
    assert "The user changed this call before it ran" in told
    for text in texts.values():
        assert f"+{text.splitlines()[-1]}" in told


async def test_a_rejected_edit_changes_nothing(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([Turn(calls=(REPLACE,)), Turn(text="I see.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        task = await begin(extension, folder, server)
        shown = (await extension.until(lambda: extension.of("diff/open")))[0]
        await extension.ask("edit/decide", task=task, request=shown["request"], accept=False, note="Not this line.")
        await extension.turn_ended()
        assert "Not this line." in json.dumps(server.requests[-1].body)
        with pytest.raises(Refused, match="no longer waits"):
            await extension.ask("edit/decide", task=task, request=shown["request"], accept=True)
    assert (folder / "old.txt").read_text() == "a\nb\nc\n"


async def test_an_edit_shows_while_it_is_written_if_it_will_be_asked_about(tmp_path: Path, folder: Path) -> None:
    content = "".join(f"line {number}\n" for number in range(400))
    write = Call("write_to_file", {"path": "new.txt", "content": content})
    async with (
        ModelServer([Turn(calls=(write,), pace=0.02), Turn(text="Done.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        task = await begin(extension, folder, server)
        shown = (await extension.until(lambda: extension.of("diff/open")))[0]
        drafts = [one["files"][0]["after"] for one in extension.of("diff/draft")]
        assert len(drafts) > 1
        assert all(content.startswith(draft) for draft in drafts)
        assert [len(draft) for draft in drafts] == sorted({len(draft) for draft in drafts})
        await extension.ask("edit/decide", task=task, request=shown["request"], accept=True)
        await extension.turn_ended()


async def test_a_prompt_tells_the_model_what_is_open_in_the_editor(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([Turn(text="Yes.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        extension.notify("editor/changed", visible=[str(folder / "old.txt")], open=[str(folder / "old.txt"), "/else/b"])
        await begin(extension, folder, server)
        await extension.turn_ended()
        told = json.dumps(server.requests[-1].body)
    assert "old.txt" in told
    assert str(folder / "old.txt") not in told
    assert "/else/b" in told


async def test_a_page_uploads_and_fetches_over_the_extension(tmp_path: Path, folder: Path) -> None:
    async with start_extension(tmp_path, folder) as extension:
        await extension.open_page()
        body = base64.b64encode(b"some words").decode()
        path = "/upload?name=a.txt&model=scripted/x"
        found = await extension.ask("page/fetch", path=path, method="POST", body=body)
        assert (found["status"], found["type"]) == (200, "application/json")
        assert b"some words" in base64.b64decode(found["body"])
        missing = await extension.ask("page/fetch", path="/blob/none")
        assert missing["status"] == 404
        assert (await extension.ask("page/fetch", path="/enter"))["status"] == 404


async def test_a_page_that_is_hidden_and_shown_again_gets_everything_again(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([Turn(text="Yes.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        task = await begin(extension, folder, server)
        await extension.turn_ended()
        extension.notify("page/close", page=PAGE)
        extension.frames.clear()
        await extension.open_page()
        extension.notify("page/message", page=PAGE, text=json.dumps({"type": "watch", "task": task}))
        await extension.turn_ended()


async def test_a_message_of_a_page_that_is_not_connected_says_so(tmp_path: Path, folder: Path) -> None:
    async with start_extension(tmp_path, folder) as extension:
        extension.notify("page/message", page="other", text="{}")
        assert (await extension.until(lambda: extension.of("page/closed")))[0]["page"] == "other"


@pytest.mark.parametrize(
    "line", [b"", b"{", b"[]", b'{"jsonrpc":"2.0","id":"x","method":"page/open","params":7}', b"\xff"]
)
async def test_a_malformed_message_is_refused_and_the_next_one_works(tmp_path: Path, folder: Path, line: bytes) -> None:
    async with start_extension(tmp_path, folder) as extension:
        extension.write(line)
        assert (await extension.ask("initialize"))["version"]
        with pytest.raises(Refused, match="no method"):
            await extension.ask("page/none")
        with pytest.raises(Refused, match="page"):
            await extension.ask("page/open")


async def test_the_status_says_which_tasks_wait_for_you(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([Turn(calls=(REPLACE,)), Turn(text="Done.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        task = await begin(extension, folder, server, "Make b big")
        asks = await extension.until(
            lambda: [one for one in extension.of("status") if one["tasks"].get(task, {}).get("status") == "asks"]
        )
        assert asks[0]["tasks"][task]["title"] == "Make b big"
        shown = (await extension.until(lambda: extension.of("diff/open")))[0]
        await extension.ask("edit/decide", task=task, request=shown["request"], accept=True)
        await extension.until(lambda: extension.of("status")[-1]["tasks"].get(task, {}).get("status") == "rests")


async def test_comments_of_the_model_come_as_threads_and_a_reply_is_answered(tmp_path: Path, folder: Path) -> None:
    for words in (
        ["init", "-q"],
        ["add", "."],
        ["-c", "user.name=A", "-c", "user.email=a@b.c", "commit", "-qm", "one"],
    ):
        subprocess.run(["git", *words], cwd=folder, check=True)
    (folder / "old.txt").write_text("a\nB\nc\n")
    comments = [{"path": "old.txt", "line": 2, "text": "Louder, so that it is heard."}]
    explain = Call("generate_explanation", {"title": "Louder", "from_ref": "HEAD", "comments": comments})
    turns = [Turn(calls=(explain,)), Turn(text="Explained."), Turn(text="Because nobody heard it.")]
    async with ModelServer(turns) as server, start_extension(tmp_path, folder, **env(server)) as extension:
        task = await begin(extension, folder, server, "/explain-changes", approval_mode="auto")
        (shown,) = await extension.until(lambda: extension.of("review/show"))
        assert shown["files"] == [
            {
                "path": "old.txt",
                "file": str(folder / "old.txt"),
                "remarks": [{"line": 2, "text": "Louder, so that it is heard."}],
            }
        ]
        await extension.turn_ended()
        comment = {"path": "old.txt", "line": 2, "comment": "Louder, so that it is heard."}
        answer = await extension.ask("review/reply", task=task, text="Why?", **comment)
        assert answer == {"text": "Because nobody heard it."}
        assert "> Louder, so that it is heard.\\n\\nWhy?" in json.dumps(server.requests[-1].body)


async def test_a_code_action_starts_a_task_with_the_text_of_the_editor(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([Turn(text="It is the second letter.")]) as server,
        start_extension(tmp_path, folder, **env(server), HALOCLINE_MODEL="openai/x") as extension,
    ):
        place = {"folder": str(folder), "path": "old.txt", "first": 2, "last": 2, "text": "unsaved\n"}
        await extension.open_page()
        task = await extension.ask("action/run", name="explain", problems=["b is not a word"], **place)
        extension.notify("page/message", page=PAGE, text=json.dumps({"type": "watch", "task": task}))
        await extension.turn_ended()
        told = json.dumps(server.requests[-1].body)
        assert all(words in told for words in ("old.txt:2", "unsaved", "b is not a word"))
        with pytest.raises(Refused, match="no action"):
            await extension.ask("action/run", name="paint", **place)


async def test_an_edit_that_waits_when_the_window_closes_waits_in_the_next_one(tmp_path: Path, folder: Path) -> None:
    async with ModelServer([Turn(calls=(REPLACE,)), Turn(text="Done.")]) as server:
        async with start_extension(tmp_path, folder, **env(server)) as extension:
            task = await begin(extension, folder, server)
            await extension.until(lambda: extension.of("diff/open"))
        async with start_extension(tmp_path, folder, **env(server)) as extension:
            await extension.open_page()
            extension.notify("page/message", page=PAGE, text=json.dumps({"type": "watch", "task": task}))
            shown = (await extension.until(lambda: extension.of("diff/open")))[0]
            await extension.ask("edit/decide", task=task, request=shown["request"], accept=True)
            await extension.turn_ended()
    assert (folder / "old.txt").read_text() == "a\nB\nc\n"


async def test_a_question_that_waits_when_the_window_closes_waits_in_the_next_one(tmp_path: Path, folder: Path) -> None:
    ask = Call("ask_followup_question", {"question": "Which?", "options": ["tabs", "spaces"]})

    def asked(extension: Extension) -> list[str]:
        return [row["request"] for row in extension.rows("question_row") if not row.get("by")]

    async with ModelServer([Turn(calls=(ask,)), Turn(text="Done.")]) as server:
        async with start_extension(tmp_path, folder, **env(server)) as extension:
            task = await begin(extension, folder, server)
            (before,) = await extension.until(lambda: asked(extension))
        async with start_extension(tmp_path, folder, **env(server)) as extension:
            await extension.open_page()
            extension.notify("page/message", page=PAGE, text=json.dumps({"type": "watch", "task": task}))
            again = await extension.until(lambda: [one for one in asked(extension) if one != before])
            answer = {"type": "answer_question", "task": task, "request": again[0], "answer": "tabs"}
            await extension.page_asks(type="command", command=answer)
            await extension.turn_ended()
        assert "tabs" in json.dumps(server.requests[-1].body)


async def test_an_edit_keeps_what_is_typed_and_not_saved_and_is_saved_by_the_editor(
    tmp_path: Path, folder: Path
) -> None:
    old = str(folder / "old.txt")
    read = Call("read_file", {"path": "old.txt"})
    turns = [Turn(calls=(read,)), Turn(calls=(REPLACE,)), Turn(text="Done.")]
    async with ModelServer(turns) as server, start_extension(tmp_path, folder, **env(server)) as extension:
        extension.unsaved[old] = "a\nb\nc\ntyped\n"
        task = await begin(extension, folder, server)
        shown = (await extension.until(lambda: extension.of("diff/open")))[0]
        (file,) = shown["files"]
        assert (file["before"], file["after"]) == ("a\nb\nc\ntyped\n", "a\nB\nc\ntyped\n")
        await extension.ask("edit/decide", task=task, request=shown["request"], accept=True)
        await extension.turn_ended()
        assert "4 | typed" in json.dumps(server.requests[1].body)
        assert [params["path"] for params in extension.of("file/write")] == [old]
    assert (folder / "old.txt").read_text() == "a\nB\nc\ntyped\n"


async def test_an_edit_of_a_file_whose_unsaved_text_changes_all_the_time_is_refused_and_nothing_is_written(
    tmp_path: Path, folder: Path
) -> None:
    old = str(folder / "old.txt")
    turns = [Turn(calls=(REPLACE,)), Turn(text="Done.")]
    async with ModelServer(turns) as server, start_extension(tmp_path, folder, **env(server)) as extension:
        extension.unsaved[old] = "a\nb\nc\ntyped\n"
        extension.answers["file/write"] = lambda params: "changed"
        await begin(extension, folder, server, approval_mode="auto")
        await extension.turn_ended()
        assert "was changed by another program just now" in json.dumps(server.requests[1].body)
    assert (folder / "old.txt").read_text() == "a\nb\nc\n"


async def test_a_file_that_is_not_open_is_written_on_disk(tmp_path: Path, folder: Path) -> None:
    async with (
        ModelServer([Turn(calls=(REPLACE,)), Turn(text="Done.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        await begin(extension, folder, server, approval_mode="auto")
        await extension.turn_ended()
    assert (folder / "old.txt").read_text() == "a\nB\nc\n"


async def test_an_editor_that_does_not_answer_about_files_is_not_asked_again_and_the_disk_is_used(
    tmp_path: Path, folder: Path
) -> None:
    async with (
        ModelServer([Turn(calls=(REPLACE,)), Turn(text="Done.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        extension.is_silent = True
        await begin(extension, folder, server, approval_mode="auto")
        await extension.turn_ended()
        assert (bool(extension.of("file/read")), extension.of("file/write")) == (True, [])
    assert (folder / "old.txt").read_text() == "a\nB\nc\n"


async def test_errors_that_the_editor_finds_after_an_edit_are_told_to_the_model(tmp_path: Path, folder: Path) -> None:
    (folder / "old.txt").write_text("a\nb\nwrong before\n")
    read = Call("read_file", {"path": "old.txt"})
    spoil = Call("replace_in_file", {"path": "old.txt", "old_text": "b\n", "new_text": "wrong now\n"})
    turns = [Turn(calls=(read,)), Turn(text="Now.", calls=(spoil,)), Turn(text="Oh.")]
    async with ModelServer(turns) as server, start_extension(tmp_path, folder, **env(server)) as extension:
        extension.checked.append(str(folder / "old.txt"))
        task = await begin(extension, folder, server)
        shown = (await extension.until(lambda: extension.of("diff/open")))[0]
        await extension.ask("edit/decide", task=task, request=shown["request"], accept=True)
        await extension.turn_ended()
        told = json.dumps(server.requests[-1].body)
    assert "1 error" in told
    assert "wrong now" in told.split("1 error")[1]
    assert "wrong before" not in told.split("1 error")[1]


async def test_the_problems_of_a_prompt_are_those_of_the_window_without_hidden_files(
    tmp_path: Path, folder: Path
) -> None:
    (folder / ".haloclineignore").write_text("secret/\n")
    places = {name: str(folder / name) for name in ("a.py", "secret/b.py", "c.py")}
    shown = [
        {"path": places["a.py"], "line": 2, "text": "x = 1 +", "message": "Expected expression", "source": "Pylance"},
        {"path": places["secret/b.py"], "line": 1, "text": "key", "message": "hidden"},
        {"path": "/elsewhere/d.py", "line": 1, "text": "", "message": "outside"},
        {"path": places["c.py"], "line": 1, "text": "import os", "message": "unused", "is_warning": True},
    ]
    async with (
        ModelServer([Turn(text="One."), Turn(text="Two.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        extension.shown = shown
        await begin(extension, folder, server, text="look @problems")
        await extension.until(lambda: len(server.requests) == 1)
        told = str(server.requests[0].body)
        assert "The editor shows 1 error and 1 warning:\\na.py:2 | x = 1 +\\n  Expected expression (Pylance)" in told
        assert "warning: unused" in told
        assert "hidden" not in told.split("The editor shows")[1]
        assert "outside" not in told.split("The editor shows")[1]
        extension.shown = [{"line": "two"}]
        await begin(extension, folder, server, text="again @problems")
        await extension.until(lambda: len(server.requests) == 2)
        assert "no language server responded" in str(server.requests[1].body)


async def test_the_terminals_of_the_window_are_read_for_a_person_and_not_for_a_file(
    tmp_path: Path, folder: Path
) -> None:
    (folder / "AGENTS.md").write_text("Read @terminal first.\n")
    failed = {
        "terminal": "bash",
        "command": "make",
        "folder": "/p",
        "output": "\x1b[31mno rule\x1b[0m\r\n",
        "exit_code": 2,
    }
    async with (
        ModelServer([Turn(text="One."), Turn(text="Two."), Turn(text="Three.")]) as server,
        start_extension(tmp_path, folder, **env(server)) as extension,
    ):
        extension.terminals = [failed, {**failed, "terminal": "zsh", "exit_code": None, "is_running": True}]
        await begin(extension, folder, server, text="hello")
        await extension.turn_ended()
        assert not extension.of("terminals/latest")
        await begin(extension, folder, server, text="why? @terminal")
        await extension.until(lambda: len(server.requests) == 2)
        told = str(server.requests[1].body)
        assert "Terminal bash of the user [exit code 2, /p]\\n$ make\\nno rule\\n" in told
        assert "Terminal zsh of the user [still running, /p]" in told
        extension.terminals = [{"terminal": 1}]
        await begin(extension, folder, server, text="again @terminal")
        await extension.until(lambda: len(server.requests) == 3)
        assert "no command has run in this task" in str(server.requests[2].body)
