"""The settings as a person looks at them and changes them: each with its value, where that is from, and what it may be.

What must stay true: what looks like a key in a value is not shown; and what was not shown is never written back.
"""

import enum
import types
import typing
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from halocline.protocol.errors import UsageError
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import Value
from halocline.store.paths import Home
from halocline.store.settings.edit import change_setting
from halocline.store.settings.settings import VARIABLES, Settings, load_settings, read_settings

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
        "prices",
        "catalogue_url",
        "profile",
        "profiles",
    ],
    "Providers": [
        "base_url",
        "providers",
        "connect_timeout",
        "first_byte_timeout",
        "stall_timeout",
        "quiet_timeout",
        "outage_patience",
        "timeouts",
        "proxy",
        "ca_file",
    ],
    "Approvals": ["approval_mode", "auto_approve", "add_dirs", "hide_keys", "pass_environment"],
    "Limits": [
        "max_steps",
        "max_cost",
        "time_limit",
        "max_failures",
        "max_reply",
        "subagent_steps",
        "subagent_seconds",
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
    "Tools": ["extra_tools", "subagents", "words_off", "web_search", "mcp", "todo_reminder"],
    "Edits": ["syntax_errors", "partial_edits", "language_servers", "formatters"],
    "Checkpoints": ["checkpoints", "checkpoints_patience", "checkpoints_quota", "keep_deleted"],
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
}
"""Which settings belong together, and in which order they are shown."""

HIDDEN = "[hidden]"
KINDS: dict[type, str] = {bool: "switch", int: "number", float: "number", str: "text"}


class Setting(Value, frozen=True, omit_defaults=False):
    """One setting, or one of a table of them (`mcp.enabled`). `source` is what its value is from, empty by default.

    `kind` is switch, number, text, choice, list or table; `choices` are all values of a choice, and all members of a
    list, when they are known. `optional`: it may also be without a value. `hidden`: part of the value is not shown.
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
    """The settings of one home."""

    def __init__(self, home: Home, env: Mapping[str, str]) -> None:
        self._home = home
        self._env = env

    def listed(self) -> list[Setting]:
        """All, section by section. Raises SettingsError when the file is wrong."""
        now = load_settings(self._home.settings, self._env)
        sources = dict(self._sources(now))
        fields = {field.name: field for field in msgspec.structs.fields(Settings)}
        return [
            row
            for section, names in SECTIONS.items()
            for name in names
            for row in _list_rows(fields[name], getattr(now, name), section, sources)
        ]

    def put(self, name: str, value: Any) -> None:
        """Set one in the file; with None it is as by default again. Raises UsageError and SettingsError."""
        if name not in {row.name for row in self.listed()}:
            raise UsageError(f"There is no setting {name!r}.", "Reload the page.")
        if _is_blotted(value):
            raise UsageError(f"A part of {name} is not shown here, so it cannot be changed here.", "Edit the file.")
        change_setting(self._home.settings, name, value)

    def _sources(self, now: Settings) -> Iterator[tuple[str, str]]:
        yield from ((name, self._home.settings.name) for name in _setting_names(read_settings(self._home.settings)))
        yield from ((name, f"profile {now.profile}") for name in _setting_names(now.profiles.get(now.profile, {})))
        yield from ((name, variable) for variable, name in VARIABLES.items() if self._env.get(variable))


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
    form, said = _taken_apart(field.type)
    if isinstance(form, type) and issubclass(form, msgspec.Struct):
        for inner in msgspec.structs.fields(form):
            yield from _list_rows(inner, getattr(value, inner.name), section, sources, name, said)
        return
    kind, choices, optional = _describe_type(form)
    shown = _plain_value(value)
    safe = _redact_value(shown)
    default = _plain_value(field.default if field.default is not msgspec.NODEFAULT else field.default_factory())
    source = sources.get(name, "")
    yield Setting(name, safe, default, source, kind, choices, optional, said or doc, section, safe != shown)


def _taken_apart(form: Any) -> tuple[Any, str]:
    """A type without what is said of it, and what a person reads of it."""
    said = ""
    while typing.get_origin(form) is typing.Annotated:
        form, *notes = typing.get_args(form)
        said = next((note.description for note in notes if getattr(note, "description", None)), said)
    return form, said


def _describe_type(form: Any) -> tuple[str, tuple[str, ...], bool]:
    """Kind, choices, and whether it may be without a value."""
    form, _ = _taken_apart(form)
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
    """The same without what looks like a key; what a header holds is never shown."""
    match value:
        case dict():
            return {key: HIDDEN if name == "headers" else _redact_value(one, key) for key, one in value.items()}
        case list():
            return [_redact_value(one) for one in value]
        case str():
            return redact_text(value)
    return value


def _is_blotted(value: Any) -> bool:
    text = msgspec.json.encode(value)
    return b"[redacted " in text or HIDDEN.encode() in text
