"""What a first visit fetches: few files, and little of them."""

import gzip
import json
import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

from halocline.surfaces.web.bundle import bundle_modules

STATIC = Path(str(files("halocline.surfaces.web").joinpath("static")))
MOST = 60_000
"""Bytes of a first visit, as gzip sends them."""


def read(name: str) -> str:
    return (STATIC / name).read_text()


def test_a_first_visit_is_small():
    linked = re.findall(r'(?:href|src)="/static/([^"]+)"', read("index.html"))
    whole = bundle_modules(read)
    sent = sum(len(gzip.compress((whole.get(name) or read(name)).encode(), 9)) for name in {*linked, "index.html"})
    assert sent < MOST


def test_a_first_visit_asks_for_few_files():
    assert len(re.findall(r'(?:href|src)="/static/', read("index.html"))) <= 4


def test_every_vendored_file_is_the_one_of_the_manifest():
    manifest = json.loads(read("vendor/manifest.json"))
    found = [path.relative_to(STATIC / "vendor") for path in (STATIC / "vendor").rglob("*") if path.is_file()]
    ours = ("licences", "manifest.json")  # and the types, which are read by editors only
    here = {str(path) for path in found if path.parts[0] not in ours and path.suffix != ".ts"}
    assert {line["file"]: line["sha256"] for line in manifest} == {
        name: sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() for name in here
    }
