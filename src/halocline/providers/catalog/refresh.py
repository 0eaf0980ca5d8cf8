"""Fetches the catalogue of models anew, and puts it in the old one's place when it is whole.

A failure leaves the old one as it was. The server is told which version is here, and need not send that again.
"""

import os
import zlib
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

import msgspec

from halocline._version import __version__
from halocline.net.http import HttpClient, Response
from halocline.net.network import Network
from halocline.protocol.errors import HaloclineError, ModelError
from halocline.protocol.private_files import open_private
from halocline.protocol.values import Value
from halocline.providers.catalog.build import pack_catalogue
from halocline.providers.catalog.file import GZIP, CatalogueFile

MOST_BYTES = 64_000_000
"""The longest document that is taken; models.dev's has 6 MB."""


class _Unfit(Exception):
    """What came is not to be used; the text says why."""


class Refreshed(Value, frozen=True):
    """What is there now. `is_new` is false when the server had nothing newer."""

    models: int
    providers: int
    is_new: bool


async def refresh_catalogue(url: str, path: Path, network: Network) -> Refreshed:
    """Fetch `url` into `path`.

    Raises:
        HaloclineError: nothing, or something else came; what stood there before stays.
    """
    old = CatalogueFile.open(path)
    address = urlsplit(url)
    client = HttpClient(f"{address.scheme}://{address.netloc}", network)
    try:
        response = await client.get(
            urlunsplit(("", "", address.path or "/", address.query, "")), _build_headers(url, old)
        )
        with closing(response):
            if response.status == 304 and old is not None:
                return _count_models(old, is_new=False)
            document = await _read_document(response)
        data = pack_catalogue(document, _format_today(), (url,), url, response.headers.get("etag", ""))
    except ModelError as error:
        raise _refresh_error(url, error.text) from error
    except _Unfit as error:
        raise _refresh_error(url, str(error)) from error
    except msgspec.MsgspecError as error:
        raise _refresh_error(url, f"what came is no catalogue ({error})") from error
    finally:
        await client.close()
    return _count_models(_store_file(path, data), is_new=True)


def _build_headers(url: str, old: CatalogueFile | None) -> dict[str, str]:
    headers = {"accept": "application/json", "accept-encoding": "gzip", "user-agent": f"halocline/{__version__}"}
    if old is not None and old.contents.etag and old.contents.url == url:
        headers["if-none-match"] = old.contents.etag
    return headers


async def _read_document(response: Response) -> bytes:
    """The body as it was before it was packed for the way. Raises _Unfit for what is too long or no answer."""
    if response.status != 200:
        raise _Unfit(f"the answer was {response.status}")
    body = await response.read(MOST_BYTES)
    if response.headers.get("content-encoding", "").lower() == "gzip":
        body = _unzip_body(body)
    if len(body) >= MOST_BYTES:
        raise _Unfit(f"it is longer than {MOST_BYTES:,} bytes")
    return body


def _unzip_body(body: bytes) -> bytes:
    try:
        return zlib.decompressobj(GZIP).decompress(body, MOST_BYTES)
    except zlib.error as error:
        raise _Unfit(f"it cannot be unpacked ({error})") from error


def _store_file(path: Path, data: bytes) -> CatalogueFile:
    """Write the file whole or not at all."""
    new = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with open(new, "wb", opener=open_private) as opened:
            opened.write(data)
        file = CatalogueFile.open(new)
        if file is None:
            raise HaloclineError(f"Cannot read {new} again.", "The old catalogue stays; try again.")
        new.replace(path)
    except OSError as error:
        raise HaloclineError(f"Cannot write {path}: {error.strerror}.", "The old catalogue stays.") from error
    finally:
        new.unlink(missing_ok=True)
    return file


def _count_models(file: CatalogueFile, *, is_new: bool) -> Refreshed:
    providers = file.contents.providers
    return Refreshed(sum(len(file.names(name)) for name in providers), len(providers), is_new)


def _refresh_error(url: str, why: str) -> HaloclineError:
    text = f"The catalogue could not be fetched from {url}: {why.rstrip('.')}."
    return HaloclineError(text, "The old one stays in use. Another address: HALOCLINE_CATALOGUE_URL, or catalogue_url.")


def _format_today() -> str:
    return datetime.now(UTC).date().isoformat()
