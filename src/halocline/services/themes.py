"""The themes that a person can choose: built-in ones, and those of plug-ins in force by the plug-in's name."""

from collections.abc import Callable, Iterable, Iterator

from msgspec.structs import replace

from halocline.protocol.errors import UsageError
from halocline.protocol.events.plugins import Plugin
from halocline.store.themes import BUILT_IN, TERMINAL, Theme, themes_of_plugin

RESET = "Choose: /theme NAME. Reset: halo config unset terminal.theme"


class ThemeService:
    """Finds themes; `plugins` is asked only where a built-in one is not enough.

    `explain` says why a plug-in is not among them; empty if there is none of that name.
    """

    def __init__(
        self, chosen: str, plugins: Callable[[], Iterable[Plugin]] = tuple, explain: Callable[[str], str] = lambda _: ""
    ) -> None:
        self.chosen = chosen
        self._plugins = plugins
        self._explain = explain

    def listed(self) -> list[Theme]:
        """Return all themes that can be chosen."""
        return [theme for theme in self._all() if not theme.problem]

    def list_broken(self) -> list[Theme]:
        """Return all themes that cannot be chosen."""
        return [theme for theme in self._all() if theme.problem]

    def describe(self) -> list[str]:
        """Say which theme is shown, why the chosen one is not, and what is wrong with each that cannot be chosen."""
        try:
            said = [f"The theme is {self.find(self.chosen).name}."]
        except UsageError as error:
            instead = f"The theme is {TERMINAL.name}, as {self.chosen} cannot be used."
            said = [instead, f"{error.text} {error.hint}".rstrip()]
        return [*dict.fromkeys([*said, *map(_describe_problem, self.list_broken())])]

    def find(self, name: str) -> Theme:
        """Return a theme by its name. Raises UsageError, which says why it is not there, or which there are."""
        for theme in self._all():
            if theme.name == name and theme.problem:
                raise UsageError(_describe_problem(theme), "")
            if theme.name == name:
                return theme
        hint = self._explain_absence(name) or f"Use one of: {', '.join(one.name for one in self.listed())}."
        raise UsageError(f"There is no theme {name!r}.", hint)

    def choose(self) -> tuple[Theme, str]:
        """Return the theme of the settings, or the terminal's own one and a line that says so."""
        try:
            return self.find(self.chosen), ""
        except UsageError:
            instead = f"The theme {self.chosen} cannot be used, so the built-in {TERMINAL.name} is shown."
            return TERMINAL, f"{instead} To choose or reset: /theme, halo doctor"

    def _explain_absence(self, name: str) -> str:
        """Say why the plug-in of a theme does not bring it; empty if it has none of that name."""
        plugin, colon, item = name.partition(":")
        if not colon:
            return ""
        if found := next((one for one in self._plugins() if one.name == plugin), None):
            return "" if found.has("theme", item) else f"It is turned off: halo plugins enable {plugin}/theme/{item}"
        return self._explain(plugin)

    def _all(self) -> Iterator[Theme]:
        yield from BUILT_IN
        for plugin in self._plugins():
            yield from (replace(theme, name=plugin.named(theme.name)) for theme in themes_of_plugin(plugin))


def _describe_problem(theme: Theme) -> str:
    return f"The theme {theme.name} cannot be used: {theme.problem}."
