"""Tokens and cost of a task, step by step, from its log. Pure.

What a server did not report is shown as unknown, never as zero, also beside a sum that leaves it out.
"""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from halocline.protocol import events as ev
from halocline.protocol.events.subagents import SubagentEnded
from halocline.protocol.messages import Text, Usage
from halocline.protocol.state.throughput import tokens_per_second
from halocline.protocol.values import Value
from halocline.surfaces.figures import format_count, format_money, format_plural, format_tokens, known_part, model_name

UNKNOWN = "unknown"
_COLUMNS = ("input", "from cache", "to cache", "output", "reasoning", "dollars")
_NAME, _COLUMN = 9, 12
_HEAD = " " * _NAME + "".join(name.rjust(_COLUMN) for name in _COLUMNS)


Report = ev.UsageReported | ev.McpSampled | ev.SideQuestionAnswered | SubagentEnded
"""Events with tokens and a cost."""


class Step(Value, frozen=True):
    """One request, with a report for each attempt that has usage, each MCP sampling, side question and sub-agent.

    `speed` is in output tokens per second, from the first one on; None if it is unknown.
    """

    model: str
    reports: tuple[Report, ...] = ()
    speed: float | None = None

    @property
    def usage(self) -> Usage | None:
        """The tokens of all attempts; None when unknown. Zero tokens mean that the request was not counted."""
        counted = all(report.usage.total for report in self.reports) and self.reports
        return sum((report.usage for report in self.reports), Usage()) if counted else None

    @property
    def cost(self) -> float | None:
        """US dollars; None when unknown."""
        prices = [report.cost for report in self.reports if report.cost is not None]
        return sum(prices) if prices and len(prices) == len(self.reports) else None


class Turn(Value, frozen=True):
    """A prompt's first line and its steps."""

    prompt: str
    steps: tuple[Step, ...] = ()


def turns_of(events: Iterable[ev.Durable]) -> list[Turn]:
    """Collect the turns of a log."""
    prompts: list[str] = []
    steps: list[list[Step]] = []
    sent: ev.StepStarted | None = None
    for event in events:
        match event:
            case ev.TurnStarted():
                text = "".join(part.text for part in event.content if isinstance(part, Text)).strip()
                prompts.append(text.split("\n", 1)[0])
                steps.append([])
            case ev.StepStarted() if steps:
                sent = event
                steps[-1].append(Step(event.model))
            case ev.UsageReported() | ev.McpSampled() | ev.SideQuestionAnswered() | SubagentEnded() if (
                steps and steps[-1] and _is_counted(event)
            ):
                last = steps[-1][-1]
                speed = tokens_per_second(sent, event) if sent and isinstance(event, ev.UsageReported) else last.speed
                steps[-1][-1] = replace(last, reports=(*last.reports, event), speed=speed)
    return [Turn(prompt, tuple(took)) for prompt, took in zip(prompts, steps, strict=True)]


def _is_counted(event: Report) -> bool:
    """False for a sub-agent without tokens, which made no request."""
    return not isinstance(event, SubagentEnded) or event.usage.total > 0


def cost_table(turns: Sequence[Turn]) -> list[str]:
    """One line per step, a sum per turn, and the sum of the task."""
    lines: list[str] = []
    for number, turn in enumerate(turns, 1):
        lines += [f"Turn {number} · {turn.prompt}", _HEAD]
        lines += [
            _cost_line(f"step {at}", [step]) + f"  {model_name(step.model)}{_describe_speed(step)}"
            for at, step in enumerate(turn.steps, 1)
        ]
        lines += [_cost_line("sum", turn.steps) + _left_out(turn.steps), ""]
    steps = [step for turn in turns for step in turn.steps]
    of_task = f"Task · {format_plural(len(turns), 'turn')} · {format_plural(len(steps), 'step')}"
    return [*lines, of_task, _HEAD, _cost_line("sum", steps) + _left_out(steps)]


def by_turn(turns: Sequence[Turn]) -> list[str]:
    """One line per turn that called a model, and one for the task."""
    lines = [
        f"{number:>3}  {_brief_line(turn.steps)}  {turn.prompt}" for number, turn in enumerate(turns, 1) if turn.steps
    ]
    steps = [step for turn in turns for step in turn.steps]
    return [*lines, f"all  {_brief_line(steps)}"] if lines else []


def _brief_line(steps: Sequence[Step]) -> str:
    known = [step.usage for step in steps if step.usage]
    cost = _sum_costs(steps)
    tokens = format_tokens(sum(known, Usage()), cost) if known else f"tokens {UNKNOWN}"
    return f"{format_plural(len(steps), 'step')} · {tokens} · {format_money(cost)}{_left_out(steps)}"


def _cost_line(name: str, steps: Sequence[Step]) -> str:
    known = [step.usage for step in steps if step.usage]
    cost = _sum_costs(steps)
    usage = sum(known, Usage())
    amounts = (usage.input, usage.cache_read, usage.cache_write, usage.output, usage.reasoning)
    cells = [format_count(number) if known else UNKNOWN for number in amounts]
    cells.append(UNKNOWN if cost is None else f"{cost:.4f}")
    return f"  {name}".ljust(_NAME) + "".join(cell.rjust(_COLUMN) for cell in cells)


def _describe_speed(step: Step) -> str:
    return "" if step.speed is None else f" · {step.speed:.0f} tokens/s"


def _sum_costs(steps: Sequence[Step]) -> float | None:
    prices = [step.cost for step in steps if step.cost is not None]
    return known_part(sum(prices) if prices else None, len(steps) - len(prices))


def _left_out(steps: Sequence[Step]) -> str:
    """Describe what a sum leaves out."""
    uncounted = sum(step.usage is None for step in steps)
    unpriced = sum(step.cost is None for step in steps) if _sum_costs(steps) is not None else 0
    facts = [(uncounted, "tokens"), (unpriced, "price")]
    unknown = [f"the {what} of {format_plural(number, 'step')}" for number, what in facts if 0 < number < len(steps)]
    return f"  without {' and '.join(unknown)}" if unknown else ""
