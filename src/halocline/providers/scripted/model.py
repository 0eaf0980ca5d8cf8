"""A model that plays a script: for demonstrations and tests.

    model = Scripted.load(Path("script.toml"))
    model = Scripted([Turn(text="I read it.", calls=(Call("read_file", {"path": "a"}),)), Turn(text="Done.")])

`example.toml` shows the file. The next turn follows from the number of replies in the request, so that a resumed task
continues at the right place; a turn that was cut short counts as answered. A fault is delivered once.
"""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from halocline.ports.model import ModelEvent, Request
from halocline.protocol import messages as msg
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import AssistantMessageCompleted, TextDelta, ThinkingDelta, ToolCallDelta, UsageReported
from halocline.providers.reply import parse_arguments
from halocline.providers.scripted.script import SUMMARY, Call, Fault, Turn, load_script, split_text

__all__ = ["Call", "Fault", "Scripted", "Turn"]

Kind = ModelErrorKind

_BEFORE_TEXT = {
    Fault.RATE_LIMIT: (Kind.RATE_LIMIT, "The script says: the rate limit is reached.", 429),
    Fault.OVERLOADED: (Kind.OVERLOADED, "The script says: the model is overloaded.", 529),
    Fault.SERVER: (Kind.SERVER, "The script says: the server had an internal error.", 500),
    Fault.AUTH: (Kind.AUTH, "The script says: the key was not accepted.", 401),
    Fault.CONTEXT_EXCEEDED: (Kind.CONTEXT_EXCEEDED, "The script says: the conversation is too long.", 400),
}
_AFTER_TEXT = {
    Fault.DISCONNECT: (Kind.NETWORK, "The script says: the connection was lost.", None),
    Fault.STREAM_ERROR: (Kind.OVERLOADED, "The script says: the model failed during its reply.", None),
    Fault.STALL: (Kind.STALLED, "The script says: nothing more came.", None),
}
_HINT = "The script asked for this fault."


class Scripted:
    """Plays turns. `name` is the model name a person would type."""

    def __init__(
        self,
        turns: Sequence[Turn | str],
        name: str = "scripted/script",
        *,
        summary: str = SUMMARY,
        summary_delay: float = 0.0,
        window: int | None = None,
    ) -> None:
        """A text is a turn without calls. Requests with more tokens than `window` are rejected.

        `summary` answers a request for one, after `summary_delay` seconds; when empty, that fails.
        """
        self._turns = tuple(Turn(turn) if isinstance(turn, str) else turn for turn in turns)
        self._summary = summary
        self._summary_delay = summary_delay
        self._window = window
        self.name = name
        self._delivered: set[int] = set()

    @classmethod
    def load(cls, path: Path | str) -> "Scripted":
        """Load a script. Raises SettingsError when it cannot be read or is invalid."""
        # An absolute path, so that a task resumed from another folder finds its script.
        script = load_script(Path(path))
        name = f"scripted/{Path(path).absolute()}"
        return cls(script.turns, name, summary=script.summary, window=script.window)

    async def stream(self, request: Request) -> AsyncGenerator[ModelEvent, None]:
        """Play the turn that answers the request. Raises ModelError."""
        self._require_room(request)
        position = -1 if request.summary else self._position(request)
        if position == len(self._turns):
            raise self._over()
        if request.summary and not self._summary:
            raise ModelError(Kind.SERVER, "The script has no summary.", _HINT)
        turn = Turn(self._summary, delay=self._summary_delay) if request.summary else self._turns[position]
        if problem := turn.unmet(newest_text(request.messages)):
            raise ModelError(Kind.INVALID_REQUEST, f"Turn {position + 1}: {problem}", "Fix the script or the task.")
        turn = _cut_reply(turn, request.max_tokens) if request.is_capped else turn
        await asyncio.sleep(turn.delay)
        self._fail(turn, position, _BEFORE_TEXT)
        calls = () if turn.fault else tuple(_make_call(call, position, n) for n, call in enumerate(turn.calls, start=1))
        for delta in _split_deltas(turn, calls):
            yield delta
            await asyncio.sleep(turn.pace)
        if turn.fault is Fault.STALL:
            await (asyncio.Event().wait() if turn.retry_after is None else asyncio.sleep(turn.retry_after))
        self._fail(turn, position, _AFTER_TEXT)
        usage = turn.usage or _estimate_usage(request, turn)
        cost = 0.0 if turn.cost is None and turn.usage is None else turn.cost  # unknown if it gives only usage
        yield UsageReported(usage=usage, cost=cost, window=self._window)
        yield AssistantMessageCompleted(message=self._message(turn, calls))

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _require_room(self, request: Request) -> None:
        size = _estimate_usage(request, Turn()).total
        if self._window is not None and size > self._window:
            text = f"This model's maximum context length is {self._window} tokens, and {size} were sent."
            raise ModelError(Kind.CONTEXT_EXCEEDED, text, _HINT, status=400)

    def _position(self, request: Request) -> int:
        shown = sum(isinstance(message, msg.AssistantMessage) for message in request.messages)
        replies = shown + request.replies_left_out
        for index, turn in enumerate(self._turns):
            if turn.fault and (replies or index in self._delivered):
                continue
            if not replies:
                return index
            replies -= 1
        return len(self._turns)

    def _fail(self, turn: Turn, position: int, faults: Mapping[Fault, tuple[ModelErrorKind, str, int | None]]) -> None:
        if turn.fault is not None and turn.fault in faults:
            self._delivered.add(position)
            kind, text, status = faults[turn.fault]
            raise ModelError(kind, text, _HINT, status=status, retry_after=turn.retry_after)

    def _over(self) -> ModelError:
        count = f"{len(self._turns)} turn{'s' if len(self._turns) != 1 else ''}"
        text = f"The script {self.name} has ended: it has {count}, and another was requested."
        return ModelError(Kind.INVALID_REQUEST, text, "Add a turn to the script, or use a real model with -m.")

    def _message(self, turn: Turn, calls: tuple[msg.ToolCall, ...]) -> msg.AssistantMessage:
        parts: list[msg.AssistantPart] = []
        if turn.thinking:
            parts.append(msg.Thinking(turn.thinking, provider="scripted"))
        if turn.text:
            parts.append(msg.Text(turn.text))
        return msg.AssistantMessage(content=(*parts, *calls), model=self.name, stop_reason=turn.stop)


def newest_text(messages: Sequence[msg.Message]) -> str:
    """Return the text of all messages after the last reply."""
    newest: list[str] = []
    for message in reversed(messages):
        if isinstance(message, msg.AssistantMessage):
            break
        newest.append("\n".join(part.text for part in message.content if isinstance(part, msg.Text | msg.Note)))
    return "\n".join(reversed(newest))


def _make_call(call: Call, position: int, number: int) -> msg.ToolCall:
    make = partial(msg.ToolCall, id=call.id or f"call_{position + 1}_{number}", name=call.tool)
    arguments = parse_arguments(call.text)
    return make(malformed=call.text) if arguments is None else make(arguments=arguments)


def _split_deltas(turn: Turn, calls: Sequence[msg.ToolCall]) -> Iterable[TextDelta | ThinkingDelta | ToolCallDelta]:
    for piece in split_text(turn.thinking, turn.chunk):
        yield ThinkingDelta(piece)
    for piece in split_text(turn.streamed_text, turn.chunk):
        yield TextDelta(piece)
    for call, scripted in zip(calls, turn.calls, strict=False):
        for piece in split_text(scripted.text, turn.chunk):
            yield ToolCallDelta(call=call.id, name=call.name, arguments=piece)


def _estimate_usage(request: Request, turn: Turn) -> msg.Usage:
    """Estimate usage at four characters per token."""
    read = len(request.system) + sum(map(_message_length, request.messages))
    written = len(turn.thinking) + len(turn.text) + sum(len(call.text) for call in turn.calls)
    return msg.Usage(input=read // 4, output=written // 4)


def _cut_reply(turn: Turn, most: int | None) -> Turn:
    """Return a turn that is no longer than a limit allows."""
    usage = turn.usage or _estimate_usage(Request(model="", system="", messages=()), turn)
    if most is None or usage.output <= most:
        return turn
    cut = turn.usage and replace(turn.usage, output=most)
    return replace(turn, thinking="", text=turn.text[: most * 4], calls=(), stop=msg.StopReason.MAX_TOKENS, usage=cut)


def _message_length(message: msg.Message) -> int:
    return sum(len(part.text) for part in message.content if isinstance(part, msg.Text | msg.Note)) + sum(
        len(str(part.arguments)) for part in message.content if isinstance(part, msg.ToolCall)
    )
