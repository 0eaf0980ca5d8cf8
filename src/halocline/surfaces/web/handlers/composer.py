"""What a composer asks: slash commands, what can be mentioned, what was mentioned, the models there are."""

import asyncio
from pathlib import Path

from halocline.protocol.events import Mode
from halocline.protocol.queries.mentions import Mentioned
from halocline.protocol.values import Value
from halocline.runtime.mentions.suggestions import Mentionable
from halocline.runtime.models.connection_test import Connection
from halocline.runtime.models.efforts import Efforts
from halocline.runtime.prompts.command_files import Word
from halocline.runtime.prompts.slash_commands import Where
from halocline.services.models.model_list import OfferedModel
from halocline.surfaces.web.handlers.route import OfTask, Row, Rows
from halocline.surfaces.web.open_tasks import OpenTasks, find_folder


class OfEither(Value, frozen=True):
    """A task, or the workspace in which one is to begin."""

    task: str = ""
    workspace: str = ""

    def place(self, desk: OpenTasks) -> Path:
        """Raises UsageError and TaskNotFound."""
        return desk.workspace(desk.known(self.task)) if self.task else find_folder(self.workspace)


class OfText(OfTask, frozen=True):
    text: str


class Which(Value, frozen=True):
    """Only models that can be used, unless `all`."""

    all: bool = False


class OfModel(Value, frozen=True):
    model: str = ""


class OfModelAndMode(Value, frozen=True):
    model: str
    mode: Mode = Mode.ACT


async def list_words(desk: OpenTasks, which: OfEither) -> list[Word]:
    """The slash commands that a person may use, prompts of an open task's MCP servers among them."""
    found = desk.client.words(which.place(desk)).listed(Where.TERMINAL)
    prompts = desk.client.mcp_prompts(which.task) if desk.client.is_open(which.task) else []
    return [*found, *(Word(prompt.command, "mcp", prompt.description) for prompt in prompts)]


async def list_mentionable(desk: OpenTasks, which: OfEither) -> Mentionable:
    """Files, commits and tasks that can be mentioned."""
    if desk.client.is_open(which.task):
        return await desk.client.mentionable(which.task)
    info = desk.client.info(desk.known(which.task)) if which.task else None
    return await desk.client.handing.mentionable_in(which.place(desk), which.task, info.roots if info else ())


async def measure_mentions(desk: OpenTasks, which: OfText) -> tuple[Mentioned, ...]:
    """What a text for an open task mentions, and about how many tokens each is."""
    return await desk.client.mentioned(which.task, which.text) if desk.client.is_open(which.task) else ()


async def list_models(desk: OpenTasks, which: Which) -> list[OfferedModel]:
    """The models that can be used here."""
    return [model for model in await desk.client.models() if model.usable or which.all]


async def list_task_efforts(desk: OpenTasks, which: OfModelAndMode) -> Efforts:
    """How hard a model can be told to think, and what the settings say."""
    return await asyncio.to_thread(desk.client.efforts, which.model, which.mode)


async def try_model(desk: OpenTasks, which: OfModel) -> Connection:
    """How far the way to a model goes; without a name, to the one that would be taken."""
    return await desk.client.connection(which.model)


QUERIES: Rows = {
    "words": Row(OfEither, list_words),
    "mentionable": Row(OfEither, list_mentionable),
    "mentioned": Row(OfText, measure_mentions),
    "models": Row(Which, list_models),
    "efforts": Row(OfModelAndMode, list_task_efforts),
    "connection": Row(OfModel, try_model),
}
