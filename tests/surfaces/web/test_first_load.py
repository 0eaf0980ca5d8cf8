"""What a first visit fetches: all of it asked for at once, and little of it."""

import gzip
import json
import posixpath
import re
from hashlib import sha256
from importlib.resources import files
from pathlib import Path

STATIC = Path(str(files("halocline.surfaces.web").joinpath("static")))
MOST = 60_000
"""Bytes of a first visit, as gzip sends them."""
_IMPORT = re.compile(r"""(?:import|export)[^'"();]*?from\s*['"](\.[^'"]+)['"]|import\s*['"](\.[^'"]+)['"]""")


def modules(start: str) -> list[str]:
    """A module and all that it cannot begin without."""
    found, left = [], [start]
    while left:
        if (name := left.pop()) in found:
            continue
        found.append(name)
        imports = _IMPORT.finditer((STATIC / name).read_text())
        left += [posixpath.normpath(posixpath.join(posixpath.dirname(name), one[1] or one[2])) for one in imports]
    return found


def test_the_page_asks_at_once_for_every_module_that_it_begins_with():
    named = re.findall(r'<link rel="modulepreload" href="/static/([^"]+)"', (STATIC / "index.html").read_text())
    assert sorted(named) == sorted(set(modules("js/app.js")) - {"js/app.js"})


def test_a_first_visit_is_small():
    page = (STATIC / "index.html").read_text()
    linked = re.findall(r'(?:href|src)="/static/([^"]+)"', page)
    sent = sum(len(gzip.compress((STATIC / name).read_bytes(), 9)) for name in {*linked, "index.html"})
    assert sent < MOST


def test_every_vendored_file_is_the_one_of_the_manifest():
    manifest = json.loads((STATIC / "vendor" / "manifest.json").read_text())
    found = [path.relative_to(STATIC / "vendor") for path in (STATIC / "vendor").rglob("*") if path.is_file()]
    here = {str(path) for path in found if path.parts[0] not in ("licences", "manifest.json")}
    assert {line["file"]: line["sha256"] for line in manifest} == {
        name: sha256((STATIC / "vendor" / name).read_bytes()).hexdigest() for name in here
    }
