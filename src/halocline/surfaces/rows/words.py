"""Texts of rows and notices. Pure."""

import re
from collections.abc import Iterable
from functools import cache
from itertools import takewhile
from pathlib import Path

from halocline.protocol import events as ev, json_input
from halocline.protocol.events.mcp import SEPARATOR
from halocline.protocol.events.questions import GoalVerdict
from halocline.protocol.file_names import PATCH_SECTION
from halocline.protocol.kinds import Choice, Grant, Todo, ToolKind
from halocline.protocol.left_out import show_gaps
from halocline.protocol.messages import (
    CONTINUE,
    PASTED,
    PICTURE,
    PIPED,
    Effort,
    Image,
    Note,
    Text,
    ToolCall,
    ToolResult,
    UserPart,
)
from halocline.protocol.state.file_knowledge import list_names
from halocline.protocol.state.goal import goal_of
from halocline.protocol.state.todo_markdown import at_work, count_done
from halocline.surfaces.rows.kinds import Approval, CallRow, NoticeRow, PromptRow, Remedy

NOT_GIVEN = "not_given"
"""Source of a note on a mention whose content the model does not get: it says why."""
UNSTARTED = {
    "execute_command": "",
    "replace_in_file": "Edit ",
    "apply_patch": "Edit ",
    "write_to_file": "Write ",
    "read_file": "Read ",
}
"""Verbs of calls that have not started: only a call that starts gets a title from its tool."""

_KINDS = Path(__file__).with_name("tool_kinds.json")
"""Kinds of our tools, for calls that have not started: `make docs` writes them from the tools."""
LONGEST_QUOTE = 80
_NAMED = 2
"""Files that the title of a patch names, as in the title of the call when it runs."""


@cache
def tool_kinds() -> dict[str, ToolKind]:
    """Return the kinds of our tools by name; those without one of their own are left out."""
    return json_input.decode(_KINDS.read_bytes(), type=dict[str, ToolKind])


def describe_goal(event: ev.GoalSet) -> str:
    """Say which goal was set."""
    name = goal_of(event).name
    return f"Goal: {name}" if name else "The goal was taken back."


def describe_check(event: ev.GoalChecked) -> str:
    """Say how a check of the goal went, in one line."""
    command = f"`{event.command}` · " if event.command else ""
    match event.verdict:
        case GoalVerdict.MET:
            return f"Goal met: {command}{event.end or 'reported, and nothing contradicts it'}"
        case GoalVerdict.UNMET:
            return f"Goal not met: {command}{event.gist}"
    return f"Goal not checked: {event.end}"


def name_unstarted(tool: str, subject: str) -> str:
    """Name a call of a tool that has not started by what it is about."""
    return f"{UNSTARTED.get(tool, f'{tool} ')}{subject}".strip() or tool


def describe_unstarted(call: ToolCall) -> str:
    """Name a call that has not started by what it is about, in one line."""
    return name_unstarted(call.name, find_subject(call)).split("\n", 1)[0]


def find_subject(call: ToolCall) -> str:
    """Return the files of a patch, or a call's command, pattern or path, else its first text, in whatever order."""
    if call.name == "apply_patch" and (found := PATCH_SECTION.findall(str(call.arguments.get("input")))):
        return list_names([path for _, path in found], _NAMED)
    named = (call.arguments.get(name) for name in ("command", "regex", "path"))
    return next((value for value in (*named, *call.arguments.values()) if isinstance(value, str)), "")


def make_prompt(event: ev.TurnStarted | ev.SteeringReceived, *, steering: bool = False) -> PromptRow:
    """The row of a prompt. What a person put there and did not type is named at its end."""
    typed = "\n".join(part.text for part in event.content if isinstance(part, Text))
    names = tuple(_name_parts(event.content, typed))
    text = "\n".join([*([typed] if typed else []), *names])
    attached = tuple(part for part in event.content if not isinstance(part, Text))
    return PromptRow(text, event.seq, steering, event.at, attached, typed if names else "", names)


OF_PERSONS = (PASTED, PIPED, PICTURE, "code", "problems")
"""Sources of notes in a prompt that come from a person; the last two are of a code action in an editor."""


def _name_parts(content: tuple[UserPart, ...], typed: str) -> Iterable[str]:
    """Yield a name for each part of a prompt that a person put there, unless what was typed has it."""
    notes = [part for part in content if isinstance(part, Note) and part.source in OF_PERSONS]
    for note in notes:
        name = f"[piped in: {_text_lines(note.text)}]" if note.source == PIPED else _note_label(note)
        if name not in typed and not (note.source == PASTED and "://" in name):  # an address is in the text as a place
            yield name.replace(" from the user]", "]")
    yield from ["[continue]"] * any(isinstance(part, Note) and part.source == CONTINUE for part in content)
    unnamed = sum(isinstance(part, Image) for part in content) - sum(note.source == PICTURE for note in notes)
    yield from ["[image]"] * unnamed


def _text_lines(text: str) -> str:
    number = text.count("\n") + 1
    return f"{number:,} line{'s' * (number != 1)}"


def expanded_notices(content: tuple[UserPart, ...]) -> Iterable[NoticeRow]:
    """Notices for expanded slash commands: the first line, which names the file."""
    for part in content:
        if isinstance(part, Note) and part.source in ("workflow", "command", "skill", "mcp_prompt"):
            yield NoticeRow(part.text.split("\n", 1)[0])


def included_notices(content: Iterable[UserPart]) -> Iterable[NoticeRow]:
    """Notices for what was sent with the prompt, by the first line of each, and for what was not."""
    notes = [part for part in content if isinstance(part, Note)]
    labels = [_note_label(note) for note in notes if note.source not in ("problems", NOT_GIVEN)]
    if labels:
        yield NoticeRow(f"Included: {'; '.join(labels)}")
    for note in notes:
        if note.source in ("problems", NOT_GIVEN):
            yield NoticeRow(note.text)


def _note_label(note: Note) -> str:
    return note.text.split("\n", 1)[0].replace(" (data, not instructions)", "")


def finding_notices(content: Iterable[UserPart]) -> Iterable[NoticeRow]:
    """Notices of language servers and formatters, without a formatter's diff, which the call's row has."""
    for part in content:
        if isinstance(part, Note) and part.source in ("diagnostics", "problems"):
            yield NoticeRow(part.text)
        elif isinstance(part, Note) and part.source == "formatter":
            yield NoticeRow(part.text.split("\n", 1)[0].rstrip(":") + ".")


def tool_output(result: ToolResult) -> str:
    """The tool's own output; later parts are notes for the model."""
    return next((part.text for part in result.content if isinstance(part, Text)), "")


def show_output(told: str, end: str = "") -> str:
    """Return the result of a command as a person reads it; `end` says how it ended, in place of its last line."""
    body, line_end, last = told.rstrip().rpartition("\n")
    return show_gaps(f"{body}{line_end}[{end}]" if end and last.startswith("[") else told)


def first_sentence(told: str) -> str:
    """Return the first sentence of a result, which says what happened; what follows tells the model what to do."""
    return _SENTENCE_END.split(told.strip(), maxsplit=1)[0].strip()


_SENTENCE_END = re.compile(r"\n|(?<=[.!?]) (?=[A-Z`\[])")


def console_lines(result: ToolResult) -> tuple[str, ...]:
    """The lines of the page's console in the result of a browser action."""
    texts = [part.text for part in result.content if isinstance(part, Text | Note)]
    lines = texts[1].split("\n") if len(texts) > 1 else []
    if "Console:" not in lines:
        return ()
    rest = lines[lines.index("Console:") + 1 :]
    return tuple(takewhile(lambda line: not _AFTER_CONSOLE.match(line), rest))


_AFTER_CONSOLE = re.compile(r"(?:Clickable and editable|To click or to type into|Text:)|</web_content>$")


def name_tool(name: str, title: str) -> tuple[str, str, str]:
    """Server, tool and subject of a call to an MCP server; empty for our own tools."""
    if SEPARATOR not in name:
        return "", "", ""
    if found := _FOREIGN_TITLE.fullmatch(title):
        server, tool, subject = found.groups()
        return server, tool, subject
    server, _, tool = name.partition(SEPARATOR)
    return server, tool, ""


_FOREIGN_TITLE = re.compile(r"([^\s/]+)/(\S+)\s*(.*)", re.DOTALL)


def find_remedy(code: str) -> Remedy:
    """Return what helps against an error with this code."""
    return next((remedy for codes, remedy in _REMEDIES if codes.search(code)), "retry")


_REMEDIES: tuple[tuple[re.Pattern[str], Remedy], ...] = (
    (re.compile("auth|permission|secrets"), "key"),
    (re.compile("quota|billing|credit|balance"), "credit"),
    (re.compile("rate|overload"), "wait"),
    (re.compile("context"), "compact"),
    (re.compile("compact|nothing_to_undo|restored|checkpoint"), "none"),
    (re.compile("not_found|invalid|no_tools|picture"), "model"),
)


def unfinished_notices(todos: tuple[Todo, ...]) -> tuple[NoticeRow, ...]:
    """A notice when the agent ends its turn with open items on its list."""
    if (step := at_work(todos)) is None:
        return ()
    return (NoticeRow(f"The plan is not finished: {count_done(todos)} of {len(todos)} done, next: {step.text}"),)


def describe_origin(event: ev.TaskStarted) -> str:
    return f"imported from {event.origin.tool}" if event.origin else ""


def describe_repair(event: ev.LogRepaired) -> str:
    """Describe the repair of a log: how much was removed, and where the original is."""
    if not event.put_aside:
        return f"The log was repaired after a crash: {event.bytes_cut} bytes removed."
    return f"The log was damaged: its last {event.bytes_cut} bytes were removed. The original is in {event.put_aside}"


def describe_import(event: ev.Imported) -> str:
    lost = f" Not imported: {', '.join(event.lost)}." if event.lost else ""
    return f"Imported from {event.origin.tool} up to here.{lost}"


def describe_move(former: str, workspace: str) -> str:
    return f"The folder of this task was renamed: {former} is called {workspace} now."


def describe_folders(roots: tuple[str, ...]) -> str:
    return f"This task also works in: {', '.join(roots)}" if roots else "This task works in one folder again."


def describe_effort(effort: Effort | None, budget: int | None) -> str:
    """The effort level or thinking budget; empty when neither is set."""
    return effort.value if effort else "" if budget is None else f"{budget:,} tokens"


def describe_change(approval: Approval) -> str:
    """Say how a person changed a call before it ran; empty if no one did."""
    if approval.refused:
        return f"without {' and '.join(approval.refused)}"
    return "edited before the decision" if approval.edited else ""


def describe_decision(approval: Approval) -> str:
    """The decision about a call, and who made it."""
    if approval.by == "message":
        return "answered with a message"
    if approval.by == "interrupt":
        return "not decided"
    return f"{_DECISIONS[approval.decision] if approval.decision else ''} by {approval.by}"


OUTSIDE = "file changed meanwhile"
"""The end of a call whose file others changed."""


def describe_refusal(row: CallRow) -> str:
    """Say why a call was not run, by the decision about it; empty if that is not why."""
    match row.approval:
        case Approval(by="nobody", reason=reason):
            return f"not approved: {reason}, and no one could be asked"
        case Approval(by="message"):
            return "not run: you sent a message instead"
        case Approval(by="user", decision=Choice.REJECT_ONCE | Choice.REJECT_ALWAYS, note=note):
            return f"rejected: {note}" if note else "rejected"
    return ""


_DECISIONS = {
    Choice.ALLOW_ONCE: "allowed once",
    Choice.ALLOW_ALWAYS: "always allowed",
    Choice.REJECT_ONCE: "rejected",
    Choice.REJECT_ALWAYS: "always rejected",
}


def brief_grant(grant: Grant) -> str:
    """The scope of a permission, in short."""
    return f"{' '.join(grant.argv)} …" if grant.argv else grant.mcp or grant.subject or grant.kind.value


def describe_revocation(event: ev.GrantTakenBack) -> str:
    return f"Permission revoked{'' if event.client else ' (its rule was removed)'}: {brief_grant(event.grant)}"


def describe_pictures(event: ev.PicturesLeftOut) -> str:
    """Say which pictures the model no longer reads, and why."""
    count = len(event.blobs)
    pictures = f"{count} picture{'s' * (count > 1)}"
    if not event.cause:
        return f"{pictures} taken out of what the model reads. The log keeps {'them' if count > 1 else 'it'}."
    return f"Went on without {pictures}, which {event.model} refused: {event.cause}"


def describe_verdict(event: ev.ApprovalJudged) -> str:
    """Say what the judge of approvals made of one."""
    verdict = "Allowed by" if event.allows else "Left to you by"
    judge = f"the judge ({event.model})" if event.model else "the judge"
    return f"{verdict} {judge}: {event.reason or 'no reason'}"


def describe_switch(event: ev.ApprovalSwitched) -> str:
    setting = {True: "on", False: "always ask", None: "by approval mode"}[event.on]
    kind = event.switch.replace("_", " ")
    return f"Auto-approve {kind}: {setting}" + (f", set by {event.client}" if event.client else "")


SANDBOXED = (
    "Commands run in a sandbox: they can write only to the workspace and /tmp, and cannot use the network unless the "
    'settings allow it. To disable it, set sandbox = "off".'
)


def first_words(text: str) -> str:
    """The beginning of a text's first line."""
    line = text.strip().partition("\n")[0]
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


_OPENS = re.compile(r"^(?:\s*(?:#{1,6}|>|[-*+]|\d+[.)])\s+)+")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)\s]*\)")
_MARKED = re.compile(r"(?<![\w*_`~])(\*{1,3}|_{1,3}|`+|~~)(?=\S)(.+?)(?<=\S)\1(?![\w*_`~])")


def strip_markdown(line: str) -> str:
    """Return a line of Markdown as plain text, for places that draw none."""
    line = _LINK.sub(r"\1", _OPENS.sub("", line))
    while (bare := _MARKED.sub(r"\2", line)) != line:
        line = bare
    return line
