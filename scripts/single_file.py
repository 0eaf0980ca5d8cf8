"""Packs Halocline and all that it needs into one file that a Python runs: `make pyz`.

It holds the compiled parts for each Python of `PYTHONS`, and for the kind of machine that packs it. At its first start
the file unpacks itself into `~/.shiv` (`SHIV_ROOT`): shiv puts that in front, and `single_file_start` before it. The
same files give the same bytes.
"""

import os
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from zipfile import ZipFile

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

from scripts.single_file_start import PYTHONS

ROOT = Path(__file__).parents[1]
FIRST = ROOT / "scripts" / "single_file_start.py"
_LOCKED = re.compile(r"^([\w.-]+)==.*?(?=^[\w.-]+==|\Z)", re.MULTILINE | re.DOTALL)
_FETCH = ("-m", "pip", "download", "-qq", "--disable-pip-version-check", "--no-deps", "--only-binary", ":all:")
_PYTHON_OF_LOCK = re.compile(r" ; python_full_version [^\n\\]*")
INTERPRETER = "/usr/bin/env python3"
SINCE_ZIP = "315532800"
"""The first time that a zip file can hold, in Unix seconds; real ones would make each file another."""


def pack(root: Path, target: Path) -> Path:
    """Build the wheel of these files and pack it with the packages of its lock; gives the path of the file."""
    with TemporaryDirectory() as place:
        wheels, unpacked, lock = Path(place, "wheels"), Path(place, "unpacked"), Path(place, "lock.txt")
        build = ("-m", "hatchling", "build", "--target", "wheel", "--directory", wheels)
        subprocess.run([sys.executable, *build], cwd=root, check=True, capture_output=True)
        (own,) = wheels.iterdir()
        rows = lock_of_product(root)
        for version in PYTHONS:
            lock.write_text("".join(rows.values()), encoding="utf-8")
            words = (*_FETCH, "--require-hashes", "--python-version", f"{version}.9", "--dest", wheels, "-r", lock)
            subprocess.run([sys.executable, *words], check=True)
            rows = {name: row for name, row in rows.items() if name not in names_for_all_pythons(wheels)}
        for wheel in sorted(wheels.iterdir()):
            unpack(wheel, unpacked)
        archive = target / f"halo-{own.name.split('-')[1]}.pyz"
        target.mkdir(parents=True, exist_ok=True)
        front = (
            "-m",
            "shiv",
            "--site-packages",
            unpacked,
            "--entry-point",
            "halocline.__main__:main",
            "--reproducible",
        )
        words = [sys.executable, *front, "--compressed", "--python", INTERPRETER, "--output-file", archive]
        subprocess.run(words, check=True, env={**os.environ, "SOURCE_DATE_EPOCH": SINCE_ZIP})
        start_with(archive, FIRST.read_bytes())
    return archive


def start_with(archive: Path, program: bytes) -> None:
    """Have another program run first when Python runs the archive."""
    with ZipFile(archive) as zipped:
        entries = {one: zipped.read(one) for one in zipped.infolist()}
    with archive.open("wb") as file:
        file.write(f"#!{INTERPRETER}\n".encode())
        with ZipFile(file, "w") as zipped:
            for entry, data in entries.items():
                zipped.writestr(entry, program if entry.filename == "__main__.py" else data)


def lock_of_product(root: Path) -> dict[str, str]:
    """Return the rows of the lock that the product needs, for all Pythons: `run.lock` also has what builds it.

    Of two versions, the later stays, which is for newer Pythons: one folder has place for one.
    """
    lock = (root / "run.lock").read_text(encoding="utf-8")
    rows = {canonicalize_name(row[1]): row[0] for row in _LOCKED.finditer(lock)}
    left = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    kept = set[str]()
    while left:
        one = Requirement(left.pop())
        name = canonicalize_name(one.name)
        if name not in kept and (one.marker is None or one.marker.evaluate({"extra": ""})):
            kept.add(name)
            left += requires(name) or ()
    return {name: _PYTHON_OF_LOCK.sub("", rows[name]) for name in sorted(kept)}


def names_for_all_pythons(wheels: Path) -> set[str]:
    """Return the packages whose wheel fits every Python, so that it is fetched once."""
    found = (parse_wheel_filename(wheel.name) for wheel in wheels.iterdir())
    return {str(name) for name, *_, tags in found if any(tag.abi in ("abi3", "none") for tag in tags)}


def unpack(wheel: Path, place: Path) -> None:
    """Unpack a wheel as installers do, with its programs in `bin`. Wheels for several Pythons share a folder."""
    with ZipFile(wheel) as zipped:
        for entry in (one for one in zipped.infolist() if not one.is_dir()):
            name = PurePosixPath(entry.filename)
            is_program = name.parts[0].endswith(".data") and name.parts[1] == "scripts"
            file = place / "bin" / name.name if is_program else place / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(zipped.read(entry))
            file.chmod(0o755 if is_program else 0o644)


def main() -> None:
    """Pack the clone into dist/."""
    archive = pack(ROOT, Path("dist"))
    print(f"{archive} ({archive.stat().st_size / 1e6:.1f} MB, for Python {', '.join(PYTHONS)})")


if __name__ == "__main__":
    main()
