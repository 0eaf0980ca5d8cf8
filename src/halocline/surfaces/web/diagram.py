"""The document of the diagram frame: self-contained, and not allowed to load or reach anything.

Diagrams come from a model, and the library that draws them is large and third-party, so it never runs in the page. The
document's own policy sandboxes it too, so it has no origin wherever it is opened; only its two scripts run.
"""

import base64
import gzip
import hashlib
from functools import lru_cache
from importlib.resources import files

_STATIC = files("halocline.surfaces.web").joinpath("static")
_SCRIPTS = ("vendor/mermaid.js", "diagram.js")
_PAGE = """<!doctype html><meta charset="utf-8"><title>Diagram</title>
<style>
:root { color-scheme: light; }
:root.dark { color-scheme: dark; }
body { margin: 0; background: transparent; }
#place { padding: 12px; box-sizing: border-box; overflow-x: auto; overflow-y: hidden; }
#place svg { display: block; margin: auto; max-width: 100%; }
</style>
<div id="place"></div>"""


@lru_cache(maxsize=1)
def diagram_page() -> tuple[bytes, bytes, str]:
    """Return the document, its gzip and its policy. Slow the first time."""
    scripts = [_STATIC.joinpath(name).read_text() for name in _SCRIPTS]
    page = (_PAGE + "".join(f"<script>{script}</script>" for script in scripts)).encode()
    sums = " ".join(f"'sha256-{_script_hash(script)}'" for script in scripts)
    policy = (
        f"default-src 'none'; script-src {sums}; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'self'; sandbox allow-scripts"
    )
    return page, gzip.compress(page, 6, mtime=0), policy


def _script_hash(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
