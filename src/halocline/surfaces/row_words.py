"""What rows say of an event in words; pure."""

import re
from collections.abc import Iterable

from halocline.protocol import events as ev
from halocline.protocol.messages import PICTURE, PIPED, Effort, Image, Note, Text, ToolResult, UserPart
from halocline.protocol.state.todo_markdown import at_work, count_done
from halocline.surfaces.row_kinds import Approval, NoticeRow


def prompt_text(content: tuple[UserPart, ...]) -> str:
    """What the person typed and which pictures they showed; other notes for the model are left out."""
    words = [part.text for part in content if isinstance(part, Text)]
    notes = [part for part in content if isinstance(part, Note)]
    pictures = [note.text for note in notes if note.source == PICTURE]
    piped = [f"[piped in: {_text_lines(note.text)}]" for note in notes if note.source == PIPED]
    unnamed = sum(isinstance(part, Image) for part in content) - len(pictures)
    return "\n".join(words + piped + pictures + ["[image]"] * unnamed)


def _text_lines(text: str) -> str:
    number = text.count("\n") + 1
    return f"{number:,} line{'s' * (number != 1)}"


def expanded_notices(content: tuple[UserPart, ...]) -> Iterable[NoticeRow]:
    """What slash commands became: the first line says which file the person gave to the model."""
    for part in content:
        if isinstance(part, Note) and part.source in ("workflow", "command", "skill", "mcp_prompt"):
            yield NoticeRow(part.text.split("\n", 1)[0])


def given_along(content: Iterable[UserPart]) -> Iterable[NoticeRow]:
    """What the model was given along with the prompt, by the first line of each; and what it was not."""
    notes = [part for part in content if isinstance(part, Note)]
    labels = [_note_label(note) for note in notes if note.source not in ("problems", "not_given")]
    if labels:
        yield NoticeRow(f"Given along: {'; '.join(labels)}")
    for note in notes:
        if note.source in ("problems", "not_given"):
            yield NoticeRow(note.text)


def _note_label(note: Note) -> str:
    return note.text.split("\n", 1)[0].replace(" (data, not instructions)", "")


def finding_notices(content: Iterable[UserPart]) -> Iterable[NoticeRow]:
    """What language servers and formatters found; a formatter's diff stands in the call's row."""
    for part in content:
        if isinstance(part, Note) and part.source in ("diagnostics", "problems"):
            yield NoticeRow(part.text)
        elif isinstance(part, Note) and part.source == "formatter":
            yield NoticeRow(part.text.split("\n", 1)[0].rstrip(":") + ".")


def tool_said(result: ToolResult) -> str:
    """What the tool itself said; words that were added for the model stand in further parts."""
    return next((part.text for part in result.content if isinstance(part, Text)), "")


COMMANDS = "execute_command"
_ANSWER = re.compile(r"\[exit code 1: ([^,\]]+)")
_FAILURE = re.compile(r"\[(?:exit code (-?[1-9]\d*)\b(?!: )|killed by (\w+)|(stopped): it was still running)")


def command_failure(output: str) -> str:
    """`exit 3`, `SIGKILL`, `timed out`: how a command ended that did not end well, by the last line of its result."""
    found = _FAILURE.match(output.rstrip().rpartition("\n")[2])
    if found is None:
        return ""
    code, name, stopped = found.groups()
    return f"exit {code}" if code else name or ("timed out" if stopped else "")


def command_answer(output: str) -> str:
    """`nothing was found`: what a command said by exit code 1 that did not fail, by the last line of its result."""
    found = _ANSWER.match(output.rstrip().rpartition("\n")[2])
    return found[1] if found else ""


def left_open(todos: tuple[ev.Todo, ...]) -> tuple[NoticeRow, ...]:
    """A line on a list that the agent did not finish, although it says that it is done."""
    if (step := at_work(todos)) is None:
        return ()
    return (NoticeRow(f"The plan is not finished: {count_done(todos)} of {len(todos)} done, next: {step.text}"),)


def origin_said(event: ev.TaskStarted) -> str:
    return f"imported from {event.origin.tool}" if event.origin else ""


def repair_said(event: ev.LogRepaired) -> str:
    """Return how much of a log went, and where it is kept."""
    if not event.put_aside:
        return f"The log was repaired after a crash: {event.bytes_cut} bytes cut."
    cut = f"The log was damaged and ends here, {event.bytes_cut} bytes shorter."
    return f"{cut} All of it is kept in {event.put_aside}"


def import_said(event: ev.Imported) -> str:
    lost = f" Not taken over: {', '.join(event.lost)}." if event.lost else ""
    return f"Up to here imported from {event.origin.tool}.{lost}"


def folders_said(roots: tuple[str, ...]) -> str:
    return f"The task works in these folders as well: {', '.join(roots)}" if roots else "The task has one folder again."


def effort_said(effort: Effort | None, budget: int | None) -> str:
    """How hard a model is to think; empty when nothing is said of it."""
    return effort.value if effort else "" if budget is None else f"{budget:,} tokens"


def describe_decision(approval: Approval) -> str:
    """The decision about a call, and who made it."""
    decision = (approval.decision or "").replace("_", " ")
    return "a message came instead" if approval.by == "message" else f"{decision} by {approval.by}"


def leave_said(grant: ev.Grant) -> str:
    """What leave is for, in short."""
    return f"{' '.join(grant.argv)} …" if grant.argv else grant.mcp or grant.subject or grant.kind.value


def taken_back(event: ev.GrantTakenBack) -> str:
    return f"Leave is taken back{'' if event.client else ' (its rule is gone)'}: {leave_said(event.grant)}"


def describe_switch(event: ev.ApprovalSwitched) -> str:
    stands = {True: "done without asking", False: "asked about", None: "as the approval mode says"}[event.on]
    kind = event.switch.replace("_", " ")
    return f"Auto-approve: {kind} {stands}" + (f", set by {event.client}" if event.client else "")
