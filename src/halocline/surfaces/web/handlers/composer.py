"""Queries of the composer: slash commands, mentions, models, efforts."""

import asyncio
from pathlib import Path

from halocline.client import Efforts, Mentionable, ModelConnection, OfferedModel, SlashEntry, SlashPlace
from halocline.protocol.events.mentions import Mentioned
from halocline.protocol.kinds import Mode
from halocline.protocol.values import Value
from halocline.surfaces.web.handlers.route import OfTask, Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder


class OfEither(Value, frozen=True):
    """A task, or the workspace for a new one."""

    task: str = ""
    workspace: str = ""

    def place(self, tasks: OpenTasks) -> Path:
        """Return the folder. Raises UsageError and TaskNotFound."""
        return tasks.workspace(tasks.known(self.task)) if self.task else find_folder(self.workspace)


class OfText(OfTask, frozen=True):
    text: str


class Which(Value, frozen=True):
    """Only usable models, unless `all`."""

    all: bool = False


class OfModel(Value, frozen=True):
    model: str = ""


class OfModelAndMode(Value, frozen=True):
    model: str
    mode: Mode = Mode.ACT


async def list_words(tasks: OpenTasks, which: OfEither) -> list[SlashEntry]:
    """List slash commands, including prompts of an open task's MCP servers."""
    found = tasks.client.words(which.place(tasks)).listed(SlashPlace.TERMINAL)
    prompts = tasks.client.mcp_prompts(which.task) if tasks.client.is_open(which.task) else []
    return [*found, *(SlashEntry(prompt.command, "mcp", prompt.description) for prompt in prompts)]


async def list_mentionable(tasks: OpenTasks, which: OfEither) -> Mentionable:
    """List files, commits and tasks to mention."""
    if tasks.client.is_open(which.task):
        return await tasks.client.mentionable(which.task)
    info = tasks.client.tasks.info(tasks.known(which.task)) if which.task else None
    return await tasks.client.handing.mentionable_in(which.place(tasks), which.task, info.roots if info else ())


async def measure_mentions(tasks: OpenTasks, which: OfText) -> tuple[Mentioned, ...]:
    """List the mentions in a text for an open task, with approximate tokens."""
    return await tasks.client.mentioned(which.task, which.text) if tasks.client.is_open(which.task) else ()


async def list_models(tasks: OpenTasks, which: Which) -> list[OfferedModel]:
    """List usable models."""
    return [model for model in await tasks.client.models.list_models() if model.usable or which.all]


async def list_task_efforts(tasks: OpenTasks, which: OfModelAndMode) -> Efforts:
    """List a model's effort levels and the settings' default."""
    return await asyncio.to_thread(tasks.client.models.efforts, which.model, which.mode)


async def try_model(tasks: OpenTasks, which: OfModel) -> ModelConnection:
    """Test the connection to a model, or to the default one without a name."""
    return await tasks.client.models.connect(which.model)


QUERIES: Rows = {
    "words": Row(OfEither, list_words),
    "mentionable": Row(OfEither, list_mentionable),
    "mentioned": Row(OfText, measure_mentions),
    "models": Row(Which, list_models),
    "efforts": Row(OfModelAndMode, list_task_efforts),
    "connection": Row(OfModel, try_model),
}
