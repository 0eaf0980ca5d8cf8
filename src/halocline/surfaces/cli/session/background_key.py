"""Ctrl-B while a turn runs: retry now, or move the running command to the background."""

from functools import partial

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import COMMAND_TOOL
from halocline.surfaces.terminal.view import View

BEGUN_AGAIN = ev.TextDelta | ev.ThinkingDelta | ev.ToolCallDelta | ev.AssistantMessageCompleted | ev.TurnEnded
"""Events that show that no retry is pending any more."""


class BackgroundKey:
    """Sets the action of the key as the events of one task say."""

    def __init__(self, client: Client, task: str, view: View) -> None:
        self._client = client
        self._task = task
        self._view = view
        self._retrying = False
        self._is_early = False

    def follow(self, event: ev.Event) -> None:
        """Enable or disable the key for an event."""
        if self._retrying and isinstance(event, BEGUN_AGAIN):
            self._retrying = False
            self._view.offer_background(None)
        match event:
            case ev.StepRetried(wait=wait) if wait:
                self._retrying = True
                self._view.offer_background(partial(self._client.send, cmd.RetryNow(task=self._task)))
            case ev.ToolCallDelta(name=name) if name == COMMAND_TOOL and not self._is_early:
                self._view.offer_background(self._press_early)
            case ev.AssistantMessageCompleted() | ev.ToolCallEnded() | ev.TurnEnded():
                self._offer_command()

    def _press_early(self) -> None:
        """Remember the key while the model is still writing the command that is on the screen."""
        self._is_early = True
        self._view.offer_background(None)

    def _offer_command(self) -> None:
        """Enable the key if a command runs or is next, and press it if it was pressed before."""
        calls = self._client.state(self._task).pending.calls
        is_due = any(opened.call.name == COMMAND_TOOL for opened in calls)
        leave = partial(self._client.send, cmd.LeaveRunning(task=self._task))
        was_early, self._is_early = self._is_early, False
        if is_due and was_early:
            leave()
        self._view.offer_background(leave if is_due else None)
