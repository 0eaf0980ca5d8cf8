"""Keeps a conversation within its model's context window, and requests replies.

What must stay true: it always ends. If a summary fails, the compaction goes without; if a server calls a request too
long, it is compacted twice, the second time to hardly anything; a request that may have been refused for its pictures
is repeated without them (`refused_pictures`), and one whose MCP tool a server refuses by name without that; only then
the error ends the turn. No summary is requested that cannot save enough.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline import task
from halocline.context import compaction
from halocline.context.request import Context
from halocline.ports.model import Model, Request
from halocline.ports.tool import Toolset
from halocline.protocol import events as ev
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.state.state import State
from halocline.task.inbox import InboxRequest
from halocline.task.spending import OverBudget, Spending

if TYPE_CHECKING:
    from halocline.ports.hooks import Hooks  # most tasks have none

NOT_WORTH = "Not compacted: it would save too little."
WHY_NOT = "Compacting keeps the newest messages, and this conversation has few others."
BLOCKED = "Not compacted. {why}"
NOTHING = "There is no compaction to undo."
WITHOUT = "The model gave no summary ({why}), so the conversation was compacted without one."
REFUSED, FAILED, NOT_UNDONE = "not_compacted", "compaction_failed", "nothing_to_undo"
SECOND_TRIES = (0, 4)
"""Index in `compaction.plan.SHARES` to start at when a server calls a request too long: first and second time."""
ANSWERS = (ev.TextDelta, ev.ThinkingDelta, ev.ToolCallDelta, ev.AssistantMessageCompleted)
SUSPECT = 0.7
"""Share of the window above which a request that is refused for an unknown reason is taken for too long, once."""


class Compactor:
    """The compactor of one task. With `automatic` it acts before a request gets too long, not only after."""

    def __init__(
        self,
        *,
        model: Model,
        context: Context,
        toolset: Toolset,
        state: Callable[[], State],
        spending: Spending,
        automatic: bool,
        hooks: "Hooks | None" = None,
    ) -> None:
        self._model = model
        self._context = context
        self._toolset = toolset
        self._state = state
        self._spending = spending
        self._automatic = automatic
        self._hooks = hooks

    async def reply(self, wish: InboxRequest | None) -> AsyncGenerator[ev.Event, None]:
        """Request the next reply; compact first if the user asked for it or it is needed.

        What does not fit into a limit is not requested: `Spending.verdict` says so.
        """
        async for event in self._make_room(wish):
            yield event
        shares, refused = [*SECOND_TRIES, None], 0
        while True:
            request = self._request()
            try:
                async with aclosing(self._ask(request)) as stream:
                    async for event in stream:
                        yield event
                return
            except OverBudget as over:
                self._spending.refused = over.verdict
                return
            except ModelError as error:
                changed = task.refused_tools.report_tool(error, request, self._state(), refused)
                if changed:
                    refused += 1
                elif shorter := self._recover(error, request, shares.pop(0)):
                    changed = [shorter]
                else:
                    raise
            for event in changed:
                yield event

    async def _ask(self, request: Request) -> AsyncGenerator[ev.Event, None]:
        """Send a request, and again without pictures if those, and no tool, may be why it was refused."""
        lighter, asked = None, request
        while True:
            try:
                async with self._spending.room_for(asked):
                    yield ev.StepStarted(model=asked.model)
                    async with aclosing(self._model.stream(asked)) as stream:
                        async for event in stream:
                            if lighter and isinstance(event, ANSWERS) and (helped := lighter.take_result()):
                                yield helped
                            yield event
                return
            except OverBudget:
                raise
            except ModelError as error:
                if task.refused_tools.find_refused_tool(error, asked, self._state()):
                    raise
                lighter = lighter or task.refused_pictures.Lighter()
                again = lighter.lighten(error, asked)
                if again is None:
                    raise lighter.choose_error(error) from None
                asked = again

    async def grant(self, wish: InboxRequest) -> AsyncGenerator[ev.Event, None]:
        """Carry out a request of the user; the last event is the answer."""
        if wish.undo:
            undone = (
                ev.CompactionUndone()
                if self._state().compaction.latest
                else ev.ErrorRaised(code=NOT_UNDONE, text=NOTHING)
            )
            yield undone
            return
        async for event in self._compact(CompactionCause.ASKED, wish.focus):
            yield event

    async def _make_room(self, wish: InboxRequest | None) -> AsyncGenerator[ev.Event, None]:
        if wish:
            async for event in self.grant(wish):
                yield event
        elif self._is_automatic and self._uses_more_than(self._context.room(self._state()).allowed):
            async for event in self._compact(CompactionCause.CROWDED):
                yield event
        # Do not send a request that is known to be too long.
        state = self._state()
        is_known = state.model.window or state.model.limit
        if (
            is_known
            and self._uses_more_than(self._context.room(state).window)
            and (made := self._compact_without_summary())
        ):
            yield made

    @property
    def _is_automatic(self) -> bool:
        limits = self._state().budget.limits
        return limits.compacts if limits else self._automatic

    @property
    def _summarizes(self) -> bool:
        limits = self._state().budget.limits
        return limits is None or limits.summarizes

    def _uses_more_than(self, tokens: int) -> bool:
        return self._context.used(self._state(), self._toolset) > tokens

    def _compact_without_summary(self) -> ev.Compacted | None:
        """Return a compaction that fits, without a summary."""
        state, request = self._state(), self._request()
        used = self._context.used(state, self._toolset)
        return compaction.plan.try_compactions(
            state, request, used, self._context.room(state), compaction.plan.Tight(CompactionCause.OVERFLOW, share=0)
        )

    async def _compact(self, cause: CompactionCause, focus: str = "") -> AsyncGenerator[ev.Event, None]:
        """Compact with a summary, if that saves enough to be worth it."""
        tight = compaction.plan.Tight(cause, focus)
        state, request = self._state(), self._request()
        room, before = self._context.room(state), self._context.used(state, self._toolset)
        made = compaction.plan.try_compactions(state, request, before, room, tight)
        blocked = await self._find_objection(made, request, before) if made else ""
        if made is None or blocked:
            if cause is CompactionCause.ASKED:
                text, hint = (NOT_WORTH, WHY_NOT) if made is None else (BLOCKED.format(why=blocked), "")
                yield ev.ErrorRaised(code=REFUSED, text=text, hint=hint)
            return
        state, request = self._state(), self._request()  # a hook may have added a note
        yield ev.CompactionStarted(cause=cause, tokens=before, focus=focus)
        summary = ""
        if self._summarizes or focus:
            async for event in self._summarize(compaction.plan.summary_request(request, focus, room)):
                if isinstance(event, ev.AssistantMessageCompleted):
                    summary = event.message.text.strip()
                else:
                    yield event
        with_summary = compaction.plan.try_compactions(state, request, before, room, replace(tight, summary=summary))
        # A long summary of little may save nothing: then use none, or it would be paid for again at every step.
        made = with_summary or compaction.plan.try_compactions(state, request, before, room, tight)
        yield made or ev.ErrorRaised(code=FAILED, text=NOT_WORTH, hint=WHY_NOT)

    async def _summarize(self, request: Request) -> AsyncGenerator[ev.Event, None]:
        """Ask for a summary: its message is the last event, or a notice that says why there is none."""
        why = "its reply was empty"
        try:
            async with aclosing(self._model.stream(request)) as stream:
                async for event in stream:
                    if isinstance(event, ev.UsageReported | ev.StepRetried):
                        yield event
                    elif isinstance(event, ev.AssistantMessageCompleted) and event.message.text.strip():
                        yield event
                        why = ""
        except ModelError as error:
            why = error.text
        if why:
            yield ev.Noticed(WITHOUT.format(why=why))

    async def _find_objection(self, made: ev.Compacted, request: Request, tokens: int) -> str:
        """Return why a hook blocks the compaction; empty if none does."""
        if self._hooks is None:
            return ""
        from halocline.ports.hooks import Shortening

        what = Shortening(
            strategy="auto-condense" if self._summarizes or made.focus else "basic",
            messages=request.messages,
            tokens=tokens,
            first=1,
            last=made.kept_from,
            asked=made.cause is CompactionCause.ASKED,
            focus=made.focus,
        )
        return (await self._hooks.before_compaction(what)).blocked

    def _recover(self, error: ModelError, request: Request, share: int | None) -> ev.Compacted | None:
        """Return the compaction to continue with after an error; None if nothing helps."""
        state = self._state()
        before = self._context.used(state, self._toolset)
        is_suspect = share == SECOND_TRIES[0] and self._is_suspect(error, before)
        if share is None or not (error.kind is ModelErrorKind.CONTEXT_EXCEEDED or is_suspect):
            return None
        limit = compaction.plan.limit_in(error.text, before)
        room = self._context.room(replace(state, model=replace(state.model, limit=limit)))
        return compaction.plan.try_compactions(
            state, request, before, room, compaction.plan.Tight(CompactionCause.OVERFLOW, share=share, limit=limit)
        )

    def _is_suspect(self, error: ModelError, before: int) -> bool:
        """True if a request that nearly fills the window was refused for an unknown reason."""
        window = self._state().model.window
        return error.kind is ModelErrorKind.INVALID_REQUEST and window is not None and before > window * SUSPECT

    def _request(self) -> Request:
        return self._context.request(self._state(), self._toolset)
