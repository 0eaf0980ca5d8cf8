"""Report what a task's next request contains and costs, and how it used the cache. Writes nothing."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

from msgspec.structs import replace

from halocline.context.reports.cache import cache_report
from halocline.context.reports.usage import usage_report
from halocline.context.system_prompt.environment import environment_note
from halocline.context.user_files.skills import found_skills
from halocline.protocol.events import DurableEvent, TaskStarted
from halocline.protocol.events.instructions import Beginning
from halocline.protocol.messages import UserMessage
from halocline.protocol.queries.usage import CacheReport, ContextReport, Rates
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.providers.catalog.models import ModelInfo
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.models.vendors import find_model_facts
from halocline.runtime.open_task import offer_event
from halocline.runtime.parts.hidden_names import make_name_hider
from halocline.runtime.rules.workspace_roots import roots_of
from halocline.runtime.start import start_event
from halocline.runtime.task_options import TaskOptions


class ContextService:
    """Reports on tasks with the settings of one home."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly

    async def fresh(self, workspace: Path, options: TaskOptions) -> State:
        """Return the state that a new task here would have just before its first prompt. Raises as a start does."""
        roots = roots_of(workspace, options.roots, self._assembly.settings)
        assembly = self._assembly.in_folder(workspace, roots)
        skills = found_skills(workspace, roots=roots, plugins=assembly.list_plugins(workspace, roots))
        names = await assembly.names(options.model or "")
        followed = assembly.instructions(workspace, roots)
        rules = followed.begins() if followed else Beginning()
        started = start_event(assembly, workspace, options, names, skills, rules, roots)
        return self._at_start(started, options.attended, {"use_skill"} if skills.offered else ())

    def _at_start(self, started: TaskStarted, attended: bool, tools: Iterable[str]) -> State:
        """Return the state of a new task when its first prompt is sent, without the prompt's text."""
        state = reduce_event(State(), started)
        offered = self._assembly.offered(state, attended, tools)
        state = reduce_event(state, offer_event(offered, state, self._assembly.home.agents)[0])
        workspace, home = Path(state.workspace), self._assembly.home.root
        book = self._assembly.in_folder(workspace).rule_files(workspace, state.roots).book()
        hides = make_name_hider(state, home, book)
        note = environment_note(state, workspace, datetime.now().astimezone(), hides=hides)
        return replace(state, messages=(UserMessage((note,)),)) if note else state

    def context_of(self, state: State) -> ContextReport:
        """Report what the next request would contain."""
        info = self._facts_of(state.model.name)
        context = self._assembly.context()
        state = replace(state, model=replace(state.model, window=state.model.window or info.window))
        report = usage_report(context.request(state, self._assembly.tools()), state.budget.last_usage, state.workspace)
        room = context.room(state)
        return replace(
            report,
            task=state.task,
            title=state.title,
            window=room.window,
            window_known=bool(state.model.window or state.model.limit),
            reserve=room.window - room.allowed,
            rates=find_rates(info, report.used),
            shortened=context.passes(state),
        )

    def cache_of(self, events: Sequence[DurableEvent]) -> CacheReport:
        """Report how the requests of a log used the provider's cache."""
        context, tools = self._assembly.context(), self._assembly.tools()
        return cache_report(
            events, lambda state: context.request(state, tools), lambda model: find_rates(self._facts_of(model), 0)
        )

    def _facts_of(self, model: str) -> ModelInfo:
        return find_model_facts(model, self._assembly.settings, self._assembly.catalogue)


def find_rates(info: ModelInfo, read: int) -> Rates | None:
    """Return the price per token read, uncached and cached, in a request of `read` tokens."""
    prices = next((tier.prices for tier in reversed(info.tiers) if read > tier.above), info.prices)
    if prices is None:
        return None
    return Rates(prices.input, prices.input if prices.cache_read is None else prices.cache_read)
