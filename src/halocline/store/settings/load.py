"""Loads settings: `settings.toml`, its profile, a folder's, `HALOCLINE_*` variables, then flags (from surfaces).

The last one wins; a folder's count only as far as `project` lets them. An unknown key is an error that names it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.files.regular import read_regular
from halocline.protocol.errors import SettingsError
from halocline.protocol.values import Value
from halocline.store import settings as settings_modules
from halocline.store.settings.provider_settings import Timeouts
from halocline.store.settings.sections import PlanSettings
from halocline.store.settings.settings import Settings

VARIABLES = {
    "HALOCLINE_MODEL": "model",
    "HALOCLINE_PROFILE": "profile",
    "HALOCLINE_BASE_URL": "base_url",
    "HALOCLINE_APPROVAL_MODE": "approval_mode",
    "HALOCLINE_EFFORT": "effort",
    "HALOCLINE_MAX_STEPS": "max_steps",
    "HALOCLINE_MAX_COST": "max_cost",
    "HALOCLINE_TOKEN_LIMIT": "token_limit",
    "HALOCLINE_TIME_LIMIT": "time_limit",
    "HALOCLINE_CONTEXT_WINDOW": "context_window",
    "HALOCLINE_LANGUAGE": "language",
    "HALOCLINE_CHECKPOINTS": "checkpoints",
    "HALOCLINE_SANDBOX": "sandbox",
    "HALOCLINE_CONNECT_TIMEOUT": "connect_timeout",
    "HALOCLINE_FIRST_BYTE_TIMEOUT": "first_byte_timeout",
    "HALOCLINE_STALL_TIMEOUT": "stall_timeout",
    "HALOCLINE_PROXY": "proxy",
    "HALOCLINE_CA_FILE": "ca_file",
    "HALOCLINE_BROWSER": "browser",
    "HALOCLINE_RULES": "rules",
    "HALOCLINE_HOOKS": "hooks",
    "HALOCLINE_HOOK_TIMEOUT": "hook_timeout",
    "HALOCLINE_CATALOGUE_URL": "catalogue_url",
}
"""Environment variables and the settings they set."""


class ProjectLayer(Value, frozen=True):
    """A folder's settings file, and whether the folder is trusted; `further` if it is not the first of its task."""

    file: Path
    trusted: bool = False
    further: bool = False


def load_settings(path: Path, env: Mapping[str, str], profile: str | None = None) -> Settings:
    """Load the effective settings, with those of `profile`, or of the one that the variable or the file names.

    Raises:
        SettingsError: the file, a variable or the profile is invalid; names it, the key and the problem.
    """
    return finish_settings(read_own(path, env, profile), str(path), env)


def read_own(path: Path, env: Mapping[str, str], profile: str | None = None, *, but: str = "") -> dict[str, Any]:
    """Read the person's raw settings with those of their profile, checked. Raises as `load_settings`.

    The setting `but` is left out if its value is invalid: it is about to be changed.
    """
    given = read_settings(path)
    try:
        settings = check_settings(given, str(path))
    except SettingsError:
        given = without_setting(given, but)
        settings = check_settings(given, str(path))
    if name := profile or env.get("HALOCLINE_PROFILE", "") or settings.profile:
        given = given | _read_profile(settings, name, path) | {"profile": name}
        check_settings(given, f"profile {name} of {path}")
    return given


def without_setting(given: dict[str, Any], name: str) -> dict[str, Any]:
    """Return raw settings without the value of one, which may be a key of a table, or what stands in place of it."""
    key, _, below = name.partition(".")
    table, rest = given.get(key), {one: value for one, value in given.items() if one != key}
    return rest | {key: without_setting(table, below)} if below and isinstance(table, dict) else rest


def finish_settings(raw: dict[str, Any], source: str, env: Mapping[str, str]) -> Settings:
    """Return the settings of raw ones from `source`, with those of variables. Raises SettingsError."""
    return with_overrides(check_settings(raw, source), _read_variables(env))


def _read_variables(env: Mapping[str, str]) -> dict[str, Any]:
    return {
        setting: getattr(check_settings({setting: env[name]}, f"the variable {name}"), setting)
        for name, setting in VARIABLES.items()
        if env.get(name)
    }


def _read_profile(settings: Settings, name: str, path: Path) -> dict[str, Any]:
    if name in settings.profiles:
        return settings.profiles[name]
    known = f"Existing profiles: {', '.join(settings.profiles)}." if settings.profiles else f"{path} has none."
    raise SettingsError(f"No profile {name!r}.", f"{known} To create it, add a table [profiles.{name}] to {path}.")


def with_overrides(settings: Settings, chosen: Mapping[str, Any]) -> Settings:
    """Return the settings with the overrides of this run, such as flags.

    A timeout overrides those of single providers too; an effort overrides the thinking budget and plan mode's settings.
    """
    if "effort" in chosen:
        chosen = {"thinking_budget": None, **chosen}
    if chosen.keys() & {"effort", "thinking_budget"}:
        chosen = {"plan": PlanSettings(model=settings.plan.model), **chosen}
    general = {name: None for name in Timeouts.__struct_fields__ if f"{name}_timeout" in chosen}
    rows = {provider: replace(row, **general) for provider, row in settings.timeouts.items()}
    return replace(settings, **{"timeouts": rows, **chosen})


def find_value(settings: Settings, name: str) -> Any:
    """Return the value of a setting, or of one of a table (`mcp.enabled`)."""
    found: Any = settings
    for part in name.split("."):
        found = getattr(found, part)
    return found


def read_settings(path: Path) -> dict[str, Any]:
    """Read the raw contents of the file; empty if it does not exist. Raises SettingsError."""
    if not path.exists():
        return {}
    import tomllib

    try:
        return tomllib.loads(read_regular(path).decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"Cannot read {path}: {error}.", "Fix the file or move it away.") from error


def check_settings(given: dict[str, Any], source: str) -> Settings:
    """Convert raw values to settings; errors name `source`. Raises SettingsError."""
    if not given:  # looking at the types of all settings takes a millisecond
        return Settings()
    try:
        return msgspec.convert(given, Settings, strict=False)
    except msgspec.ValidationError as error:
        raise settings_modules.invalid.explain_invalid(error, given, source) from error
