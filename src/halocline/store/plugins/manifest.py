"""The manifest of a plug-in: our `plugin.toml`, and Claude Code's `.claude-plugin/plugin.json`.

What must stay true: a manifest is data, and every path in it stays in the plug-in. What of another program's manifest
has no part here is named.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

import msgspec

from halocline.protocol import json_input
from halocline.protocol.events.plugins import ItemKind, PluginPlace
from halocline.protocol.file_names import make_printable
from halocline.protocol.values import Value
from halocline.store.plugins.folder import Files, InvalidPlugin

FILE, CLAUDE_FILE = "plugin.toml", ".claude-plugin/plugin.json"
LONGEST_TEXT = 1_000
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_USUAL: tuple[tuple[ItemKind, str], ...] = (
    *(("skill", "skills"), ("command", "commands"), ("agent", "agents"), ("hook", "hooks/hooks.json")),
    *(("server", ".mcp.json"), ("hook", "hooks"), ("theme", "themes")),
)
"""The places of items, in both forms; executables of hooks and themes in ours alone."""
_CLAUDE: Mapping[str, ItemKind] = {
    "skills": "skill",
    "commands": "command",
    "agents": "agent",
    "hooks": "hook",
    "mcpServers": "server",
}
_UNREAD = ("lspServers", "outputStyles", "themes", "monitors", "channels", "userConfig", "dependencies", "experimental")
_INLINE = frozenset({"hooks", "mcpServers"})


class Manifest(Value, frozen=True):
    """A manifest of either form. `may` is None if it does not say what the plug-in does; `unread` has no part here."""

    name: str
    version: str = ""
    description: str = ""
    may: tuple[str, ...] | None = None
    places: tuple[PluginPlace, ...] = ()
    dialect: Literal["plain", "claude"] = "plain"
    unread: tuple[str, ...] = ()

    @property
    def python(self) -> str:
        """The module with its tools and hooks; empty if it has none."""
        return next((place.path for place in self.places if place.kind == "tool"), "")


class _Ours(Value, frozen=True, forbid_unknown_fields=True):
    name: str = ""
    version: str = ""
    description: str = ""
    may: tuple[Literal["reads", "edits", "network", "commands"], ...] | None = None
    python: Annotated[str, msgspec.Meta(pattern=r"^$|^[\w/.-]+\.py$")] = ""


class _Claudes(Value, frozen=True):
    name: str = ""
    version: str = ""
    description: str = ""


def read_manifest(files: Files, name: str, version: str = "") -> Manifest:
    """Return the manifest of a plug-in; `name` and `version` count where it has none. Raises InvalidPlugin."""
    try:
        if ours := files.get(FILE):
            found = _read_ours(ours.data.decode("utf-8-sig"), files)
        elif CLAUDE_FILE in files:
            found = _read_claudes(json_input.decode(files[CLAUDE_FILE].data.removeprefix(b"\xef\xbb\xbf")), files)
        else:
            raise InvalidPlugin(f"it has no {FILE} and no {CLAUDE_FILE}")
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:  # also of TOML and UTF-8
        raise InvalidPlugin(f"its manifest is invalid: {make_printable(str(error))}") from error
    found = msgspec.structs.replace(
        found,
        name=found.name or name,
        version=_clean_text(found.version or version, 40),
        description=_clean_text(found.description, LONGEST_TEXT),
    )
    if not _NAME.fullmatch(found.name):
        raise InvalidPlugin(f"its name {make_printable(found.name)[:80]!r} must be letters, digits, dots and dashes")
    return found


def _read_ours(text: str, files: Files) -> Manifest:
    given = msgspec.convert(tomllib.loads(text), _Ours)
    places = [*_list_usual_places(files)]
    if given.python:
        places.append(PluginPlace("tool", _require_inside(given.python, files)))
    return Manifest(given.name, given.version, given.description, given.may, tuple(places))


def _read_claudes(given: Any, files: Files) -> Manifest:
    known = msgspec.convert(given, _Claudes)
    more = [place for key, kind in _CLAUDE.items() for place in _find_named(key, kind, given.get(key), files)]
    usual = (place for place in _list_usual_places(files) if place.path not in ("hooks", "themes"))
    return Manifest(
        known.name,
        known.version,
        known.description,
        places=tuple(dict.fromkeys((*usual, *more))),
        dialect="claude",
        unread=tuple(key for key in _UNREAD if given.get(key)),
    )


def _list_usual_places(files: Files) -> Iterator[PluginPlace]:
    """Yield the usual places that the plug-in has."""
    for kind, path in _USUAL:
        if path in files or any(name.startswith(f"{path}/") for name in files):
            yield PluginPlace(kind, path)


def _find_named(key: str, kind: ItemKind, given: Any, files: Files) -> Iterator[PluginPlace]:
    """Yield the places that Claude's manifest names besides the usual ones; tables stand in the manifest itself."""
    for one in given if isinstance(given, list) else [given]:
        if isinstance(one, dict) and key in _INLINE:
            yield PluginPlace(kind, CLAUDE_FILE)
        elif isinstance(one, str):
            yield PluginPlace(kind, _require_inside(one, files))
        elif one is not None:
            raise ValueError(f"{key} is neither a path nor a list of paths")


def _require_inside(path: str, files: Files) -> str:
    """Return a path of the manifest without `./`. Raises ValueError if it leads out of the plug-in or nowhere."""
    parts = PurePosixPath(path)
    if parts.is_absolute() or ".." in parts.parts:
        raise ValueError(f"{path} leads out of the plug-in")
    name = str(parts)
    if name != "." and name not in files and not any(known.startswith(f"{name}/") for known in files):
        raise ValueError(f"there is no {path}")
    return name


def _clean_text(text: str, most: int) -> str:
    return make_printable(" ".join(text.split()))[:most]
