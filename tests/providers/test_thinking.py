import msgspec
import pytest
from msgspec.structs import replace
from tests.providers.streams import endpoint, request
from tests.tables import for_each

from halocline.protocol.messages import Effort
from halocline.providers.catalog.models import ModelInfo
from halocline.providers.endpoint import Endpoint
from halocline.providers.thinking import (
    Wanted,
    fit_thinking,
    for_anthropic,
    for_chat,
    for_gemini,
    for_responses,
    headers_for_anthropic,
    list_levels,
)
from halocline.providers.thinking_table import CLAUDE, GEMINI, OPENAI, TABLES, Family, Takes

NONE, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = Effort
ADAPTIVE = {"type": "adaptive", "display": "summarized"}


def asked(effort: Effort | None = None, budget: int | None = None, **fields: object) -> object:
    return request(effort=effort, thinking_budget=budget, **fields)


def of(provider: str, model: str, effort: Effort | None = None, budget: int | None = None) -> dict:
    """What a vendor is sent about thinking, as it stands in the JSON."""
    wires = {"anthropic": for_anthropic, "openai-responses": for_responses, "gemini": for_gemini}
    fields = wires.get(provider, for_chat)(asked(effort, budget), endpoint(provider, model))
    return msgspec.json.decode(msgspec.json.encode(fields))


@pytest.mark.parametrize(
    ("provider", "model", "told"),
    [
        ("anthropic", "claude-opus-4-7", (NONE, LOW, MEDIUM, HIGH, XHIGH, MAX)),
        ("anthropic", "claude-sonnet-4-5", (NONE, LOW, MEDIUM, HIGH)),  # it takes tokens
        ("anthropic", "claude-3-5-haiku", ()),
        ("openai-responses", "gpt-5-pro", (HIGH,)),
        ("openai", "gpt-4o", ()),
        ("gemini", "gemini-2.5-pro", (LOW, MEDIUM, HIGH)),
        ("mistral", "mistral-large", (NONE, HIGH)),
        ("zai", "glm-5", (NONE, HIGH)),
        ("openrouter", "any/model", tuple(Effort)),
    ],
)
def test_only_efforts_that_a_model_tells_apart_are_offered(provider: str, model: str, told: tuple[Effort, ...]) -> None:
    assert list_levels(endpoint(provider, model)) == told


def test_a_model_that_is_known_not_to_think_is_told_nothing() -> None:
    assert list_levels(replace(endpoint("openrouter", "any/model"), known=ModelInfo(thinking=False))) == ()


@for_each(
    "effort, budget, takes, wanted",
    [
        (None, None, Takes(tuple(Effort), (1, 9)), Wanted()),
        (HIGH, None, Takes((LOW, HIGH)), Wanted(HIGH)),
        (MEDIUM, None, Takes((LOW, HIGH)), Wanted(LOW)),
        (XHIGH, None, Takes((LOW, HIGH)), Wanted(HIGH)),
        (MAX, None, Takes((HIGH,)), Wanted(HIGH)),
        (MINIMAL, None, Takes((NONE, LOW)), Wanted(LOW)),
        (NONE, None, Takes((NONE, LOW)), Wanted(NONE)),
        (NONE, None, Takes((LOW, HIGH)), Wanted(LOW)),
        (LOW, None, Takes((NONE,)), Wanted()),
        (HIGH, 5_000, Takes(), Wanted()),
        (HIGH, None, Takes((), (1_024, 9_000)), Wanted(budget=9_000)),
        (LOW, None, Takes((), (1_024, 9_000)), Wanted(budget=4_096)),
        (NONE, None, Takes((), (128, 9_000)), Wanted(budget=128)),
        (None, 500, Takes((), (1_024, 9_000)), Wanted(budget=1_024)),
        (MAX, 5_000, Takes((NONE, LOW, MAX), (1_024, 9_000)), Wanted(budget=5_000)),
        (MAX, 5_000, Takes((NONE, LOW, MAX)), Wanted(LOW)),
        (None, 100_000, Takes(tuple(Effort)), Wanted(MAX)),
        (None, 1, Takes(tuple(Effort)), Wanted(MINIMAL)),
        (HIGH, 0, Takes((NONE, HIGH), (1_024, 9_000)), Wanted(NONE)),
    ],
)
def test_a_wish_becomes_the_nearest_that_the_model_takes(
    effort: Effort | None, budget: int | None, takes: Takes, wanted: Wanted
) -> None:
    assert fit_thinking(asked(effort, budget), takes) == wanted


@pytest.mark.parametrize("table", [CLAUDE, OPENAI, GEMINI], ids=["claude", "openai", "gemini"])
def test_the_levels_of_every_model_go_upwards(table: Family) -> None:
    for pattern, takes in table.models:
        assert [level for level in Effort if level in takes.efforts] == list(takes.efforts), pattern


@for_each(
    "model, effort, budget, thinking, level",
    [
        ("claude-opus-5-5", None, None, ADAPTIVE, None),
        ("claude-opus-5-5", MINIMAL, None, ADAPTIVE, "low"),
        ("claude-opus-5-5", XHIGH, None, ADAPTIVE, "xhigh"),
        ("claude-opus-5-5", NONE, None, ADAPTIVE, "low"),
        ("claude-opus-5-5", None, 16_000, ADAPTIVE, "high"),
        ("claude-sonnet-5-5", NONE, None, {"type": "between_tools"}, None),
        ("claude-haiku-5-5", NONE, None, {"type": "disabled"}, None),
        ("claude-sonnet-5", MAX, None, ADAPTIVE, "max"),
        ("claude-opus-4-8", None, None, None, None),
        ("claude-opus-4-8", NONE, None, {"type": "disabled"}, None),
        ("claude-sonnet-4-6", XHIGH, None, ADAPTIVE, "high"),
        ("claude-sonnet-4-6", HIGH, 9_000, {"type": "enabled", "budget_tokens": 9_000}, None),
        ("claude-haiku-4-5", LOW, None, {"type": "enabled", "budget_tokens": 4_096}, None),
        ("claude-sonnet-4-5-20250929", None, 10, {"type": "enabled", "budget_tokens": 1_024}, None),
        ("claude-haiku-4-5", NONE, None, {"type": "disabled"}, None),
        ("claude-3-5-haiku-latest", HIGH, 5_000, None, None),
        ("of-the-future", None, None, None, None),
        ("of-the-future", HIGH, None, ADAPTIVE, "high"),
        ("of-the-future", None, 5_000, {"type": "enabled", "budget_tokens": 5_000}, None),
    ],
)
def test_anthropic_is_told_as_the_model_s_generation_wants_it(
    model: str, effort: Effort | None, budget: int | None, thinking: dict | None, level: str | None
) -> None:
    fields = of("anthropic", model, effort, budget)
    assert fields.get("thinking") == thinking
    assert fields.get("output_config", {}).get("effort") == level


@pytest.mark.parametrize(
    ("model", "max_tokens", "budget", "sent"),
    [
        ("claude-haiku-4-5", None, 10_000, (64_000, 10_000)),
        ("claude-haiku-4-5", 4_000, 10_000, (14_000, 10_000)),
        ("claude-haiku-4-5", 10_001, 10_000, (10_001, 10_000)),
        ("claude-haiku-4-5", 60_000, 63_000, (60_000, 47_000)),
        ("claude-opus-4-1", None, 30_000, (64_000, 15_000)),
        ("claude-opus-4-1", 9_000, 30_000, (24_000, 15_000)),
    ],
)
def test_the_bound_of_a_reply_is_raised_above_the_budget(
    model: str, max_tokens: int | None, budget: int, sent: tuple[int, int]
) -> None:
    at = replace(endpoint("anthropic", model), known=ModelInfo(max_output=64_000))
    fields = for_anthropic(asked(None, budget, max_tokens=max_tokens), at)
    assert (fields["max_tokens"], fields["thinking"]["budget_tokens"]) == sent


def test_a_budget_never_fills_all_of_the_longest_reply() -> None:
    at = replace(endpoint("anthropic", "claude-sonnet-4-6"), known=ModelInfo(max_output=64_000))
    fields = for_anthropic(asked(None, 99_000), at)
    assert fields == {"max_tokens": 64_000, "thinking": {"type": "enabled", "budget_tokens": 62_976}}


def test_thinking_between_calls_needs_a_header_with_a_budget_only() -> None:
    older, newer = endpoint("anthropic", "claude-haiku-4-5"), endpoint("anthropic", "claude-opus-5-5")
    assert headers_for_anthropic(asked(HIGH), older) == {"anthropic-beta": "interleaved-thinking-2025-05-14"}
    assert headers_for_anthropic(asked(HIGH), newer) == headers_for_anthropic(asked(), older) == {}


def test_another_server_is_not_told_unasked_to_show_thoughts() -> None:
    there = endpoint("anthropic", "claude-opus-5-5", base_url="http://gateway")
    assert "thinking" not in for_anthropic(asked(), there)
    assert for_anthropic(asked(HIGH), there)["thinking"] == ADAPTIVE


@for_each(
    "model, effort, sent",
    [
        ("gpt-6-astra", NONE, {"effort": "low"}),
        ("gpt-6-astra", MAX, {"effort": "max"}),
        ("gpt-5.6", MAX, {"effort": "max"}),
        ("gpt-5.6", MINIMAL, {"effort": "low"}),
        ("gpt-5.6-terra", NONE, {"effort": "none"}),
        ("gpt-5.4", MAX, {"effort": "xhigh"}),
        ("gpt-5.2-codex", NONE, {"effort": "low"}),
        ("gpt-5.2-pro", LOW, {"effort": "medium"}),
        ("gpt-5.1", XHIGH, {"effort": "high"}),
        ("gpt-5.1-codex-max", XHIGH, {"effort": "xhigh"}),
        ("gpt-5", NONE, {"effort": "minimal"}),
        ("gpt-5-mini-2025-08-07", MINIMAL, {"effort": "minimal"}),
        ("gpt-5-pro", LOW, {"effort": "high"}),
        ("o3", MAX, {"effort": "high"}),
        ("o4-mini", MINIMAL, {"effort": "low"}),
        ("gpt-4.1", HIGH, {}),
        ("gpt-5-chat-latest", HIGH, {}),
        ("of-the-future", XHIGH, {"effort": "xhigh"}),
        ("gpt-5.6", None, {}),
    ],
)
def test_openai_is_told_a_level_that_the_model_has(model: str, effort: Effort | None, sent: dict) -> None:
    assert of("openai-responses", model, effort) == sent


@for_each(
    "provider, model, effort, budget, sent",
    [
        ("openai", "local-model", HIGH, None, {"reasoning_effort": "high"}),
        ("openai", "local-model", None, None, {}),
        ("openai", "local-model", None, 8_000, {"reasoning_effort": "medium"}),
        ("groq", "openai/gpt-oss-120b", MAX, None, {"reasoning_effort": "high"}),
        ("xai", "grok-4.7", NONE, None, {"reasoning_effort": "low"}),
        ("xai", "grok-4.3", NONE, None, {"reasoning_effort": "none"}),
        ("xai", "grok-4", HIGH, None, {}),
        ("mistral", "mistral-medium-latest", LOW, None, {"reasoning_effort": "high"}),
        ("mistral", "mistral-medium-latest", NONE, None, {"reasoning_effort": "none"}),
        ("openrouter", "openai/gpt-5.6", XHIGH, None, {"reasoning": {"effort": "xhigh"}}),
        ("openrouter", "anthropic/claude-opus-5.5", HIGH, 5_000, {"reasoning": {"max_tokens": 5_000}}),
        ("openrouter", "openrouter/auto", NONE, None, {"reasoning": {"effort": "none"}}),
        ("deepseek", "deepseek-v4-pro", LOW, None, {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("deepseek", "deepseek-v4-pro", MAX, None, {"thinking": {"type": "enabled"}, "reasoning_effort": "max"}),
        ("deepseek", "deepseek-v4-pro", NONE, None, {"thinking": {"type": "disabled"}}),
        ("together", "zai-org/GLM-5.2", HIGH, None, {"reasoning": {"enabled": True}}),
        ("together", "zai-org/GLM-5.2", NONE, None, {"reasoning": {"enabled": False}}),
        ("together", "openai/gpt-oss-120b", XHIGH, None, {"reasoning_effort": "high"}),
        ("ollama", "qwen3:8b", NONE, None, {"reasoning_effort": "none"}),
        ("ollama", "gpt-oss:20b", MAX, None, {"reasoning_effort": "high"}),
        ("llamacpp", "qwen3", NONE, None, {"chat_template_kwargs": {"enable_thinking": False}}),
        ("llamacpp", "gpt-oss-20b", HIGH, None, {"chat_template_kwargs": {"reasoning_effort": "high"}}),
    ],
)
def test_each_chat_vendor_is_told_in_its_own_fields(
    provider: str, model: str, effort: Effort | None, budget: int | None, sent: dict
) -> None:
    assert of(provider, model, effort, budget) == sent


@pytest.mark.parametrize(
    ("style", "effort", "budget", "sent"),
    [
        ("zai", HIGH, None, {"thinking": {"type": "enabled"}}),
        ("zai", NONE, None, {"thinking": {"type": "disabled"}}),
        ("qwen", HIGH, None, {"enable_thinking": True}),
        ("qwen", None, 2_000, {"enable_thinking": True, "thinking_budget": 2_000}),
        ("qwen", None, 0, {"enable_thinking": False}),
    ],
)
def test_a_row_names_how_its_vendor_is_told(style: str, effort: Effort | None, budget: int | None, sent: dict) -> None:
    row = msgspec.structs.replace(endpoint("openai").vendor, thinking_style=style)
    assert for_chat(asked(effort, budget), Endpoint(row, "some-model")) == sent


def test_every_row_names_a_style_that_there_is() -> None:
    from halocline.providers.catalog.vendors import VENDORS

    assert {row.thinking_style for row in VENDORS.values()} <= set(TABLES.styles)


@pytest.mark.parametrize(
    ("model", "effort", "budget", "sent"),
    [
        ("gemini-4-argon", None, None, {"includeThoughts": True}),
        ("gemini-4-argon", MAX, None, {"includeThoughts": True, "thinkingLevel": "high"}),
        ("gemini-3.8-flash", MINIMAL, None, {"includeThoughts": True, "thinkingLevel": "low"}),
        ("gemini-3.5-flash", MINIMAL, None, {"includeThoughts": True, "thinkingLevel": "minimal"}),
        ("gemini-3.5-flash", NONE, None, {"includeThoughts": True, "thinkingLevel": "minimal"}),
        ("gemini-3.1-pro-preview", None, 8_000, {"includeThoughts": True, "thinkingLevel": "medium"}),
        ("gemini-3-pro-preview", MEDIUM, None, {"includeThoughts": True, "thinkingLevel": "low"}),
        ("gemini-2.5-pro", HIGH, None, {"includeThoughts": True, "thinkingBudget": 16_384}),
        ("gemini-2.5-pro", NONE, None, {"includeThoughts": True, "thinkingBudget": 128}),
        ("gemini-2.5-flash", NONE, None, {"thinkingBudget": 0}),
        ("gemini-2.5-flash-lite", HIGH, 100, {"includeThoughts": True, "thinkingBudget": 512}),
        ("gemini-2.0-flash", HIGH, None, {}),
        ("tunedModels/mine", None, None, {}),
        ("tunedModels/mine", LOW, None, {"includeThoughts": True, "thinkingLevel": "low"}),
    ],
)
def test_gemini_is_told_a_level_or_a_budget_by_its_generation(
    model: str, effort: Effort | None, budget: int | None, sent: dict
) -> None:
    assert of("gemini", model, effort, budget) == sent
