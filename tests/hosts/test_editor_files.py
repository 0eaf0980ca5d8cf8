import os
from pathlib import Path

import pytest

from halocline.hosts.files.editor_files import EditorFiles, EditorScope
from halocline.hosts.files.local import LocalFiles
from halocline.hosts.files.unsaved_text import UnsavedText
from halocline.ports.host import FileChangedOutside, FileWrite
from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus, ToolKind
from halocline.protocol.messages import ToolResult

SOME = 1_000_000


class OpenFiles:
    """An editor with texts by path; `makes` is what it makes of a text when it saves it; None: it fails.

    One that `is_changing` has another text each time, as a notebook that runs.
    """

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.asked: list[str] = []
        self.written: list[str] = []
        self.makes: str | None = "%s"
        self.is_changing = False

    async def read(self, path: str) -> str | None:
        self.asked.append(path)
        return self.texts.get(path)

    async def write(self, path: str, text: str) -> bool:
        self.written.append(path)
        if self.is_changing:
            raise FileChangedOutside(path)
        if self.makes is None:
            return False
        self.texts.pop(path, None)
        Path(path).write_bytes((self.makes % text).encode())
        return True


@pytest.fixture
def editor() -> OpenFiles:
    return OpenFiles()


@pytest.fixture
def unsaved() -> UnsavedText:
    return UnsavedText()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path.resolve() / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def file(folder: Path) -> Path:
    (folder / "a.txt").write_bytes(b"one\ntwo\n")
    return folder / "a.txt"


@pytest.fixture
def files(editor: OpenFiles, unsaved: UnsavedText, folder: Path) -> EditorFiles:
    return EditorFiles(LocalFiles(), editor, unsaved, EditorScope((str(folder),), str(folder / ".halocline")))


def run_command(unsaved: UnsavedText, sandbox: str = "") -> None:
    unsaved.push(
        ev.ToolCallStarted(call="1", name="execute_command", title="x", kind=ToolKind.EXECUTE, sandbox=sandbox)
    )


def end_command(unsaved: UnsavedText) -> None:
    unsaved.push(
        ev.ToolCallEnded(
            call="1", name="execute_command", status=CallStatus.COMPLETED, result=ToolResult(call="1", content=())
        )
    )


@pytest.mark.parametrize(
    ("disk", "text", "read"),
    [
        (b"one\ntwo\n", "one\n2\n", b"one\n2\n"),
        (b"one\r\ntwo\r\n", "one\n2\n", b"one\r\n2\r\n"),
        (b"\xef\xbb\xbfone\n", "1\n", b"\xef\xbb\xbf1\n"),
        (b"caf\xe9 No\xebl l\xe0\n", "th\xe9\n", b"th\xe9\n"),
        (b"one\ntwo\n", "one\n2", b"one\n2\n"),
    ],
)
async def test_unsaved_text_is_read_in_the_form_of_the_file(
    files: EditorFiles, editor: OpenFiles, file: Path, disk: bytes, text: str, read: bytes
) -> None:
    file.write_bytes(disk)
    editor.texts[str(file)] = text
    assert await files.read(file, SOME) == read


@pytest.mark.parametrize(
    ("disk", "text"),
    [
        (b"one\r\ntwo", "one\ntwo\n"),
        (b"one\ntwo\nthree\n", "one\ntwo"),
        (b"one\ntwo\n", ""),
        (b"caf\xe9\n", "caf\ufffd\n"),
        (b"caf\xe9\n", "\u4e00\n"),
    ],
    ids=["endings only", "cut", "empty", "not decoded", "not encodable"],
)
async def test_a_text_that_the_editor_may_not_have_right_is_not_read(
    files: EditorFiles, editor: OpenFiles, file: Path, disk: bytes, text: str
) -> None:
    file.write_bytes(disk)
    editor.texts[str(file)] = text
    assert await files.read(file, SOME) == disk


async def test_the_editor_is_asked_only_in_the_folders_and_not_for_halocline_itself(
    files: EditorFiles, editor: OpenFiles, folder: Path, file: Path
) -> None:
    outside, own = folder.parent / "other.txt", folder / ".halocline" / "settings.toml"
    own.parent.mkdir()
    for path in (outside, own):
        path.write_text("x\n")
        await files.read(path, SOME)
        await files.write(path, b"y\n", b"x\n")
    (folder / "link.txt").symlink_to(outside)
    assert await files.read(folder / "link.txt", SOME) == b"y\n"
    (folder / "inside.txt").symlink_to(file)
    await files.read(folder / "inside.txt", SOME)
    assert (editor.asked, editor.written) == ([str(file)], [])


async def test_what_may_not_be_written_does_not_reach_the_editor(
    files: EditorFiles, editor: OpenFiles, file: Path
) -> None:
    with pytest.raises(OSError, match=r"a\.txt"):
        await files.only(lambda place: False).write(file, b"1\n", b"one\ntwo\n")
    assert editor.written == []


async def test_a_write_protected_file_stays(files: EditorFiles, editor: OpenFiles, file: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    file.chmod(0o444)
    with pytest.raises(PermissionError):
        await files.write(file, b"1\n", b"one\ntwo\n")
    assert editor.written == []


@pytest.mark.parametrize("makes", ["%s", "formatted %s", None])
async def test_exactly_what_was_to_be_written_is_on_disk(
    files: EditorFiles, editor: OpenFiles, file: Path, makes: str | None
) -> None:
    editor.makes = makes
    editor.texts[str(file)] = "one\n2\n"
    await files.write(file, b"1\n2\n", b"one\n2\n")
    assert (file.read_bytes(), editor.written) == (b"1\n2\n", [str(file)])


async def test_text_that_is_typed_after_it_was_read_is_not_overwritten(
    files: EditorFiles, editor: OpenFiles, file: Path
) -> None:
    editor.texts[str(file)] = "one\n2 and more\n"
    for write in (
        files.write(file, b"x", b"one\ntwo\n"),
        files.write_all([FileWrite(file, b"x", b"one\ntwo\n")]),
    ):
        with pytest.raises(FileChangedOutside):
            await write
    assert (file.read_bytes(), editor.written) == (b"one\ntwo\n", [])


async def test_an_edit_is_not_written_beside_text_that_changed_since_it_was_read(
    files: EditorFiles, editor: OpenFiles, file: Path
) -> None:
    editor.texts[str(file)] = "one\n2\n"
    editor.is_changing = True
    with pytest.raises(FileChangedOutside):
        await files.write(file, b"1\n2\n", b"one\n2\n")
    assert (file.read_bytes(), editor.texts[str(file)]) == (b"one\ntwo\n", "one\n2\n")


async def test_several_files_that_are_written_stay_so_if_an_editor_has_other_text_by_then(
    files: EditorFiles, editor: OpenFiles, file: Path
) -> None:
    editor.texts[str(file)] = "one\n2\n"
    editor.is_changing = True
    new = file.with_name("new.txt")
    await files.write_all([FileWrite(file, b"1\n2\n", b"one\n2\n"), FileWrite(new, b"n\n", None)])
    assert (file.read_bytes(), new.read_bytes(), editor.texts[str(file)]) == (b"1\n2\n", b"n\n", "one\n2\n")


async def test_several_files_are_written_over_unsaved_text_and_shown(
    files: EditorFiles, editor: OpenFiles, file: Path
) -> None:
    editor.texts[str(file)] = "one\n2\n"
    new = file.with_name("new.txt")
    await files.write_all([FileWrite(file, b"1\n2\n", b"one\n2\n"), FileWrite(new, b"n\n", None)])
    assert (file.read_bytes(), new.read_bytes(), editor.written) == (b"1\n2\n", b"n\n", [str(file), str(new)])


async def test_a_file_that_a_command_changed_is_read_from_disk_until_the_editor_has_it(
    files: EditorFiles, editor: OpenFiles, unsaved: UnsavedText, file: Path
) -> None:
    editor.texts[str(file)] = "one\ntyped\n"
    run_command(unsaved)
    file.write_bytes(b"sorted\n")
    end_command(unsaved)
    assert await files.read(file, SOME) == b"sorted\n"
    editor.texts[str(file)] = "sorted\n"
    await files.read(file, SOME)
    editor.texts[str(file)] = "sorted\nand typed\n"
    assert await files.read(file, SOME) == b"sorted\nand typed\n"


async def test_an_older_version_in_the_editor_does_not_come_back(
    files: EditorFiles, editor: OpenFiles, file: Path
) -> None:
    editor.texts[str(file)] = "one\ntwo\n"
    await files.read(file, SOME)
    file.write_bytes(b"by another program\n")
    assert await files.read(file, SOME) == b"by another program\n"


async def test_what_the_person_undid_in_the_editor_is_read(files: EditorFiles, editor: OpenFiles, file: Path) -> None:
    await files.write(file, b"one\n2\n", b"one\ntwo\n")
    editor.texts[str(file)] = "one\ntwo\n"
    assert await files.read(file, SOME) == b"one\ntwo\n"


async def test_the_editor_is_not_asked_while_a_sandboxed_command_could_swap_a_folder_for_a_link(
    files: EditorFiles, editor: OpenFiles, unsaved: UnsavedText, file: Path
) -> None:
    editor.texts[str(file)] = "one\ntwo\n"
    await files.read(file, SOME)
    editor.texts[str(file)] = "one\n2\n"
    run_command(unsaved, "in the sandbox")
    unsaved.push(ev.JobStarted(job="job-1", command="x", call="1", by="model"))
    end_command(unsaved)
    assert await files.read(file, SOME) == b"one\ntwo\n"
    unsaved.push(ev.JobEnded(job="job-1", command="x"))
    assert await files.read(file, SOME) == b"one\n2\n"


async def test_the_mark_of_a_file_changes_with_the_unsaved_text_that_is_read(
    files: EditorFiles, editor: OpenFiles, file: Path
) -> None:
    found = [await files.marks(file.parent, ["a.txt"])]
    for text in ("one\n2\n", "one\n22\n", "one\ntwo\n"):
        editor.texts[str(file)] = text
        await files.read(file, SOME)
        found.append(await files.marks(file.parent, ["a.txt"]))
    assert found[0] == found[-1]
    assert len({tuple(marks) for marks in found}) == 3


@pytest.mark.parametrize(
    ("disk", "typed", "is_refused"),
    [
        ("Größe für là\n".encode("latin-1"), "Größe für là\n→\n", True),
        ("zażółć gęślą jaźń\n".encode("cp1250"), "zażółć gęślą jaźń\nunsaved\n", False),
        ("größe\n".encode() + b"\xff\n", "größe\n\ufffd\nunsaved\n", False),
    ],
)
async def test_unsaved_text_that_the_file_cannot_hold_is_never_overwritten(
    files: EditorFiles, editor: OpenFiles, file: Path, disk: bytes, typed: str, is_refused: bool
) -> None:
    file.write_bytes(disk)
    editor.texts[str(file)] = typed
    read = await files.read(file, SOME)
    if is_refused:
        with pytest.raises(FileChangedOutside):
            await files.write(file, b"new\n" + read, read)
    else:
        await files.write(file, b"new\n" + read, read)
        assert file.read_bytes() == b"new\n" + disk
    assert editor.texts[str(file)] == typed
