"""Runs hooks and combines their results: one event for each run, with everything that a replay needs.

The hooks of a moment run in parallel, the project's before the user's own, so that the user's hooks see an input last.
Their combined outcome is a pure function of their events.
"""

import asyncio
import os.path
from collections.abc import Callable, Sequence

from msgspec.structs import replace

from halocline.ports.hooks import Hear, Hook, HookEnd, HookRunner, Outcome, Shortening
from halocline.protocol import events as ev
from halocline.protocol.events.hooks import HookDecision, HookPoint, HookSource, HookStatus
from halocline.protocol.messages import PASTED, PIPED, Image, Note, StopReason, Text, ToolCall, UserMessage
from halocline.protocol.state.final_answer import final_text
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.protocol.waiting import end_tasks
from halocline.task.hooks import compaction as telling, payloads as words
from halocline.task.hooks.payloads import Facts
from halocline.task.hooks.running_hooks import RunningHooks

HURRIED = 3.0
"""Timeout in seconds for a hook that delays an interrupt or an exit."""
MOST_HOLDS = 3
"""Maximum number of times per turn that hooks may send the model back to work."""
CHANGED = "{what} since the folder was trusted, so its hooks do not run. Review the change, then run: halo trust add"


class Rules(Value, frozen=True):
    """Settings of hooks. `changed` describes what changed since a folder was trusted; empty if nothing did.

    `redact` removes secrets from what hooks return.
    """

    timeout: float
    fails_closed: bool
    transcript: str
    changed: Callable[[str], str]
    redact: Callable[[str], str] = str


class LiveHooks:
    """Implements `ports.hooks.Hooks` with scripts on this machine."""

    def __init__(self, hooks: Sequence[Hook], runner: HookRunner, rules: Rules) -> None:
        self._hooks = hooks
        self._runner = runner
        self._rules = rules
        self._has_begun = False
        self._holds = 0
        self._notifying: set[asyncio.Task[list[ev.HookRan]]] = set()
        self._named: set[str] = set()
        """Changes since a folder was trusted that were already reported."""

    def attach(self, emit: Callable[..., None], state: Callable[[], State]) -> None:
        self._emit = emit
        self._state = state
        self._running = RunningHooks(emit, lambda text: words.clean_text(text, self._rules.redact))

    async def begins(self) -> ev.TurnEnded | None:
        state = self._state()
        self._holds = 0
        if not self._has_begun:
            self._has_begun = True
            if end := refused_turn(await self._run_all(*_opening_hook(state))):
                return end
        prompt, images = _prompt_of_turn(state)
        facts = Facts(event={"prompt": prompt, "attachments": images}, more={"prompt": prompt})
        return refused_turn(await self._run_all(HookPoint.USER_PROMPT_SUBMIT, facts))

    async def before(self, call: ToolCall) -> Outcome:
        runs: list[ev.HookRan] = []
        for source in HookSource:  # the user's own see the input as the project's changed it
            judged = combine_outcomes(runs)
            now = call if judged.arguments is None else replace(call, arguments=judged.arguments)
            facts = words.of_call(now, self._state().workspace)
            runs += await self._run_source(source, HookPoint.PRE_TOOL_USE, facts, now)
        return combine_outcomes(runs)

    async def after(self, call: ToolCall, said: str, seconds: float, *, failed: bool) -> Outcome:
        before = words.of_call(call, self._state().workspace)
        milliseconds = round(seconds * 1000)
        facts = Facts(
            event={**before.event, "result": said, "success": not failed, "executionTimeMs": milliseconds},
            more={**before.more, ("error" if failed else "tool_response"): said, "duration_ms": milliseconds},
            subjects=before.subjects,
            failed=failed,
        )
        return combine_outcomes(await self._run_all(HookPoint.POST_TOOL_USE, facts, call))

    def stop(self, run: str) -> bool:
        return self._running.stop(run)

    async def before_compaction(self, what: Shortening) -> Outcome:
        if not any(hook.moment is HookPoint.PRE_COMPACT for hook in self._hooks):
            return Outcome()

        files = telling.dump_conversation(what.messages)
        async with self._runner.lent(files, os.path.dirname(self._rules.transcript)) as paths:
            facts = telling.of_compaction(what, self._state(), paths)
            return combine_outcomes(await self._run_all(HookPoint.PRE_COMPACT, facts))

    def waits(self, kind: str, message: str) -> None:
        if not any(hook.moment is HookPoint.NOTIFICATION for hook in self._hooks):
            return
        event = {"event": kind, "source": "task", "message": message, "waitingForUserInput": True}
        more = {"notification_type": kind, "message": message}
        self._notifying.add(asyncio.ensure_future(self._run_all(HookPoint.NOTIFICATION, Facts(event, more, (kind,)))))

    async def holds(self) -> bool:
        state = self._state()
        if state.last_message.stop_reason is not StopReason.END_TURN:
            return False
        more = {"stop_hook_active": self._holds > 0, "last_assistant_message": final_text(state)}
        runs = await self._run_all(HookPoint.TASK_COMPLETE, Facts(_task_metadata(state), more))
        held = any(run.content for run in runs)
        self._holds += held
        return held

    async def ends(self, end: ev.TurnEnded | None) -> tuple[ev.HookRan, ...]:
        await self._settle_notifications()
        state = self._state()
        match end:
            case None:
                facts = Facts(_task_metadata(state), {"reason": "other"})
                return tuple(await self._run_all(HookPoint.SESSION_SHUTDOWN, facts, tell=_keep_for_later))
            case ev.TurnEnded(reason=StopReason.END_TURN):
                return ()
            case ev.TurnEnded(reason=StopReason.CANCELLED):
                return tuple(
                    await self._run_all(HookPoint.TASK_CANCEL, Facts(_task_metadata(state)), tell=_keep_for_later)
                )
        facts = Facts({**_task_metadata(state), "reason": end.reason, "error": end.text}, {"error": end.text})
        return tuple(await self._run_all(HookPoint.TASK_ERROR, facts, tell=_keep_for_later))

    async def _settle_notifications(self) -> None:
        if self._notifying:
            await asyncio.wait(self._notifying, timeout=HURRIED)
            await end_tasks(*self._notifying)
            self._notifying.clear()

    async def _run_all(
        self,
        moment: HookPoint,
        facts: Facts,
        call: ToolCall | None = None,
        tell: Callable[[ev.HookRan], None] | None = None,
    ) -> list[ev.HookRan]:
        return [run for source in HookSource for run in await self._run_source(source, moment, facts, call, tell)]

    async def _run_source(
        self,
        source: HookSource,
        moment: HookPoint,
        facts: Facts,
        call: ToolCall | None = None,
        tell: Callable[[ev.HookRan], None] | None = None,
    ) -> list[ev.HookRan]:
        chosen = [hook for hook in self._hooks if (hook.moment, hook.source) == (moment, source)]
        chosen = [hook for hook in chosen if words.is_concerned(hook, facts)]
        running = [self._run_one(hook, facts, call, tell or self._emit) for hook in chosen]
        return list(await asyncio.gather(*running))

    async def _run_one(
        self, hook: Hook, facts: Facts, call: ToolCall | None, tell: Callable[[ev.HookRan], None]
    ) -> ev.HookRan:
        state = self._state()
        given = words.build_payload(hook, state, facts, self._rules.transcript, state.last_at)
        try:
            shown, end = await self._running.follow(hook, call, lambda hear: self._run_script(hook, given, hear))
        except asyncio.CancelledError:
            ended = words.hook_event(hook, call, HookEnd(), state, fails_closed=False)
            tell(replace(ended, status=HookStatus.CANCELLED))
            raise
        closed = hook.on_failure == "block" or (not hook.on_failure and self._rules.fails_closed)
        run = words.redact_run(words.hook_event(hook, call, end, state, fails_closed=closed), self._rules.redact)
        run = replace(self._as_a_task(self._with_stop_named(run, end.stopped)), run=shown)
        tell(run)
        return run

    async def _run_script(self, hook: Hook, given: bytes, hear: Hear) -> HookEnd:
        if hook.source is HookSource.PROJECT and (what := self._rules.changed(hook.folder)):
            why = CHANGED.format(what=what)
            return HookEnd(trouble=why, stopped=why)
        if hook.broken:
            return HookEnd(trouble=hook.broken)
        timeout = hook.timeout or self._rules.timeout
        if hook.moment in (HookPoint.TASK_CANCEL, HookPoint.SESSION_SHUTDOWN):
            timeout = min(timeout, HURRIED)
        return await self._runner.run(hook, given, timeout, hear)

    def _with_stop_named(self, run: ev.HookRan, why: str) -> ev.HookRan:
        """Report to the user and the model, once, that a hook did not run because its folder changed."""
        if not why or why in self._named:
            return run
        self._named.add(why)
        self._emit(ev.Noticed(f"The hook {run.hook} was stopped: {why}"))
        return replace(run, content=(words.make_note(run.hook, run.moment, f"It was stopped: {why}"), *run.content))

    def _as_a_task(self, run: ev.HookRan) -> ev.HookRan:
        """Turn the reason of a hook that objects to the end of a turn into work for the model, a few times."""
        if run.moment is not HookPoint.TASK_COMPLETE:
            return run
        if run.decision is not HookDecision.BLOCK or run.stops or self._holds >= MOST_HOLDS:
            return replace(run, decision=HookDecision.NONE, content=())
        reason = run.said or "The task is not done yet."
        return replace(run, content=(words.make_note(run.hook, run.moment, reason), *run.content))


def combine_outcomes(runs: Sequence[ev.HookRan]) -> Outcome:
    """Combine the results of hooks on one call, whatever the order in which they ended."""
    runs = sorted(runs, key=lambda run: (run.source, run.hook))
    blocked = _join_reasons(runs, HookDecision.BLOCK)
    asks = _join_reasons(runs, HookDecision.ASK)
    changes = [run.arguments for run in runs if run.arguments is not None]
    return Outcome(
        blocked=blocked,
        stops=any(run.stops for run in runs),
        asks=asks,
        allows=any((run.decision, run.source) == (HookDecision.ALLOW, HookSource.USER) for run in runs),
        arguments=changes[-1] if changes else None,
        notes=tuple(part for run in runs for part in run.content if isinstance(part, Note)),
    )


def refused_turn(runs: Sequence[ev.HookRan]) -> ev.TurnEnded | None:
    """Return the end of the turn if a hook refused its prompt."""
    runs = sorted(runs, key=lambda run: (run.source, run.hook))
    if reasons := _join_reasons(runs, HookDecision.BLOCK):
        return ev.TurnEnded(reason=StopReason.REFUSAL, text=f"The prompt was not sent. {reasons}")
    return None


def _join_reasons(runs: Sequence[ev.HookRan], decision: HookDecision) -> str:
    """Join the reasons of the hooks that decided so."""
    return " ".join(_describe_run(run) for run in runs if run.decision is decision)


def _describe_run(run: ev.HookRan) -> str:
    if run.status is HookStatus.COMPLETED:
        return (
            f"The hook {run.hook} says: {run.said.rstrip('.')}."
            if run.said
            else f"The hook {run.hook} gives no reason."
        )
    if run.status is HookStatus.STOPPED:
        return f"The user stopped the hook {run.hook}, which must pass before this can continue."
    return f"The hook {run.hook} failed: {run.said}. It must pass before this can continue."


def _keep_for_later(run: ev.HookRan) -> None:
    """Emit nothing: the caller records the run."""


def _opening_hook(state: State) -> tuple[HookPoint, Facts]:
    """Return the moment and facts of a task that starts, or resumes in another process."""
    source = "startup" if state.last_end is None else "resume"
    event = _task_metadata(state)
    more = {"source": source, "model": state.model.name}
    if state.last_end is None:
        return HookPoint.TASK_START, Facts(event, more, (source,))
    previous = {"lastMessageTs": str(round(state.last_at * 1000)), "messageCount": len(state.messages)}
    return HookPoint.TASK_RESUME, Facts({**event, "previousState": previous}, more, (source,))


def _task_metadata(state: State) -> dict[str, object]:
    return {"taskMetadata": {"taskId": state.task, "ulid": state.task, "initialTask": state.title}}


def _is_theirs(part: Text | Note) -> bool:
    return isinstance(part, Text) or part.source in (PASTED, PIPED)


def _prompt_of_turn(state: State) -> tuple[str, list[str]]:
    """Return the text of the turn's prompt, and its images."""
    first = state.messages[state.turn.first_message] if state.turn else UserMessage(())
    content = first.content if isinstance(first, UserMessage) else ()
    text = "\n".join(part.text for part in content if not isinstance(part, Image) and _is_theirs(part))
    return text, [part.blob for part in content if isinstance(part, Image)]
