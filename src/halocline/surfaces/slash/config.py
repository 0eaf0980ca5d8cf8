"""`/config`: the settings, what each does and where its value comes from; change one."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from halocline.client.settings import Setting, SettingsService
from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, mark_used

DEFAULT = "default"
WHEN = "Switches of auto_approve apply at once, limits with your next prompt, and the rest in new tasks."
HOW = "To change one: /config NAME VALUE. To reset it: /config NAME default"


async def answer_config(context: SlashContext, rest: str) -> SlashAnswer:
    service = settings_of(context.client, context.task)
    name, _, value = rest.partition(" ")
    if not name:
        changed = [row for row in service.listed() if row.source]
        return "\n".join([*(_describe_row(row) for row in changed), HOW])
    if not value.strip():
        return "\n".join(_describe_setting(row) for row in service.find(name))
    typed = value.strip()
    said = change_setting(service, name, None if typed == DEFAULT else typed)
    return f"{said}\n{WHEN}"


async def complete_config(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    match given:
        case []:
            rows = settings_of(client, task).listed()
            return {f"{row.name} ": f"{_short_value(row)} · {_plain(row.doc)}" for row in rows}
        case [name]:
            (row,) = settings_of(client, task).find(name, exact=True)
            now = format_setting(row.value)
            return {
                **mark_used(_known_values(row), now),
                DEFAULT: f"reset it to {format_setting(row.default) or 'nothing'}",
            }
    return {}


def settings_of(client: Client, task: str) -> SettingsService:
    """Return the settings in force in the folder of a task."""
    state = client.state(task)
    return client.settings_in(Path(state.workspace), state.prompt.plugins)


def _known_values(row: Setting) -> tuple[str, ...]:
    return ("true", "false") if row.kind == "switch" else row.choices


def _short_value(row: Setting) -> str:
    return format_setting(row.value)[:30] or "not set"


def _plain(doc: str) -> str:
    return clean(doc.replace("`", ""))


def _describe_row(row: Setting) -> str:
    return f"{row.name} = {format_setting(row.value)}  ({row.source or DEFAULT})"


def _describe_setting(row: Setting) -> str:
    values = ", ".join(_known_values(row))
    return f"{_describe_row(row)}\n  {_plain(row.doc)}{f' Values: {values}.' if values else ''}"


def format_setting(value: Any) -> str:
    """A text as it is, and everything else as JSON, which is TOML for most values."""
    return clean(value) if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def parse_setting(row: Setting, text: str, name: str) -> Any:
    """Read the value that was typed: texts need no quotes, and lists no brackets. Raises UsageError."""
    if row.kind in ("text", "choice") and row.name == name:
        return text
    if row.kind == "list" and not text.lstrip().startswith("["):
        return [part.strip() for part in text.split(",") if part.strip()]
    import tomllib

    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError as error:
        if row.kind == "table":  # a key of one, which may be a text
            return text
        kinds = {"switch": "true or false", "number": "a number"}
        raise UsageError(
            f"{text!r} is not a value for {name}.", f"It takes {kinds.get(row.kind, row.kind)}."
        ) from error


def change_setting(service: SettingsService, name: str, text: str | None) -> str:
    """Change a setting in the file, or reset it (None). Returns which value is in force.

    Raises UsageError and SettingsError.
    """
    (row,) = service.find(name, exact=True)
    service.put(name, None if text is None else parse_setting(row, text, name))
    (now,) = service.find(row.name, exact=True)
    if now.source.startswith("set by "):
        return f"Changed {now.name} in {service.file}; in force is {format_setting(now.value)}, {now.source}."
    if now.source not in ("", Path(service.file).name):
        return f"Changed {now.name} in {service.file}, but {now.source} is set and overrides it."
    return f"{now.name} is now {format_setting(now.value) if now.source else 'its default'} ({service.file})."
