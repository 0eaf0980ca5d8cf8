"""Makes all files of a release in `dist/VERSION/`, and stops before publishing: `make release`.

Two builds, each in a clone of its own, must give the same bytes; the tag is set in these clones only. What is wrong
with the commit ends it before anything is built; with `--rehearse` it is only said, and the files have the commit's own
version.
"""

import argparse
import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
import venv
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from scripts.build_version import NAMED
from scripts.single_file import lock_of_product

ROOT = Path(__file__).parents[1]
BUILDS = (("hatchling", "build"), ("editors.vscode.pack",), ("scripts.single_file",))
"""What a clone runs: the wheel and the source archive, the extension, and the single file."""
PAPERS = ("/sboms/", "/licenses/")
"""Folders of the wheel whose files are also laid beside it: the bill of materials, and licences."""


def find_faults(root: Path) -> Iterator[str]:
    """Yield what the commit lacks for a release."""
    (version,) = re.findall(r'^__version__ = "(.+)"$', (root / NAMED).read_text(encoding="utf-8"), re.MULTILINE)
    if ask_git(root, "status", "--porcelain"):
        yield "The work tree has changes: commit them first."
    if ask_git(root, "tag", "--list", f"v{version}"):
        yield f"There is a tag v{version} already: raise the version in {NAMED}."
    if not re.search(rf"^## {re.escape(version)} \(\d{{4}}-\d\d-\d\d\)$", (root / "CHANGELOG.md").read_text(), re.M):
        yield f"CHANGELOG.md has no heading `## {version} (YEAR-MONTH-DAY)`."
    packed = json.loads((root / "editors/vscode/package.json").read_text(encoding="utf-8"))["version"]
    if packed != version:
        yield f"editors/vscode/package.json says {packed}, not {version}."


def list_foreign_names(root: Path) -> list[str]:
    """Return the places where the project's name is not ours, so nothing can be published there."""
    names = tomllib.loads((root / "scripts/outside_names.toml").read_text(encoding="utf-8"))["names"]
    return [f"{name['place']}: {name['evidence']}" for name in names if not name["ours"]]


def build(root: Path, clone: Path, tag: str) -> dict[str, str]:
    """Build all files in a clone, which gets the tag if there is one; gives their hashes by name."""
    subprocess.run(["git", "clone", "--quiet", "--no-tags", root, clone], check=True)
    if tag:
        ask_git(clone, "-c", "tag.gpgSign=false", "tag", tag)
    for words in BUILDS:
        subprocess.run([sys.executable, "-m", *words], cwd=clone, check=True, stdout=subprocess.DEVNULL)
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in sorted((clone / "dist").iterdir())}


def collect(built: Path, target: Path) -> None:
    """Lay a build and its papers into an empty folder, with the hashes of all."""
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(built, target)
    (wheel,) = target.glob("*.whl")
    with ZipFile(wheel) as zipped:
        for name in (name for name in zipped.namelist() if any(folder in name for folder in PAPERS)):
            (target / Path(name).name).write_bytes(zipped.read(name))
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in sorted(target.iterdir())]
    (target / "SHA256SUMS").write_text("".join(lines))


def try_wheel(root: Path, wheel: Path, place: Path) -> None:
    """Install the wheel into an empty environment; `halo` says its version there and runs its demo.

    What it needs has the hashes of the lock; pip checks that nothing else is needed.
    """
    venv.create(place, with_pip=True)
    lock = place / "run.lock"
    lock.write_text("".join(lock_of_product(root).values()), encoding="utf-8")
    pip, install = ("python", "-m", "pip"), ("install", "--quiet", "--no-deps")
    for words in (
        (*pip, *install, "--require-hashes", "--only-binary", ":all:", "-r", lock),
        (*pip, *install, "--no-index", wheel),
        (*pip, "check"),
        ("halo", "--version"),
        ("halo", "demo", "-y"),
    ):
        subprocess.run([place / "bin" / words[0], *words[1:]], check=True, stdout=subprocess.DEVNULL)


def release(root: Path, target: Path, tag: str) -> Path:
    """Build twice, compare, collect and try; gives the folder of the release."""
    with TemporaryDirectory() as scratch:
        say("Building in a first clone")
        first = build(root, Path(scratch, "one"), tag)
        say("Building in a second clone")
        second = build(root, Path(scratch, "another-place"), tag)
        if differing := [name for name in {**first, **second} if first.get(name) != second.get(name)]:
            raise SystemExit(f"Two builds of one commit differ: {', '.join(differing)}")
        say(f"Both gave the same bytes: {', '.join(first)}")
        (wheel,) = (name for name in first if name.endswith(".whl"))
        place = target / wheel.split("-")[1]
        collect(Path(scratch, "one", "dist"), place)
        say("Trying the wheel in an empty environment")
        try_wheel(root, place / wheel, Path(scratch, "tried"))
    return place


def ask_git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


def say(text: str) -> None:
    print(text, flush=True)


def main() -> int:
    """Make the files of a release, and say what is left for a person."""
    parser = argparse.ArgumentParser(description="Make all files of a release, and stop before publishing.")
    parser.add_argument("--rehearse", action="store_true", help="build although the commit is not fit for a release")
    rehearse = parser.parse_args().rehearse
    faults = [*find_faults(ROOT)]
    for fault in faults:
        say(f"✗ {fault}")
    if faults and not rehearse:
        return 1
    (version,) = re.findall(r'^__version__ = "(.+)"$', (ROOT / NAMED).read_text(encoding="utf-8"), re.MULTILINE)
    place = release(ROOT, Path("dist"), "" if faults else f"v{version}")
    say((place / "SHA256SUMS").read_text().rstrip())
    for name in list_foreign_names(ROOT):
        say(f"✗ Not ours, so publish nothing there: {name}")
    say(f"All is in {place}. Nothing was published and nothing tagged. After publishing by hand:")
    say(f'  git tag -a v{version} -m "Halocline {version}" && git push origin v{version}')
    return 0


if __name__ == "__main__":
    sys.exit(main())
