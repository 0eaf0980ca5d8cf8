"""The plug-ins of a task: what it had of others besides its own tools, and in which state.

What must stay true: a plug-in is read from its copy alone, whose content is what the person trusted.
"""

from collections.abc import Iterator
from fnmatch import fnmatchcase
from typing import Literal

from halocline.protocol.events.durable import Durable
from halocline.protocol.values import Value

ItemKind = Literal["skill", "command", "agent", "hook", "server", "tool", "provider", "theme"]
"""Kind of what a plug-in adds."""
MAY = ("reads", "edits", "network", "commands")
"""What a plug-in may declare that its tools, hooks and servers do."""


class PluginPlace(Value, frozen=True):
    """A file or folder of a plug-in, relative to it, that holds items of a kind."""

    kind: ItemKind
    path: str


class Plugin(Value, frozen=True):
    """One plug-in. `folder` is the copy that is read, `digest` a hash over all its files, `off` what is turned off.

    `dialect` is whose manifest it has. `may` is what its manifest says it does; None: anything.
    """

    name: str
    version: str
    digest: str
    folder: str
    dialect: Literal["plain", "claude"] = "plain"
    may: tuple[str, ...] | None = None
    places: tuple[PluginPlace, ...] = ()
    off: tuple[str, ...] = ()

    def paths(self, kind: ItemKind) -> Iterator[str]:
        """Yield the absolute paths of what holds items of a kind."""
        yield from (f"{self.folder}/{place.path}".removesuffix("/.") for place in self.places if place.kind == kind)

    def has(self, kind: ItemKind, item: str) -> bool:
        """True unless a person turned this item off."""
        return not any(fnmatchcase(f"{kind}/{item}", pattern) for pattern in self.off)

    def named(self, item: str) -> str:
        """The name of an item outside of the plug-in."""
        return f"{self.name}:{item}"

    def allows(self, effect: str) -> bool:
        """True if the manifest declares this effect of a tool; a tool without one may run commands."""
        return self.may is None or (effect or "commands") in self.may


class PluginsLoaded(Durable, frozen=True):
    """The task has these plug-ins from now on; none if it has no more."""

    plugins: tuple[Plugin, ...]
