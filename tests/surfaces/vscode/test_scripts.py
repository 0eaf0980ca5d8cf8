"""What single scripts of the extension decide, without a VS Code."""

import json
import sys
from pathlib import Path

import pytest
from tests.surfaces.vscode.scripts import run_script

pytestmark = pytest.mark.process
DONE = 'script("install").install({ globalStorageUri: { fsPath: FOLDER }, asAbsolutePath: () => FOLDER })'
PYTHON = """#!/bin/sh
case "$1$2" in
  -mvenv) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
  -mpip) printf '%s\\n' "$SAYS" >&2; exit 1 ;;
esac
"""
BROKEN = "WARNING: Retrying (Retry(total=0)) after connection broken by 'NewConnectionError': /simple/x/"
MISSING = "ERROR: Could not find a version that satisfies x\nERROR: No matching distribution found for x"
HASHES = "ERROR: THESE PACKAGES DO NOT MATCH THE HASHES.\n    x from y:\n        Expected a\n             Got        b"
FULL = "ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device"


def install(folder: Path, steps: str = "", says: str = "", path: str = "/nowhere") -> list[str]:
    """Install where a whole package is; returns the errors that are told."""
    (folder / "python" / "bin").mkdir(parents=True)
    (folder / "python" / "whole").touch()
    steps = (
        f"const FOLDER = {json.dumps(str(folder))}; {steps}; await {DONE}.catch((error) => said.push(error.message))"
    )
    found: list[str] = run_script(f"{steps}; return said", PATH=path, SAYS=says)
    return found


@pytest.mark.parametrize(
    ("steps", "told"),
    [("vscode.workspace.isTrusted = false", "Restricted Mode"), ("", "Halocline needs Python 3.11 or later")],
)
def test_an_installation_that_cannot_begin_leaves_what_is_installed(tmp_path: Path, steps: str, told: str) -> None:
    (said,) = install(tmp_path, steps)
    assert told in said
    assert (tmp_path / "python" / "whole").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="the Python of this test is a script of a shell")
@pytest.mark.parametrize(
    ("says", "told"),
    [
        (f"{BROKEN}\n{MISSING}", "the package index, where the libraries that it needs are, was not reached"),
        (f"{BROKEN}\n{HASHES}", "THESE PACKAGES DO NOT MATCH THE HASHES"),
        (f"{BROKEN}\n{FULL}", "No space left on device"),
        (MISSING, "No matching distribution found for x"),
    ],
)
def test_an_installation_that_fails_says_why_and_leaves_nothing_half_made(tmp_path: Path, says: str, told: str) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "python3.14").write_text(PYTHON)
    (programs / "python3.14").chmod(0o755)
    (said,) = install(tmp_path, says=says, path=f"{programs}:/usr/bin:/bin")
    assert told in said
    assert not (tmp_path / "python").exists()


@pytest.mark.parametrize(
    ("uri", "told"),
    [
        ("vscode.Uri.file('/project/a.py')", {"path": "a.py"}),
        ("{ scheme: 'vscode-notebook-cell', fsPath: '/project/b.ipynb' }", {"path": "b.ipynb"}),
        ("{ scheme: 'git', fsPath: '/project/a.py' }", "/project/a.py is in no folder of this window."),
        ("{ scheme: 'halocline-edit', fsPath: '/project/a.py' }", "/project/a.py is in no folder of this window."),
        ("{ scheme: 'untitled', fsPath: 'Untitled-1' }", "Untitled-1 is in no folder of this window."),
    ],
)
def test_a_task_is_about_files_and_cells_but_no_other_text_that_has_the_path_of_one(uri: str, told: object) -> None:
    steps = f"""
        const at = {{ line: 0, character: 0 }}
        const uri = {uri}
        const document = {{ uri, fileName: uri.fsPath, getText: () => 'x' }}
        vscode.workspace.textDocuments.push(document)
        const backend = {{ ask: async (_, {{ path }}) => void said.push({{ path }}) }}
        const pages = {{ go() {{}} }}
        await script('actions').explain({{ backend, pages }}, uri, {{ start: at, end: at, isEmpty: true }})
        return said"""
    assert run_script(steps) == [told]


def test_a_new_text_is_mentioned_by_its_name() -> None:
    steps = """
        const pages = { insert: (text) => void said.push(text) }
        await script('actions').addFile({ pages }, { scheme: 'untitled', fsPath: 'Untitled-1' })
        return said"""
    assert run_script(steps) == ["@Untitled-1 "]


@pytest.mark.parametrize(
    "before", ["", "await texts.read({ path }); document.text = 'and more'"], ids=["not read", "typed since"]
)
def test_text_that_was_typed_since_it_was_read_is_told_and_stays(before: str) -> None:
    steps = f"""
        const path = '/project/a.py'
        const document = {{ uri: vscode.Uri.file(path), isDirty: true, text: 'typed', lineCount: 1, save: () => true }}
        document.getText = () => document.text
        vscode.workspace.textDocuments.push(document)
        vscode.workspace.applyEdit = async ({{ made }}) => said.push(made.text) > 0
        const texts = script('open_texts')
        {before}
        const first = await texts.write({{ path, text: 'new' }})
        await texts.read({{ path }})
        return [first, await texts.write({{ path, text: 'new' }}), said]"""
    assert run_script(steps) == ["changed", True, ["new"]]
