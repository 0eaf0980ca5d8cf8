"""Approvals and answers on a terminal: by an option that is chosen after everything was shown."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec.structs import replace

from halocline.client.tasks import Client
from halocline.protocol.events import ApprovalRequested, QuestionAsked
from halocline.protocol.kinds import Choice, Diff, Grant, Mode, Scope, ToolKind
from halocline.protocol.plan_approval import APPROVED, CHOICES, QUESTION, STAY, find_waiting_plan, list_commands
from halocline.surfaces.grants import describe_grant, describe_rule
from halocline.surfaces.rows.kinds import CallRow
from halocline.surfaces.slash.context import is_own_question, is_yes_no
from halocline.surfaces.terminal.asking.decision import Decision
from halocline.surfaces.terminal.asking.edit_batch import ANOTHER, EditBatch
from halocline.surfaces.terminal.asking.edit_changes import HUNK_KEYS, EditChanges, WaitingEdit
from halocline.surfaces.terminal.asking.menu import ESCAPE, Brief, Kind, Menu, TypedAnswer, number_options
from halocline.surfaces.terminal.composing.prompt import Prompt
from halocline.surfaces.terminal.drawing.approval_card import is_cut

Write = Callable[[Prompt | None], Awaitable[Prompt | None]]
"""Reads a message, which begins as the one before; None when the person went back."""
MOST_OPTIONS = 9
ALLOWING = ("y", "s", "a", "f", "h", "e")
"""Keys that allow a call, or lead to that."""
CHANGING = ("h", "e")
"""Keys that change an edit before it is allowed."""
_PLAN_KEYS = ("n", "y", "e", "a")
"""Keys of the answers to a plan: stay, then the approval modes to go on in."""
_WITH_MESSAGE = {"y": "allow once and send your message", "n": "reject and send your message", "t": "edit your message"}


class AskedScreen(Protocol):
    """Shows what is asked. `again`: although it was shown; `whole`: with the full diff."""

    def show_approval(self, event: ApprovalRequested, *, again: bool = False, whole: bool = False) -> CallRow: ...

    def show_question(self, event: QuestionAsked, *, again: bool = False) -> None: ...

    def title_for(self, row: CallRow) -> str:
        """The title to ask with; empty where the card stands just above and is in sight."""

    def say(self, text: str, diffs: tuple[Diff, ...] = ()) -> None: ...


class Asker:
    """Asks below the card on the screen."""

    def __init__(self, screen: AskedScreen, menu: Menu) -> None:
        self._screen = screen
        self._menu = menu
        self._changes = EditChanges(screen, menu)
        self._message: Prompt | None = None

    async def ask_approval(
        self, event: ApprovalRequested, write: Write, edit: WaitingEdit | None = None, batch: EditBatch | None = None
    ) -> Decision:
        """Show the call and wait for a key. Nothing is allowed before all of it was shown.

        The person may `write` a message first, which is sent to the model with the decision. `edit` can be changed, and
        allowed together with its `batch`. Enter alone allows it once, as on every surface. Where it is grave, nothing
        is selected at first, so that Enter does nothing, and to reject is the first option.
        """
        if batch and batch.edits.find_decision(event) is Choice.ALLOW_ONCE:
            return Decision(Choice.ALLOW_ONCE)
        row = self._screen.show_approval(event)
        if batch and batch.edits.is_other(event):
            self._screen.say(ANOTHER)
        elif batch:
            batch.show_others(event, if_in_sight=True)
        self._menu.call_person(f"needs your approval: {event.title}")
        try:
            return self._add_message(await self._choose(event, row, write, edit, batch))
        except asyncio.CancelledError:  # by Ctrl-C, or because another terminal was faster
            if self._message:
                self._menu.put_back(self._message)
            raise

    async def _choose(
        self, event: ApprovalRequested, row: CallRow, write: Write, edit: WaitingEdit | None, batch: EditBatch | None
    ) -> Decision:
        """Let the person look, write and change until a key decides."""
        options, has_more, self._message = _list_options(event, row, edit, batch), False, None
        enter = None if event.grade.is_grave else "y"
        while True:
            title = " · ".join(filter(None, [batch.name_place(event) if batch else "", self._screen.title_for(row)]))
            kind = Kind.GRAVE if has_more or event.grade.is_grave else Kind.ORDINARY
            key = await self._menu.choose(title, options, selected=enter, kind=kind)
            has_more, decision = self._show_more(key, event, options, batch), None
            if has_more:
                pass
            elif batch and key == "s":
                batch.allow_others(event)
                return Decision(Choice.ALLOW_ONCE)
            elif key == "f":
                decision = await self._changes.take_files(event)
            elif edit and key in CHANGING:
                decision = await self._changes.ask(key, edit)
            elif key == "t":
                message = self._message = await write(self._message) or self._message
                options |= _WITH_MESSAGE if message else {}
                self._screen.say(f"Your message: {message.text.strip()}" if message else "No message.")
            elif key == "n" and self._message:
                return Decision(Choice.REJECT_ONCE)
            else:
                decision = await self._read_decision(key, row, event)
            if decision:
                return decision
            enter = None if key == "n" else enter  # back from a reason: Enter does not allow what was to be rejected

    def _show_more(self, key: str, event: ApprovalRequested, options: dict[str, str], batch: EditBatch | None) -> bool:
        """Show what must be seen before this key can allow anything. True if there was something: it is to be read."""
        has_more = "d" in options and (key == "d" or key in ALLOWING)
        if has_more:
            self._screen.show_approval(event, again=True, whole=True)
            del options["d"]
        if batch and key == "s" and batch.show_others(event):
            options["s"], has_more = batch.offer(event), True
        return has_more

    async def ask_question(self, event: QuestionAsked) -> str | None:
        """Show the question and wait for a number or text; None to stop the turn, or if the person went back."""
        if is_own_question(event):
            return await self._ask_own(event)
        self._screen.show_question(event)
        self._menu.call_person(f"asks: {event.question}")
        while event.options:
            numbers = {str(number): option for number, option in enumerate(event.options[:MOST_OPTIONS], 1)}
            options = {**numbers, "t": "type another answer", ESCAPE: "stop"}
            key = await self._menu.choose("", options, on_card=frozenset(numbers), kind=Kind.QUESTION)
            if isinstance(key, TypedAnswer):
                return str(key)
            if key != "t":
                return None if key == ESCAPE else numbers.get(key, key)
            if (answer := await self._menu.ask_line("› ", needs_text=True)) and answer.strip():
                return answer
        while (answer := await self._menu.ask_line("› ", "Type an answer. Ctrl-C: stop", needs_text=True)) is not None:
            if answer.strip():
                return answer
        return None

    async def _ask_own(self, event: QuestionAsked) -> str | None:
        """Ask a question of Halocline's own, and print the answer: no event shows it."""
        self._screen.show_question(replace(event, options=()), again=True)
        options = number_options(event.options, is_yes_no=is_yes_no(event))
        key = await self._menu.choose("", {**options, ESCAPE: "back"}, kind=Kind.OWN)
        answer = options.get(key)
        self._screen.say(f"→ {answer or 'back'}")
        return answer

    async def ask_about_plan(self) -> str:
        """Ask how to go on with a plan. Returns one of the answers in `plan_approval`."""
        answers = dict(zip(_PLAN_KEYS, (STAY, *CHOICES), strict=True))
        return answers.get(await self._menu.choose(QUESTION, answers), STAY)

    async def _read_decision(self, key: str, row: CallRow, event: ApprovalRequested) -> Decision | None:
        """Turn a key into a decision; None when the person went back."""
        match key:
            case "y":
                return Decision(Choice.ALLOW_ONCE)
            case "a":
                return await self._choose_grant(event)
            case "n":
                reason = await self._menu.ask_line("Reason (optional): ")
                return None if reason is None else Decision(Choice.REJECT_ONCE, reason.strip())
            case "e":
                return await self._edit_command(row)
            case _:
                return Decision(Choice.REJECT_ONCE, stop=True)

    def _add_message(self, decision: Decision) -> Decision:
        """Add the message to the decision. One that stops the turn reaches no model, so the message is given back."""
        message = self._message
        if message and decision.stop:
            self._menu.put_back(message)
        if message is None or decision.stop:
            return decision
        note = "\n\n".join(filter(None, [message.text.strip(), decision.note]))
        return decision._replace(note=note, content=message.parts)

    async def _choose_grant(self, event: ApprovalRequested) -> Decision | None:
        """Ask for the extent of a permission; None when the person went back."""
        rules = {str(number): rule for number, rule in enumerate(_grant_choices(event), start=1)}
        shown = {number: describe_grant(*_grant_of(event, rule)) for number, rule in rules.items()}
        key = await self._menu.choose("Always allow", {**shown, ESCAPE: "back"}, selected="1")
        rule = rules.get(key)
        return rule and Decision(Choice.ALLOW_ALWAYS, scope=rule[0], wider=rule[1])

    async def _edit_command(self, row: CallRow) -> Decision | None:
        command = _command_of(row)
        edited = await self._menu.ask_line("$ ", initial=command)
        if edited is None or not edited.strip():
            return None
        if edited == command:
            return Decision(Choice.ALLOW_ONCE)
        return Decision(Choice.ALLOW_ONCE, arguments={**row.arguments, "command": edited})


class PlanPrompt:
    """Asks about each plan until it is answered, and then never again."""

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._answered = ""

    def is_due(self, client: Client, task: str) -> bool:
        call = find_waiting_plan(client.state(task))
        return bool(call) and call != self._answered

    async def ask(self, client: Client, task: str) -> Prompt | None:
        """Ask, and switch the modes. Returns the prompt that carries the plan out; None to stay in plan mode."""
        call = find_waiting_plan(client.state(task))
        answer = await self._asker.ask_about_plan()
        self._answered = call
        switches = list_commands(client.state(task), answer)
        for switch in switches:
            client.send(switch)
        return Prompt(APPROVED, Mode.ACT) if switches else None


def _command_of(row: CallRow) -> str:
    return row.approval.detail if row.approval and row.approval.detail else row.title


def _list_options(
    event: ApprovalRequested, row: CallRow, edit: WaitingEdit | None, batch: EditBatch | None
) -> dict[str, str]:
    """List the keys with their labels."""
    reject = {"n": "reject, with a reason"}
    options = {**(reject if event.grade.is_grave else {}), "y": "allow once"}
    if batch and (offer := batch.offer(event)):
        options["s"] = offer
    if event.grant is not None and Choice.ALLOW_ALWAYS in event.options:
        options["a"] = f"always allow {describe_rule(event.grant)} …"
    options |= reject
    options["t"] = Brief("add a message")
    if event.kind is ToolKind.EXECUTE and "command" in row.arguments and "\n" not in _command_of(row):
        options["e"] = Brief("edit the command")
    if 1 < len(event.diffs) <= len(HUNK_KEYS):
        options["f"] = Brief(f"choose among its {len(event.diffs)} files")
    if edit and 1 < len(edit.hunks) <= len(HUNK_KEYS):
        options["h"] = Brief(f"choose among its {len(edit.hunks)} changes")
    if edit:
        options["e"] = Brief("change it in your editor")
    if is_cut(row) and not (batch and batch.edits.has_shown(event)):
        options["d"] = Brief("show the full diff")
    return {**options, ESCAPE: Brief("reject and stop")}


def _grant_choices(event: ApprovalRequested) -> list[tuple[Scope, bool]]:
    """Extents of a permission: its scope, and True for the wider grant."""
    return [*((scope, False) for scope in Scope), *((scope, True) for scope in Scope if event.wider)]


def _grant_of(event: ApprovalRequested, rule: tuple[Scope, bool]) -> tuple[Grant, Scope]:
    grant = event.wider if rule[1] else event.grant
    assert grant is not None
    return grant, rule[0]
