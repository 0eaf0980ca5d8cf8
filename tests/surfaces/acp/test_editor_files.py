import asyncio
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, connect, flags, prompt

from halocline.providers.scripted.script import Call, Turn
from halocline.surfaces.acp.files import OpenFiles

pytestmark = pytest.mark.process
READ = Call("read_file", {"path": "open.txt"})
EDIT = Call("replace_in_file", {"path": "open.txt", "old_text": "typed", "new_text": "TYPED"})
WRITE = Call("write_to_file", {"path": "new.txt", "content": "one\n"})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "open.txt").write_text("a\nsaved\n")
    return folder


async def run(editor: Editor, root: Path, folder: Path, *turns: Turn) -> str:
    """Run one prompt; returns the last request to the model."""
    async with (
        ModelServer([*turns, Turn(text="Done.")]) as server,
        connect(editor, root, *flags(server)) as connection,
    ):
        _, session = await begin(connection, folder, editor.abilities)
        await connection.prompt(session_id=session.session_id, prompt=prompt("go"))
        return str(server.requests[-1])


async def test_what_is_typed_and_not_saved_is_read(tmp_path: Path, folder: Path) -> None:
    editor = Editor().offer_files()
    editor.buffers[str(folder / "open.txt")] = "a\ntyped\n"
    assert "2 | typed" in await run(editor, tmp_path, folder, Turn(calls=(READ,)))
    assert (folder / "open.txt").read_text() == "a\nsaved\n"


async def test_an_edit_keeps_what_is_typed_and_reaches_the_editor(tmp_path: Path, folder: Path) -> None:
    editor = Editor().offer_files()
    editor.buffers[str(folder / "open.txt")] = "a\ntyped\n"
    asked = await run(editor, tmp_path, folder, Turn(calls=(READ,)), Turn(calls=(EDIT,)))
    assert (folder / "open.txt").read_text() == "a\nTYPED\n"
    assert editor.writes == [str(folder / "open.txt")]
    assert "changed on disk" not in asked


async def test_a_new_file_goes_through_the_editor(tmp_path: Path, folder: Path) -> None:
    editor = Editor().offer_files()
    await run(editor, tmp_path, folder, Turn(calls=(WRITE,)))
    assert ((folder / "new.txt").read_text(), editor.writes) == ("one\n", [str(folder / "new.txt")])


async def test_an_editor_that_fails_is_replaced_by_the_disk(tmp_path: Path, folder: Path) -> None:
    editor = Editor().offer_files()
    editor.fails_at_files = True
    assert "2 | saved" in await run(editor, tmp_path, folder, Turn(calls=(READ,)), Turn(calls=(WRITE,)))
    assert (folder / "new.txt").read_text() == "one\n"
    assert (bool(editor.reads), bool(editor.writes)) == (True, True)


async def test_an_editor_that_offers_no_files_is_not_asked(tmp_path: Path, folder: Path) -> None:
    editor = Editor()
    assert "2 | saved" in await run(editor, tmp_path, folder, Turn(calls=(READ,)), Turn(calls=(WRITE,)))
    assert editor.reads + editor.writes == []


async def test_what_a_command_changed_is_not_hidden_by_an_editor_that_did_not_read_it_again(
    tmp_path: Path, folder: Path
) -> None:
    editor = Editor().offer_files()
    editor.buffers[str(folder / "open.txt")] = "a\nsaved\n"
    change = Call("execute_command", {"command": "sed -i s/saved/sorted/ open.txt"})
    sent = await run(editor, tmp_path, folder, Turn(calls=(READ,)), Turn(calls=(change,)), Turn(calls=(READ,)))
    assert "2 | sorted" in sent


class SilentEditor(Editor):
    async def read_text_file(self, session_id: str, path: str, **meta: Any) -> schema.ReadTextFileResponse:
        self.reads.append(path)
        await asyncio.Event().wait()
        raise AssertionError


async def test_an_editor_that_does_not_answer_is_left_alone_for_a_while() -> None:
    editor = SilentEditor().offer_files()
    files = OpenFiles(editor, editor.abilities, "session", patience=0.01)
    assert [await files.read("/a"), await files.read("/b"), await files.write("/a", "x")] == [None, None, False]
    assert (editor.reads, editor.writes) == (["/a"], [])


async def test_an_editor_that_is_gone_is_no_error() -> None:
    class GoneEditor(Editor):
        async def read_text_file(self, session_id: str, path: str, **meta: Any) -> schema.ReadTextFileResponse:
            raise ConnectionError("Connection closed")

    editor = GoneEditor().offer_files()
    assert await OpenFiles(editor, editor.abilities, "session").read("/a") is None
