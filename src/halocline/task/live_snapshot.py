"""Live snapshot: what is going on in a task now and is not in its log, such as partial replies and output of calls.

A client that connects in the middle gets it first, and then misses nothing. It is bounded, and cheap to keep.
"""

from collections.abc import Iterator

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded, SubagentProgressed
from halocline.protocol.state.draft import Delta, join_deltas

LONGEST = 16_384
"""Characters kept of a running call's output; surfaces show no more."""


class Now:
    """Follows every event; `events` yields the fewest events that give the same picture."""

    def __init__(self) -> None:
        self._draft: list[Delta] = []
        self._calls: dict[tuple[str, str], list[str]] = {}
        self._outputs: dict[str, list[str]] = {}
        self._lanes: dict[str, SubagentProgressed] = {}
        self._retry: ev.StepRetried | None = None
        self._own: set[str] = set()
        self._hooks: dict[str, tuple[ev.HookProgressed, list[str]]] = {}

    def learn(self, event: ev.Event) -> None:
        match event:
            case ev.TextDelta() | ev.ThinkingDelta():
                self._draft.append(event)
                self._retry = None
            case ev.ToolCallDelta(call=call, name=name, arguments=arguments):
                self._calls.setdefault((call, name), []).append(arguments)
            case ev.ToolCallProgressed(call=call):
                self._outputs[call] = _bound_pieces(self._outputs.get(call, []), event.colored or event.text)
            case ev.ToolCallEnded(call=call):
                self._outputs.pop(call, None)
            case ev.OwnCommandStarted(run=run):
                self._own.add(run)
            case ev.OwnCommandEnded(run=run):
                self._own.discard(run)
                self._outputs.pop(run, None)
            case ev.HookProgressed(run=run, text=text):
                _, pieces = self._hooks.get(run, (event, []))
                self._hooks[run] = event, _bound_pieces(pieces, text)
            case ev.HookRan(run=run):
                self._hooks.pop(run, None)
            case SubagentProgressed(child=child):
                self._lanes[child] = event
            case SubagentEnded(child=child):
                self._lanes.pop(child, None)
            case ev.StepRetried():
                self._draft, self._calls, self._retry = [], {}, event
            case ev.StepStarted() | ev.AssistantMessageCompleted():
                self._draft, self._calls, self._retry = [], {}, None
            case ev.TurnEnded():
                own = {run: output for run, output in self._outputs.items() if run in self._own}
                self._draft, self._calls, self._outputs, self._retry, self._lanes = [], {}, own, None, {}
                self._hooks = {}

    def events(self) -> Iterator[ev.TransientEvent]:
        """Yield events that reproduce the snapshot, adjacent ones merged."""
        if self._retry:
            yield self._retry
        yield from join_deltas(self._draft)
        for (call, name), written in self._calls.items():
            yield ev.ToolCallDelta(call, name, "".join(written))
        for call, pieces in self._outputs.items():
            yield ev.ToolCallProgressed.of(call, _cut_beginning("".join(pieces)), str)
        for hook, pieces in self._hooks.values():
            yield ev.HookProgressed(hook.run, hook.hook, hook.moment, hook.call, "".join(pieces)[-LONGEST:])
        yield from self._lanes.values()


def _cut_beginning(text: str) -> str:
    """Return the end of an output; of one with colors whole lines, as a line's look stands at its beginning."""
    cut = text[-LONGEST:]
    return cut.partition("\n")[2] if len(text) > LONGEST and "\x1b" in text else cut


def _bound_pieces(pieces: list[str], text: str) -> list[str]:
    """Append a piece; joins and cuts the pieces only now and then, so each append is cheap."""
    pieces.append(text)
    if len(pieces) > 256 or len(text) > LONGEST:
        return ["".join(pieces)[-LONGEST:]]
    return pieces
