"""A folder's instructions: rule files, notes, hooks."""

import asyncio
from typing import Any

from msgspec.structs import asdict

from halocline.client import Hook as HookSetup, InstructionService, InstructionVerdict, MemoryNote
from halocline.surfaces.web.handlers.route import OfFolder, Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder


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


async def list_rules(tasks: OpenTasks, which: OfFolder) -> dict[str, Any]:
    """List rule files, the searched locations, and templates."""
    place = InstructionService.open(find_folder(which.workspace))
    files = await asyncio.to_thread(place.found)
    return {"files": files, "places": place.places, "is_on": place.is_on, "examples": place.examples()}


async def rule_why(tasks: OpenTasks, which: OfPath) -> list[InstructionVerdict]:
    """Explain which rule files apply, to a path or in general."""
    return await asyncio.to_thread(InstructionService.open(find_folder(which.workspace)).why, which.path)


async def rule_on(tasks: OpenTasks, which: OfPath) -> bool:
    """Turn a rule file on."""
    return await _switch_file(which, on=True)


async def rule_off(tasks: OpenTasks, which: OfPath) -> bool:
    """Turn a rule file off; the file stays."""
    return await _switch_file(which, on=False)


async def rule_new(tasks: OpenTasks, which: NewRule) -> str:
    """Create a rule file; returns its path."""
    place = InstructionService.open(find_folder(which.workspace))
    made = await asyncio.to_thread(
        lambda: place.new(which.name, own=which.own, paths=which.paths, example=which.example)
    )
    return str(made.path)


async def list_memory(tasks: OpenTasks, which: OfFolder) -> dict[str, Any]:
    """List the notes that tasks in a folder start with."""
    notes = tasks.client.memory_of(find_folder(which.workspace))
    files = [asdict(source) for source in await asyncio.to_thread(notes.sources)]
    return {"on": notes.on, "personal": notes.personal, "project": notes.project, "files": files}


async def memory_add(tasks: OpenTasks, which: NewNote) -> bool:
    """Add a note."""
    await tasks.client.memory_of(find_folder(which.workspace)).add(which.text, project=which.project)
    return True


async def memory_keep(tasks: OpenTasks, which: OwnNote) -> str:
    """Add a personal note, if notes are on; returns its file."""
    return str(await tasks.client.memory_of(find_folder(which.workspace)).keep(which.text))


async def memory_remove(tasks: OpenTasks, which: OfNote) -> MemoryNote:
    """Remove a note by its number; returns it."""
    return await tasks.client.memory_of(find_folder(which.workspace)).forget(which.number)


async def list_hooks(tasks: OpenTasks, which: OfFolder) -> list[HookSetup]:
    """List a folder's hooks; inactive ones say why."""
    return await asyncio.to_thread(tasks.client.hooks_of(find_folder(which.workspace)).list)


async def _switch_file(which: OfPath, *, on: bool) -> bool:
    """Return True if that changed anything."""
    place = InstructionService.open(find_folder(which.workspace))
    return (await asyncio.to_thread(place.switch, which.path, on=on))[1]


QUERIES: Rows = {
    "rules": Row(OfFolder, list_rules),
    "rule_why": Row(OfPath, rule_why),
    "memory": Row(OfFolder, list_memory),
    "hooks": Row(OfFolder, list_hooks),
}
ACTIONS: Rows = {
    "rule_on": Row(OfPath, rule_on),
    "rule_off": Row(OfPath, rule_off),
    "rule_new": Row(NewRule, rule_new),
    "memory_add": Row(NewNote, memory_add),
    "memory_keep": Row(OwnNote, memory_keep),
    "memory_remove": Row(OfNote, memory_remove),
}
