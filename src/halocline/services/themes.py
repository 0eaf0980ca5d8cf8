"""The themes that a person can choose: built-in ones, and those of plug-ins in force by the plug-in's name."""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from halocline.protocol.errors import UsageError
from halocline.protocol.events.plugins import Plugin
from halocline.store.themes import BUILT_IN, TERMINAL, Theme, themes_of_plugin


class ThemeService:
    """Finds themes; `plugins` is asked only where a built-in one is not enough."""

    def __init__(self, chosen: str, plugins: Callable[[], Iterable[Plugin]]) -> None:
        self._chosen = chosen
        self._plugins = plugins

    def listed(self) -> list[Theme]:
        """Return all themes that can be chosen."""
        return [theme for theme in self._all() if not theme.problem]

    def find(self, name: str) -> Theme:
        """Return a theme by its name. Raises UsageError, which says which there are."""
        for theme in self._all():
            if theme.name == name and theme.problem:
                plugin, _, own = name.partition(":")
                raise UsageError(f"The theme {own} of the plug-in {plugin} cannot be used: {theme.problem}.", "")
            if theme.name == name:
                return theme
        raise UsageError(f"There is no theme {name!r}.", f"Use one of: {', '.join(one.name for one in self.listed())}.")

    def choose(self) -> tuple[Theme, str]:
        """Return the theme of the settings, or the terminal's own one and why the other cannot be used."""
        try:
            return self.find(self._chosen), ""
        except UsageError as error:
            return TERMINAL, f"{error.text} {error.hint}".rstrip()

    def _all(self) -> Iterator[Theme]:
        yield from BUILT_IN
        for plugin in self._plugins():
            yield from (replace(theme, name=plugin.named(theme.name)) for theme in themes_of_plugin(plugin))
