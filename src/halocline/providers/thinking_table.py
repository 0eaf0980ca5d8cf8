"""Thinking options of models and vendors: data, as published by the vendors in autumn 2026.

The first pattern that matches the start of a model's name counts. A model without a match gets generic fields, and only
when the user requested something.
"""

from halocline.protocol.messages import Effort
from halocline.protocol.values import JsonObject, Value

NONE, MINIMAL, LOW, MEDIUM, HIGH, XHIGH, MAX = Effort


class Takes(Value, frozen=True):
    """The thinking options of a model.

    `efforts` are its levels, lowest first; with NONE, thinking can be turned off. `budget` is the minimum and maximum
    of thinking tokens. `off` is Anthropic's value for no thinking. `thinks`: it thinks by default, and shows it on
    request.
    """

    efforts: tuple[Effort, ...] = ()
    budget: tuple[int, int] | None = None
    off: str = "disabled"
    thinks: bool = False


Table = tuple[tuple[str, Takes], ...]

BUDGETS = {NONE: 0, MINIMAL: 1_024, LOW: 4_096, MEDIUM: 8_192, HIGH: 16_384, XHIGH: 24_576, MAX: 32_768}
"""Thinking tokens per effort, for models that take only tokens; also used in reverse."""

NOTHING = Takes()
_THREE = (LOW, MEDIUM, HIGH)
_FIVE = (*_THREE, XHIGH, MAX)

CLAUDE: Table = (
    (r"claude-(instant|2|3-(?!7))", NOTHING),
    # Together with the default reply limit, these stay within the model's maximum output.
    (r"claude-opus-4(-[01])?(-\d{8}|-latest)?$", Takes((NONE,), (1_024, 15_000))),
    (r"claude-3-7|claude-(opus|sonnet|haiku)-4(-[05])?(-\d{8}|-latest)?$", Takes((NONE,), (1_024, 47_000))),
    (r"claude-(opus|sonnet)-4-6", Takes((NONE, *_THREE, MAX), (1_024, 100_000))),
    (r"claude-opus-4-[78]", Takes((NONE, *_FIVE))),
    (r"claude-(opus-5-5|fable|mythos)", Takes(_FIVE, thinks=True)),
    (r"claude-sonnet-5-5", Takes((NONE, *_FIVE), off="between_tools", thinks=True)),
    (r"claude-(opus|sonnet)-5(-\d{8})?$|claude-haiku-5", Takes((NONE, *_FIVE), thinks=True)),
)
ANY_CLAUDE = Takes((NONE, *_FIVE), (1_024, 100_000))

OPENAI: Table = (
    (r"gpt-oss|o[134](-|$)", Takes(_THREE)),
    (r"gpt-[34]|chatgpt|gpt-5(\.\d)?-chat", NOTHING),
    (r"gpt-5-pro", Takes((HIGH,))),
    (r"gpt-5-codex|gpt-5\.1-codex(?!-max)", Takes(_THREE)),
    (r"gpt-5(-|$)", Takes((MINIMAL, *_THREE))),
    (r"gpt-5\.1-codex-max", Takes((*_THREE, XHIGH))),
    (r"gpt-5\.1", Takes((NONE, *_THREE))),
    (r"gpt-5\.[2-5]-pro", Takes((MEDIUM, HIGH, XHIGH))),
    (r"gpt-5\.[2-5](-\w+)?-codex|gpt-5\.[2-5]-codex", Takes((*_THREE, XHIGH))),
    (r"gpt-5\.[2-5]", Takes((NONE, *_THREE, XHIGH))),
    (r"gpt-5\.", Takes((NONE, *_FIVE))),
    (r"gpt-6", Takes(_FIVE)),
    (r"grok-3-mini", Takes((LOW, HIGH))),
    (r"grok-4\.3", Takes((NONE, *_THREE))),
    (r"grok-4\.[5-9]", Takes(_THREE)),
    (r"grok-(2|3|4|code)", NOTHING),
)
ANY_OPENAI = Takes(tuple(Effort))

GEMINI: Table = (
    (r"gemini-(1\.|2\.0)|gemma", NOTHING),
    (r"gemini-2\.5-pro", Takes((), (128, 32_768), thinks=True)),
    (r"gemini-2\.5-flash-lite", Takes((NONE,), (512, 24_576), thinks=True)),
    (r"gemini-2\.5", Takes((NONE,), (1, 24_576), thinks=True)),
    (r"gemini-3-pro", Takes((LOW, HIGH), thinks=True)),
    (r"gemini-3(\.[15])?-flash", Takes((MINIMAL, *_THREE), thinks=True)),
    (r"gemini-", Takes(_THREE, thinks=True)),
)
ANY_GEMINI = Takes((NONE, MINIMAL, *_THREE), (1, 32_768))


class Style(Value, frozen=True):
    """The fields of a Chat Completions request that control thinking; a dot leads into an object.

    `efforts` are the levels the vendor accepts for all its models (empty: those of the model). `on` and `off` switch
    thinking for models without levels.
    """

    effort_field: str = "reasoning_effort"
    efforts: tuple[Effort, ...] = ()
    budget_field: str = ""
    on: JsonObject = {}
    off: JsonObject = {}


STYLES = {
    "effort": Style(),
    "openrouter": Style("reasoning.effort", tuple(Effort), budget_field="reasoning.max_tokens"),
    "deepseek": Style(
        efforts=(NONE, HIGH, MAX), on={"thinking": {"type": "enabled"}}, off={"thinking": {"type": "disabled"}}
    ),
    "mistral": Style(efforts=(NONE, HIGH)),
    "ollama": Style(efforts=(NONE, *_THREE)),
    "together": Style(on={"reasoning": {"enabled": True}}, off={"reasoning": {"enabled": False}}),
    "zai": Style("", on={"thinking": {"type": "enabled"}}, off={"thinking": {"type": "disabled"}}),
    "qwen": Style("", budget_field="thinking_budget", on={"enable_thinking": True}, off={"enable_thinking": False}),
    "llamacpp": Style(
        "chat_template_kwargs.reasoning_effort",
        on={"chat_template_kwargs": {"enable_thinking": True}},
        off={"chat_template_kwargs": {"enable_thinking": False}},
    ),
}
