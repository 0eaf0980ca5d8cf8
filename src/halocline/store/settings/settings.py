"""Settings: each field of `Settings` is one; its description appears in the docs. `load` reads them."""

from typing import Annotated, Any, Literal

import msgspec

from halocline.policy.presets import AutoApprove
from halocline.ports.code import SyntaxRule
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Effort
from halocline.protocol.values import Value
from halocline.store.settings.provider_settings import (
    Amount,
    Count,
    NotNegative,
    Price,
    Provider,
    Says,
    Timeouts,
    Tokens,
)
from halocline.store.settings.sections import (
    CompactionSettings,
    DoubleCheck,
    ExtraBody,
    JudgeSettings,
    JudgeTable,
    LanguageServerSettings,
    McpSettings,
    PartialEdits,
    PlanSettings,
    PluginSettings,
    PluginTable,
    RequireCompletion,
    TerminalSettings,
    TerminalTable,
    TodoReminder,
    WebSearchSettings,
    WebSearchTable,
)


class Settings(Value, frozen=True, forbid_unknown_fields=True):
    """All settings, with their defaults."""

    model: Annotated[str, Says(description="Default model, as `provider/model`.")] = ""
    plan: Annotated[
        PlanSettings,
        Says(description="Overrides for plan mode: `model`, `effort`, `thinking_budget`. Flags apply to both modes."),
    ] = PlanSettings()
    fallback_models: Annotated[
        tuple[str, ...],
        Says(description="Models to try, in order, when the model is unreachable, overloaded or out of quota."),
    ] = ()
    profile: Annotated[str, Says(description="Default profile.")] = ""
    profiles: Annotated[
        dict[str, dict[str, Any]],
        Says(description="Named sets of overrides: tables `[profiles.NAME]`, selected with `--profile NAME`."),
    ] = {}
    base_url: Annotated[str, Says(description="URL of the model's server, if not the provider's own.")] = ""
    allowed_providers: Annotated[
        tuple[str, ...],
        Says(description="Providers that may be used, as patterns; empty for all. `program` is a model of a program."),
    ] = ()
    allowed_models: Annotated[
        tuple[str, ...],
        Says(description="Models that may be used, as `provider/model` patterns; empty for all."),
    ] = ()
    text_tools: Annotated[
        tuple[str, ...],
        Says(description="Models without native tool calls, as `provider/model` patterns; they write calls as text."),
    ] = ()
    model_aliases: Annotated[dict[str, str], Says(description='Names for models: `fast = "openai/gpt-5.6-luna"`.')] = {}
    image_models: Annotated[
        tuple[str, ...],
        Says(description="Models that accept images, beyond those in the catalog, as `provider/model` patterns."),
    ] = ()
    approval_mode: Annotated[
        ApprovalMode,
        Says(description="What runs without approval: ask, accept-edits, auto or yolo, from strict to loose."),
    ] = ApprovalMode.ASK
    auto_approve: Annotated[
        AutoApprove,
        Says(
            description="Exceptions to the approval mode, each true (allow) or false (ask): `read`, `read_outside`, "
            "`edit`, `edit_outside`, `safe_commands`, `project_code` (builds and tests without a sandbox: "
            "trusts all code of the project and of the task), `all_commands`, `web`, `browser`, `mcp` (tools that "
            "their server marks read-only)."
        ),
    ] = AutoApprove()
    modes_off: Annotated[
        tuple[Literal["yolo", "auto", "accept-edits"], ...],
        Says(description="Approval modes that no task may have: yolo, auto, accept-edits."),
    ] = ()
    tools_off: Annotated[
        tuple[str, ...],
        Says(description="Tools that no task has: names, `server__tool` for MCP; a final `*` matches any ending."),
    ] = ()
    web: Annotated[
        bool,
        Says(description="Access to the web: pages, searches, the browser, and commands known to use the network."),
    ] = True
    judge: JudgeTable = JudgeSettings()
    max_steps: Annotated[Count, Says(description="Steps (model requests) per turn before it pauses or stops.")] = 200
    max_cost: Annotated[
        Amount | None, Says(description="US dollars per task, with its sub-agents, before it pauses or stops.")
    ] = None
    token_limit: Annotated[
        Count | None,
        Says(description="Tokens per task, read (also from a cache) and written, before it pauses or stops."),
    ] = None
    time_limit: Annotated[Amount | None, Says(description="Seconds per turn before it pauses or stops.")] = None
    max_failures: Annotated[Count, Says(description="Consecutive failed tool calls before a turn pauses or stops.")] = 3
    max_tokens: Annotated[Count | None, Says(description="Maximum length of a reply, in tokens.")] = None
    effort: Annotated[
        Effort | None,
        Says(description="Reasoning effort: none, minimal, low, medium, high, xhigh or max."),
    ] = None
    thinking_budget: Annotated[
        Tokens | None,
        Says(description="Thinking tokens per reply; 0 turns thinking off. Overrides `effort`."),
    ] = None
    context_window: Annotated[
        Count | None,
        Says(description="Context window in tokens: for a model whose size is unknown, or to use less of it."),
    ] = None
    prompt: Annotated[
        Literal["auto", "full", "compact"],
        Says(
            description="System prompt: full, compact (fewer tools), or auto (compact up to a 32K window or 4B size)."
        ),
    ] = "auto"
    system_prompt_file: Annotated[
        str,
        Says(description="File that replaces the system prompt. Relative paths start at Halocline's home."),
    ] = ""
    append_system_prompt: Annotated[
        str, Says(description="Text to append to the system prompt, or `@` and a file.")
    ] = ""
    language: Annotated[str, Says(description="Language of the replies, such as `German`.")] = ""
    worktree_setup: Annotated[
        str, Says(description="Command that runs once in each new worktree, such as `npm ci`; judged like any command.")
    ] = ""
    checkpoints: Annotated[bool, Says(description="Save the workspace's files after each change.")] = True
    checkpoints_patience: Annotated[
        Amount,
        Says(description="Seconds a step waits for a checkpoint before it continues in the background."),
    ] = 15.0
    checkpoints_quota: Annotated[
        Amount,
        Says(description="Megabytes for all checkpoints; above it, those of the oldest tasks are deleted."),
    ] = 5000.0
    keep_deleted: Annotated[Count, Says(description="Days a deleted task can be restored.")] = 30
    sandbox: Annotated[
        Literal["in-auto", "off", "auto", "require"],
        Says(
            description="Run commands in a sandbox: in-auto (in approval mode auto, if the machine has a full one; "
            "auto then asks less), auto (in every mode, if one is available), require (no command without it) or off."
        ),
    ] = "in-auto"
    sandbox_network: Annotated[bool, Says(description="Allow sandboxed commands to use the network.")] = False
    sandbox_git_writes: Annotated[
        bool,
        Says(description="Let sandboxed commands write to `.git` (`git commit`), except its hooks and configuration."),
    ] = True
    sandbox_writable: Annotated[
        tuple[str, ...],
        Says(description="Folders that sandboxed commands may write to besides the workspace, such as `~/.cache`."),
    ] = ()
    sandbox_processes: Annotated[
        Count | None, Says(description="Maximum number of processes of a sandboxed command.")
    ] = None
    sandbox_file_size: Annotated[
        Amount | None, Says(description="Maximum size of a file that a sandboxed command writes, in megabytes.")
    ] = None
    log_format: Annotated[
        Literal["text", "json"],
        Says(description="Form of the program's own log (bugs that a task survived): text, or json, a line an entry."),
    ] = "text"
    traces: Annotated[
        bool,
        Says(
            description="Send what tasks do as spans to a collector of OpenTelemetry, at the address in "
            "`OTEL_EXPORTER_OTLP_ENDPOINT`; needs the extra `otel`."
        ),
    ] = False
    trace_contents: Annotated[
        bool,
        Says(description="Send prompts, replies, commands and results with the spans, without keys of a known form."),
    ] = False
    hide_keys: Annotated[
        bool,
        Says(
            description="Redact secrets in output of tools, servers and hooks before it reaches the model and the log."
        ),
    ] = True
    pass_environment: Annotated[
        tuple[str, ...],
        Says(
            description="Variables to pass to commands and hooks although they look like secrets: `GH_TOKEN`, "
            "`AWS_*`. A key that Halocline itself uses must be named in full."
        ),
    ] = ()
    syntax_errors: Annotated[
        SyntaxRule,
        Says(description="An edit that introduces a syntax error: warn (tell the model), refuse or off."),
    ] = SyntaxRule.WARN
    partial_edits: PartialEdits = False
    double_check: DoubleCheck = False
    require_completion: RequireCompletion = False
    todo_reminder: TodoReminder = 6
    memory: Annotated[
        bool,
        Says(description="Give new tasks the notes of earlier ones, and let the model propose more (remember)."),
    ] = False
    subagents: Annotated[
        Literal["auto", "on", "off"],
        Says(description="Sub-agents: on, off, or auto (where a file defines one, and when you type /subagents)."),
    ] = "auto"
    subagent_steps: Annotated[Count, Says(description="Steps (model requests) per sub-agent.")] = 50
    subagent_seconds: Annotated[Amount, Says(description="Seconds per sub-agent.")] = 300.0
    subagent_depth: Annotated[Count, Says(description="Levels of agents that agents may start below a task.")] = 2
    subagents_at_once: Annotated[Count, Says(description="Agents of a task that may run at the same time.")] = 10
    extra_tools: Annotated[
        tuple[Literal["new_task", "new_rule", "report_bug", "generate_explanation", "load_mcp_documentation"], ...],
        Says(description="Tools to offer in every task, not only on request: new_task, new_rule and the like."),
    ] = ()
    words_off: Annotated[
        tuple[str, ...],
        Says(description="Workflows, commands and skills to turn off, as patterns: `skill/*`, `command/deploy`."),
    ] = ()
    web_search: WebSearchTable = WebSearchSettings()
    language_servers: Annotated[
        LanguageServerSettings,
        Says(
            description="Report errors that an edit introduces, from language servers on PATH: `enabled`; `wait`, "
            "the seconds an edit waits for a running server; `project_binaries`, true to run servers that come with "
            "the project."
        ),
    ] = LanguageServerSettings()
    terminal: TerminalTable = TerminalSettings()
    mcp: Annotated[
        McpSettings,
        Says(
            description="MCP servers: `enabled`; `wait`, seconds the first request waits for them; `share`, the "
            "part of the window for their tool definitions, beyond which the model has to search for tools; "
            "`others`, true to run Cline's servers too; `registry`, the URL or file for `halo mcp search`; "
            "`sampling`, requests by servers for the task's model: `ask`, `allow` or `off`; `sampling_requests` and "
            "`sampling_tokens`, their limits per task; `display` of results, `markdown` or `plain`; `collapse`, "
            "true to show only their beginning."
        ),
    ] = McpSettings()
    plugins: PluginTable = PluginSettings()
    encodings: Annotated[
        dict[str, str],
        Says(
            description='Encodings of files that are not UTF-8, by pattern: `"legacy/*.bas" = "shift_jis"`. They count '
            "before what `.gitattributes` and `.editorconfig` say."
        ),
    ] = {}
    formatters: Annotated[
        dict[str, str],
        Says(description='Commands that format a file after an edit, by pattern: `"*.py" = "ruff format {path}"`.'),
    ] = {}
    compaction: Annotated[
        CompactionSettings,
        Says(
            description="Compaction of conversations: `automatic`, true to compact one that nearly fills the "
            "model's window; `at`, the part of the window that triggers it, above 0.1, up to 1; `summary`, false to "
            "ask no model for a summary: your messages, files, commands and the last replies stand for what is left "
            "out, at no cost. A request that a server rejects as too long always compacts."
        ),
    ] = CompactionSettings()
    connect_timeout: Annotated[Amount, Says(description="Connect timeout in seconds.")] = 10.0
    first_byte_timeout: Annotated[
        Amount | None,
        Says(description="Seconds to wait for a reply to begin; 300, or 3600 for a server on this machine."),
    ] = None
    stall_timeout: Annotated[
        Amount | None,
        Says(description="Seconds without data once a reply has begun; 120, or 900 for a server on this machine."),
    ] = None
    quiet_timeout: Annotated[
        Amount | None,
        Says(
            description="Seconds without content in a reply (pings do not count); 300, or 900 for a server on this "
            "machine. Its first content may take as long as `first_byte_timeout`."
        ),
    ] = None
    outage_patience: Annotated[
        NotNegative,
        Says(
            description="Minutes that an unattended run waits for a model that answered before and cannot be "
            "reached now, trying once a minute; 0 for a few quick retries only. With `fallback_models`, it uses "
            "those instead."
        ),
    ] = 15.0
    requests_per_minute: Annotated[
        dict[str, Amount],
        Says(
            description="The most requests that the tasks of one process begin within a minute, by provider: "
            "`anthropic = 50`. The others wait. Without it, they go as fast as the server lets them: what it refuses "
            "to one task as too much slows all of them down."
        ),
    ] = {}
    max_reply: Annotated[
        Amount,
        Says(description="Maximum length of a reply with its thinking and tool calls, in millions of characters."),
    ] = 16.0
    timeouts: Annotated[
        dict[str, Timeouts], Says(description="Timeouts per provider, by name: `connect`, `first_byte`, `stall`.")
    ] = {}
    proxy: Annotated[str, Says(description="Proxy for all models, or `none`; overrides HTTPS_PROXY and the like.")] = ""
    ca_file: Annotated[
        str, Says(description="PEM file of certificates to trust, besides those of the system and SSL_CERT_FILE.")
    ] = ""
    browser: Annotated[bool, Says(description="Offer the model a browser. Needs Chromium and the extra `browser`.")] = (
        False
    )
    browser_executable: Annotated[
        str, Says(description="Path of Chromium, if not the installed chromium or google-chrome.")
    ] = ""
    browser_remote: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^$|^(https?://)?(localhost|127\.0\.0\.1|\[::1\]):\d{1,5}/?$")],
        Says(description="Debugging port of a Chromium running on this machine, to use it instead: `127.0.0.1:9222`."),
    ] = ""
    browser_viewport: Annotated[
        Annotated[str, msgspec.Meta(pattern=r"^[1-9]\d{2,3}x[1-9]\d{2,3}$")],
        Says(description="Size of the browser page in pixels, such as `1280x800` or `360x640`."),
    ] = "900x600"
    rules: Annotated[bool, Says(description="Follow rule files (`AGENTS.md` and the like); see `halo rules list`.")] = (
        True
    )
    rules_excluded: Annotated[
        tuple[str, ...], Says(description="Rule files to ignore: names or patterns, such as `.cursorrules`.")
    ] = ()
    add_dirs: Annotated[
        tuple[str, ...],
        Says(description="Folders to add to every new task, like `--add-dir`."),
    ] = ()
    hooks: Annotated[bool, Says(description="Run hooks; `halo hooks list` shows them.")] = True
    hook_folders: Annotated[
        tuple[str, ...], Says(description="More folders of your own hooks: executables named after their event.")
    ] = ()
    hook_timeout: Annotated[Amount, Says(description="Timeout in seconds for hooks that do not set their own.")] = 30.0
    hook_failures: Annotated[
        Literal["block", "continue"],
        Says(
            description="When a hook that runs before a call or prompt crashes, hangs or prints invalid output: "
            "block or continue."
        ),
    ] = "block"
    prices: Annotated[
        dict[str, Price],
        Says(description="Prices and sizes of models, by `provider/model`; they override all others."),
    ] = {}
    extra_body: ExtraBody = {}
    providers: Annotated[
        dict[str, Provider], Says(description="More providers, by name, or changes to built-in ones.")
    ] = {}
    catalogue_url: Annotated[
        str, Says(description="URL from which `halo models --refresh` fetches the model catalog.")
    ] = "https://models.dev/api.json"

    def __post_init__(self) -> None:
        """Raise ValueError, which msgspec turns into its ValidationError."""
        for name in self.encodings.values():
            try:
                "".encode(name)
            except LookupError:
                raise ValueError(f"there is no encoding {name!r}; Python's names count, such as shift_jis") from None

    @property
    def closes_network(self) -> bool:
        """True if no command may use the network: the web is off, or a required sandbox has none."""
        return not self.web or (self.sandbox == "require" and not self.sandbox_network)

    @property
    def viewport(self) -> tuple[int, int]:
        """Width and height of the browser's page, in pixels."""
        width, _, height = self.browser_viewport.partition("x")
        return int(width), int(height)
