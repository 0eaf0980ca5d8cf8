"""The tables of the settings file, such as `[mcp]`: settings that belong together."""

from typing import Annotated, Any, Literal

import msgspec

from halocline.protocol.messages import Effort
from halocline.protocol.values import Value
from halocline.store.settings.provider_settings import Amount, Count, NotNegative, Says, Tokens


class PlanSettings(Value, frozen=True, forbid_unknown_fields=True):
    """Overrides for plan mode. Setting either the effort or the budget replaces both."""

    model: str = ""
    effort: Effort | None = None
    thinking_budget: Tokens | None = None


class WebSearchSettings(Value, frozen=True, forbid_unknown_fields=True):
    """Engine of web_search; `url` replaces its usual address."""

    engine: Literal["", "searxng", "brave", "tavily", "exa", "serper"] = ""
    url: str = ""


WebSearchTable = Annotated[
    WebSearchSettings,
    Says(description="Engine for web_search: `engine` (searxng, brave, tavily, exa or serper), and its `url`."),
]
TodoReminder = Annotated[
    Annotated[int, msgspec.Meta(ge=0)],
    Says(description="Requests without a to-do update before the model is reminded of open items; 0 for never."),
]
DoubleCheck = Annotated[
    bool, Says(description="Have the model check its work once more before a turn that changed something ends.")
]
RequireCompletion = Annotated[
    bool,
    Says(description="Have a turn end only by attempt_completion: a reply without a call is sent back, as a failure."),
]
PartialEdits = Annotated[
    bool,
    Says(description="When only some blocks of an edit fit, apply those and report the rest; otherwise all or none."),
]
ExtraBody = Annotated[
    dict[str, dict[str, Any]],
    Says(description="More fields of requests, by `provider/model` pattern: `temperature`, OpenRouter's `provider` …"),
]


class McpSettings(Value, frozen=True, forbid_unknown_fields=True):
    """MCP servers. `wait` is in seconds; `share` is the part of the window for their full tool definitions."""

    enabled: bool = True
    wait: NotNegative = 2.0
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.1
    others: bool = True
    display: Literal["markdown", "plain"] = "markdown"
    collapse: bool = True
    registry: str = "https://registry.modelcontextprotocol.io"
    sampling: Literal["ask", "allow", "off"] = "ask"
    sampling_requests: Count = 20
    sampling_tokens: Count = 50_000


class PluginSettings(Value, frozen=True, forbid_unknown_fields=True):
    """Plug-ins. `off` has patterns of plug-ins and of their items; names are looked up in `registry`."""

    off: tuple[str, ...] = ()
    registry: str = ""


PluginTable = Annotated[
    PluginSettings,
    Says(
        description="Plug-ins: `off`, those to turn off, or items of them, as patterns: `tidy`, `tidy/skill/*`, "
        "`*/tool/*`; `registry`, the folder or git URL with a `marketplace.json` in which `halo plugins install` looks "
        "up names."
    ),
]


class JudgeSettings(Value, frozen=True, forbid_unknown_fields=True):
    """A model that may give approvals by a written `rule`; `most` is how many of a task it looks at."""

    model: str = ""
    rule: str = ""
    most: Count = 100


JudgeTable = Annotated[
    JudgeSettings,
    Says(
        description="A second model that gives approvals by your own rule: `model`, `rule` (in words), `most`, how "
        "many of a task it looks at. Only for edits in the folder and commands in a full sandbox; off without both."
    ),
]


class TerminalSettings(Value, frozen=True, forbid_unknown_fields=True):
    """The colors of a conversation, and signs of the terminal outside the window's text while one is on the screen."""

    title: bool = True
    progress: bool = True
    notify: Literal["desktop", "bell", "off"] = "desktop"
    theme: str = "terminal"
    keys: Literal["emacs", "vi"] = "emacs"
    status_line: str = ""
    notify_command: str = ""
    editor: str = ""


TerminalTable = Annotated[
    TerminalSettings,
    Says(
        description="The terminal while a conversation is on the screen: `theme`, its colors: `terminal` (the 16 of "
        "your terminal), `color-blind` (blue and yellow in place of green and red), `high-contrast` (nothing dim), "
        "`plain` (no colors) or one of a plug-in (`notes:dusk`); "
        "`title`, the state in the window's title; `progress`, a mark in the task bar (OSC 9;4); `notify`, when it "
        "waits, ends or has run a command for 30 s, and you type nothing for 10 s: `desktop` (OSC 9, 99 or 777), "
        "`bell` or `off`; `notify_command`, a command that does so instead, with the text as `$1`; `editor`, in place "
        "of $VISUAL and $EDITOR; `keys`, how text is edited: `emacs`, as in a shell, or `vi`. Keys of your own stand "
        "in `keys.toml`; `status_line`, one of your own: a format such as `{model} · {context} left · {cost}`, or `!` "
        "and a command."
    ),
]


class LanguageServerSettings(Value, frozen=True, forbid_unknown_fields=True):
    """Errors that language servers find after an edit; `wait` is how long an edit waits for them, in seconds."""

    enabled: bool = True
    project_binaries: bool = False
    wait: Amount = 1.5


class CompactionSettings(Value, frozen=True, forbid_unknown_fields=True):
    """Compaction of a conversation that nearly fills its model's window; `at` is the part of it that triggers one.

    Without `summary` no model is asked for one: facts from the log and the last replies stand for what is left out.
    """

    automatic: bool = True
    summary: bool = True
    at: Annotated[float, Says(gt=0.1, le=1.0)] | None = None
