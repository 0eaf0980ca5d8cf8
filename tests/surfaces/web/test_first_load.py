"""What a first visit fetches: few files, and little of them."""

import json
import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from halocline.surfaces.web.static_files import read_bundled, read_file, read_version

STATIC = Path(str(files("halocline.surfaces.web").joinpath("static")))
MOST = 60_000
"""Bytes of a first visit, as gzip sends them."""
MOST_FILES = 6


def linked() -> list[str]:
    """What the document of the page names."""
    page = read_file("index.html")
    assert page
    return re.findall(rf'(?:href|src)="/{read_version()}/static/([^"]+)"', page.plain.decode())


def test_a_first_visit_is_small():
    found = [read_file(name) for name in ("index.html", *linked())]
    assert sum(len(file.packed or file.plain) for file in found if file) < MOST


def test_a_first_visit_asks_for_few_files():
    assert len(linked()) + 1 <= MOST_FILES


def test_a_first_visit_loads_no_module_by_itself():
    imports = re.findall(r"^import .*", read_bundled()["first.js"], re.MULTILINE)
    assert imports == []


def test_every_vendored_file_is_the_one_of_the_manifest():
    manifest = json.loads((STATIC / "vendor" / "manifest.json").read_text())
    found = [path.relative_to(STATIC / "vendor") for path in (STATIC / "vendor").rglob("*") if path.is_file()]
    ours = ("NOTICES.txt", "manifest.json")  # and the types, which are read by editors only
    here = {str(path) for path in found if path.parts[0] not in ours and path.suffix != ".ts"}
    assert {line["file"]: line["sha256"] for line in manifest} == {
        name: sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() for name in here
    }
