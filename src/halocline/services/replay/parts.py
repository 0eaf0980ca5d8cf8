"""Build a task that follows a recording from the parts of a live one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import structs

from halocline.ports.model import Model
from halocline.ports.tool import Toolset
from halocline.protocol.state.state import State
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.replay.recorded_hooks import RecordedHooks
from halocline.services.replay.recording import RecordedFacts, RecordedGrants
from halocline.services.replay.task import Replayed
from halocline.services.replay.timeline import Course
from halocline.store.settings.load import with_overrides
from halocline.store.settings.sections import LanguageServerSettings
from halocline.store.settings.settings import Settings
from halocline.store.tasks.recording import RECORDED_SETTINGS
from halocline.task.governor import Governor
from halocline.task.inbox import Inbox
from halocline.task.log import Log

_SWITCHED_OFF = {
    "checkpoints": False,
    "rules": False,
    "language_servers": LanguageServerSettings(enabled=False),
    "formatters": {},
    "memory": False,
    "hide_keys": False,  # recordings contain no keys
}


def with_recorded_settings(assembly: Assembly, recorded: Mapping[str, Any], *, had_browser: bool) -> Assembly:
    """Return an assembly with a recording's settings, without checkpoints and anything that acts on files by itself."""
    known = {name: recorded[name] for name in (*RECORDED_SETTINGS, "browser_viewport") if name in recorded}
    then = msgspec.convert(known, Settings)
    chosen = {name: getattr(then, name) for name in known} | _SWITCHED_OFF
    return Assembly(assembly.home, with_overrides(assembly.settings, chosen), assembly.env, had_browser=had_browser)


def build_task(
    assembly: Assembly, log: Log, state: State, workspace: Path, model: Model, tools: Toolset, course: Course
) -> Replayed:
    """Build a task that follows the course and clock of a recording."""
    inbox = Inbox(attended=True)
    parts = assembly.parts(log, state, workspace, model, inbox, RecordedHooks(course))
    sources = structs.replace(parts.host.sources, changes=None, mentions=None)
    facts = RecordedFacts(course, assembly.env)
    host = structs.replace(parts.host, permissions=RecordedGrants(), shell_facts=facts, sources=sources)
    governor = Governor(assembly.limits(), course.seconds)
    return Replayed(structs.replace(parts, toolset=tools, governor=governor, host=host), course)
