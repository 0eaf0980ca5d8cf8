"""A model that reads what became of its calls, as a real one does: it repeats what did not happen, and only that.

All it knows is in the request. So it works on after any crash, and whatever is done twice was done by Halocline.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.servers.model_server import ReceivedRequest

from halocline.protocol.state.state import NOT_RUN, UNKNOWN_OUTCOME
from halocline.providers.scripted.script import Call, Turn

ASKED = re.compile(r"Do the (plan|part) ([\w-]+)\.")
AGAIN = (UNKNOWN_OUTCOME, "was changed by another program")
NOT_DONE = (NOT_RUN, "Nothing was changed.")
GONE = re.compile(r"An agent in the background ended: ([\w-]+) \(")


@dataclass(frozen=True, slots=True)
class Step:
    """A call of a plan; `shown` is the line that is in a file once it has happened."""

    call: Call
    shown: str
    file: str


@dataclass(frozen=True, slots=True)
class Part:
    """The work of one agent."""

    name: str
    steps: Sequence[Step]
    files: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Plan:
    """The work of a task: parts for agents that write, all taken over in the end, and a command of its own."""

    name: str
    parts: Sequence[Part]
    last: Step
    background: bool = False


@dataclass(frozen=True, slots=True)
class Past:
    """A call of a conversation: its result, and all that the model was told after it."""

    tool: str
    arguments: Mapping[str, Any]
    result: str
    later: str


@dataclass(slots=True)
class CrowdModel:
    """Answers for all plans. `delay` are seconds before each reply."""

    plans: dict[str, Plan] = field(default_factory=dict)
    parts: dict[str, Part] = field(default_factory=dict)
    delay: float = 0.03
    calls: int = 0

    def add(self, plan: Plan) -> None:
        self.plans[plan.name] = plan
        self.parts |= {part.name: part for part in plan.parts}

    def answer(self, request: ReceivedRequest) -> Turn:
        messages = request.body["messages"]
        asked = [ASKED.search(_text_of(one)) for one in messages if one["role"] == "user"]
        kind, name = next(found.groups() for found in asked if found)
        past = list(_read_past(messages))
        turn = self._work_on(self.parts[name], past) if kind == "part" else self._lead(self.plans[name], past)
        self.calls += len(turn.calls)
        return Turn(text=turn.text, calls=turn.calls, delay=self.delay)

    def _work_on(self, part: Part, past: Sequence[Past]) -> Turn:
        for step in part.steps:
            if call := self._go_on(step, past):
                return Turn(calls=(call,))
        return Turn(calls=(Call("attempt_completion", {"result": f"The part {part.name} is done."}),))

    def _go_on(self, step: Step, past: Sequence[Past]) -> Call | None:
        """The next call for a step; None once it has happened."""
        look = Call(
            "execute_command", {"command": f'echo found "$(cat {step.file} 2>/dev/null | grep -cx {step.shown})" times'}
        )
        tries = [(at, one) for at, one in enumerate(past) if _is_of(step.call, one)]
        if not tries or NOT_RUN in tries[-1][1].result:
            return step.call
        at, newest = tries[-1]
        if not _is_unsure(newest):
            return None
        looks = [one.result for one in past[at:] if _is_of(look, one) and "found " in one.result]
        if not looks:
            return look
        return step.call if "found 0 times" in looks[-1] else None

    def _lead(self, plan: Plan, past: Sequence[Past]) -> Turn:
        left = [part for part in plan.parts if not _has_reported(part, past)]
        if waiting := [part for part in left if not _is_running(part, past)]:
            return Turn(calls=tuple(_spawn(part, plan) for part in waiting))
        if left:
            return Turn("I wait for the agents.")
        for part in plan.parts:
            take = Call("merge_agent_changes", {"agent": part.name, "paths": list(part.files)})
            tries = [one for one in past if _is_of(take, one)]
            if not tries or _is_unsure(tries[-1]) or any(words in tries[-1].result for words in NOT_DONE):
                return Turn(calls=(take,))
        if call := self._go_on(plan.last, past):
            return Turn(calls=(call,))
        return Turn(f"The plan {plan.name} is done.")


def _spawn(part: Part, plan: Plan) -> Call:
    words = {"name": part.name, "prompt": f"Do the part {part.name}.", "writes": True, "background": plan.background}
    return Call("spawn_agent", words)


def _has_reported(part: Part, past: Sequence[Past]) -> bool:
    done = f"The part {part.name} is done."
    return any(one.tool == "spawn_agent" and done in f"{one.result}{one.later}" for one in past)


def _is_running(part: Part, past: Sequence[Past]) -> bool:
    """True if it was started in the background and has not ended since."""
    starts = [one for one in past if one.tool == "spawn_agent" and one.arguments["name"] == part.name]
    began = bool(starts) and "works in the background" in starts[-1].result
    return began and part.name not in GONE.findall(starts[-1].later)


def _is_of(call: Call, one: Past) -> bool:
    return (one.tool, one.arguments) == (call.tool, call.arguments)


def _is_unsure(one: Past) -> bool:
    """True if a look must show whether it happened: it was cut short, or ended without its last word."""
    if one.tool == "execute_command" and "echo done" in one.arguments["command"]:
        return "done" not in one.result
    return any(words in one.result for words in AGAIN)


def _read_past(messages: Sequence[Mapping[str, Any]]) -> Iterator[Past]:
    results = {one["tool_call_id"]: _text_of(one) for one in messages if one["role"] == "tool"}
    for at, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            later = "\n".join(_text_of(one) for one in messages[at + 1 :] if one["role"] in ("user", "tool"))
            made = call["function"]
            yield Past(made["name"], json.loads(made["arguments"]), results.get(call["id"], ""), later)


def _text_of(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content)
