"""Messages that wait in the task of a session: an editor cannot draw a queue, so its own prompt comes back to it."""

from collections.abc import Container

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.events import TurnEnded
from halocline.protocol.state.state import PROCESS_ENDED
from halocline.surfaces.acp.content import make_thought
from halocline.surfaces.acp.failures import make_error
from halocline.surfaces.acp.prompt_turns import PromptTurns
from halocline.surfaces.acp.updates import Send
from halocline.surfaces.slash.queue_lines import shorten_message

HELD = "The turn before this message was stopped or failed, so the message was not sent. Send it again."


class WaitingMessages:
    """The messages that wait, for one session. `own_turns` are the names of its prompts."""

    def __init__(self, client: Client, own_turns: Container[str], send: Send) -> None:
        self._client = client
        self._own_turns = own_turns
        self._send = send

    def withdraw_own(self, task: str) -> None:
        """Take the session's prompts out of the queue."""
        for one in self._client.state(task).queue.messages:
            if one.turn in self._own_turns:
                self._client.send(cmd.WithdrawQueued(task=task, message=one.id))

    async def show_held(self, event: TurnEnded, task: str, turns: PromptTurns) -> None:
        """Give back the session's prompt if the turn before it did not end well, and show what else waits.

        A prompt that waited in a process that has ended is sent again here.
        """
        held = self._client.state(task).queue.held
        if event.text != PROCESS_ENDED and any(one.turn in self._own_turns for one in held):
            self.withdraw_own(task)
            turns.drop(make_error(HELD))
        for one in held:
            if one.turn not in self._own_turns:
                await self._send(make_thought(f"Not sent: “{shorten_message(one)}”. Send it with /queue send.\n"))
