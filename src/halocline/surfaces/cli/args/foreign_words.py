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
    "--haiku": "--model haiku",
    "--include-directories": "--add-dir",
    "--json": "--output-format stream-json",
    "--json-schema": "--output-schema",
    "--max-budget-usd": "--max-cost",
    "--max-turns": "--max-steps",
    "--no-session-persistence": "--ephemeral",
    "--opus": "--model opus",
    "--permission-mode": {
        "acceptEdits": "--approval-mode accept-edits",
        "auto": "--approval-mode auto",
        "bypassPermissions": "--yolo",
        "default": "--approval-mode ask",
        "plan": "--mode plan",
    },
    "--plan": "--mode plan",
    "--reasoning-effort": "--effort",
    "--sonnet": "--model sonnet",
    "--task-id": "--resume",
    "--taskId": "--resume",
    "--thinking-tokens": "--thinking-budget",
    "--yes-always": "--yolo",
}
"""Flags of Cline, Claude Code, Codex, Gemini CLI and aider that are one of ours; a value that follows stays one."""
HINTS = {
    "--4o": "Name the model: -m PROVIDER/MODEL",
    "--acp": "Use: halo acp",
    "--agent": "Ask for the agent in the prompt; /agents lists them.",
    "--agents": "Write each agent into a file of .halocline/agents.",
    "--aiderignore": "Write names that no tool may see into .haloclineignore.",
    "--allow-dangerously-skip-permissions": "Use --yolo to run everything without approval.",
    "--anthropic-api-key": "Store the key with: halo login anthropic, or set ANTHROPIC_API_KEY.",
    "--append-system-prompt-file": "Use --append-system-prompt TEXT, or a rules file of the project (AGENTS.md).",
    "--architect": "Plan with --mode plan; the settings [plan] name another model for it.",
    "--ask-for-approval": "Use --approval-mode ask, accept-edits, auto or yolo.",
    "--auto-approve-all": "Use --yolo to run everything without approval.",
    "--auto-commits": "Halocline commits only when you ask it to.",
    "--auto-lint": "Say in AGENTS.md what to run after an edit, or set up a hook.",
    "--auto-test": "Say in AGENTS.md what to run after an edit, or set up a hook.",
    "--betas": "Halocline asks for what a model needs by itself.",
    "--browser": "Use: halo web",
    "--cache-prompts": "Requests are cached where the server can.",
    "--chat-mode": "Use --mode plan or --mode act.",
    "--checkpointing": "Checkpoints are always taken; see halo checkpoints.",
    "--chrome": "The browser is a tool: install the extra `browser`.",
    "--commit": "Ask for it in the prompt.",
    "--config": "Set one setting with: halo config set NAME VALUE; --profile NAME chooses among yours.",
    "--dangerously-bypass-approvals-and-sandbox": 'Use --yolo, and the setting sandbox = "off".',
    "--dark-mode": "Set theme: halo config set terminal.theme dark",
    "--deepseek": "Name the model: -m deepseek/MODEL",
    "--disable-slash-commands": "Write -- before a prompt that begins with a slash.",
    "--edit-format": "The form of edits follows the model.",
    "--editor": "Set VISUAL or EDITOR in your environment.",
    "--editor-model": "The settings [plan] name another model for planning; one model does the rest.",
    "--env-file": "Export the variables before you start halo, or store keys with halo login.",
    "--experimental-acp": "Use: halo acp",
    "--fallback-model": "Set fallback_models: halo config set fallback_models MODEL",
    "--file": "Name files in the prompt as @FILE.",
    "--fork-session": "Use: halo fork ID",
    "--from-pr": "Name the pull request in the prompt; with gh installed it can be read.",
    "--gui": "Use: halo web",
    "--ide": "Halocline runs in VS Code as an extension, and in other editors through halo acp.",
    "--light-mode": "Set theme: halo config set terminal.theme light",
    "--lint-cmd": "Say in AGENTS.md what to run after an edit, or set up a hook.",
    "--list-models": "Use: halo models",
    "--list-sessions": "Use: halo tasks list",
    "--local-provider": "Name it with the model: -m ollama/MODEL, or -m lmstudio/MODEL.",
    "--map-tokens": "There is no map of the repository; the model searches and reads files by itself.",
    "--message": "Write the prompt without a flag: halo run PROMPT",
    "--message-file": "Pipe it in: halo run < FILE",
    "--no-auto-commits": "Halocline commits nothing by itself.",
    "--no-git": "Halocline needs no git; checkpoints are its own.",
    "--no-stream": "Set streams = false for the provider: [providers.NAME] in settings.toml.",
    "--no-verify-ssl": "Name your certificates: halo config set ca_file FILE",
    "--openai-api-base": "Use --base-url URL.",
    "--openai-api-key": "Store the key with: halo login openai, or set OPENAI_API_KEY.",
    "--oss": "Name the model: -m ollama/MODEL, or -m lmstudio/MODEL.",
    "--output-last-message": "Redirect the output: halo run PROMPT > FILE",
    "--permission-prompt-tool": "With --input-format stream-json, your program answers approvals.",
    "--plugin-dir": "Use: halo plugins install FOLDER.",
    "--prompt": "Write the prompt without a flag: halo run PROMPT",
    "--prompt-interactive": "Write the prompt without a flag: halo PROMPT",
    "--provider": "Name it with the model: -m PROVIDER/MODEL",
    "--read": "Name files in the prompt as @FILE.",
    "--remote": "Tasks run on this machine; `halo web` shows them in a browser.",
    "--restore-chat-history": "Use --continue.",
    "--sandbox": "Set sandbox: halo config set sandbox auto",
    "--setting-sources": "Use --profile NAME to choose among your settings.",
    "--settings": "Settings are in ~/.halocline/settings.toml; --profile NAME chooses among them.",
    "--skip-git-repo-check": "Halocline works in any folder.",
    "--strict-mcp-config": "Switch servers off with: halo mcp disable NAME",
    "--system-prompt": "Use --system-prompt-file FILE, or --append-system-prompt TEXT.",
    "--teleport": "Tasks are on this machine; `halo web` shows them in a browser.",
    "--test-cmd": "Say in AGENTS.md what to run after an edit, or set up a hook.",
    "--thinking": "Use --effort LEVEL, or --thinking-budget TOKENS.",
    "--timeout": "Use --time-limit SECONDS.",
    "--tmux": "Start halo in a pane of tmux; `halo board` shows all tasks.",
    "--tools": "Use --allowed-tools and --disallowed-tools.",
    "--verbose": "Use --debug FILE; --output-format stream-json prints every event.",
    "--vim": "Set VISUAL or EDITOR; Ctrl-G opens the prompt there.",
    "--watch-files": "Name files in the prompt as @FILE.",
    "--weak-model": "One model does all; the settings [plan] name another for planning.",
}
"""Flags of others that are none of ours, with what to do instead."""
COMMANDS = {
    "agents": "halo /agents",
    "app-server": "halo acp",
    "auth": "halo login",
    "chat": "halo",
    "dashboard": "halo board",
    "exec": "halo run",
    "fleet": "",
    "help": "halo --help",
    "history": "halo tasks list",
    "init": "halo /init",
    "kanban": "halo board",
    "mcp-server": "halo mcp serve",
    "remote-control": "halo web",
    "resume": "halo --resume",
    "serve": "halo web",
    "session": "halo tasks list",
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
_WITH_PROMPT = frozenset({"exec"})
"""Commands of others that a prompt follows."""
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
    is_alone = not rest or first in _WITH_PROMPT or (len(rest) <= 2 and rest[0] in _ACTIONS)
    return COMMANDS.get(first) if is_alone else None
