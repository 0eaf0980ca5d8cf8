"""A folder's instructions: rule files, notes, hooks."""

import asyncio
from typing import Any

from msgspec.structs import asdict

from halocline.client.instructions import InstructionService, InstructionVerdict, MemoryNote
from halocline.client.policy import Hook as HookSetup
from halocline.surfaces.web.handlers.handler import OfFolder, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class OfPath(OfFolder, frozen=True):
    """A rule file; for `rule_why`: a project file."""

    path: str = ""


class NewRule(OfFolder, frozen=True):
    """`own`: for all your projects instead of this one. `paths`: applies to these files only."""

    name: str = ""
    own: bool = False
    paths: tuple[str, ...] = ()
    example: str = ""


class OwnNote(OfFolder, frozen=True):
    text: str


class NewNote(OwnNote, frozen=True):
    """For everyone in the project (`project`), or only for you."""

    project: bool = False


class OfNote(OfFolder, frozen=True):
    number: int


@query("rules")
async def list_rules(tasks: OpenTasks, which: OfFolder) -> dict[str, Any]:
    """List rule files, the searched locations, and templates."""
    place = InstructionService.open(which.folder())
    files = await asyncio.to_thread(place.found)
    return {"files": files, "places": place.places, "is_on": place.is_on, "examples": place.examples()}


@query("rule_why")
async def explain_rules(tasks: OpenTasks, which: OfPath) -> list[InstructionVerdict]:
    """Explain which rule files apply, to a path or in general."""
    return await asyncio.to_thread(InstructionService.open(which.folder()).why, which.path)


@action("rule_on")
async def enable_rule(tasks: OpenTasks, which: OfPath) -> bool:
    """Turn a rule file on."""
    return await _switch_file(which, on=True)


@action("rule_off")
async def disable_rule(tasks: OpenTasks, which: OfPath) -> bool:
    """Turn a rule file off; the file stays."""
    return await _switch_file(which, on=False)


@action("rule_new")
async def create_rule(tasks: OpenTasks, which: NewRule) -> str:
    """Create a rule file; returns its path."""
    place = InstructionService.open(which.folder())
    made = await asyncio.to_thread(
        lambda: place.new(which.name, own=which.own, paths=which.paths, example=which.example)
    )
    return str(made.path)


@query("memory")
async def list_notes(tasks: OpenTasks, which: OfFolder) -> dict[str, Any]:
    """List the notes that tasks in a folder start with."""
    notes = tasks.client.memory_of(which.folder())
    files = [asdict(source) for source in await asyncio.to_thread(notes.sources)]
    return {"on": notes.on, "personal": notes.personal, "project": notes.project, "files": files}


@action("memory_add")
async def add_note(tasks: OpenTasks, which: NewNote) -> bool:
    """Add a note."""
    await tasks.client.memory_of(which.folder()).add(which.text, project=which.project)
    return True


@action("memory_keep")
async def add_own_note(tasks: OpenTasks, which: OwnNote) -> str:
    """Add a personal note, if notes are on; returns its file."""
    return str(await tasks.client.memory_of(which.folder()).keep(which.text))


@action("memory_remove")
async def remove_note(tasks: OpenTasks, which: OfNote) -> MemoryNote:
    """Remove a note by its number; returns it."""
    return await tasks.client.memory_of(which.folder()).forget(which.number)


@query("hooks")
async def list_hooks(tasks: OpenTasks, which: OfFolder) -> list[HookSetup]:
    """List a folder's hooks; inactive ones say why."""
    return await asyncio.to_thread(tasks.client.hooks_of(which.folder()).list)


async def _switch_file(which: OfPath, *, on: bool) -> bool:
    """Return True if that changed anything."""
    place = InstructionService.open(which.folder())
    return (await asyncio.to_thread(place.switch, which.path, on=on))[1]
