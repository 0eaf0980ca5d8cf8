"""The model catalog as a file: gzip members, first the index, then one per provider.

Only the requested provider is unpacked, so a start pays little; `zcat` shows everything. There are two files, one
shipped with Halocline and one that a person fetched; the newer one takes precedence. An unreadable file counts as
missing.
"""

import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from halocline.files.regular import read_regular
from halocline.protocol import json_input
from halocline.protocol.values import Value
from halocline.providers.catalog.models import UNKNOWN, ModelInfo

if TYPE_CHECKING:
    from halocline.ports.editor_models import EditorModels
    from halocline.ports.model import BroughtProvider

BUNDLED = Path(__file__).with_name("catalogue.gz")
EDITOR = "vscode"
"""The provider of the editor's models."""
GZIP = 31
"""zlib's `wbits` for the gzip format."""


class Entry(Value, frozen=True):
    """One provider and the position of its models in the file. `env` are its variables, `npm` is its SDK package."""

    name: str = ""
    env: tuple[str, ...] = ()
    api: str = ""
    npm: str = ""
    at: int = 0
    size: int = 0


class Contents(Value, frozen=True):
    """The index. `made` is a date; `url` and `etag` are the address and version it was fetched from."""

    made: str
    sources: tuple[str, ...]
    licence: str
    providers: dict[str, Entry]
    url: str = ""
    etag: str = ""


class CatalogueFile:
    """One open file. A provider is unpacked on first use and kept."""

    def __init__(self, contents: Contents, members: bytes) -> None:
        self.contents = contents
        self._members = members
        self._unpacked: dict[str, dict[str, msgspec.Raw]] = {}

    @classmethod
    def open(cls, path: Path) -> "CatalogueFile | None":
        """Open a file; None when it is missing or damaged."""
        try:
            first = zlib.decompressobj(GZIP)
            return cls(json_input.decode(first.decompress(read_regular(path)), type=Contents), first.unused_data)
        except (OSError, zlib.error, msgspec.MsgspecError):
            return None

    def names(self, provider: str) -> list[str]:
        """List the models of a provider."""
        return list(self._models(provider))

    def model(self, provider: str, name: str) -> ModelInfo | None:
        """Return one model, or None."""
        raw = self._models(provider).get(name)
        return None if raw is None else json_input.decode_or(UNKNOWN, bytes(raw), ModelInfo)

    def _models(self, provider: str) -> dict[str, msgspec.Raw]:
        if provider not in self._unpacked:
            self._unpacked[provider] = self._unpack(self.contents.providers.get(provider, Entry()))
        return self._unpacked[provider]

    def _unpack(self, entry: Entry) -> dict[str, msgspec.Raw]:
        member = self._members[entry.at : entry.at + entry.size]
        try:
            return json_input.decode(zlib.decompress(member, GZIP), type=dict[str, msgspec.Raw]) if member else {}
        except (zlib.error, msgspec.MsgspecError):
            return {}


class Catalogue:
    """The files combined, which are read on first use; the models of an editor, and the providers of plug-ins."""

    def __init__(
        self,
        *paths: Path,
        editor: Callable[[], "EditorModels | None"] = lambda: None,
        brought: Callable[[], Mapping[str, "BroughtProvider"]] = dict,
    ) -> None:
        self._paths = paths
        self._editor = editor
        self._brought = brought
        self._open: list[CatalogueFile] | None = None
        self.told: dict[str, ModelInfo] = {}
        """Facts that local servers told of their models before a task began; by `provider/model`."""

    @property
    def files(self) -> list[CatalogueFile]:
        """The readable files, newest first."""
        if self._open is None:
            found = [file for path in self._paths if (file := CatalogueFile.open(path))]
            self._open = sorted(found, key=lambda file: file.contents.made, reverse=True)
        return self._open

    def provider(self, name: str) -> Entry | None:
        return next((entry for one in self.files if (entry := one.contents.providers.get(name))), None)

    def providers(self) -> dict[str, Entry]:
        """All providers, sorted by name."""
        entries = {name: entry for one in reversed(self.files) for name, entry in one.contents.providers.items()}
        return dict(sorted(entries.items()))

    @property
    def editor(self) -> "EditorModels | None":
        """The models of the editor; None outside of one that has any."""
        return self._editor()

    @property
    def brought(self) -> Mapping[str, "BroughtProvider"]:
        """The providers that plug-ins bring, by name."""
        return self._brought()

    def names(self, provider: str) -> list[str]:
        """List the models of a provider, sorted."""
        if provider == EDITOR:
            return sorted(self._offered())
        return sorted({name for one in self.files for name in one.names(provider)})

    def model(self, provider: str, name: str) -> ModelInfo | None:
        """Look up a model. A dated name falls back to the undated one."""
        if provider == EDITOR:
            return self._offered().get(name)
        undated, _, date = name.rpartition("-")
        names = [name, undated] if len(date) == 8 and date.isdigit() else [name]
        return next((info for n in names for one in self.files if (info := one.model(provider, n))), None)

    def _offered(self) -> dict[str, ModelInfo]:
        found = self.editor.offered() if self.editor else ()
        return {one.name: ModelInfo(one.title, one.window, images=one.images, tools=one.tools) for one in found}
