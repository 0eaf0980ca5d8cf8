"""What a person set: `settings.toml`, then `HALOCLINE_*` variables, then flags (the surfaces' matter); the last wins.

A field here is a setting; its text is what the docs show. An unknown key is an error that names it.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec
from msgspec.structs import replace

from halocline.files.regular import read_regular
from halocline.policy.grid import AutoApprove
from halocline.ports.code import SyntaxRule
from halocline.protocol.errors import SettingsError
from halocline.protocol.events import ApprovalMode
from halocline.protocol.messages import Effort
from halocline.protocol.values import Value
from halocline.store.settings.provider_settings import (
    Amount,
    Count,
    NotNegative,
    Price as Price,
    Provider as Provider,
    Says,
    Timeouts as Timeouts,
    Tokens,
)


class PlanSettings(Value, frozen=True, forbid_unknown_fields=True):
    """What differs in plan mode. Either an effort or a budget replaces both."""

    model: str = ""
    effort: Effort | None = None
    thinking_budget: Tokens | None = None


class WebSearchSettings(Value, frozen=True, forbid_unknown_fields=True):
    """The engine that web_search asks; `url` is where, when that is not its usual place."""

    engine: Literal["", "searxng", "brave", "tavily", "exa", "serper"] = ""
    url: str = ""


class McpSettings(Value, frozen=True, forbid_unknown_fields=True):
    """MCP servers. `wait` is in seconds, `share` the part of the window that their tools may take, told in full."""

    enabled: bool = True
    wait: NotNegative = 10.0
    share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.1
    others: bool = True
    display: Literal["markdown", "plain"] = "markdown"
    collapse: bool = True
    registry: str = "https://registry.modelcontextprotocol.io"
    sampling: Literal["ask", "allow", "off"] = "ask"
    sampling_requests: Count = 20
    sampling_tokens: Count = 50_000


class LanguageServerSettings(Value, frozen=True, forbid_unknown_fields=True):
    """Whether language servers are asked what an edit broke, and how long an edit waits for them, in seconds."""

    enabled: bool = True
    project_binaries: bool = False
    wait: Amount = 1.5


class CompactionSettings(Value, frozen=True, forbid_unknown_fields=True):
    """Whether a conversation that nearly fills its model's window is shortened, and from which part of it on."""

    automatic: bool = True
    at: Annotated[float, Says(gt=0.1, le=1.0)] | None = None


class Settings(Value, frozen=True, forbid_unknown_fields=True):
    """All settings, with their defaults."""

    model: Annotated[str, Says(description="The model to use, as `provider/model`.")] = ""
    plan: Annotated[
        PlanSettings,
        Says(description="What differs in plan mode: `model`, `effort`, `thinking_budget`. Flags are for both modes."),
    ] = PlanSettings()
    fallback_models: Annotated[
        tuple[str, ...],
        Says(description="Models to ask, in this order, when the model is out of reach, overloaded or out of quota."),
    ] = ()
    profile: Annotated[str, Says(description="The profile to use when none is named.")] = ""
    profiles: Annotated[
        dict[str, dict[str, Any]],
        Says(description="Sets of settings that go over the others: tables `[profiles.NAME]`, for `--profile NAME`."),
    ] = {}
    base_url: Annotated[str, Says(description="Where the model's server is, instead of the usual place.")] = ""
    text_tools: Annotated[
        tuple[str, ...],
        Says(
            description="Models without tool calls of their own, as `provider/model` patterns; they write them as text."
        ),
    ] = ()
    image_models: Annotated[
        tuple[str, ...],
        Says(description="Models that take pictures beyond those the catalogue knows, as `provider/model` patterns."),
    ] = ()
    approval_mode: Annotated[
        ApprovalMode, Says(description="How much is done without asking: ask, accept-edits, auto or yolo.")
    ] = ApprovalMode.ASK
    auto_approve: Annotated[
        AutoApprove,
        Says(
            description="Switches over the approval mode, each true (allowed) or false (asked about): `read`, "
            "`read_outside`, `edit`, `edit_outside`, `safe_commands`, `all_commands`, `web`, `browser`, `mcp` "
            "(what servers declare to only read)."
        ),
    ] = AutoApprove()
    max_steps: Annotated[Count, Says(description="Steps (model requests) of one turn before it pauses or stops.")] = 200
    max_cost: Annotated[
        Amount | None, Says(description="US dollars that one task may cost before it pauses or stops.")
    ] = None
    time_limit: Annotated[Amount | None, Says(description="Seconds one turn may take before it pauses or stops.")] = (
        None
    )
    max_failures: Annotated[Count, Says(description="Failed tool calls in a row before a turn pauses or stops.")] = 3
    max_tokens: Annotated[Count | None, Says(description="The longest reply to ask a model for, in tokens.")] = None
    effort: Annotated[
        Effort | None,
        Says(description="How hard a model should think: none, minimal, low, medium, high, xhigh or max."),
    ] = None
    thinking_budget: Annotated[
        Tokens | None,
        Says(description="Tokens that a model may think for one reply; 0 for none. Wins over `effort`."),
    ] = None
    context_window: Annotated[
        Count | None, Says(description="The model's window in tokens, if nobody knows it, or a smaller one to use.")
    ] = None
    prompt: Annotated[
        Literal["auto", "full", "compact"],
        Says(description="The system prompt: full, compact (with fewer tools), or auto: compact up to 32K of window."),
    ] = "auto"
    system_prompt_file: Annotated[
        str,
        Says(description="A file in the place of the system prompt; a relative path is seen from Halocline's home."),
    ] = ""
    append_system_prompt: Annotated[
        str, Says(description="Words for the end of the system prompt, or `@` and a file.")
    ] = ""
    language: Annotated[str, Says(description="The language to answer in, such as `German`.")] = ""
    checkpoints: Annotated[bool, Says(description="Save the workspace's files after each change.")] = True
    checkpoints_patience: Annotated[
        Amount,
        Says(
            description="Seconds for which a step waits until files are saved; then they are saved in the background."
        ),
    ] = 15.0
    checkpoints_quota: Annotated[
        Amount,
        Says(description="Megabytes that all checkpoints may take; beyond, those of the oldest tasks are freed."),
    ] = 5000.0
    keep_deleted: Annotated[Count, Says(description="Days for which a deleted task can be taken back.")] = 30
    sandbox: Annotated[
        Literal["in-auto", "off", "auto", "require"],
        Says(
            description="Hold commands in a sandbox: in-auto (in approval mode auto, where the machine has a full one; "
            "then auto asks less), auto (in every mode, where there is any), require (no command without it) or off."
        ),
    ] = "in-auto"
    sandbox_network: Annotated[bool, Says(description="Let sandboxed commands reach the network.")] = False
    sandbox_git_writes: Annotated[
        bool, Says(description="Let sandboxed commands write `.git`, except its hooks and configuration.")
    ] = False
    sandbox_writable: Annotated[
        tuple[str, ...],
        Says(description="Folders that sandboxed commands may write beside the workspace, such as `~/.cache`."),
    ] = ()
    sandbox_processes: Annotated[Count | None, Says(description="Processes that a sandboxed command may have.")] = None
    sandbox_file_size: Annotated[
        Amount | None, Says(description="Megabytes that one file written by a sandboxed command may have.")
    ] = None
    hide_keys: Annotated[
        bool,
        Says(description="Leave secrets out of what tools, servers and hooks say, before model and log have it."),
    ] = True
    pass_environment: Annotated[
        tuple[str, ...],
        Says(
            description="Variables that commands and hooks get although they look like secrets: `GH_TOKEN`, `AWS_*`. "
            "A key that Halocline itself uses needs its whole name."
        ),
    ] = ()
    syntax_errors: Annotated[
        SyntaxRule,
        Says(description="An edit that introduces a syntax error: warn (the model is told), refuse or off."),
    ] = SyntaxRule.WARN
    partial_edits: Annotated[
        bool,
        Says(
            description="Of an edit with several blocks, make those that fit and report the others; else all or none."
        ),
    ] = False
    todo_reminder: Annotated[
        Annotated[int, msgspec.Meta(ge=0)],
        Says(description="Requests without an update after which the model is reminded of open to-dos; 0 for never."),
    ] = 6
    memory: Annotated[
        bool,
        Says(description="Notes from earlier tasks are given to new ones, and the model may propose more (remember)."),
    ] = False
    subagents: Annotated[
        Literal["auto", "on", "off"],
        Says(description="Sub-agents: on, off, or auto: where a file describes one, and when you say /subagents."),
    ] = "auto"
    subagent_steps: Annotated[Count, Says(description="Steps (model requests) that one sub-agent may take.")] = 50
    subagent_seconds: Annotated[Amount, Says(description="Seconds that one sub-agent may take.")] = 300.0
    extra_tools: Annotated[
        tuple[Literal["new_task", "new_rule", "report_bug", "generate_explanation", "load_mcp_documentation"], ...],
        Says(description="Tools to offer in every task, not only when asked for: new_task, new_rule and the like."),
    ] = ()
    words_off: Annotated[
        tuple[str, ...],
        Says(description="Workflows, commands and skills to leave out, as patterns: `skill/*`, `command/deploy`."),
    ] = ()
    web_search: Annotated[
        WebSearchSettings,
        Says(description="Offers web_search: `engine` (searxng, brave, tavily, exa or serper), `url` where it is."),
    ] = WebSearchSettings()
    language_servers: Annotated[
        LanguageServerSettings,
        Says(
            description="Errors that an edit brings in, from language servers on PATH: `enabled`; `wait`, the seconds "
            "an edit waits for one that runs; `project_binaries`, whether those that come with the project may run."
        ),
    ] = LanguageServerSettings()
    mcp: Annotated[
        McpSettings,
        Says(
            description="MCP servers: `enabled`; `wait`, the seconds a first request waits for them; `share`, the part "
            "of the window that their tools may take before they have to be found; `others`, whether Cline's servers "
            "run here, too; `registry`, where `halo mcp search` looks (a URL or a file); `sampling`, whether servers "
            "may have the task's model answer: `ask` a person first, `allow`, `off`; `sampling_requests` and "
            "`sampling_tokens`, how often and how much in one task; `display`, whether results are shown as `markdown` "
            "or `plain`, and `collapse`, whether only their beginning is."
        ),
    ] = McpSettings()
    formatters: Annotated[
        dict[str, str],
        Says(
            description='Commands that format a file once it was edited, by pattern: `"*.py" = "ruff format {path}"`.'
        ),
    ] = {}
    compaction: Annotated[
        CompactionSettings,
        Says(
            description="Shortening of conversations: `automatic`, whether one that nearly fills its model's window is "
            "shortened by itself; `at`, from which part of the window on, from 0.1 to 1. What a server refuses as too "
            "long is shortened in any case."
        ),
    ] = CompactionSettings()
    connect_timeout: Annotated[Amount, Says(description="Seconds within which a connection must come about.")] = 10.0
    first_byte_timeout: Annotated[
        Amount | None,
        Says(description="Seconds to wait for a reply to begin; 300, or 3600 for a server on this machine."),
    ] = None
    stall_timeout: Annotated[
        Amount | None,
        Says(description="Seconds a reply may be silent once it began; 120, or 900 for a server on this machine."),
    ] = None
    quiet_timeout: Annotated[
        Amount | None,
        Says(
            description="Seconds a reply may go on without anything new in it (pings do not count); 300, or 900 for a "
            "server on this machine. Its first words may take as long as `first_byte_timeout`."
        ),
    ] = None
    outage_patience: Annotated[
        NotNegative,
        Says(
            description="Minutes for which a run that nobody watches waits for a model that answered before and then "
            "cannot be reached, once a minute; 0 for a few quick retries only. With `fallback_models`, these are asked."
        ),
    ] = 15.0
    max_reply: Annotated[
        Amount, Says(description="Millions of characters one reply may have, with its thinking and tool calls.")
    ] = 16.0
    timeouts: Annotated[
        dict[str, Timeouts], Says(description="These times (connect, first_byte, stall) for single providers, by name.")
    ] = {}
    proxy: Annotated[
        str, Says(description="The proxy to reach every model through, or `none`, instead of HTTPS_PROXY and the like.")
    ] = ""
    ca_file: Annotated[
        str, Says(description="A file of certificates (PEM) to trust beside what the system and SSL_CERT_FILE name.")
    ] = ""
    browser: Annotated[
        bool, Says(description="Offer the model a browser, where Chromium and `halocline[browser]` are installed.")
    ] = False
    browser_executable: Annotated[
        str, Says(description="The Chromium to start, instead of the installed chromium or google-chrome.")
    ] = ""
    browser_remote: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^$|^(https?://)?(localhost|127\.0\.0\.1|\[::1\]):\d{1,5}/?$")],
        Says(description="A debugging port of a Chromium that runs on this machine, to use it: `127.0.0.1:9222`."),
    ] = ""
    browser_viewport: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^[1-9]\d{2,3}x[1-9]\d{2,3}$")],
        Says(description="Width and height of the browser's page in pixels, for example `1280x800` or `360x640`."),
    ] = "900x600"
    rules: Annotated[
        bool, Says(description="Follow rules in files (`AGENTS.md` and the like); see `halo rules list`.")
    ] = True
    rules_excluded: Annotated[
        tuple[str, ...], Says(description="Files of rules never to follow: names or patterns, such as `.cursorrules`.")
    ] = ()
    add_dirs: Annotated[
        tuple[str, ...],
        Says(description="Folders that every new task works in beside its own, as `--add-dir` adds them."),
    ] = ()
    hooks: Annotated[bool, Says(description="Run hooks; see `halo hooks list` for those that are set up.")] = True
    hook_folders: Annotated[
        tuple[str, ...], Says(description="Further folders of hooks of one's own: executables named as their moment.")
    ] = ()
    hook_timeout: Annotated[Amount, Says(description="Seconds a hook may take that has no time of its own.")] = 30.0
    hook_failures: Annotated[
        Literal["block", "continue"],
        Says(description="A hook before a call or a prompt that crashes, hangs or makes no sense: block or continue."),
    ] = "block"
    prices: Annotated[
        dict[str, Price],
        Says(description="Prices and sizes of models, by `provider/model`; they win over all others."),
    ] = {}
    providers: Annotated[
        dict[str, Provider], Says(description="Further providers, by name, and what is different at known ones.")
    ] = {}
    catalogue_url: Annotated[
        str, Says(description="Where `halo models --refresh` fetches the catalogue of models.")
    ] = "https://models.dev/api.json"

    @property
    def viewport(self) -> tuple[int, int]:
        """Width and height of the browser's page, in pixels."""
        width, _, height = self.browser_viewport.partition("x")
        return int(width), int(height)


VARIABLES = {
    "HALOCLINE_MODEL": "model",
    "HALOCLINE_PROFILE": "profile",
    "HALOCLINE_BASE_URL": "base_url",
    "HALOCLINE_APPROVAL_MODE": "approval_mode",
    "HALOCLINE_EFFORT": "effort",
    "HALOCLINE_MAX_STEPS": "max_steps",
    "HALOCLINE_MAX_COST": "max_cost",
    "HALOCLINE_TIME_LIMIT": "time_limit",
    "HALOCLINE_CONTEXT_WINDOW": "context_window",
    "HALOCLINE_LANGUAGE": "language",
    "HALOCLINE_CHECKPOINTS": "checkpoints",
    "HALOCLINE_SANDBOX": "sandbox",
    "HALOCLINE_CONNECT_TIMEOUT": "connect_timeout",
    "HALOCLINE_FIRST_BYTE_TIMEOUT": "first_byte_timeout",
    "HALOCLINE_STALL_TIMEOUT": "stall_timeout",
    "HALOCLINE_PROXY": "proxy",
    "HALOCLINE_CA_FILE": "ca_file",
    "HALOCLINE_BROWSER": "browser",
    "HALOCLINE_RULES": "rules",
    "HALOCLINE_HOOKS": "hooks",
    "HALOCLINE_HOOK_TIMEOUT": "hook_timeout",
    "HALOCLINE_CATALOGUE_URL": "catalogue_url",
}
"""Which environment variable sets which setting."""


def load_settings(path: Path, env: Mapping[str, str], profile: str | None = None) -> Settings:
    """The settings in force, with those of the profile that was named, or that the variable or the file names.

    Raises:
        SettingsError: the file, a variable or the profile is wrong; names it, the key and what is wrong.
    """
    given = read_settings(path)
    settings = _convert_settings(given, str(path))
    if name := profile or env.get("HALOCLINE_PROFILE", "") or settings.profile:
        settings = _convert_settings(
            given | _read_profile(settings, name, path) | {"profile": name}, f"profile {name} of {path}"
        )
    named = {
        setting: getattr(_convert_settings({setting: env[name]}, f"the variable {name}"), setting)
        for name, setting in VARIABLES.items()
        if env.get(name)
    }
    return with_overrides(settings, named)


def check_settings(given: dict[str, Any], source: str) -> Settings:
    """What a file or a person gave, as settings. Raises SettingsError."""
    return _convert_settings(given, source)


def _read_profile(settings: Settings, name: str, path: Path) -> dict[str, Any]:
    if name in settings.profiles:
        return settings.profiles[name]
    known = f"The profiles are: {', '.join(settings.profiles)}." if settings.profiles else f"{path} has none."
    raise SettingsError(f"There is no profile {name!r}.", f"{known} Make one as a table [profiles.{name}].")


def with_overrides(settings: Settings, chosen: Mapping[str, Any]) -> Settings:
    """The settings with what was chosen for this run.

    A time that was chosen is for every provider; an effort that was chosen is not overruled by the settings' budget,
    and neither by plan mode's.
    """
    if "effort" in chosen:
        chosen = {"thinking_budget": None, **chosen}
    if chosen.keys() & {"effort", "thinking_budget"}:
        chosen = {"plan": PlanSettings(model=settings.plan.model), **chosen}
    general = {name: None for name in Timeouts.__struct_fields__ if f"{name}_timeout" in chosen}
    rows = {provider: replace(row, **general) for provider, row in settings.timeouts.items()}
    return replace(settings, timeouts=rows, **chosen)


def read_settings(path: Path) -> dict[str, Any]:
    """What stands in the file, as it stands there. Raises SettingsError."""
    if not path.exists():
        return {}
    import tomllib

    try:
        return tomllib.loads(read_regular(path).decode())
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(f"Cannot read {path}: {error}.", "Correct the file, or move it away.") from error


def _convert_settings(given: dict[str, Any], source: str) -> Settings:
    try:
        return msgspec.convert(given, Settings, strict=False)
    except msgspec.ValidationError as error:
        known = ", ".join(field.name for field in msgspec.structs.fields(Settings))
        raise SettingsError(f"Wrong setting in {source}: {error}.", f"The settings are: {known}.") from error
