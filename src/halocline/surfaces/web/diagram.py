"""The document of the frame that draws diagrams: self-contained, and not allowed to load or reach anything.

Diagrams come from a model, and the library that draws them is large and third-party, so it never runs in the page. The
document's own policy sandboxes it too, so it has no origin wherever it is opened; only its two scripts run. The page
shows what the frame returns as an image.
"""

import base64
import gzip
import hashlib
from functools import lru_cache
from importlib.resources import files

_STATIC = files("halocline.surfaces.web").joinpath("static")
_SCRIPTS = ("vendor/mermaid.js", "diagram.js")
_PAGE = """<!doctype html><meta charset="utf-8"><title>Diagram</title>
<div id="place"></div>"""


@lru_cache(maxsize=1)
def diagram_page() -> tuple[bytes, bytes, str]:
    """Return the document, its gzip and its policy. Slow the first time."""
    page = (_PAGE + "".join(f"<script>{script}</script>" for script in _read_scripts())).encode()
    policy = (
        f"default-src 'none'; script-src {diagram_sources()}; style-src 'unsafe-inline'; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'self'; sandbox allow-scripts"
    )
    return page, gzip.compress(page, 6, mtime=0), policy


@lru_cache(maxsize=1)
def diagram_sources() -> str:
    """Return what a policy lists to let the document's two scripts run, and no others."""
    return " ".join(f"'sha256-{_script_hash(script)}'" for script in _read_scripts())


def _read_scripts() -> list[str]:
    return [_STATIC.joinpath(name).read_text("utf-8") for name in _SCRIPTS]


def _script_hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
