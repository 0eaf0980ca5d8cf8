"""Folds the events of tool calls, approvals, sub-agents and the user's own commands into rows. Pure."""

from collections.abc import Callable

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.command_ends import command_answer, command_failure
from halocline.protocol.events.mcp import SEPARATOR
from halocline.protocol.events.subagents import SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import COMMAND_TOOL, CallStatus, ToolKind
from halocline.protocol.messages import Image, ToolCall
from halocline.protocol.values import JsonObject
from halocline.surfaces.rows import words as row_words
from halocline.surfaces.rows.kinds import Approval, CallRow, Lane
from halocline.surfaces.rows.transcript import Transcript, add_rows, add_usage, change_call

LIVE_OUTPUT = 16_384
"""Most characters that a row keeps of a running call's output."""
NEW_LINE = "\n"
_LOOKING = (ToolKind.READ, ToolKind.SEARCH)


def begin_lane(t: Transcript, e: SubagentStarted) -> Transcript:
    lane = Lane(e.child, e.name, e.prompt, e.agent, e.model, e.remarks, started_at=e.at)
    return change_call(t, e.call, lambda row: replace(row, lanes=(*row.lanes, lane)))


def update_lane(t: Transcript, e: SubagentProgressed) -> Transcript:
    now = {"doing": e.doing, "steps": e.steps, "calls": e.calls, "tokens": e.tokens, "cost": e.cost}
    return change_call(t, e.call, lambda row: _with_lane(row, e.child, lambda lane: replace(lane, **now)))


def end_lane(t: Transcript, e: SubagentEnded) -> Transcript:
    def end(lane: Lane) -> Lane:
        return replace(
            lane,
            end=e.end,
            doing="",
            steps=e.steps,
            calls=e.calls,
            tokens=e.usage.total,
            cost=e.cost,
            report=e.report,
            outcome=e.outcome,
            problem=e.problem,
            refused=e.refused,
            seconds=max(0.0, e.at - lane.started_at),
        )

    return change_call(add_usage(t, e.usage, e.cost), e.call, lambda row: _with_lane(row, e.child, end))


def _with_lane(row: CallRow, child: str, change: Callable[[Lane], Lane]) -> CallRow:
    return replace(row, lanes=tuple(change(lane) if lane.child == child else lane for lane in row.lanes))


def ask_approval(t: Transcript, e: ev.ApprovalRequested) -> Transcript:
    approval = Approval(
        e.request,
        e.reason,
        e.detail,
        e.diffs,
        grant=e.grant,
        place=e.place,
        parts=e.parts,
        sandbox=e.sandbox,
        wider=e.wider,
        grade=e.grade,
        agent=e.agent,
    )
    if e.agent:
        t = add_rows(t, CallRow(e.call, e.name, e.title, e.kind))
    server, tool, subject = row_words.name_tool(e.name, e.title)
    return change_call(
        t,
        e.call,
        lambda row: replace(
            row,
            title=e.title,
            kind=e.kind,
            approval=approval,
            server=server,
            tool=tool,
            subject=subject or row.subject,
        ),
    )


def decide_approval(t: Transcript, e: ev.ApprovalResolved) -> Transcript:
    def decide(row: CallRow) -> CallRow:
        approval = row.approval or Approval(e.request, "")
        decided = replace(approval, decision=e.decision, by=e.by, client=e.client, at=e.at, note=e.note, scope=e.scope)
        if e.agent:  # the rest of the call is in the agent's log
            row = replace(row, status=_end_of(e))
        if e.arguments is None:
            return replace(row, approval=decided)
        title = e.arguments.get("command") if row.kind is ToolKind.EXECUTE else row.title
        decided = replace(decided, edited=True, refused=e.refused)
        return replace(row, approval=decided, arguments=e.arguments, title=str(title or row.title))

    return change_call(t, e.call, decide)


def _end_of(e: ev.ApprovalResolved) -> CallStatus:
    """The end of an agent's call in its parent's transcript."""
    if e.by == "interrupt":
        return CallStatus.CANCELLED
    return CallStatus.REJECTED if e.decision.refuses else CallStatus.COMPLETED


def propose_call(call: ToolCall, seq: int) -> CallRow:
    """The row of a call that the reply of event `seq` made, before it starts."""
    server, tool, _ = row_words.name_tool(call.name, "")
    kind = row_words.tool_kinds().get(call.name, ToolKind.OTHER)
    return CallRow(
        call.id,
        call.name,
        row_words.describe_unstarted(call),
        kind,
        arguments=call.arguments,
        server=server,
        tool=tool,
        subject=row_words.find_subject(call).split(NEW_LINE, 1)[0] if kind in _LOOKING else "",
        seq=seq,
    )


def start_call(t: Transcript, e: ev.ToolCallStarted) -> Transcript:
    server, tool, subject = row_words.name_tool(e.name, e.title)
    return change_call(
        t,
        e.call,
        lambda row: replace(
            row,
            title=e.title,
            kind=e.kind,
            locations=e.locations,
            started_at=e.at,
            foreign=SEPARATOR in e.name,
            server=server,
            tool=tool,
            subject=subject or row.subject,
        ),
    )


def end_call(t: Transcript, e: ev.ToolCallEnded) -> Transcript:
    told = row_words.tool_output(e.result)
    is_command, failed = e.name == COMMAND_TOOL, e.status is not CallStatus.COMPLETED

    def end(row: CallRow) -> CallRow:
        return replace(
            row,
            status=e.status,
            output=row_words.show_output(told, "" if failed else e.for_person) if is_command else told,
            for_person=(e.for_person or row_words.describe_refusal(row) or row_words.first_sentence(told)) * failed,
            diffs=e.diffs,
            images=tuple(part for part in e.result.content if isinstance(part, Image)),
            seconds=None if row.started_at is None else max(0.0, e.at - row.started_at),
            ends_turn=e.ends_turn,
            failure=row_words.OUTSIDE if e.outside else command_failure(told) if is_command else "",
            answer=command_answer(told) if is_command else "",
            console=row_words.console_lines(e.result) if e.name == "browser_action" else (),
        )

    return add_rows(change_call(t, e.call, end), *row_words.finding_notices(e.result.content))


def start_own_command(t: Transcript, e: ev.OwnCommandStarted) -> Transcript:
    arguments: JsonObject = {"command": e.command}
    row = CallRow(e.run, COMMAND_TOOL, e.command, ToolKind.EXECUTE, arguments=arguments, started_at=e.at, seq=e.seq)
    return add_rows(t, replace(row, own=True))


def end_own_command(t: Transcript, e: ev.OwnCommandEnded) -> Transcript:
    def end(row: CallRow) -> CallRow:
        answer = command_answer(f"[{e.said}")
        is_well = e.exit_code == 0 or answer or (e.exit_code is None and e.job)
        ended = CallStatus.COMPLETED if is_well else CallStatus.FAILED
        return replace(
            row,
            status=CallStatus.CANCELLED if e.stopped else ended,
            output=row_words.show_output(f"{e.output.rstrip(NEW_LINE) or '[no output]'}\n[{e.said}]"),
            failure=command_failure(f"[{e.said}"),
            answer=answer,
            job=e.job,
            seconds=None if row.started_at is None else max(0.0, e.at - row.started_at),
        )

    return change_call(t, e.run, end)


def begin_job(t: Transcript, e: ev.JobStarted) -> Transcript:
    return change_call(t, e.call, lambda row: replace(row, job=e.job))


def hand_over(t: Transcript, e: ev.HandedOver) -> Transcript:
    call = next((row.call for row in reversed(t.rows) if isinstance(row, CallRow) and row.name == "new_task"), "")
    return change_call(t, call, lambda row: replace(row, child=e.to))


def grow_output(t: Transcript, e: ev.ToolCallProgressed) -> Transcript:
    """Append a running call's output, keeping only its end until the result replaces it."""
    return change_call(t, e.call, lambda row: replace(row, output=(row.output + e.text)[-LIVE_OUTPUT:]))
