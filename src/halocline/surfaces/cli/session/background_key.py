"""Ctrl-B while a turn runs: retry now, or move the running command to the background."""

from functools import partial

from halocline.client import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.surfaces.cli.input.keys import LEFT_BY_KEY
from halocline.surfaces.cli.output.view import View

BEGUN_AGAIN = ev.TextDelta | ev.ThinkingDelta | ev.ToolCallDelta | ev.AssistantMessageCompleted | ev.TurnEnded
"""Events that show that no retry is pending any more."""


class BackgroundKey:
    """Sets the action of the key as the events of one task say."""

    def __init__(self, client: Client, task: str, view: View) -> None:
        self._client = client
        self._task = task
        self._view = view
        self._retrying = False

    def follow(self, event: ev.Event) -> None:
        """Enable or disable the key for an event."""
        if self._retrying and isinstance(event, BEGUN_AGAIN):
            self._retrying = False
            self._view.offer_background(None)
        match event:
            case ev.StepRetried(wait=wait) if wait:
                self._retrying = True
                self._view.offer_background(partial(self._client.send, cmd.RetryNow(task=self._task)))
            case ev.ToolCallStarted(name=name) if name == LEFT_BY_KEY:
                self._view.offer_background(partial(self._client.send, cmd.LeaveRunning(task=self._task)))
            case ev.ToolCallEnded(name=name) if name == LEFT_BY_KEY:
                self._view.offer_background(None)
