"""The commands of `halo`: one table with the text of each, its module, and the module of its arguments.

Modules are relative to `surfaces.cli` and imported on use. A command's module has `command(arguments)`, and the module
of its arguments a function that builds the parser: `NAME_parser`.
"""

from halocline.protocol.values import Value


class Command(Value, frozen=True):
    """A command of `halo`. `is_verb`: prompts begin with that word too, so only as the first word it is the command."""

    text: str
    module: str
    arguments: str
    is_verb: bool = False


_CODE_ACTION = ("commands.code_action", "args.code_tools", True)
COMMANDS = {
    "run": Command("run one prompt and exit", "commands.run", "args.run"),
    "demo": Command("watch a scripted model fix a small project: no key, no network", "commands.demo", "args.run"),
    "batch": Command("run many tasks, each in a place of its own, and report", "commands.batch.command", "args.batch"),
    "eval": Command("run tasks with several models and compare them", "commands.batch.command", "args.batch"),
    "explain": Command("explain a file or some of its lines, in plan mode", *_CODE_ACTION),
    "fix": Command("fix the problems of a file or of some of its lines", *_CODE_ACTION),
    "improve": Command("improve a file or some of its lines", *_CODE_ACTION),
    "commit-message": Command("write a message for the staged changes", "commands.commit_message", "args.code_tools"),
    "web": Command("open the chat view in a browser", ".web.command", "args.tasks"),
    "acp": Command("serve an editor that speaks the Agent Client Protocol", ".acp.command", "args.run"),
    "editor": Command("serve the extension of an editor, such as that for VS Code", ".editor.command", "args.tasks"),
    "attach": Command("join a task that another process is running", "commands.tasks.attach", "args.tasks"),
    "logs": Command("print what a task did, and follow it with -f", "commands.tasks.manage", "args.tasks"),
    "send": Command("send a message to a task, running or not", "commands.tasks.steer", "args.tasks", True),
    "stop": Command("stop a task that another process is running", "commands.tasks.steer", "args.tasks", True),
    "schedule": Command("run prompts at set times, by systemd or cron", "commands.schedule", "args.schedule"),
    "background": Command("run the tasks of halo run --bg, which starts this", "background.process", "args.tasks"),
    "board": Command("list all tasks, and open those that need you", "commands.board", "args.tasks"),
    "tasks": Command("list, search, show, rename, tag or delete tasks", "commands.tasks.manage", "args.tasks"),
    "fork": Command("start a new task from any point of a task", "commands.tasks.fork", "args.tasks"),
    "replay": Command("re-run a recorded task without a model", "commands.tasks.replay", "args.tasks"),
    "report": Command("bundle a task for those who look into a problem", "commands.tasks.report", "args.tasks"),
    "import": Command("import conversations from Cline and other agents", "commands.tasks.import_", "args.tasks"),
    "export": Command("write a task as a document, JSON lines or a trajectory", "commands.tasks.export", "args.tasks"),
    "checkpoints": Command("list, compare or restore checkpoints of a workspace", "commands.checkpoints", "args.tasks"),
    "worktrees": Command("list, compare, merge and discard worktrees", "commands.worktrees", "args.tasks"),
    "storage": Command("show disk usage, and free space", "commands.storage", "args.tasks"),
    "stats": Command("show tokens, cost, models and tools by day", "commands.tasks.stats", "args.tasks"),
    "models": Command("list models and their prices", "commands.models", "args.models"),
    "rules": Command("list, explain, create, enable or disable rule files", "commands.rules", "args.rules"),
    "context": Command("show what fills a task's context window, and its cost", "commands.context", "args.models"),
    "hooks": Command("list the hooks of a folder, and which of them run", "commands.trust", "args.rules"),
    "trust": Command("choose which folders may run their own hooks and MCP servers", "commands.trust", "args.rules"),
    "login": Command("test and store an API key for a provider", "commands.login", "args.models"),
    "logout": Command("remove a stored key", "commands.login", "args.models"),
    "policy": Command("explain, test and review permission decisions", "commands.policy", "args.rules"),
    "todos": Command("show the to-do list of a task, and the file to edit it in", "commands.tasks.todos", "args.tasks"),
    "memory": Command("show, edit or remove the notes that new tasks start with", "commands.memory", "args.tasks"),
    "mcp": Command("list, test, add, find or serve MCP servers", "mcp.manage", "args.mcp"),
    "plugins": Command("list, install, trust and turn off plug-ins", "commands.plugins", "args.plugins"),
    "config": Command("show and change the settings", "commands.config", "args.setup"),
    "completion": Command("print a script that completes halo in a shell", "shell_completion.command", "args.setup"),
    "docs": Command("find and show a page of the guide", "commands.docs", "args.setup"),
    "doctor": Command("check this machine and your setup", "commands.doctor", "args.models"),
}
CHAT = Command("", "commands.run", "args.run")
"""`halo [prompt]`, which is no word of the command line."""
