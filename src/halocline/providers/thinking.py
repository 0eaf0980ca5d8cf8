"""Thinking effort in each wire format. Pure: from the requested effort or budget to fields of the request.

An unsupported value becomes the nearest supported one, or is left out. A budget takes precedence over an effort; a
model without budgets gets the nearest effort. Thinking is turned off only on explicit request.
"""

from halocline.ports.model import Request
from halocline.protocol.messages import Effort
from halocline.protocol.values import JsonObject, Value
from halocline.providers.endpoint import Endpoint
from halocline.providers.thinking_table import CLAUDE, GEMINI, OPENAI, TABLES, Style, Takes

_ORDER = tuple(Effort)
_REPLY = 16_384
_LEAST_REPLY = 1_024
_ADAPTIVE = {"type": "adaptive", "display": "summarized"}
_INTERLEAVED = {"anthropic-beta": "interleaved-thinking-2025-05-14"}


class Wanted(Value, frozen=True):
    """The effort or the budget to request; neither when both are None."""

    effort: Effort | None = None
    budget: int | None = None

    def __bool__(self) -> bool:
        return self.effort is not None or self.budget is not None


def fit_thinking(request: Request, takes: Takes) -> Wanted:
    """Return the supported value nearest to the requested one."""
    effort, budget = request.effort, request.thinking_budget
    if budget and takes.budget:
        return Wanted(budget=_clamp_tokens(budget, takes.budget))
    if budget is not None:
        effort = min(_ORDER, key=lambda level: abs(TABLES.budgets[level] - budget))
        effort = max(effort, Effort.MINIMAL, key=_ORDER.index) if budget else Effort.NONE
    if effort is None or (effort is Effort.NONE and effort in takes.efforts):
        return Wanted(effort)
    if levels := [level for level in takes.efforts if level is not Effort.NONE]:
        return Wanted(min(levels, key=lambda level: abs(_ORDER.index(level) - _ORDER.index(effort))))
    return Wanted(budget=_clamp_tokens(TABLES.budgets[effort], takes.budget)) if takes.budget else Wanted()


def list_levels(endpoint: Endpoint) -> tuple[Effort, ...]:
    """List a model's effort levels, lowest first; empty when its thinking cannot be controlled."""
    if endpoint.info.thinking is False:
        return ()
    model = endpoint.wire_model(endpoint.model)
    if endpoint.family in ("openai_chat", "ollama"):
        return _of_style(TABLES.styles[endpoint.vendor.thinking_style], OPENAI.find(model))
    if endpoint.family == "library":
        return tuple(Effort)
    table = TABLES.families.get(endpoint.family)
    return _levels_of(table.find(model) or table.others) if table else ()


def _levels_of(takes: Takes) -> tuple[Effort, ...]:
    """Return a model's levels; one that takes only token budgets gets low, medium and high."""
    if takes.budget and not set(takes.efforts) - {Effort.NONE}:
        return (*takes.efforts, Effort.LOW, Effort.MEDIUM, Effort.HIGH)
    return takes.efforts


def _of_style(style: Style, known: Takes | None) -> tuple[Effort, ...]:
    if style.efforts or known is not None:
        return style.efforts or _levels_of(known or OPENAI.others)
    if style.on and not style.budget_field:
        return (Effort.NONE, Effort.HIGH)
    return (Effort.NONE, Effort.LOW, Effort.MEDIUM, Effort.HIGH) if style.budget_field else OPENAI.others.efforts


def for_anthropic(request: Request, endpoint: Endpoint) -> JsonObject:
    """Build `max_tokens`, which limits thinking and text together, and the fields that control thinking.

    A model that thinks by default hides its thoughts unless it is told to show them.
    """
    takes, wanted = _of_claude(request, endpoint)
    room = request.max_tokens or endpoint.info.max_output or _REPLY
    if request.is_capped and wanted.budget and room < 2 * _LEAST_REPLY:
        return {"max_tokens": room, "thinking": {"type": takes.off}}
    if wanted.budget is not None:
        return _with_budget(wanted.budget, room, room if request.is_capped else endpoint.info.max_output)
    if wanted.effort is Effort.NONE:
        return {"max_tokens": room, "thinking": {"type": takes.off}}
    if wanted.effort is not None:
        return {"max_tokens": room, "thinking": _ADAPTIVE, "output_config": {"effort": wanted.effort}}
    return {"max_tokens": room} | ({"thinking": _ADAPTIVE} if takes.thinks and endpoint.at_home else {})


def headers_for_anthropic(request: Request, endpoint: Endpoint) -> dict[str, str]:
    """Build the headers: with a budget, models think between calls only when a header asks for it."""
    return _INTERLEAVED if _of_claude(request, endpoint)[1].budget is not None else {}


def for_chat(request: Request, endpoint: Endpoint) -> JsonObject:
    """Build the fields for Chat Completions, which differ by vendor."""
    style = TABLES.styles[endpoint.vendor.thinking_style]
    known = Takes(style.efforts) if style.efforts else OPENAI.find(endpoint.wire_model(request.model))
    takes = known or OPENAI.others
    wanted = fit_thinking(request, Takes(takes.efforts, (1, 1_000_000) if style.budget_field else None))
    return _in_style(style, wanted, has_levels=known is not None) if wanted else {}


def for_ollama(request: Request, endpoint: Endpoint) -> JsonObject:
    """Build `think`: a level for models that have levels, else on or off."""
    known = OPENAI.find(endpoint.wire_model(request.model))
    wanted = fit_thinking(request, known or Takes(TABLES.styles["ollama"].efforts))
    if wanted.effort is None:
        return {}
    return {"think": wanted.effort if known else wanted.effort is not Effort.NONE}


def for_responses(request: Request, endpoint: Endpoint) -> JsonObject:
    """Build the content of `reasoning`."""
    wanted = fit_thinking(request, OPENAI.find(endpoint.wire_model(request.model)) or OPENAI.others)
    return {"effort": wanted.effort} if wanted else {}


def for_gemini(request: Request, endpoint: Endpoint) -> JsonObject:
    """Build the `thinkingConfig`: a level or a budget, never both."""
    takes = GEMINI.find(endpoint.wire_model(request.model))
    wanted = fit_thinking(request, takes or GEMINI.others)
    if wanted.effort is Effort.NONE:
        return {"thinkingBudget": 0}
    config: JsonObject = {"includeThoughts": True} if wanted or (takes and takes.thinks) else {}
    if wanted.budget is not None:
        return config | {"thinkingBudget": wanted.budget}
    return config | ({"thinkingLevel": wanted.effort} if wanted.effort else {})


def _of_claude(request: Request, endpoint: Endpoint) -> tuple[Takes, Wanted]:
    takes = CLAUDE.find(endpoint.wire_model(request.model))
    return takes or Takes(), fit_thinking(request, takes or CLAUDE.others)


def _with_budget(budget: int, room: int, most: int | None) -> JsonObject:
    """Build a budget. It must be below the limit of the reply, which is raised as far as the model allows."""
    room = room if room > budget else budget + room
    if most is not None:
        room = min(room, most)
        budget = min(budget, most - _LEAST_REPLY)
    return {"max_tokens": room, "thinking": {"type": "enabled", "budget_tokens": budget}}


def _in_style(style: Style, wanted: Wanted, *, has_levels: bool) -> JsonObject:
    switched = bool(style.on) and (bool(style.efforts) or not has_levels)
    is_off = wanted.effort is Effort.NONE
    fields = dict(style.off if is_off else style.on) if switched else {}
    if wanted.budget is not None:
        return _set_field(fields, style.budget_field, wanted.budget)
    if style.effort_field and (has_levels or not switched) and not (is_off and switched):
        return _set_field(fields, style.effort_field, wanted.effort)
    return fields


def _set_field(fields: JsonObject, path: str, value: object) -> JsonObject:
    """Add a field; a dot in its path leads into an object."""
    outer, _, inner = path.partition(".")
    return {**fields, outer: {**fields.get(outer, {}), inner: value} if inner else value}


def _clamp_tokens(tokens: int, bounds: tuple[int, int]) -> int:
    return max(bounds[0], min(tokens, bounds[1]))
