"""The archive of the extension: whole, small, the same bytes each time, and refused if something is missing."""

import json
import re
import shutil
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree
from zipfile import ZipFile

import pytest
from editors.vscode.pack import PackingError, build_package, pack

from halocline import __version__

SOURCE = Path(__file__).parents[3] / "editors" / "vscode"
MOST_BYTES = 300_000
MANIFEST = "{http://schemas.microsoft.com/developer/vsx-schema/2011}"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(SOURCE, tmp_path / "extension", ignore=shutil.ignore_patterns("__pycache__")))


def change_package(folder: Path, **changes: object) -> None:
    package = json.loads((folder / "package.json").read_text()) | changes
    (folder / "package.json").write_text(json.dumps({name: value for name, value in package.items() if value}))


def test_the_archive_holds_all_scripts_and_says_which_version_it_is(tmp_path: Path) -> None:
    archive = pack(SOURCE, tmp_path)
    with ZipFile(archive) as zipped:
        names = set(zipped.namelist())
        manifest = ElementTree.fromstring(zipped.read("extension.vsixmanifest"))
    scripts = {f"extension/{path.relative_to(SOURCE).as_posix()}" for path in SOURCE.rglob("*.js")}
    assert scripts | {"extension/package.json", "extension/README.md", "extension/LICENSE"} <= names
    identity = manifest.find(f".//{MANIFEST}Identity")
    assert identity is not None
    assert (identity.get("Publisher"), identity.get("Id"), identity.get("Version")) == (
        "halocline",
        "halocline",
        __version__,
    )
    assert archive.stat().st_size <= MOST_BYTES


def test_the_same_files_give_the_same_bytes(copy: Path, tmp_path: Path) -> None:
    assert pack(copy, tmp_path / "one").read_bytes() == pack(SOURCE, tmp_path / "other").read_bytes()


@pytest.mark.process
@pytest.mark.slow
def test_the_archive_carries_the_wheel_and_names_it_and_all_it_needs_by_their_hashes(tmp_path: Path) -> None:
    carried = build_package(SOURCE.parents[1])
    assert carried == build_package(SOURCE.parents[1])
    archive = pack(SOURCE, tmp_path, carried)
    with ZipFile(archive) as zipped:
        (wheel,) = (name for name in zipped.namelist() if name.endswith(".whl"))
        needed = zipped.read("extension/package/requirements.txt").decode()
        shown = sha256(zipped.read(wheel)).hexdigest()
    assert f"./{Path(wheel).name} --hash=sha256:{shown}" in needed.splitlines()
    assert all("--hash" in one for one in re.split(r"\n(?=\S)", needed.strip()))


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"version": "1.0"}, "version"),
        ({"publisher": ""}, "no publisher"),
        ({"main": "./src/nowhere"}, "names ./src/nowhere, which is not packed"),
        ({"icon": "media/nothing.png"}, "names media/nothing.png, which is not packed"),
        ({"description": "%no.such.text%"}, "package.nls.json has no no.such.text"),
    ],
)
def test_what_is_missing_is_named_and_nothing_is_packed(
    copy: Path, tmp_path: Path, changes: dict[str, str], fault: str
) -> None:
    change_package(copy, **changes)
    with pytest.raises(PackingError, match=re.escape(fault)):
        pack(copy, tmp_path / "packed")
    assert not (tmp_path / "packed").exists()


def test_every_text_that_a_script_shows_can_be_translated() -> None:
    translated = json.loads((SOURCE / "l10n" / "bundle.l10n.json").read_text())
    shown = set()
    for script in SOURCE.rglob("*.js"):
        for quote, text in re.findall(r"l10n\.t\(\s*(['\"`])((?:\\.|(?!\1).)*)\1", script.read_text()):
            shown.add(text.replace(f"\\{quote}", quote))
    assert shown
    assert shown == translated.keys()


def test_every_command_is_registered_and_every_registered_command_is_listed() -> None:
    listed = {
        command["command"] for command in json.loads((SOURCE / "package.json").read_text())["contributes"]["commands"]
    }
    script = (SOURCE / "extension.js").read_text()
    registered = {f"halocline.{name}" for name in re.findall(r"register\('(\w+)'", script)}
    for names in re.findall(r"for \(const name of \[([^\]]*)\]", script):
        registered |= {f"halocline.{name}" for name in re.findall(r"'(\w+)'", names)}
    assert registered == listed


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("add to", "addSelection"),
        ("add to", "addFile"),
        ("add terminal output to", "addTerminalSelection"),
        ("jump to chat input", "focus"),
        ("generate commit message", "commitMessage"),
        ("explain with", "explain"),
        ("fix with", "fix"),
        ("improve with", "improve"),
        ("explain jupyter cell", "explainCell"),
        ("improve jupyter cell", "improveCell"),
        ("generate jupyter cell", "generateCell"),
        ("new task", "newTask"),
        ("mcp servers", "mcp"),
    ],
)
def test_what_a_person_types_for_a_command_of_cline_finds_ours_in_the_palette(typed: str, command: str) -> None:
    title = iter(json.loads((SOURCE / "package.nls.json").read_text())[f"command.{command}"].lower().split())
    assert all(any(word.startswith(part) for word in title) for part in typed.split())
