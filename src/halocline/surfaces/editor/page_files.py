"""Write the page's files, bundled as for a browser, to a folder that an editor may load them from: one a version."""

import os
import shutil
import tempfile
from hashlib import sha256
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from halocline.surfaces.web.bundle import bundle_modules
from halocline.surfaces.web.diagram import diagram_sources

_STATIC = files("halocline.surfaces.web").joinpath("static")
_LEFT_OUT = ("vendor/mermaid.js", "diagram.js", "worker.js", "index.html", "js/early.js")
"""Files that only a browser needs."""
_PAGE = "editor.html"


def read_page() -> str:
    """Return the page's document, with `{base}` for its folder and `{source}` for where it may load from.

    The frame that draws diagrams inherits this document's policy, so its scripts and inline styles are allowed in it.
    """
    return _STATIC.joinpath(_PAGE).read_text("utf-8").replace("{diagram}", diagram_sources())


def write_page(cache: Path) -> Path:
    """Return the folder with the page's files, written if this version is not there. Raises OSError."""
    texts = _collect_files()
    version = sha256(b"".join(name.encode() + data for name, data in sorted(texts.items()))).hexdigest()[:16]
    folder = cache / version
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        for old in cache.iterdir():
            if not old.name.startswith("."):
                shutil.rmtree(old, ignore_errors=True)
        _write_files(folder, texts)
    return folder


def _collect_files() -> dict[str, bytes]:
    found = {name: data for name, data in _walk(_STATIC, "") if name not in _LEFT_OUT}
    bundle = bundle_modules(lambda name: _STATIC.joinpath(*name.split("/")).read_text("utf-8"))
    return {f"static/{name}": data for name, data in {**found, **{n: t.encode() for n, t in bundle.items()}}.items()}


def _walk(folder: Traversable, under: str) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []
    for entry in folder.iterdir():
        name = f"{under}{entry.name}"
        found += _walk(entry, f"{name}/") if entry.is_dir() else [(name, entry.read_bytes())]
    return found


def _write_files(folder: Path, texts: dict[str, bytes]) -> None:
    """Write all files or none: another window may write the same folder now."""
    fresh = Path(tempfile.mkdtemp(prefix=".new-", dir=folder.parent))
    try:
        for name, data in texts.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            os.rename(fresh, folder)
        except OSError:
            if not folder.is_dir():
                raise
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
