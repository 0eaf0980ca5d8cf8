"""The commands that this process sends to the writer of a task, until it is known what became of them.

What must stay true: every command gets one outcome; a prompt whose turn has a name starts one turn, even if the writer
ends before it does.
"""

import asyncio
from collections import deque
from collections.abc import Sequence

from msgspec.structs import replace

from halocline.protocol import commands as cmd
from halocline.protocol.events import Event, TurnStarted
from halocline.protocol.messages import UserPart

LOST = "The process that ran this task has ended and may have missed your last command."


class SentCommand:
    """One command. `outcome` is empty, or says why it was refused; a named prompt has one when its turn begins."""

    def __init__(self, command: cmd.AnyCommand) -> None:
        self.command = command
        self.turn = command.turn if isinstance(command, cmd.SubmitPrompt) else ""
        self.answered = asyncio.Event()
        self.outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def settle(self, refused: str = "") -> None:
        self.answered.set()
        if not self.outcome.done():
            self.outcome.set_result(refused)


class SentCommands:
    """The commands without an outcome, in their order."""

    def __init__(self) -> None:
        self._unsent: list[SentCommand] = []
        self._unanswered: deque[SentCommand] = deque()
        self._accepted: list[SentCommand] = []
        """Prompts whose turn has not begun."""
        self._names: dict[int, str] = {}
        """Names of turns by the number of their first event, for those that the writer did not name."""

    @property
    def has_unsent(self) -> bool:
        return bool(self._unsent)

    def hold(self, sent: SentCommand) -> None:
        """Keep a command until there is a writer."""
        self._unsent.append(sent)

    def take_unsent(self) -> list[SentCommand]:
        unsent, self._unsent = self._unsent, []
        return unsent

    def expect_answer(self, sent: SentCommand) -> None:
        """Note that a command was sent to the writer, which answers in order."""
        self._unanswered.append(sent)

    def answer(self, refused: str) -> None:
        """Note the writer's answer to the oldest command without one."""
        if not self._unanswered:
            return
        sent = self._unanswered.popleft()
        if refused or not sent.turn:
            sent.settle(refused)
        elif not sent.outcome.done():
            sent.answered.set()
            self._accepted.append(sent)

    def forget(self, sent: SentCommand) -> None:
        """Send a command no more, if the writer does not have it yet, nor to the next one."""
        for pending in (self._unsent, self._accepted):
            if sent in pending:
                pending.remove(sent)
        sent.settle()

    def lose_writer(self) -> bool:
        """Keep the prompts that the writer did not start, for the next one. Return True if other commands are lost."""
        unanswered, self._unanswered = self._unanswered, deque()
        lost = [sent for sent in unanswered if not sent.turn]
        prompts = [sent for sent in (*self._accepted, *unanswered) if sent.turn and not sent.outcome.done()]
        self._accepted, self._unsent = [], [*prompts, *self._unsent]
        for sent in lost:
            sent.settle(LOST)
        return bool(lost)

    def close(self, why: str) -> None:
        """Refuse all that is left: there will be no writer."""
        for sent in (*self._unsent, *self._unanswered, *self._accepted):
            sent.settle(why)

    def follow(self, event: Event) -> Event:
        """Settle the prompt whose turn begins with an event. Return the event, with the turn's name if it had none."""
        if not isinstance(event, TurnStarted):
            return event
        waiting = [sent for sent in (*self._accepted, *self._unanswered, *self._unsent) if sent.turn]
        for sent in waiting:
            if event.name == sent.turn or (not event.name and _is_prompt_of(event, sent.command)):
                self._names[event.seq] = sent.turn
                sent.settle()
                self._accepted = [each for each in self._accepted if each is not sent]
                self._unsent = [each for each in self._unsent if each is not sent]
                break
        return self.name_turn(event)

    def name_turn(self, event: TurnStarted) -> TurnStarted:
        """Return a turn that an older version began with the name that its prompt gave it."""
        return replace(event, name=self._names.get(event.seq, event.name))


def _is_prompt_of(event: TurnStarted, command: cmd.AnyCommand) -> bool:
    """True if a prompt has all that a command says, in one piece: a writer puts notes around it."""
    return isinstance(command, cmd.SubmitPrompt) and _contains(event.content, command.content)


def _contains(content: Sequence[UserPart], part: Sequence[UserPart]) -> bool:
    return any(content[at : at + len(part)] == part for at in range(len(content) - len(part) + 1))
