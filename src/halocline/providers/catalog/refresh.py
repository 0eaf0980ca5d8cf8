"""Download the model catalog, and replace the old one once the new one is complete.

A failure leaves the old one in place. The request is conditional: an unchanged version is not sent again.
"""

from datetime import UTC, datetime
from pathlib import Path

import msgspec

from halocline._version import __version__
from halocline.files.durable import write_whole
from halocline.net.http import fetch
from halocline.net.network import Network
from halocline.protocol.errors import HaloclineError, ModelError
from halocline.protocol.values import Value
from halocline.providers.catalog.build import pack_catalogue
from halocline.providers.catalog.file import CatalogueFile

MOST_BYTES = 64_000_000
"""Largest document accepted; models.dev's has 6 MB."""


class Refreshed(Value, frozen=True):
    """The catalog after a refresh. `is_new` is false when the server had nothing newer."""

    models: int
    providers: int
    is_new: bool


async def refresh_catalogue(url: str, path: Path, network: Network) -> Refreshed:
    """Fetch `url` into `path`.

    Raises:
        HaloclineError: the download failed or is not a catalog; the old file stays.
    """
    old = CatalogueFile.open(path)
    try:
        answer = await fetch(url, network, _build_headers(url, old), most=MOST_BYTES)
        if answer.status == 304 and old is not None:
            return _count_models(old, is_new=False)
        if answer.status != 200:
            raise _refresh_error(url, f"the server answered with status {answer.status}")
        if len(answer.body) >= MOST_BYTES:
            raise _refresh_error(url, f"it is larger than {MOST_BYTES:,} bytes")
        today = datetime.now(UTC).date().isoformat()
        data = pack_catalogue(answer.body, today, (url,), url, answer.headers.get("etag", ""))
    except ModelError as error:
        raise _refresh_error(url, error.text) from error
    except msgspec.MsgspecError as error:
        raise _refresh_error(url, f"it is not a model catalog ({error})") from error
    return _count_models(_store_file(path, data), is_new=True)


def _build_headers(url: str, old: CatalogueFile | None) -> dict[str, str]:
    headers = {"accept": "application/json", "accept-encoding": "gzip", "user-agent": f"halocline/{__version__}"}
    if old is not None and old.contents.etag and old.contents.url == url:
        headers["if-none-match"] = old.contents.etag
    return headers


def _store_file(path: Path, data: bytes) -> CatalogueFile:
    try:
        write_whole(path, data)
    except OSError as error:
        raise HaloclineError(f"Cannot write {path}: {error.strerror}.", "The old catalog stays in use.") from error
    if (file := CatalogueFile.open(path)) is None:
        raise HaloclineError(f"Cannot read back {path}.", "The catalog of this version stays in use; try again.")
    return file


def _count_models(file: CatalogueFile, *, is_new: bool) -> Refreshed:
    providers = file.contents.providers
    return Refreshed(sum(len(file.names(name)) for name in providers), len(providers), is_new)


def _refresh_error(url: str, why: str) -> HaloclineError:
    text = f"Cannot fetch the model catalog from {url}: {why.rstrip('.')}."
    return HaloclineError(text, "The old one stays. To use another URL, set catalogue_url or HALOCLINE_CATALOGUE_URL.")
