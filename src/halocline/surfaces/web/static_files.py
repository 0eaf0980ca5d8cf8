"""The files of the page: compressed, unchanged ones answered with 304, first ones bundled."""

import asyncio
import gzip
import hashlib
import mimetypes
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from pathlib import PurePosixPath
from types import MappingProxyType

from starlette.requests import Request
from starlette.responses import Response

from halocline.surfaces.web.bundle import bundle_modules
from halocline.surfaces.web.diagram import diagram_page

STATIC = files("halocline.surfaces.web").joinpath("static")
TYPES = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".json": "application/json",
}
FILES = {"/": "index.html", "/worker.js": "worker.js"}
"""Files outside `/static`; a service worker's place is its scope."""


async def serve_static(request: Request) -> Response:
    """Serve a file of the page."""
    found = read_file(request.path_params.get("path") or FILES.get(request.url.path, ""))
    return _send_file(request, found) if found else Response("File not found.\n", 404, media_type="text/plain")


async def serve_diagram(request: Request) -> Response:
    """Serve the document of the diagram frame, under its own policy."""
    plain, packed, policy = await asyncio.to_thread(diagram_page)
    tag = f'"{hashlib.sha256(policy.encode()).hexdigest()[:20]}"'
    own = {"content-security-policy": policy, "x-frame-options": "SAMEORIGIN"}
    return _send_file(request, (plain, packed, tag, "text/html"), own)


def _send_file(
    request: Request, found: tuple[bytes, bytes | None, str, str], more: Mapping[str, str] = MappingProxyType({})
) -> Response:
    plain, packed, tag, kind = found
    headers = {"etag": tag, "cache-control": "no-cache", "vary": "accept-encoding", **more}
    if request.headers.get("if-none-match") == tag:
        return Response(None, 304, headers)
    if packed and "gzip" in request.headers.get("accept-encoding", ""):
        return Response(packed, 200, {**headers, "content-encoding": "gzip"}, media_type=kind)
    return Response(plain, 200, headers, media_type=kind)


@lru_cache(maxsize=256)
def read_file(path: str) -> tuple[bytes, bytes | None, str, str] | None:
    """Return content, its gzip, ETag and type; only names below the folder are found."""
    parts = PurePosixPath(path).parts
    if not parts or any(part in ("..", "/") or "\\" in part or "\0" in part for part in parts):
        return None
    found = STATIC.joinpath(*parts)
    if whole := _read_bundle().get(path):
        data = whole.encode()
    elif found.is_file():
        data = found.read_bytes()
    else:
        return None
    kind = TYPES.get(PurePosixPath(path).suffix) or mimetypes.guess_type(path)[0] or "application/octet-stream"
    packed = gzip.compress(data, 9, mtime=0) if kind.startswith("text/") or "json" in kind or "svg" in kind else None
    return data, packed, f'"{hashlib.sha256(data).hexdigest()[:20]}"', kind


@lru_cache(maxsize=1)
def _read_bundle() -> dict[str, str]:
    return bundle_modules(lambda name: STATIC.joinpath(*name.split("/")).read_text("utf-8"))
