"""The task that a command is about: the one it names, or one that the person picks."""

from halocline.client.tasks import Client
from halocline.surfaces.cli import pickers


def choose_task(client: Client, named: str = "") -> str:
    """Return the task; without a name, ask. Raises UsageError, TaskNotFound."""
    return client.find(named) if named else pickers.task_picker.pick_any_task(client)
