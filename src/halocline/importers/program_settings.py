"""Settings of other programs as ours: a table for each program, from its keys to our settings.

What must stay true: each key that the person set ends as a setting or is named with the reason why not. Keys of
providers and permissions are never taken over.
"""

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from halocline.importers.cline.locations import list_roots
from halocline.importers.cline.settings import add_version, list_cline_settings, name_provider
from halocline.importers.foreign_setting import (
    EXTENSION,
    HOOKS,
    KEYS,
    NAMED,
    PERMISSIONS,
    RULES,
    SERVERS,
    UNKNOWN,
    UNREADABLE,
    UNUSABLE,
    ForeignSetting,
    read_settings,
)
from halocline.importers.transcript import as_rows, as_table, as_text
from halocline.protocol.secrets.redaction import redact_text
from halocline.protocol.values import JsonObject, Value

Convert = Callable[[Any, JsonObject], Any]


class Mapped(Value, frozen=True):
    """Our setting for a key, with the conversion of its value; None means that it has no counterpart."""

    name: str
    convert: Convert = lambda value, _: value if isinstance(value, str | int | float) else None


class ForeignProgram(Value, frozen=True):
    """A program's settings file below the home folder, and what becomes of its keys; a text is the reason of a gap."""

    title: str
    files: tuple[str, ...]
    keys: Mapping[str, Mapped | str]
    quiet: frozenset[str] = frozenset()
    """Keys that are no choice of the person, such as counters."""


def _codex_model(value: Any, given: JsonObject) -> str | None:
    provider = given.get("model_provider", "openai")
    return f"{provider}/{value}" if isinstance(value, str) and provider == "openai" else None


def _gemini_model(value: Any, _: JsonObject) -> str | None:
    name = as_text(as_table(value).get("name"))
    return f"gemini/{name}" if name else None


def _claude_model(value: Any, _: JsonObject) -> str | None:
    if not isinstance(value, str) or value in ("default", "opusplan"):
        return None
    name = value.removesuffix("[1m]")
    return f"anthropic/{name}" if name.startswith("claude-") else name


def _cline_model(mode: str) -> Convert:
    def convert(value: Any, given: JsonObject) -> str | None:
        provider = name_provider(as_text(given.get(f"{mode}ModeApiProvider")))
        return f"{provider}/{value}" if isinstance(value, str) and provider else None

    return convert


def _tokens(value: Any, _: JsonObject) -> int | None:
    """Read aider's counts, such as 8k."""
    text = str(value).lower()
    number, factor = (text[:-1], 1_000) if text.endswith("k") else (text, 1)
    return int(float(number) * factor) if number.replace(".", "", 1).isdecimal() else None


def _local_server(value: Any, _: JsonObject) -> str:
    return add_version(as_text(value))


COMMANDS = "write each into a file of its own: ~/.halocline/commands/NAME.md"
EFFORT = Mapped("effort")
LANGUAGE = Mapped("language")
FOREIGN: Mapping[str, ForeignProgram] = {
    "claude": ForeignProgram(
        "Claude Code",
        (".claude/settings.json",),
        {
            "model": Mapped("model", _claude_model),
            "effortLevel": EFFORT,
            "language": LANGUAGE,
            "permissions": PERMISSIONS,
            "hooks": HOOKS,
            "env": "its variables are not taken over: set them in your shell",
            "apiKeyHelper": KEYS,
            "sandbox": "see: halo config list sandbox",
            "outputStyle": RULES,
            "enabledMcpjsonServers": SERVERS,
        },
        frozenset({"$schema"}),
    ),
    "codex": ForeignProgram(
        "Codex",
        (".codex/config.toml",),
        {
            "model": Mapped("model", _codex_model),
            "model_reasoning_effort": EFFORT,
            "plan_mode_reasoning_effort": Mapped("plan.effort"),
            "model_context_window": Mapped("context_window"),
            "approval_policy": PERMISSIONS,
            "sandbox_mode": "see: halo config list sandbox",
            "sandbox_workspace_write": "see: halo config list sandbox",
            "projects": PERMISSIONS,
            "mcp_servers": SERVERS,
            "model_providers": "add providers yourself: halo config set providers.NAME.base_url URL",
            "hooks": "its hooks do not run here, see halo docs hooks",
            "developer_instructions": RULES,
            "project_doc_fallback_filenames": NAMED,
        },
        frozenset({"model_provider", "notice"}),
    ),
    "opencode": ForeignProgram(
        "opencode",
        (".config/opencode/opencode.json", ".config/opencode/opencode.jsonc"),
        {
            "model": Mapped("model"),
            "permission": PERMISSIONS,
            "mcp": SERVERS,
            "provider": "add providers yourself: halo config set providers.NAME.base_url URL",
            "instructions": NAMED,
            "command": COMMANDS,
            "formatter": "set formatters yourself: halo config set formatters",
        },
        frozenset({"$schema"}),
    ),
    "aider": ForeignProgram(
        "aider",
        (".aider.conf.yml",),
        {
            "model": Mapped("model"),
            "reasoning-effort": EFFORT,
            "thinking-tokens": Mapped("thinking_budget", _tokens),
            "chat-language": LANGUAGE,
            "openai-api-key": KEYS,
            "anthropic-api-key": KEYS,
            "api-key": KEYS,
            "yes-always": PERMISSIONS,
            "read": NAMED,
            "editor-model": "the model of act mode is model, and that of plan mode plan.model",
        },
    ),
    "gemini": ForeignProgram(
        "Gemini CLI",
        (".gemini/settings.json",),
        {
            "model": Mapped("model", _gemini_model),
            "mcpServers": SERVERS,
            "context": NAMED,
            "contextFileName": NAMED,
            "hooks": "its hooks do not run here, see halo docs hooks",
        },
        frozenset({"$schema"}),
    ),
    "cline": ForeignProgram(
        "Cline",
        ("globalState.json",),
        {
            "actModeApiModelId": Mapped("model", _cline_model("act")),
            "planModeApiModelId": Mapped("plan.model", _cline_model("plan")),
            "actModeReasoningEffort": EFFORT,
            "planModeReasoningEffort": Mapped("plan.effort"),
            "actModeThinkingBudgetTokens": Mapped("thinking_budget"),
            "preferredLanguage": LANGUAGE,
            "openAiBaseUrl": Mapped("providers.openai-compatible.base_url"),
            "ollamaBaseUrl": Mapped("providers.ollama.base_url", _local_server),
            "lmStudioBaseUrl": Mapped("providers.lmstudio.base_url", _local_server),
            "ollamaApiOptionsCtxNum": Mapped("context_window", _tokens),
            "doubleCheckCompletionEnabled": Mapped("double_check"),
            "requestTimeoutMs": "see: halo config list timeout",
            "autoApprovalSettings": PERMISSIONS,
            "yoloModeToggled": PERMISSIONS,
            "browserSettings": "see: halo config list browser",
            "customPrompt": RULES,
        },
        frozenset({"taskHistory", "workspaceRoots", "primaryRootIndex", "actModeApiProvider", "planModeApiProvider"}),
    ),
}
"""By the name that `halo import settings` takes. Keys as of autumn 2026."""
MOVED = {"codex": "CODEX_HOME", "claude": "CLAUDE_CONFIG_DIR"}
"""Variables that move a program's folder."""
MODES = (
    ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/custom_modes.yaml",
    ".config/Code/User/globalStorage/kilocode.kilo-code/settings/custom_modes.yaml",
)
"""Files of custom modes, below the home folder: each becomes a profile with its role and its instructions."""


def list_foreign_settings(home: Path, env: Mapping[str, str]) -> Iterator[ForeignSetting]:
    """Yield what each program's settings become."""
    for name, program in FOREIGN.items():
        for file in _list_files(name, program, home, env):
            yield from _convert_file(program, file)
    yield from list_cline_settings(home, env)
    for root in list_roots(home, env):
        if "globalStorage" in root.parts:
            yield ForeignSetting("Cline", str(root), "settings of the extension", gap=EXTENSION)
    for name in MODES:
        yield from _convert_modes(home / name)


def _list_files(name: str, program: ForeignProgram, home: Path, env: Mapping[str, str]) -> list[Path]:
    if name == "cline":
        return [root / file for root in list_roots(home, env) for file in program.files]
    if moved := env.get(MOVED.get(name, "")):
        return [Path(moved, Path(file).name) for file in program.files]
    return [home / file for file in program.files]


def _convert_file(program: ForeignProgram, file: Path) -> Iterator[ForeignSetting]:
    if (given := read_settings(file)) is None:
        yield ForeignSetting(program.title, str(file), "the whole file", gap=UNREADABLE)
        return
    for key, value in given.items():
        if key not in program.quiet and value not in (None, "", [], {}, False):
            found = ForeignSetting(program.title, str(file), redact_text(key))
            yield _convert_row(found, program.keys.get(key, UNKNOWN), value, given)


def _convert_row(found: ForeignSetting, row: Mapped | str, value: Any, given: JsonObject) -> ForeignSetting:
    if isinstance(row, str):
        return replace(found, gap=row)
    ours = row.convert(value, given)
    if ours in (None, ""):
        return replace(found, gap=UNUSABLE)
    return replace(found, name=row.name, value=redact_text(ours) if isinstance(ours, str) else ours)


def _convert_modes(file: Path) -> Iterator[ForeignSetting]:
    title = "Roo Code" if "roo" in str(file) else "Kilo Code"
    if (given := read_settings(file)) is None:
        yield ForeignSetting(title, str(file), "the whole file", gap=UNREADABLE)
        return
    for row in as_rows(given.get("customModes")):
        slug = as_text(row.get("slug"))
        found = ForeignSetting(title, str(file), f"mode {slug}")
        text = "\n\n".join(filter(None, (as_text(row.get("roleDefinition")), as_text(row.get("customInstructions")))))
        if not slug.replace("-", "").isalnum() or not text or text.startswith("@"):
            yield replace(found, gap=UNUSABLE)
            continue
        yield replace(found, name=f"profiles.{slug}.append_system_prompt", value=redact_text(text))
        if row.get("groups"):
            yield replace(found, key=f"groups of mode {slug}", gap="a profile has all tools")
