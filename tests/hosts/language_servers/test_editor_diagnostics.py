import asyncio
from collections.abc import Sequence
from pathlib import Path

from halocline.hosts.language_servers.editor_diagnostics import EditorDiagnostics
from halocline.ports.diagnostics import EditedText, NoDiagnostics, Problem
from halocline.ports.editor import CheckedFiles

A, B, OTHER = Path("/w/a.json"), Path("/w/b.json"), Path("/w/a.xyz")
OLD = Problem(A, 3, "old", "It was wrong before.")
NEW = Problem(A, 1, "new", "It is wrong now.")


class ShownErrors:
    """An editor that checks these files."""

    def __init__(self, **errors: tuple[Problem, ...]) -> None:
        self.errors = {Path("/w", name.replace("_", ".")): found for name, found in errors.items()}

    async def check(self, paths: Sequence[Path], wait: float) -> CheckedFiles:
        checked = tuple(path for path in paths if path in self.errors)
        return CheckedFiles(checked, tuple(one for path in checked for one in self.errors[path]))

    async def shown(self) -> tuple[Problem, ...] | None:
        return tuple(one for found in self.errors.values() for one in found)


class Servers(NoDiagnostics):
    """Language servers that note what they are asked."""

    def __init__(self) -> None:
        self.expected: list[Path] = []
        self.edited: list[Path] = []

    def expect(self, path: Path) -> None:
        self.expected.append(path)

    async def introduced(self, edits: Sequence[EditedText]) -> tuple[Problem, ...]:
        self.edited += [edit.path for edit in edits]
        return ()


async def read(diagnostics: EditorDiagnostics, *paths: Path) -> None:
    for path in paths:
        diagnostics.expect(path)
    await asyncio.sleep(0.01)


async def test_only_errors_that_an_edit_brought_in_are_told() -> None:
    editor, servers = ShownErrors(a_json=(OLD,)), Servers()
    diagnostics = EditorDiagnostics(editor, servers, 1.0)
    await read(diagnostics, A)
    editor.errors[A] = (NEW, Problem(A, 4, "old", "It was wrong before."))
    assert diagnostics.knows(A)
    assert await diagnostics.introduced([EditedText(A, "x", "y")]) == (NEW,)
    assert await diagnostics.introduced([EditedText(A, "y", "z")]) == ()
    assert (servers.expected, servers.edited) == ([], [])


async def test_a_new_file_had_no_errors_before() -> None:
    editor = ShownErrors(a_json=(), b_json=(Problem(B, 1, "x", "It is wrong."),))
    diagnostics = EditorDiagnostics(editor, Servers(), 1.0)
    await read(diagnostics, A)
    assert [one.path for one in await diagnostics.introduced([EditedText(B, None, "x")])] == [B]


async def test_nothing_is_said_of_a_file_whose_errors_were_not_known() -> None:
    editor = ShownErrors(a_json=(), b_json=(Problem(B, 1, "x", "It may have been there."),))
    diagnostics = EditorDiagnostics(editor, Servers(), 1.0)
    await read(diagnostics, A)
    assert await diagnostics.introduced([EditedText(B, "w", "x")]) == ()


async def test_language_servers_take_files_that_the_editor_does_not_check() -> None:
    servers = Servers()
    diagnostics = EditorDiagnostics(ShownErrors(a_json=()), servers, 1.0)
    await read(diagnostics, A, OTHER)
    await diagnostics.introduced([EditedText(A, "x", "y"), EditedText(OTHER, "x", "y")])
    assert (servers.expected, servers.edited) == ([OTHER], [OTHER])
    assert not diagnostics.knows(OTHER)


async def test_errors_of_files_that_were_read_are_current_and_of_no_others() -> None:
    diagnostics = EditorDiagnostics(ShownErrors(a_json=(OLD,), b_json=(Problem(B, 1, "x", "Hidden."),)), Servers(), 1.0)
    await read(diagnostics, A)
    assert await diagnostics.current(()) == (OLD,)
    assert await EditorDiagnostics(ShownErrors(), Servers(), 1.0).current([OTHER]) is None


async def test_what_the_editor_shows_is_told_of_all_its_files() -> None:
    other = Problem(B, 1, "x", "Never read.", is_warning=True)
    assert await EditorDiagnostics(ShownErrors(a_json=(OLD,), b_json=(other,)), Servers(), 1.0).shown() == (OLD, other)


async def test_closing_ends_what_is_still_asked() -> None:
    class Silent(ShownErrors):
        async def check(self, paths: Sequence[Path], wait: float) -> CheckedFiles:
            await asyncio.sleep(60)
            return CheckedFiles()

    diagnostics = EditorDiagnostics(Silent(), Servers(), 1.0)
    await read(diagnostics, A)
    await asyncio.wait_for(diagnostics.close(), 1)
