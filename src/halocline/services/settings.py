"""The settings for a page that shows and changes them: each with its value, source and allowed values.

What must stay true: a value that looks like a key is not shown, and what was not shown is never written back.
"""

import enum
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from halocline.files.foreign_config import read_foreign_config
from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import Value
from halocline.services.themes import ThemeService
from halocline.store.paths import PROJECT_SETTINGS, Home
from halocline.store.settings.edit import change_setting
from halocline.store.settings.invalid import suggest_name
from halocline.store.settings.load import VARIABLES, ProjectLayer, finish_settings, read_own, read_settings
from halocline.store.settings.managed import ManagedSettings, read_managed
from halocline.store.settings.project import LoadedSettings, apply_project
from halocline.store.settings.settings import Settings
from halocline.store.themes import TERMINAL

SECTIONS: dict[str, list[str]] = {
    "Model": [
        "model",
        "plan",
        "fallback_models",
        "effort",
        "thinking_budget",
        "max_tokens",
        "context_window",
        "text_tools",
        "image_models",
        "model_aliases",
        "allowed_providers",
        "allowed_models",
        "prices",
        "catalogue_url",
        "profile",
        "profiles",
    ],
    "Providers": [
        "base_url",
        "providers",
        "extra_body",
        "connect_timeout",
        "first_byte_timeout",
        "stall_timeout",
        "quiet_timeout",
        "outage_patience",
        "requests_per_minute",
        "timeouts",
        "proxy",
        "ca_file",
    ],
    "Approvals": ["approval_mode", "modes_off", "auto_approve", "judge", "add_dirs", "hide_keys", "pass_environment"],
    "Limits": [
        "max_steps",
        "max_cost",
        "token_limit",
        "time_limit",
        "max_failures",
        "max_reply",
        "subagent_steps",
        "subagent_seconds",
        "subagent_depth",
        "subagents_at_once",
    ],
    "Prompt": [
        "prompt",
        "system_prompt_file",
        "append_system_prompt",
        "language",
        "rules",
        "rules_excluded",
        "memory",
        "compaction",
    ],
    "Tools": [
        "extra_tools",
        "tools_off",
        "web",
        "subagents",
        "words_off",
        "web_search",
        "mcp",
        "plugins",
        "todo_reminder",
        "double_check",
        "require_completion",
    ],
    "Edits": ["syntax_errors", "partial_edits", "language_servers", "encodings", "formatters"],
    "Checkpoints": ["checkpoints", "checkpoints_patience", "checkpoints_quota", "keep_deleted", "worktree_setup"],
    "Sandbox": [
        "sandbox",
        "sandbox_network",
        "sandbox_git_writes",
        "sandbox_writable",
        "sandbox_processes",
        "sandbox_file_size",
    ],
    "Browser": ["browser", "browser_executable", "browser_remote", "browser_viewport"],
    "Hooks": ["hooks", "hook_folders", "hook_timeout", "hook_failures"],
    "Traces and logs": ["traces", "trace_contents", "log_format"],
    "Terminal": ["terminal"],
}
"""Settings by section, in display order."""

HIDDEN, THEME = "[hidden]", "terminal.theme"
KINDS: dict[type, str] = {bool: "switch", int: "number", float: "number", str: "text"}


class Setting(Value, frozen=True, omit_defaults=False):
    """One setting, or one of a table of settings (`mcp.enabled`). `source` is empty for a default.

    `kind` is switch, number, text, choice, list or table; `choices` are the values of a choice, or the members that a
    list can have if they are known. `optional`: it can be unset. `hidden`: part of the value is not shown.
    """

    name: str
    value: Any
    default: Any
    source: str
    kind: str
    choices: tuple[str, ...]
    optional: bool
    doc: str
    section: str
    hidden: bool = False


class SettingsService:
    """The settings of one home, or with `project` those in force in a folder."""

    def __init__(
        self,
        home: Home,
        env: Mapping[str, str],
        project: ProjectLayer | None = None,
        themes: ThemeService | None = None,
    ) -> None:
        self._home = home
        self._themes = themes or ThemeService(TERMINAL.name)
        self._env = env
        self._project = project

    @property
    def refused(self) -> tuple[str, ...]:
        """Why settings of the folder are not in force. Raises SettingsError."""
        return self._load().refused

    def listed(self) -> list[Setting]:
        """Return all settings by section. Raises SettingsError if the file is invalid."""
        return [*map(self._name_themes, self._rows())]

    def _rows(self, but: str = "") -> list[Setting]:
        loaded = self._load(but)
        now = loaded.settings
        sources = dict(self._sources(now, loaded.taken))
        fields = {field.name: field for field in msgspec.structs.fields(Settings)}
        return [
            row
            for section, names in SECTIONS.items()
            for name in names
            for row in _list_rows(fields[name], getattr(now, name), section, sources)
        ]

    @property
    def file(self) -> str:
        """The file that holds them."""
        return str(self._home.settings)

    def read_keys(self) -> dict[str, Any]:
        """Return the lines of the file of the person's own keys; none without it. Raises SettingsError."""
        try:
            return read_foreign_config(self._home.keys)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise SettingsError(f"Cannot read {self._home.keys}: {error}.", "Your own keys are off.") from error

    def find(self, name: str, *, exact: bool = False) -> list[Setting]:
        """Return a setting, or those of a table of settings. With `exact` only one, or the table that holds `name`.

        With `exact` a value that is invalid counts as if it were not there. Raises UsageError and SettingsError.
        """
        rows = self._rows(name if exact else "")
        if named := [row for row in rows if row.name == name]:
            return [*map(self._name_themes, named)]
        if below := [row for row in rows if row.name.startswith(f"{name}.") and not exact]:
            return [*map(self._name_themes, below)]
        if around := [row for row in rows if row.kind == "table" and name.startswith(f"{row.name}.") and exact]:
            return around
        raise UsageError(f"There is no setting {name!r}.", suggest_name(name, [row.name for row in rows]))

    def put(self, name: str, value: Any) -> None:
        """Change a setting in the file; None resets it to its default. Raises UsageError and SettingsError."""
        self.find(name, exact=True)
        self._managed.refuse_change(name, value)
        if name == THEME and isinstance(value, str):
            self._themes.find(value)
        if _is_redacted(value):
            raise UsageError(
                f"Part of {name} is hidden, so you cannot change it here.", f"Edit {self._home.settings} instead."
            )
        change_setting(self._home.settings, name, value)

    def _name_themes(self, row: Setting) -> Setting:
        """Return the row; that of the theme with the themes that there are, and with what is shown if it is another."""
        if row.name != THEME:
            return row
        names, (_, problem) = tuple(theme.name for theme in self._themes.listed()), self._themes.choose()
        return replace(row, kind="choice", choices=names, doc=f"{problem} {row.doc}".strip())

    def _load(self, but: str = "") -> LoadedSettings:
        own = read_own(self._home.settings, self._env, but=but)
        if self._project:
            loaded = apply_project(own, (self._project,), self._env)
        else:
            loaded = LoadedSettings(finish_settings(own, str(self._home.settings), self._env))
        return replace(loaded, settings=self._managed.bind(loaded.settings))

    @property
    def _managed(self) -> ManagedSettings:
        """Read the settings of the administrator. Raises SettingsError."""
        return read_managed(self._home.managed_settings)

    def _sources(self, now: Settings, of_folder: Iterable[str]) -> Iterator[tuple[str, str]]:
        yield from ((name, self._home.settings.name) for name in _setting_names(read_settings(self._home.settings)))
        yield from ((name, f"profile {now.profile}") for name in _setting_names(now.profiles.get(now.profile, {})))
        yield from ((name, PROJECT_SETTINGS) for name in of_folder)
        yield from ((name, variable) for variable, name in VARIABLES.items() if self._env.get(variable))
        managed = self._managed
        yield from ((name, managed.source) for name in managed.list_decided(now))


def _setting_names(given: Mapping[str, Any]) -> Iterator[str]:
    for name, value in given.items():
        yield name
        if isinstance(value, dict):
            yield from (f"{name}.{inner}" for inner in value)


def _list_rows(
    field: msgspec.structs.FieldInfo,
    value: Any,
    section: str,
    sources: Mapping[str, str],
    parent: str = "",
    doc: str = "",
) -> Iterator[Setting]:
    name = f"{parent}.{field.name}" if parent else field.name
    form, own_doc = _split_annotation(field.type)
    if isinstance(form, type) and issubclass(form, msgspec.Struct):
        for inner in msgspec.structs.fields(form):
            yield from _list_rows(inner, getattr(value, inner.name), section, sources, name, own_doc)
        return
    kind, choices, optional = _describe_type(form)
    shown = _plain_value(value)
    safe = _redact_value(shown)
    default = _plain_value(field.default if field.default is not msgspec.NODEFAULT else field.default_factory())
    source = sources.get(name, "")
    yield Setting(name, safe, default, source, kind, choices, optional, own_doc or doc, section, safe != shown)


def _split_annotation(form: Any) -> tuple[Any, str]:
    """Return a type without its annotations, and the description among them."""
    description = ""
    while typing.get_origin(form) is typing.Annotated:
        form, *notes = typing.get_args(form)
        description = next((note.description for note in notes if getattr(note, "description", None)), description)
    return form, description


def _describe_type(form: Any) -> tuple[str, tuple[str, ...], bool]:
    """Return kind, choices, and True if it can be unset."""
    form, _ = _split_annotation(form)
    origin, inside = typing.get_origin(form), typing.get_args(form)
    if origin in (types.UnionType, typing.Union):
        kind, choices, _ = _describe_type(next(one for one in inside if one is not type(None)))
        return kind, choices, True
    if origin is typing.Literal:
        return "choice", tuple(inside), False
    if origin is tuple:
        return "list", _describe_type(inside[0])[1], False
    if origin is dict:
        return "table", (), False
    if issubclass(form, enum.Enum):
        return "choice", tuple(one.value for one in form), False
    return KINDS[form], (), False


def _plain_value(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


def _redact_value(value: Any, name: str = "") -> Any:
    """Redact what looks like a key, and the values of all headers."""
    match value:
        case dict():
            return {key: HIDDEN if name == "headers" else _redact_value(one, key) for key, one in value.items()}
        case list():
            return [_redact_value(one) for one in value]
        case str():
            return redact_text(value)
    return value


def _is_redacted(value: Any) -> bool:
    text = msgspec.json.encode(value)
    return b"[redacted " in text or HIDDEN.encode() in text
