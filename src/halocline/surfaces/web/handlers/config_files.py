"""Files that steer Halocline, edited in the page: rules, workflows, commands, skills, agents, settings."""

import asyncio

from halocline.client.options import Choices
from halocline.client.settings import ConfigFile, ConfigFiles, ConfigText
from halocline.surfaces.web.handlers.handler import OfFolder, action, query
from halocline.surfaces.web.open_tasks import OpenTasks


class OfConfigFile(OfFolder, frozen=True):
    """A file by its absolute path."""

    path: str


class NewConfigText(OfConfigFile, frozen=True):
    """The new text of a file whose `version` was read before; empty for a new file."""

    text: str
    version: str = ""


@query("config_files")
async def list_config_files(tasks: OpenTasks, which: OfFolder) -> list[ConfigFile]:
    """List the files that steer Halocline in a folder."""
    return await asyncio.to_thread(lambda: ConfigFiles.open(which.folder()).list())


@query("config_file")
async def read_config_file(tasks: OpenTasks, which: OfConfigFile) -> ConfigText:
    """Return the text of such a file, and its version."""
    return await asyncio.to_thread(lambda: ConfigFiles.open(which.folder()).read(which.path))


@action("save_config_file")
async def save_config_file(tasks: OpenTasks, which: NewConfigText) -> ConfigText:
    """Save such a file, unless it changed meanwhile."""
    async with tasks.writing:
        saved = await ConfigFiles.open(which.folder()).write(which.path, which.text, which.version)
    tasks.client.reload(Choices())
    return saved
