"""Flags and commands that people know from other programs: what they are here, or what to do instead.

`docs/reference/command-line.md` lists them from these tables.
"""

from collections.abc import Mapping

from halocline.protocol.errors import UsageError

FLAGS: Mapping[str, str | Mapping[str, str]] = {
    "--act": "--mode act",
    "--auto-edit": "--approval-mode accept-edits",
    "--cd": "--cwd",
    "--dangerously-skip-permissions": "--yolo",
    "--full-auto": "--approval-mode auto",
    "--json": "--output-format stream-json",
    "--json-schema": "--output-schema",
    "--max-budget-usd": "--max-cost",
    "--max-turns": "--max-steps",
    "--no-session-persistence": "--ephemeral",
    "--permission-mode": {
        "acceptEdits": "--approval-mode accept-edits",
        "auto": "--approval-mode auto",
        "bypassPermissions": "--yolo",
        "default": "--approval-mode ask",
        "plan": "--mode plan",
    },
    "--plan": "--mode plan",
    "--task-id": "--resume",
    "--taskId": "--resume",
    "--yes-always": "--yolo",
}
"""Flags of Cline, Claude Code, Codex, Gemini CLI and aider that are one of ours; a value that follows stays one."""
HINTS = {
    "--agents": "Write each agent into a file of .halocline/agents.",
    "--allow-dangerously-skip-permissions": "Use --yolo to run everything without approval.",
    "--architect": "Plan with --mode plan; the settings [plan] name another model for it.",
    "--ask-for-approval": "Use --approval-mode ask, accept-edits, auto or yolo.",
    "--auto-approve-all": "Use --yolo to run everything without approval.",
    "--betas": "Halocline asks for what a model needs by itself.",
    "--chrome": "The browser is a tool: install the extra `browser`.",
    "--dangerously-bypass-approvals-and-sandbox": 'Use --yolo, and the setting sandbox = "off".',
    "--fallback-model": "Set fallback_models: halo config set fallback_models MODEL",
    "--file": "Name files in the prompt as @FILE.",
    "--fork-session": "Use: halo fork ID",
    "--ide": "Halocline runs in VS Code as an extension, and in other editors through halo acp.",
    "--message": "Write the prompt without a flag: halo run PROMPT",
    "--no-auto-commits": "Halocline commits nothing by itself.",
    "--permission-prompt-tool": "With --input-format stream-json, your program answers approvals.",
    "--prompt": "Write the prompt without a flag: halo run PROMPT",
    "--prompt-interactive": "Write the prompt without a flag: halo PROMPT",
    "--provider": "Name it with the model: -m PROVIDER/MODEL",
    "--read": "Name files in the prompt as @FILE.",
    "--remote": "Tasks run on this machine; `halo web` shows them in a browser.",
    "--sandbox": "Set sandbox: halo config set sandbox auto",
    "--setting-sources": "Use --profile NAME to choose among your settings.",
    "--settings": "Settings are in ~/.halocline/settings.toml; --profile NAME chooses among them.",
    "--strict-mcp-config": "Switch servers off with: halo mcp disable NAME",
    "--system-prompt": "Use --system-prompt-file FILE, or --append-system-prompt TEXT.",
    "--thinking": "Use --effort LEVEL, or --thinking-budget TOKENS.",
    "--timeout": "Use --time-limit SECONDS.",
    "--tools": "Use --allowed-tools and --disallowed-tools.",
    "--verbose": "Use --debug FILE; --output-format stream-json prints every event.",
}
"""Flags of others that are none of ours, with what to do instead."""
COMMANDS = {
    "auth": "halo login",
    "chat": "halo",
    "dashboard": "halo board",
    "eval": "",
    "exec": "halo run",
    "fleet": "",
    "help": "halo --help",
    "history": "halo tasks list",
    "init": "halo /init",
    "kanban": "halo board",
    "plugin": "halo mcp, or halo rules",
    "plugins": "halo mcp, or halo rules",
    "resume": "halo --resume",
    "schedule": "",
    "serve": "halo web",
    "sessions": "halo tasks list",
    "settings": "halo config",
    "setup-token": "halo login",
    "skills": "halo /skills",
    "uninstall": "",
    "update": "",
    "upgrade": "",
    "usage": "halo stats",
    "version": "halo --version",
}
"""Commands of others, with what `halo` has for them; empty if it has nothing."""
_ACTIONS = frozenset({"add", "create", "disable", "enable", "install", "list", "remove", "start", "status", "stop"})


def translate_flags(words: list[str]) -> list[str]:
    """Replace the flags of other programs by ours. Raises UsageError for one that has none."""
    translated: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        flag, equals, value = word.partition("=")
        if hint := HINTS.get(flag):
            raise UsageError(f"Halocline has no flag {flag}.", hint)
        ours = FLAGS.get(flag)
        if isinstance(ours, Mapping):
            value = value if equals else (waiting.pop(0) if waiting else "")
            if value not in ours:
                raise UsageError(f"{value!r} is not one of: {', '.join(ours)}.", "Or use --approval-mode.")
            ours, equals = ours[value], ""
        translated += [*ours.split(), *([value] if equals else [])] if ours else [word]
    return translated


def find_command(prompt: list[str]) -> str | None:
    """Return what `halo` has for the command that a prompt is in another program; None if it reads like a prompt."""
    first, *rest = prompt
    return COMMANDS.get(first) if not rest or (len(rest) <= 2 and rest[0] in _ACTIONS) else None
