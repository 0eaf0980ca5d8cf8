"""Settings that the administrator of this machine sets for all of its users; they are applied last.

What must stay true: nothing lifts a row of the file, neither flag, variable, profile, project, plug-in nor program.
Limits are caps, so that a person may set less, lists of what is off are added to the person's, and any other row is the
value. A file that cannot be used, or that others can write to, is an error: it is never ignored.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from halocline.files.root_owned import Unusable, find_managed_file
from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.kinds import ApprovalMode, bound_mode
from halocline.protocol.values import Value
from halocline.store.settings.load import check_settings, find_value, read_settings, with_overrides
from halocline.store.settings.project import RIGHTS, ProjectRight, list_rows
from halocline.store.settings.sections import WebSearchSettings
from halocline.store.settings.settings import Settings

SELECTING = ("profile", "profiles")
"""Settings that only choose others, which the file sets itself."""
ADDED = ("tools_off", "modes_off")
"""Lists of what is off: the person's own entries stay."""
PLACES = ("base_url", "providers", "catalogue_url")
"""Settings that lead a provider's name to another server: where the file says which may be used, it alone sets them."""
PRICED = ("catalogue_url",)
"""Settings that say what models cost: where the file limits the cost, it alone sets them, and prices of models."""
UNPRICED = dict.fromkeys(("input", "output", "cache_read", "cache_write"))
ASK_THEM = "Ask the administrator of this machine: without this file Halocline would not keep to their settings."


class ManagedSettings(Value, frozen=True):
    """The rows of the administrator's `file`, by dotted name; none if there is no file."""

    file: str = ""
    rows: Mapping[str, Any] = {}

    @property
    def source(self) -> str:
        """Words for who set a row."""
        return f"set by your administrator in {self.file}"

    @property
    def limits_models(self) -> bool:
        """True if the file says which models or providers may be used."""
        return not self.rows.keys().isdisjoint(("allowed_models", "allowed_providers"))

    def explain(self, name: str) -> str:
        """Return who set a setting that is in force."""
        return self.source if name in self.rows else f"set by {name} in settings.toml"

    def bind(self, settings: Settings) -> Settings:
        """Return the settings as they may be: with the administrator's rows, and what follows from them."""
        for name in (*(PLACES if self.limits_models else ()), *(PRICED if "max_cost" in self.rows else ())):
            settings = replace(settings, **{name: getattr(Settings(), name)})
        if "max_cost" in self.rows:
            sizes = {name: replace(one, **UNPRICED) for name, one in settings.prices.items()}
            settings = replace(settings, prices=sizes)
        if self.rows:
            settings = self._with_rows(settings)
        if not settings.web:
            settings = replace(settings, browser=False, sandbox_network=False, web_search=WebSearchSettings())
        return replace(settings, approval_mode=bound_mode(settings.approval_mode, self.modes_off(settings)))

    def modes_off(self, settings: Settings) -> tuple[ApprovalMode, ...]:
        """Return the approval modes that no task may have. One that the administrator set is the only one."""
        fixed = self.rows.get("approval_mode")
        return tuple(mode for mode in ApprovalMode if mode in settings.modes_off or fixed not in (None, mode))

    def list_decided(self, now: Settings) -> tuple[str, ...]:
        """Return the rows whose value is in force: those of limits only where the person set no lower one."""
        return tuple(name for name, value in self.rows.items() if name in ADDED or find_value(now, name) == value)

    def refuse_change(self, name: str, value: Any) -> None:
        """Raise UsageError if a setting, or part of it, is to get a value that the administrator does not let it have.

        None is its default, which their value overrides.
        """
        for row in self.rows:
            is_part = row.startswith(f"{name}.") or name.startswith(f"{row}.")
            if is_part or (row == name and not self._may_be(row, value)):
                raise UsageError(f"{row} is {self.source}.", "You cannot change it.")

    def _may_be(self, row: str, value: Any) -> bool:
        return value is None or row in ADDED or _is_same(value, self._bind_value(row, value))

    def list_refused(self, asked: Mapping[str, Any], now: Settings) -> tuple[str, ...]:
        """Say which settings that were asked for have another value, because the administrator set it."""
        return tuple(
            f"{name} stays {getattr(now, name)!r}: it is {self.source}."
            for name, value in asked.items()
            if name in self.rows and not _is_same(value, getattr(now, name))
        )

    def _with_rows(self, settings: Settings) -> Settings:
        rows = self.rows
        named = {rows.get("model"), rows.get("plan.model"), *rows.get("fallback_models", ())}
        aliases = {alias: name for alias, name in settings.model_aliases.items() if alias not in named}
        settings = replace(settings, model_aliases=aliases)
        bound = {name: self._bind_value(name, find_value(settings, name)) for name in self.rows}
        settings = with_overrides(settings, {name: value for name, value in bound.items() if "." not in name})
        for name, value in bound.items():
            table, _, key = name.partition(".")
            if key:
                settings = replace(settings, **{table: replace(getattr(settings, table), **{key: value})})
        return settings

    def _bind_value(self, name: str, own: Any) -> Any:
        right = RIGHTS[name]
        ours = self.rows[name]
        if right is ProjectRight.LOWER:
            return ours if own is None else min(own, ours)
        return (*ours, *(one for one in own if one not in ours)) if name in ADDED else ours


def read_managed(file: Path) -> ManagedSettings:
    """Read the administrator's settings; none if there is no file. Raises SettingsError if it cannot be used."""
    if not require_managed(file):
        return ManagedSettings()
    try:
        given = read_settings(file)
        settings, rows = (
            check_settings(given, str(file)),
            [name for name, _ in list_rows(given)],
        )
    except SettingsError as error:
        raise SettingsError(error.text, ASK_THEM) from error
    if chosen := next((name for name in SELECTING if name in rows), ""):
        raise SettingsError(f"{file} cannot set {chosen}: write the settings themselves.", ASK_THEM)
    return ManagedSettings(str(file), {name: find_value(settings, name) for name in rows})


def require_managed(file: Path) -> bool:
    """True if a file of the administrator is there. Raises SettingsError if it cannot be read, or is not root's."""
    try:
        return find_managed_file(file)
    except Unusable as error:
        raise SettingsError(str(error), ASK_THEM) from error


def _is_same(asked: Any, now: Any) -> bool:
    return tuple(asked) == tuple(now) if isinstance(asked, list | tuple) and now is not None else asked == now
