"""The built-in slash commands: one table for every surface and for the docs. A row is all there is to say of one.

Each row says who answers it, and with which function. Custom commands of a project or person (`command_files.py`) never
replace a built-in one.
"""

import re
from enum import StrEnum

from halocline.protocol.values import Value


class By(StrEnum):
    """The part that answers a slash command: the surface, the controller, or the model."""

    SURFACE = "the surface"
    CONTROLLER = "Halocline"
    TOOL = "the model, with a tool"
    PROMPT = "the model, by a prompt"


class SlashPlace(StrEnum):
    """Places where a slash command is available: a terminal, or also a run without one."""

    TERMINAL = "terminal"
    RUN = "run"


class Section(StrEnum):
    """Sections of menus and lists, in this order."""

    WORK = "work"
    TASK = "task"
    FILES = "files"
    SETTINGS = "settings"
    LOOK = "look"


TERMINAL = (SlashPlace.TERMINAL,)
EVERYWHERE = (SlashPlace.TERMINAL, SlashPlace.RUN)


class SlashCommand(Value, frozen=True):
    """One slash command. `during`: it also works while a turn runs. `tool` and `prompt` are for the model.

    The rest is for commands that no model answers. `answer` and `completions` are functions, named `module:function`,
    which the package of answers resolves. `once`: the completions are slow to find, so they are looked up once.
    `elsewhere`: the command needs a session in a terminal, and this is what to do in an editor instead.
    """

    name: str
    text: str
    by: By
    section: Section
    rest: str = ""
    aliases: tuple[str, ...] = ()
    tool: str = ""
    prompt: str = ""
    where: tuple[SlashPlace, ...] = TERMINAL
    during: bool = False
    answer: str = ""
    completions: str = ""
    once: bool = False
    elsewhere: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    @property
    def is_report(self) -> bool:
        return self.section is Section.LOOK

    @property
    def is_for_the_model(self) -> bool:
        return self.by in (By.TOOL, By.PROMPT)


def _tool_command(
    name: str, text: str, tool: str, rest: str, where: tuple[SlashPlace, ...] = EVERYWHERE
) -> SlashCommand:
    return SlashCommand(name, text, By.TOOL, Section.WORK, rest, tool=tool, where=where)


def _prompt_command(name: str, text: str, prompt: str, rest: str, tool: str = "") -> SlashCommand:
    return SlashCommand(name, text, By.PROMPT, Section.WORK, rest, prompt=prompt, tool=tool, where=EVERYWHERE)


ROWS = (
    _prompt_command("init", "write or improve AGENTS.md, the project's guide for agents", "init", "[what matters]"),
    _prompt_command(
        "review", "review changes: those not committed, a branch, a commit or a pull request", "review",
        "[which changes]",
    ),
    _prompt_command(
        "deep-planning", "investigate, discuss, write implementation_plan.md, continue in a new task", "deep_planning",
        "[goal]", "new_task",
    ),
    _tool_command(
        "newtask", "continue in a new task, with a hand-over that you approve", "new_task", "[what matters]", TERMINAL,
    ),
    _tool_command("newrule", "create a rule for agents in this project", "new_rule", "[the rule]"),
    _tool_command("newmcp", "create an MCP server and add it here", "load_mcp_documentation", "[purpose]"),
    _tool_command("explain-changes", "explain a diff line by line", "generate_explanation", "[which changes]"),
    _tool_command("subagents", "have sub-agents investigate several things", "use_subagents", "[what to find out]"),
    _tool_command("reportbug", "prepare a bug report on Halocline; sends nothing", "report_bug", "[what happened]"),
    SlashCommand(
        "btw", "ask the model something beside the conversation, which does not keep it", By.CONTROLLER, Section.WORK,
        "QUESTION", during=True, answer="compact:answer_btw",
    ),
    SlashCommand(
        "goal", "work until something is done, and show or end that goal", By.CONTROLLER, Section.WORK,
        "[what must be true | off]", during=True, answer="goal:answer_goal", completions="goal:complete_goal",
    ),
    SlashCommand(
        "clear", "start a new task; this one is kept", By.SURFACE, Section.TASK, aliases=("new",),
        answer="tasks:answer_clear",
        elsewhere="Begin a new session in your editor. This one stays.",
    ),
    SlashCommand(
        "add-dir", "list the folders of this task, or add one", By.SURFACE, Section.TASK, "[DIR]",
        answer="tasks:answer_add_dir",
        elsewhere="Your editor gives a session its folders: begin one there that has the folder.",
    ),
    SlashCommand(
        "resume", "list the tasks of this folder, or resume one", By.SURFACE, Section.TASK, "[ID]",
        aliases=("history", "sessions"), answer="tasks:answer_resume", completions="tasks:complete_resume",
        elsewhere="Load the session in your editor: its list has the tasks of this folder.",
    ),
    SlashCommand(
        "compact", "summarize the conversation to free context; say what matters most, or undo the last time",
        By.CONTROLLER, Section.TASK, "[what matters | undo]", aliases=("smol",), during=True,
        answer="compact:answer_compact", completions="compact:complete_compact",
    ),
    SlashCommand(
        "rename", "show the name of this task, or give it one", By.CONTROLLER, Section.TASK, "[NAME]",
        aliases=("name",), during=True, answer="tasks:answer_rename",
    ),
    SlashCommand(
        "queue", "list the messages that wait; send or delete them", By.SURFACE, Section.TASK, "[send [N] | delete N]",
        during=True, answer="queue:answer_queue", completions="queue:complete_queue",
    ),
    SlashCommand(
        "export", "export this task as Markdown", By.SURFACE, Section.TASK, "[FILE]", during=True,
        answer="tasks:answer_export",
    ),
    SlashCommand(
        "quit", "exit; you can resume the task later", By.SURFACE, Section.TASK, aliases=("exit",),
        answer="tasks:answer_quit",
        elsewhere="Close the session in your editor. The task stays, and can be loaded again.",
    ),
    SlashCommand(
        "fork", "continue from here, or from an event, in another task; this one stays", By.CONTROLLER, Section.TASK,
        "[EVENT]", answer="tasks:answer_fork",
        elsewhere="Fork the session in your editor, if it offers that. This one stays.",
    ),
    SlashCommand(
        "rewind", "go back to an earlier prompt and rewrite it: conversation, files or both", By.CONTROLLER,
        Section.FILES, "[part of it]", answer="rewind:answer_rewind",
        elsewhere="Open this task in the page (halo web) to rewind it. Here, /undo and /checkpoint restore files.",
    ),
    SlashCommand(
        "undo", "undo the last file changes; shows what it would do, and asks", By.CONTROLLER, Section.FILES,
        answer="checkpoints:answer_undo",
    ),
    SlashCommand(
        "checkpoint", "list this task's checkpoints, compare one with the files now, or restore one", By.CONTROLLER,
        Section.FILES, "[list | diff N | restore N]", aliases=("checkpoints",), answer="checkpoints:answer_checkpoint",
        completions="checkpoints:complete_checkpoint",
    ),
    SlashCommand(
        "diff", "show what changed since this task began, or in the last turn", By.CONTROLLER, Section.FILES, "[last]",
        during=True, answer="diff:answer_diff", completions="diff:complete_diff",
    ),
    SlashCommand(
        "worktrees", "list worktrees, show what one changed, or merge it into the main folder", By.CONTROLLER,
        Section.FILES, "[list | diff NAME | merge NAME | undo NAME]", during=True, answer="worktrees:answer_worktrees",
        completions="worktrees:complete_worktrees",
    ),
    SlashCommand(
        "model", "show or change the model, and its reasoning effort", By.CONTROLLER, Section.SETTINGS,
        "[NAME [EFFORT]]", aliases=("models",), answer="models:answer_model", completions="models:complete_model",
        once=True,
    ),
    SlashCommand(
        "config", "show or change your settings", By.SURFACE, Section.SETTINGS, "[NAME [VALUE]]", aliases=("settings",),
        during=True, answer="config:answer_config", completions="config:complete_config",
    ),
    SlashCommand(
        "theme", "show or choose the colors of the terminal", By.SURFACE, Section.SETTINGS, "[NAME]", during=True,
        answer="theme:answer_theme", completions="theme:complete_theme",
        elsewhere="Your editor draws this conversation: choose the colors there.",
    ),
    SlashCommand(
        "effort", "show or set the reasoning effort for this task", By.CONTROLLER, Section.SETTINGS,
        "[LEVEL | TOKENS | default]", during=True, answer="models:answer_effort", completions="models:complete_effort",
    ),
    SlashCommand(
        "mode", "switch to plan or act mode", By.CONTROLLER, Section.SETTINGS, "[plan | act]", during=True,
        answer="modes:answer_mode", completions="modes:complete_mode",
    ),
    SlashCommand(
        "plan", "switch to plan mode: it reads and plans, and changes nothing", By.CONTROLLER, Section.SETTINGS,
        during=True, answer="modes:answer_plan",
    ),
    SlashCommand(
        "approvals", "show or set the approval mode: what runs without asking", By.CONTROLLER, Section.SETTINGS,
        "[ask | accept-edits | auto | yolo]", during=True, answer="modes:answer_approvals",
        completions="modes:complete_approvals",
    ),
    SlashCommand(
        "auto-approve", "approval switches for this task, one for each kind of action", By.CONTROLLER, Section.SETTINGS,
        "[NAME on | ask | mode [keep]]", during=True, answer="auto_approve:answer_auto_approve",
        completions="auto_approve:complete_auto_approve",
    ),
    SlashCommand(
        "judge", "show the judge of approvals and what it gave, turn it off for this task, or on again",
        By.CONTROLLER, Section.SETTINGS, "[on | off]", during=True, answer="modes:answer_judge",
        completions="modes:complete_judge",
    ),
    SlashCommand(
        "permissions", "list what is always allowed in this task, this project and everywhere; revoke one",
        By.CONTROLLER, Section.SETTINGS, "[forget N]", aliases=("leave", "allowed-tools"), during=True,
        answer="permissions:answer_permissions", completions="permissions:complete_permissions",
    ),
    SlashCommand(
        "login", "store the key of a provider, which the terminal asks for", By.SURFACE, Section.SETTINGS, "[PROVIDER]",
        answer="login:answer_login", completions="login:complete_login",
        elsewhere="To store the key of a provider, run halo login on this machine. Then continue here.",
    ),
    SlashCommand(
        "logout", "remove the stored key of a provider", By.SURFACE, Section.SETTINGS, "PROVIDER",
        answer="login:answer_logout", completions="login:complete_logout",
        elsewhere="To remove the key of a provider, run halo logout on this machine. Then continue here.",
    ),
    SlashCommand(
        "doctor", "check this machine and setup, with a hint for each problem", By.SURFACE, Section.LOOK, during=True,
        answer="lists:answer_doctor", elsewhere="That check is of the machine, not of this session: make it there.",
    ),
    SlashCommand(
        "memory", "list the notes that new tasks of this folder begin with", By.SURFACE, Section.LOOK, during=True,
        answer="lists:answer_memory", elsewhere="Your notes are in Markdown files, which you can open in your editor.",
    ),
    SlashCommand("help", "list the slash commands", By.SURFACE, Section.LOOK, during=True, answer="lists:answer_help"),
    SlashCommand(
        "status", "version, folder, model, modes, sandbox, trust, rules, MCP servers, context and cost", By.CONTROLLER,
        Section.LOOK, during=True, answer="status:answer_status",
    ),
    SlashCommand(
        "copy", "copy the last reply, or its last code block, to the clipboard", By.SURFACE, Section.LOOK, "[code]",
        during=True, answer="copy:answer_copy", completions="copy:complete_copy",
    ),
    SlashCommand(
        "cost", "tokens and cost of this task, step by step", By.SURFACE, Section.LOOK,
        aliases=("usage", "stats", "tokens"), during=True, answer="lists:answer_cost",
    ),
    SlashCommand("todos", "show the to-do list", By.SURFACE, Section.LOOK, during=True, answer="lists:answer_todos"),
    SlashCommand(
        "jobs", "list the background commands, show one's output, or stop one", By.SURFACE, Section.LOOK,
        "[show ID | stop ID]", aliases=("bashes", "tasks"), during=True, answer="jobs:answer_jobs",
        completions="jobs:complete_jobs",
    ),
    SlashCommand(
        "context", "show what fills the context window, and what it costs; take pictures out of it", By.SURFACE,
        Section.LOOK, "[drop-pictures]", during=True, answer="lists:answer_context",
    ),
    SlashCommand(
        "mcp", "list the MCP servers of this task, show the tools of one, or turn it on or off", By.SURFACE,
        Section.LOOK, "[NAME [on | off]]", during=True, answer="mcp:answer_mcp", completions="mcp:complete_mcp",
    ),
    SlashCommand(
        "agents", "list the agents that files define, or show one", By.SURFACE, Section.LOOK, "[NAME]", during=True,
        answer="agents:answer_agents", completions="agents:complete_agents",
    ),
    SlashCommand(
        "hooks", "list the hooks here, or stop those that run now", By.SURFACE, Section.LOOK, "[stop]", during=True,
        answer="lists:answer_hooks", completions="lists:complete_hooks",
    ),
    SlashCommand(
        "rules", "list the rule files here, and when each applies", By.SURFACE, Section.LOOK, during=True,
        answer="lists:answer_rules",
    ),
    SlashCommand(
        "plugins", "list the plug-ins here, and why one is left out", By.SURFACE, Section.LOOK, during=True,
        answer="lists:answer_plugins",
    ),
    SlashCommand(
        "skills", "list the skills of this folder, and why one is left out", By.SURFACE, Section.LOOK, during=True,
        answer="lists:answer_skills",
    ),
)  # fmt: skip
SLASH_COMMANDS = {name: row for row in ROWS for name in row.names}
"""The rows by name and alias."""

_ALONE = re.compile(r"/[^\W_][\w.:-]*")
_IN_TEXT = re.compile(r"(?<!\S)/(?P<name>[^\W_][\w.:-]*)(?=[\s,;!?)]|$)")


def split_slash_command(prompt: str) -> tuple[str, str]:
    """Return the slash command that begins a prompt and the text after it; both empty if there is none."""
    word, rest = [*prompt.strip().split(None, 1), "", ""][:2]
    return (word[1:], rest) if _ALONE.fullmatch(word) else ("", "")


def is_alone(prompt: str) -> bool:
    """True if a prompt consists of one slash command only."""
    return _ALONE.fullmatch(prompt.strip()) is not None


def words_in(text: str) -> list[tuple[str, int, int]]:
    """Return the names after a slash in the first line of a text, each with its start and end.

    Only the first line counts: text below it is often pasted or piped in, and no command is meant there.
    """
    skipped = len(text) - len(text.lstrip())
    line = text.lstrip().partition("\n")[0]
    names = ((match["name"].rstrip(".:"), match.start() + skipped) for match in _IN_TEXT.finditer(line))
    return [(name, begin, begin + 1 + len(name)) for name, begin in names]


def nearest_names(name: str, names: list[str], most: int = 3) -> list[str]:
    """Return the names that may have been meant, likeliest first."""
    from difflib import get_close_matches

    longer = [known for known in names if known.startswith(name)]
    return list(dict.fromkeys([*longer, *get_close_matches(name, names, n=most, cutoff=0.65)]))[:most]
