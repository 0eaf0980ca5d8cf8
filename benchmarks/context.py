"""What a request costs to build in a long task, and how much of what a model needs is still there when a conversation
was shortened again and again. No model is asked: a simulated one reads a file whenever it cannot see its text.
"""

import random
import time
from collections.abc import Callable, Iterator
from functools import partial
from statistics import median

from msgspec.structs import replace

from benchmarks.figures import Figure
from halocline.context.compaction.plan import Tight, try_compactions
from halocline.context.compaction.view import build_view
from halocline.context.request import Context
from halocline.protocol import events as ev
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode, Todo
from halocline.protocol.messages import AssistantMessage, Text, ToolCall, ToolResult
from halocline.protocol.state.reducer import reduce_event
from halocline.protocol.state.state import State
from halocline.tools.toolset import ALL, Tools

STEPS, TOKENS = 300, 150_000
JOURNEY, WINDOW, FILES = 400, 40_000, 40
FORBIDDEN = "Never touch the file of the licence."
WISH = "Now make the tests pass."
OPEN = "tell the person what was found"


def figures(rounds: int) -> list[Figure]:
    """Building a request at the end of a long task, and the quality of what a shortened one shows."""
    warm, cold, early = _building(rounds)
    ours, classic = Journey(_ours).rates(), Journey(_classic).rates()
    return [
        Figure("request", "a request of a 300-step task of 150 K tokens, ms", None, warm),
        Figure("request_growth", "… against one at step 100", None, warm / early),
        Figure("request_cold", "… the first one after it was opened, ms", None, cold),
        Figure(
            "rereads", "unchanged files read again, of 100 uses; floor: the older half is dropped", classic[0], ours[0]
        ),
        Figure("lost", "facts that a compaction lost, of 100; the same floor", classic[1], ours[1]),
    ]


def _building(rounds: int) -> tuple[float, float, float]:
    events, tools = list(_long_task()), Tools(ALL)
    late: list[float] = []
    early: list[float] = []
    cold: list[float] = []
    for _ in range(max(3, rounds // 2)):
        context, state = Context(), State()
        for number, event in enumerate(events):
            state = reduce_event(state, event)
            if number % 2 == 0:
                took = _timed(partial(context.request, state, tools))
                if number > len(events) - 40:
                    late.append(took)
                elif abs(number - len(events) // 3) < 20:
                    early.append(took)
        cold.append(_timed(partial(Context().request, state, tools)))
    return median(late), median(cold), median(early)


def _long_task() -> Iterator[ev.Durable]:
    yield ev.TaskStarted("/w", "any", Mode.ACT, ApprovalMode.YOLO, "Be brief.", "0", seq=1)
    yield ev.TurnStarted((Text("go"),), seq=2)
    for number in range(STEPS):
        yield from _read(f"src/part{number % 90}.py", _text(number, TOKENS * 4 // STEPS), f"c{number}")


def _read(path: str, text: str, call: str) -> Iterator[ev.Durable]:
    yield ev.AssistantMessageCompleted(AssistantMessage((Text("Next."), ToolCall(call, "read_file", {"path": path}))))
    yield ev.ToolCallEnded(call, "read_file", CallStatus.COMPLETED, ToolResult(call, (Text(text),)))


def _text(seed: int, size: int) -> str:
    chance = random.Random(seed)
    words = [f"name_{chance.randrange(10_000)} = value({chance.randrange(1000)})" for _ in range(size // 26 + 1)]
    return f"# file {seed}\n" + "\n".join(words)


class Journey:
    """A simulated model at work: what it read before, what it changed, and what it found missing."""

    def __init__(self, shorten: Callable[[State], State]) -> None:
        self._shorten = shorten
        self._chance = random.Random(7)
        self._texts = {number: _text(1_000 + number, 3_000 + 400 * (number % 9)) for number in range(FILES)}
        self._known: set[int] = set()
        self._changed: set[int] = set()
        self._again = self._lost = self._facts = 0
        self._state = State()

    def rates(self) -> tuple[float, float]:
        """Reads of what had been read and not changed, and facts that were lost, both in a hundred."""
        self._add(ev.TaskStarted("/w", "any", Mode.ACT, ApprovalMode.YOLO, "Be brief.", "0"))
        self._add(ev.TurnStarted((Text("Read on."),)), ev.TurnStarted((Text(FORBIDDEN),)))
        self._add(ev.TodosChanged((Todo(OPEN),)))
        self._state = replace(self._state, model=replace(self._state.model, window=WINDOW))
        for step in range(JOURNEY):
            self._step(step)
        return 100 * self._again / JOURNEY, 100 * self._lost / max(1, self._facts)

    def _add(self, *events: ev.Durable) -> None:
        for event in events:
            self._state = reduce_event(self._state, event)

    def _step(self, step: int) -> None:
        if step == JOURNEY // 4:
            self._add(ev.TurnStarted((Text(WISH),)))
        shown = self._shortened([WISH] if step >= JOURNEY // 4 else [])
        number = min(int(self._chance.expovariate(0.15)), FILES - 1)
        if self._texts[number] in shown:
            self._add(*_ran(step))
        else:
            self._again += number in self._known
            self._add(*_read(_path(number), self._texts[number], f"c{step}"))
        self._known.add(number)
        if step % 12 == 5:
            self._texts[number] = _text(50_000 + step, len(self._texts[number]))
            self._changed.add(number)
            self._known.discard(number)
            self._add(*_edit(number, step))

    def _shortened(self, wanted: list[str]) -> str:
        """What the model reads now; when it was shortened, which facts are still there is counted."""
        before = self._state
        self._state = self._shorten(before)
        shown = "\n".join(getattr(part, "text", "") for message in build_view(self._state) for part in message.content)
        if self._state is not before:
            wanted = [FORBIDDEN, OPEN, *map(_path, self._changed), *wanted]
            self._facts += len(wanted)
            self._lost += sum(fact not in shown for fact in wanted)
        return shown


def _path(number: int) -> str:
    return f"src/part{number}.py"


def _ran(step: int) -> Iterator[ev.Durable]:
    call = ToolCall(f"s{step}", "execute_command", {"command": f"make part-{step}"})
    yield ev.AssistantMessageCompleted(AssistantMessage((Text("I see it."), call)))
    result = ToolResult(call.id, (Text("ok " * 60),))
    yield ev.ToolCallEnded(call.id, call.name, CallStatus.COMPLETED, result)


def _edit(number: int, step: int) -> Iterator[ev.Durable]:
    path, id = _path(number), f"e{step}"
    call = ToolCall(id, "replace_in_file", {"path": path, "diff": "old\nnew"})
    yield ev.AssistantMessageCompleted(AssistantMessage((call,)))
    yield ev.FileChanged(path, before="a", after=f"sha256:{step:064}", cause=id)
    yield ev.ToolCallEnded(id, call.name, CallStatus.COMPLETED, ToolResult(id, (Text("Done."),)))


def _ours(state: State) -> State:
    context, tools = Context(), Tools(ALL)
    request, room = context.request(state, tools), context.room(state)
    used = context.used(state, tools)
    if used <= room.allowed:
        return state
    made = try_compactions(
        state, request, used, room, Tight(CompactionCause.CROWDED, summary="Work went on as planned.")
    )
    return reduce_event(state, made) if made else state


def _classic(state: State) -> State:
    """The oldest half goes, but for the first exchange."""
    context, tools = Context(), Tools(ALL)
    if context.used(state, tools) <= context.room(state).allowed:
        return state
    messages = state.messages
    begin = len(messages) // 2
    while begin < len(messages) and isinstance(messages[begin], ToolResult):
        begin += 1
    return replace(state, messages=(*messages[:1], *messages[begin:]))


def _timed(act: Callable[[], object]) -> float:
    began = time.process_time()
    act()
    return (time.process_time() - began) * 1e3
