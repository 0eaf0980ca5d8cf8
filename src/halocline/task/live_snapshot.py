"""What goes on in a task at this moment and is not in its log: what is being written, the output of calls.

Who begins to listen in the middle is told this first, and then misses nothing. It is bounded, and cheap to keep.
"""

from collections.abc import Iterator

from halocline.protocol.events import (
    AssistantMessageCompleted,
    Event,
    OwnCommandEnded,
    OwnCommandStarted,
    StepRetried,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolCallEnded,
    ToolCallProgressed,
    TurnEnded,
)
from halocline.protocol.subtasks import SubagentEnded, SubagentProgressed

LONGEST = 16_384
"""Characters of a running call's output that are kept; surfaces show no more of it."""

Delta = TextDelta | ThinkingDelta


class Now:
    """Learns from every event; `events` are those that say the same at once."""

    def __init__(self) -> None:
        self._draft: list[Delta] = []
        self._calls: dict[tuple[str, str], list[str]] = {}
        self._outputs: dict[str, list[str]] = {}
        self._lanes: dict[str, SubagentProgressed] = {}
        self._retry: StepRetried | None = None
        self._own: set[str] = set()

    def learn(self, event: Event) -> None:
        match event:
            case TextDelta() | ThinkingDelta():
                self._draft.append(event)
                self._retry = None
            case ToolCallDelta(call=call, name=name, arguments=arguments):
                self._calls.setdefault((call, name), []).append(arguments)
            case ToolCallProgressed(call=call, text=text):
                self._outputs[call] = _bound_pieces(self._outputs.get(call, []), text)
            case ToolCallEnded(call=call):
                self._outputs.pop(call, None)
            case OwnCommandStarted(run=run):
                self._own.add(run)
            case OwnCommandEnded(run=run):
                self._own.discard(run)
                self._outputs.pop(run, None)
            case SubagentProgressed(child=child):
                self._lanes[child] = event
            case SubagentEnded(child=child):
                self._lanes.pop(child, None)
            case StepRetried():
                self._draft, self._calls, self._retry = [], {}, event
            case StepStarted() | AssistantMessageCompleted():
                self._draft, self._calls, self._retry = [], {}, None
            case TurnEnded():
                own = {run: said for run, said in self._outputs.items() if run in self._own}
                self._draft, self._calls, self._outputs, self._retry, self._lanes = [], {}, own, None, {}

    def events(self) -> Iterator[StepRetried | Delta | ToolCallDelta | ToolCallProgressed | SubagentProgressed]:
        """What would have told all this, neighbours joined."""
        if self._retry:
            yield self._retry
        run: list[Delta] = []
        for delta in self._draft:
            if run and (type(delta) is not type(run[0]) or (isinstance(delta, TextDelta) and delta.apart)):
                yield _join_deltas(run)
                run = []
            run.append(delta)
        if run:
            yield _join_deltas(run)
        for (call, name), written in self._calls.items():
            yield ToolCallDelta(call, name, "".join(written))
        for call, pieces in self._outputs.items():
            yield ToolCallProgressed(call, "".join(pieces)[-LONGEST:])
        yield from self._lanes.values()


def _join_deltas(run: list[Delta]) -> Delta:
    text = "".join(delta.text for delta in run)
    first = run[0]
    return TextDelta(text, first.apart) if isinstance(first, TextDelta) else ThinkingDelta(text)


def _bound_pieces(pieces: list[str], text: str) -> list[str]:
    """The pieces with one more; joined and cut once they are twice too long, so that it costs little for each."""
    pieces.append(text)
    if len(pieces) > 256 or len(text) > LONGEST:
        return ["".join(pieces)[-LONGEST:]]
    return pieces
