"""Queries of the composer: slash commands, mentions, models, efforts."""

import asyncio
from pathlib import Path

from halocline.client.mentions import Mentionable
from halocline.client.models import Efforts, ModelConnection, OfferedModel
from halocline.client.prompts import SlashEntry, SlashPlace
from halocline.protocol.events.mentions import Mentioned
from halocline.protocol.kinds import Mode
from halocline.protocol.values import Value
from halocline.surfaces.web.handlers.handler import Nothing, OfTask, query
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder


class OfTaskOrFolder(Value, frozen=True):
    """A task, or the workspace for a new one."""

    task: str = ""
    workspace: str = ""

    def place(self, tasks: OpenTasks) -> Path:
        """Return the folder. Raises UsageError and TaskNotFound."""
        return tasks.workspace(tasks.known(self.task)) if self.task else find_folder(self.workspace)


class OfText(OfTask, frozen=True):
    text: str


class ModelFilter(Value, frozen=True):
    """Only usable models, unless `all`."""

    all: bool = False


class OfModel(Value, frozen=True):
    model: str = ""


class OfModelAndMode(Value, frozen=True):
    model: str
    mode: Mode = Mode.ACT


@query("words")
async def list_slash_commands(tasks: OpenTasks, which: OfTaskOrFolder) -> list[SlashEntry]:
    """List slash commands, including prompts of an open task's MCP servers."""
    is_open = tasks.client.is_open(which.task)
    roots = tasks.client.state(which.task).roots if is_open else ()
    found = tasks.client.words(which.place(tasks), roots).listed(SlashPlace.TERMINAL)
    prompts = tasks.client.mcp_prompts(which.task) if is_open else []
    return [*found, *(SlashEntry(prompt.command, "mcp", prompt.description) for prompt in prompts)]


@query("mentionable")
async def list_mentionable(tasks: OpenTasks, which: OfTaskOrFolder) -> Mentionable:
    """List files, commits and tasks to mention."""
    if tasks.client.is_open(which.task):
        return await tasks.client.mentionable(which.task)
    info = tasks.client.tasks.info(tasks.known(which.task)) if which.task else None
    return await tasks.client.handing.mentionable_in(which.place(tasks), which.task, info.roots if info else ())


@query("mentioned")
async def measure_mentions(tasks: OpenTasks, which: OfText) -> tuple[Mentioned, ...]:
    """List the mentions in a text for an open task, with approximate tokens."""
    return await tasks.client.mentioned(which.task, which.text) if tasks.client.is_open(which.task) else ()


@query("models")
async def list_models(tasks: OpenTasks, which: ModelFilter) -> list[OfferedModel]:
    """List usable models."""
    return [model for model in await tasks.client.models.list_models() if model.usable or which.all]


@query("usual_model")
async def find_usual_model(tasks: OpenTasks, _: Nothing) -> str:
    """Find the model of a task that names none; empty if there is none."""
    return await tasks.client.models.find_usual()


@query("efforts")
async def list_task_efforts(tasks: OpenTasks, which: OfModelAndMode) -> Efforts:
    """List a model's effort levels and the settings' default."""
    return await asyncio.to_thread(tasks.client.models.efforts, which.model, which.mode)


@query("connection")
async def try_model(tasks: OpenTasks, which: OfModel) -> ModelConnection:
    """Test the connection to a model, or to the default one without a name."""
    return await tasks.client.models.connect(which.model)
