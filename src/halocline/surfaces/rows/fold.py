"""Folds events into transcript rows, shared by all surfaces. Pure.

The same events give the same rows; a surface only decides how a row looks. Live deltas grow draft rows, which the
completed message replaces.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.events.questions import GoalVerdict
from halocline.protocol.events.subagents import SubagentEnded, SubagentProgressed, SubagentStarted
from halocline.protocol.kinds import Mode, SandboxStanding
from halocline.protocol.left_out import describe_left_out
from halocline.protocol.messages import StopReason, Text, Thinking, ToolCall
from halocline.protocol.state.evidence.facts import follow_evidence
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.state.file_knowledge import list_names
from halocline.surfaces.rows import calls as call_rows, kinds as r, words as row_words
from halocline.surfaces.rows.hooks import end_hook, show_hook
from halocline.surfaces.rows.transcript import (
    Rewinds,
    Totals,
    Transcript,
    add_rows,
    add_usage,
    count_settled,
    is_settled,
    list_gaps,
)

AT_ONCE = 256
"""Rows per batch when folding many events."""


def rows_of(events: Iterable[ev.Event]) -> tuple[r.Row, ...]:
    """Fold events into rows, including drafts."""
    return transcript_of(events).visible()


def transcript_of(events: Iterable[ev.Durable | ev.Transient]) -> Transcript:
    """Fold events into a transcript. Settled rows are set aside, as each event would copy them."""
    transcript, aside, most = Transcript(), list[r.Row](), AT_ONCE
    for event in events:
        transcript = fold_event(transcript, event)
        if len(transcript.rows) > most:
            settled = count_settled(transcript.rows)
            aside += transcript.rows[:settled]
            transcript = replace(transcript, rows=transcript.rows[settled:])
            most = AT_ONCE + 2 * len(transcript.rows)
    return replace(transcript, rows=(*aside, *transcript.rows))


def fold_event(transcript: Transcript, event: ev.Durable | ev.Transient) -> Transcript:
    """Return the transcript after `event`. Events without rows change nothing."""
    step = _FOLDS.get(type(event))
    evidence = follow_evidence(transcript.evidence, event)
    if evidence is not transcript.evidence:
        transcript = replace(transcript, evidence=evidence)
    return step(transcript, event) if step else transcript


def _turn_started(t: Transcript, e: ev.TurnStarted) -> Transcript:
    return add_rows(
        replace(t, draft=(), turn=Totals(at=e.at)), row_words.make_prompt(e), *row_words.expanded_notices(e.content)
    )


def _on_steering(t: Transcript, e: ev.SteeringReceived) -> Transcript:
    prompt = row_words.make_prompt(e, steering=True)
    if t.rows and isinstance(asked := t.rows[-1], r.QuestionRow) and asked.answer == prompt.text:
        return t  # the answer to a question about a limit is a message to the model, and shown already
    return add_rows(t, *([prompt] if prompt.text else ()), *row_words.expanded_notices(e.content))


def _turn_ended(t: Transcript, e: ev.TurnEnded) -> Transcript:
    turn = t.turn
    is_uncounted = turn.steps and not turn.usage.total
    row = r.TurnEndRow(
        e.reason,
        e.limit,
        e.text,
        turn.usage,
        None if is_uncounted else turn.cost,
        turn.steps,
        max(0.0, e.at - turn.at),
        at=e.at,
        evidence=find_evidence(t.evidence),
        repeats=bool(e.text) and turn.error == e.text,
        failed=e.failed,
    )
    acted = e.reason is StopReason.END_TURN and t.mode is Mode.ACT
    left = row_words.unfinished_notices(t.todos) if turn.planned and acted else ()
    return add_rows(replace(t, draft=()), *left, row)


def _todos_changed(t: Transcript, e: ev.TodosChanged) -> Transcript:
    return add_rows(replace(t, todos=e.todos, turn=replace(t.turn, planned=True)), r.TodosRow(e.todos, e.by))


def _changed_outside(t: Transcript, e: ev.FilesChangedOutside) -> Transcript:
    names = [
        f"{file.path} (deleted)" if file.content is None else file.path
        for file in e.files
        if not (file.by or file.restored)
    ]
    return add_rows(t, r.NoticeRow(f"Changed outside this task: {list_names(names)}")) if names else t


def _on_retry(t: Transcript, e: ev.StepRetried) -> Transcript:
    """Add a retry, or update the last one if a person ended its wait."""
    last = t.rows[-1] if t.rows else None
    row = r.RetryRow(e.attempt, e.wait, e.cause, e.model, e.most)
    again = isinstance(last, r.RetryRow) and (
        (not e.wait and replace(last, wait=0.0) == row) or last.attempt == e.attempt == 0  # it waits in line
    )
    return add_rows(replace(t, draft=(), rows=t.rows[:-1] if again else t.rows), row)


def _on_usage(t: Transcript, e: ev.UsageReported | ev.SideQuestionAnswered) -> Transcript:
    return add_usage(t, e.usage, e.cost)


def _on_sampling(t: Transcript, e: ev.McpSampled) -> Transcript:
    notice = r.NoticeRow(f"{e.model} answered the MCP server {e.server}: {e.usage.total:,} tokens.")
    return add_rows(add_usage(t, e.usage, e.cost), notice)


def _on_delta(t: Transcript, e: ev.TextDelta | ev.ThinkingDelta) -> Transcript:
    kind = r.ReplyRow if isinstance(e, ev.TextDelta) else r.ThoughtRow
    apart = isinstance(e, ev.TextDelta) and e.apart
    if t.draft and isinstance(t.draft[-1], kind) and not apart:
        return replace(t, draft=(*t.draft[:-1], kind(t.draft[-1].text + e.text, draft=True)))
    return replace(t, draft=(*t.draft, kind(e.text, draft=True)))


def _on_completed(t: Transcript, e: ev.AssistantMessageCompleted) -> Transcript:
    rows: list[r.Row] = []
    for part in e.message.content:
        match part:
            case Thinking(text=text) if text.strip():
                rows.append(r.ThoughtRow(text))
            case Text(text=text) if text.strip():
                rows.append(r.ReplyRow(text))
            case ToolCall():
                rows.append(call_rows.propose_call(part, e.seq))
    return add_rows(replace(t, draft=()), *rows)


def _on_resumed(t: Transcript, e: ev.TurnResumed) -> Transcript:
    """Drop unanswered questions, which are asked again, and put a notice before unsettled rows."""
    rows = tuple(row for row in t.rows if not (isinstance(row, r.QuestionRow) and not row.by))
    place = next((at for at, row in enumerate(rows) if not is_settled(row)), len(rows))
    notice = r.NoticeRow("Halocline was stopped here. Open questions are asked again.")
    return replace(t, rows=(*rows[:place], notice, *rows[place:]), draft=())


def _on_answer(t: Transcript, e: ev.QuestionAnswered) -> Transcript:
    def answer(row: r.Row) -> r.Row:
        asked = isinstance(row, r.QuestionRow) and row.request == e.request
        return replace(row, answer=e.answer, by=e.by) if asked else row

    return replace(t, rows=tuple(answer(row) for row in t.rows))


def _on_error(t: Transcript, e: ev.ErrorRaised) -> Transcript:
    row = r.ErrorRow(e.code, e.text, e.hint, row_words.find_remedy(e.code))
    return add_rows(replace(t, turn=replace(t.turn, error=e.text)), row)


def _add_rewind(t: Transcript, e: ev.ConversationRestored) -> Transcript:
    """Add a notice of what changed for the model. Files that were restored by the event before belong to it."""
    before, after = t.rewinds, (*t.rewinds, (e.seq, e.to))
    prompts = [row for row in t.rows if isinstance(row, r.PromptRow)]
    seen = [row for row in prompts if _is_seen(row, before)]
    sees = [row for row in prompts if _is_seen(row, after)]
    gone = [row for row in seen if row not in sees]
    again = [row for row in sees if row not in seen]
    undone = set() if gone else {at for at, to in list_gaps(before) if to < e.to < at}
    rows = tuple(_note_rewind(row, e.seq, undone) for row in t.rows)
    place = f"before “{row_words.first_words(gone[0].text)}”" if gone else "an earlier point"
    text = _describe_undo(again) if undone else _describe_rewind(place, again)
    notice = r.NoticeRow(text, seq=e.seq, undoes=max(undone, default=0), place="" if undone or again else place)
    return add_rows(replace(t, rows=rows, rewinds=after), notice)


def _is_seen(row: r.PromptRow, rewinds: Rewinds) -> bool:
    return not any(to < row.seq < at for at, to in list_gaps(rewinds))


def _note_rewind(row: r.Row, seq: int, undone: set[int]) -> r.Row:
    match row:
        case r.RestoredRow() if row.seq and row.seq == seq - 1:
            return replace(row, both=True, undone=bool(undone))
        case r.RestoredRow() if row.both and row.seq + 1 in undone:
            return replace(row, undone=True)
        case r.NoticeRow() if row.seq in undone:
            return replace(row, undone=True)
    return row


def _describe_undo(again: Sequence[r.PromptRow]) -> str:
    what = f"“{row_words.first_words(again[0].text)}” and what came after it" if again else "what came after that point"
    return f"Undone: the model sees {what} again."


def _describe_rewind(place: str, again: Sequence[r.PromptRow]) -> str:
    more = f" It sees “{row_words.first_words(again[0].text)}” again." if again else ""
    return f"Rewound to {place}. The model no longer sees what came after it.{more}"


_FOLDS: dict[type, Callable[[Transcript, Any], Transcript]] = {
    ev.TaskStarted: lambda t, e: add_rows(
        replace(t, mode=e.mode),
        r.StartRow(e.workspace, e.model or row_words.describe_origin(e), e.mode, e.approval_mode, e.roots),
    ),
    ev.WorkspaceMoved: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_move(e.former, e.workspace))),
    ev.RootsChanged: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_folders(e.roots))),
    ev.Imported: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_import(e))),
    ev.TaskAdopted: lambda t, e: add_rows(replace(t, mode=e.mode), r.NoticeRow(f"Continued here with {e.model}")),
    ev.LogRepaired: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_repair(e))),
    ev.TurnStarted: _turn_started,
    ev.TurnResumed: _on_resumed,
    ev.SteeringReceived: _on_steering,
    ev.TurnEnded: _turn_ended,
    ev.StepStarted: lambda t, e: replace(t, draft=(), turn=replace(t.turn, steps=t.turn.steps + 1)),
    ev.StepRetried: _on_retry,
    ev.UsageReported: _on_usage,
    ev.McpSampled: _on_sampling,
    ev.SideQuestionAnswered: _on_usage,
    SubagentStarted: call_rows.begin_lane,
    SubagentProgressed: call_rows.update_lane,
    SubagentEnded: call_rows.end_lane,
    ev.TextDelta: _on_delta,
    ev.ThinkingDelta: _on_delta,
    ev.AssistantMessageCompleted: _on_completed,
    ev.ToolCallStarted: call_rows.start_call,
    ev.ToolCallProgressed: call_rows.grow_output,
    ev.ToolCallEnded: call_rows.end_call,
    ev.OwnCommandStarted: call_rows.start_own_command,
    ev.OwnCommandEnded: call_rows.end_own_command,
    ev.ApprovalRequested: call_rows.ask_approval,
    ev.ApprovalResolved: call_rows.decide_approval,
    ev.QuestionAsked: lambda t, e: add_rows(t, r.QuestionRow(e.request, e.question, e.options, e.call)),
    ev.QuestionAnswered: _on_answer,
    ev.SandboxChecked: lambda t, e: (
        add_rows(t, r.NoticeRow(row_words.SANDBOXED)) if e.standing is SandboxStanding.FULL else t
    ),
    ev.AnswerRefused: lambda t, e: add_rows(
        t, r.NoticeRow(f"The answer does not match the schema. {' '.join(e.problems)}")
    ),
    ev.TodosChanged: _todos_changed,
    ev.ModeChanged: lambda t, e: add_rows(replace(t, mode=e.mode), r.NoticeRow(f"Mode: {e.mode}")),
    ev.ModelChanged: lambda t, e: add_rows(t, r.NoticeRow(f"Model: {e.model}")),
    ev.EffortChanged: lambda t, e: add_rows(
        t, r.NoticeRow(f"Effort: {row_words.describe_effort(e.effort, e.budget) or 'from the settings'}")
    ),
    ev.GrantTakenBack: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_revocation(e))),
    ev.PolicyChanged: lambda t, e: add_rows(
        t, r.NoticeRow(f"Approvals: {e.approval_mode}" + (f", set by {e.client}" if e.client else ""))
    ),
    ev.ApprovalJudged: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_verdict(e))),
    ev.JudgeSwitched: lambda t, e: add_rows(t, r.NoticeRow(f"Judge of approvals: {'on' if e.on else 'off'}")),
    ev.ApprovalSwitched: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_switch(e))),
    ev.CompletionQuestioned: lambda t, e: add_rows(t, r.NoticeRow("The model is asked to check its work once more.")),
    ev.CompletionRequired: lambda t, e: add_rows(t, r.NoticeRow("The model is asked to go on, or to finish.")),
    ev.GoalSet: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_goal(e))),
    ev.GoalChecked: lambda t, e: add_rows(
        t, r.NoticeRow(row_words.describe_check(e), met=e.verdict is GoalVerdict.MET)
    ),
    ev.CheckpointFailed: lambda t, e: add_rows(t, r.NoticeRow(e.text)),
    ev.CheckpointTaken: lambda t, e: add_rows(t, r.CheckpointRow(e.checkpoint, e.label, e.at)) if not e.root else t,
    ev.ConversationRestored: _add_rewind,
    ev.TaskForked: lambda t, e: add_rows(t, r.NoticeRow(f"Forked to task {e.to} after event {e.point}.", e.to)),
    ev.CheckpointRestored: lambda t, e: add_rows(
        t,
        r.RestoredRow(
            e.checkpoint, e.undo, e.changed, e.seq, left_out=(*describe_left_out("Not restored", e.left_out),)
        ),
    ),
    ev.JobStarted: call_rows.begin_job,
    ev.HandedOver: call_rows.hand_over,
    ev.JobEnded: lambda t, e: add_rows(t, r.JobEndRow(e.job, e.command, e.exit_code, e.stopped)),
    ev.FilesChangedOutside: _changed_outside,
    ev.DiagnosticsReported: lambda t, e: add_rows(t, *row_words.finding_notices(e.content)),
    ev.InstructionsLoaded: lambda t, e: add_rows(t, r.RulesRow(e.files, e.gone)),
    ev.MentionsResolved: lambda t, e: add_rows(t, *row_words.included_notices(e.content)),
    ev.Compacted: lambda t, e: add_rows(t, r.CompactionRow(e.cause, e.before, e.after, e.summary, e.focus)),
    ev.CompactionUndone: lambda t, e: add_rows(t, r.CompactionRow()),
    ev.PicturesLeftOut: lambda t, e: add_rows(t, r.NoticeRow(row_words.describe_pictures(e))),
    ev.HookProgressed: show_hook,
    ev.HookRan: end_hook,
    ev.Noticed: lambda t, e: add_rows(t, r.NoticeRow(e.text)),
    ev.ErrorRaised: _on_error,
}
SHOWN = frozenset(_FOLDS)
"""The events that change the rows."""
