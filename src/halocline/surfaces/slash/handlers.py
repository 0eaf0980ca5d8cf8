"""The slash commands that are answered here and not by the model: one table of their answers and completions.

Functions are named `module:function`, with the module in this package, and imported when first used. An answer takes
the context and the text after the command; completions take the client, the task and the words already given, and
return the meaning of each possible next word.
"""

from halocline.protocol.values import Value


class SlashHandler(Value, frozen=True):
    """Functions of one command. `once`: its completions are slow to find, so a prompt editor looks them up once.

    `terminal`: it needs a session in a terminal, which can change to another task or has no menu.
    """

    answer: str
    completions: str = ""
    once: bool = False
    terminal: bool = False


HANDLERS = {
    "help": SlashHandler("lists:answer_help", terminal=True),
    "quit": SlashHandler("tasks:answer_quit", terminal=True),
    "clear": SlashHandler("tasks:answer_clear", terminal=True),
    "resume": SlashHandler("tasks:answer_resume", "tasks:complete_resume", terminal=True),
    "add-dir": SlashHandler("tasks:answer_add_dir", terminal=True),
    "export": SlashHandler("tasks:answer_export"),
    "fork": SlashHandler("tasks:answer_fork", terminal=True),
    "rewind": SlashHandler("rewind:answer_rewind", terminal=True),
    "undo": SlashHandler("checkpoints:answer_undo"),
    "checkpoint": SlashHandler("checkpoints:answer_checkpoint", "checkpoints:complete_checkpoint"),
    "diff": SlashHandler("diff:answer_diff", "diff:complete_diff"),
    "model": SlashHandler("models:answer_model", "models:complete_model", once=True),
    "effort": SlashHandler("models:answer_effort", "models:complete_effort"),
    "permissions": SlashHandler("permissions:answer_permissions", "permissions:complete_permissions"),
    "mode": SlashHandler("modes:answer_mode", "modes:complete_mode"),
    "approvals": SlashHandler("modes:answer_approvals", "modes:complete_approvals"),
    "auto-approve": SlashHandler("auto_approve:answer_auto_approve", "auto_approve:complete_auto_approve"),
    "compact": SlashHandler("compact:answer_compact", "compact:complete_compact"),
    "cost": SlashHandler("lists:answer_cost"),
    "todos": SlashHandler("lists:answer_todos"),
    "jobs": SlashHandler("jobs:answer_jobs", "jobs:complete_jobs"),
    "queue": SlashHandler("queue:answer_queue", "queue:complete_queue"),
    "btw": SlashHandler("btw:answer_btw"),
    "copy": SlashHandler("copy:answer_copy", "copy:complete_copy"),
    "status": SlashHandler("status:answer_status"),
    "context": SlashHandler("lists:answer_context"),
    "mcp": SlashHandler("mcp:answer_mcp", "mcp:complete_mcp"),
    "agents": SlashHandler("agents:answer_agents", "agents:complete_agents"),
    "hooks": SlashHandler("lists:answer_hooks", "lists:complete_hooks"),
    "theme": SlashHandler("theme:answer_theme", "theme:complete_theme", terminal=True),
    "config": SlashHandler("config:answer_config", "config:complete_config"),
    "rules": SlashHandler("lists:answer_rules"),
    "skills": SlashHandler("lists:answer_skills"),
}
"""By name, without aliases."""
