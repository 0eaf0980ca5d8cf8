"""The slash commands that Halocline knows by itself: one registry for every surface and for the docs.

Who answers a word is the row's matter; a project's or a person's own words (`command_files.py`) never replace one.
"""

import re
from enum import StrEnum

from halocline.protocol.values import Value


class By(StrEnum):
    """Who answers a word: the surface from what it knows, the controller by a command, or the model."""

    SURFACE = "the surface"
    CONTROLLER = "Halocline"
    TOOL = "the model, with a tool"
    PROMPT = "the model, by a prompt"


class Where(StrEnum):
    """Who has a word: a person at a terminal, or also a run without one."""

    TERMINAL = "terminal"
    RUN = "run"


class Section(StrEnum):
    """What a word is about; menus and lists are in this order."""

    WORK = "work"
    TASK = "task"
    FILES = "files"
    SETTINGS = "settings"
    LOOK = "look"


class Follows(StrEnum):
    """What a menu offers behind a word."""

    NOTHING = ""
    MODES = "modes"
    APPROVALS = "approvals"
    SWITCHES = "switches"
    MODELS = "models"
    EFFORTS = "efforts"
    CHECKPOINTS = "checkpoints"
    COMPACTIONS = "compactions"
    JOBS = "jobs"
    TASKS = "tasks"


TERMINAL = (Where.TERMINAL,)
EVERYWHERE = (Where.TERMINAL, Where.RUN)


class Slash(Value, frozen=True):
    """One word. `during` says that it is answered while a turn runs, too; `tool` and `prompt` are for the model."""

    name: str
    text: str
    by: By
    section: Section
    rest: str = ""
    aliases: tuple[str, ...] = ()
    tool: str = ""
    prompt: str = ""
    where: tuple[Where, ...] = TERMINAL
    during: bool = False
    follows: Follows = Follows.NOTHING

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)

    @property
    def is_for_the_model(self) -> bool:
        return self.by in (By.TOOL, By.PROMPT)


def _tool_command(name: str, text: str, tool: str, rest: str, where: tuple[Where, ...] = EVERYWHERE) -> Slash:
    return Slash(name, text, By.TOOL, Section.WORK, rest, tool=tool, where=where)


def _prompt_command(name: str, text: str, prompt: str, rest: str, tool: str = "") -> Slash:
    return Slash(name, text, By.PROMPT, Section.WORK, rest, prompt=prompt, tool=tool, where=EVERYWHERE)


ROWS = (
    _prompt_command("init", "write or improve AGENTS.md, the project's guide for agents", "init", "[what matters]"),
    _prompt_command(
        "deep-planning",
        "investigate, discuss, write implementation_plan.md, go on in a fresh task",
        "deep_planning",
        "[what is wanted]",
        "new_task",
    ),
    _tool_command(
        "newtask", "go on in a fresh task, with a hand-over that you accept", "new_task", "[what matters]", TERMINAL
    ),
    _tool_command("newrule", "make a rule for agents in this project", "new_rule", "[the rule]"),
    _tool_command("newmcp", "make an MCP server, and set it up here", "load_mcp_documentation", "[what it is to do]"),
    _tool_command("explain-changes", "comments on the lines of a diff", "generate_explanation", "[which changes]"),
    _tool_command("subagents", "have sub-agents look into several things", "use_subagents", "[what to find out]"),
    _tool_command("reportbug", "prepare a bug report on Halocline; nothing is sent", "report_bug", "[what happened]"),
    Slash("clear", "begin a new task; this one is kept", By.SURFACE, Section.TASK, aliases=("new",)),
    Slash("add-dir", "list the folders of this task, or work in one more", By.SURFACE, Section.TASK, "[DIR]"),
    Slash(
        "resume",
        "list the tasks of this folder, or go on with one",
        By.SURFACE,
        Section.TASK,
        "[ID]",
        aliases=("history",),
        follows=Follows.TASKS,
    ),
    Slash(
        "compact",
        "shorten what the model reads; say what matters most, or take the last time back",
        By.CONTROLLER,
        Section.TASK,
        "[what matters | undo]",
        aliases=("smol",),
        during=True,
        follows=Follows.COMPACTIONS,
    ),
    Slash("export", "write this task as Markdown", By.SURFACE, Section.TASK, "[FILE]", during=True),
    Slash(
        "quit", "leave; the task can be resumed", By.SURFACE, Section.TASK, aliases=("exit",)
    ),
    Slash(
        "fork", "go on from here, or from an event, as another task; this one stays", By.CONTROLLER, Section.TASK,
        "[EVENT]",
    ),
    Slash("undo", "take the last change of files back; shows what it would do, and asks", By.CONTROLLER, Section.FILES),
    Slash(
        "checkpoint",
        "this task's saved states: list them, compare one with now, put one back",
        By.CONTROLLER,
        Section.FILES,
        "[list | diff N | restore N]",
        aliases=("checkpoints",),
        follows=Follows.CHECKPOINTS,
    ),
    Slash(
        "model", "the model that is asked, or another one", By.CONTROLLER, Section.SETTINGS, "[NAME]",
        follows=Follows.MODELS,
    ),
    Slash(
        "effort",
        "how hard the model thinks in this task, or should",
        By.CONTROLLER,
        Section.SETTINGS,
        "[LEVEL | TOKENS | default]",
        during=True,
        follows=Follows.EFFORTS,
    ),
    Slash(
        "mode", "plan or act", By.CONTROLLER, Section.SETTINGS, "[plan | act]", during=True, follows=Follows.MODES
    ),
    Slash(
        "approvals",
        "how much is done without asking",
        By.CONTROLLER,
        Section.SETTINGS,
        "[ask | accept-edits | auto | yolo]",
        aliases=("permissions",),
        during=True,
        follows=Follows.APPROVALS,
    ),
    Slash(
        "auto-approve",
        "what is done without asking, kind by kind; a switch for each in this task",
        By.CONTROLLER,
        Section.SETTINGS,
        "[NAME on | ask | mode [keep]]",
        during=True,
        follows=Follows.SWITCHES,
    ),
    Slash(
        "leave",
        "what you allowed for good in this task, this project, everywhere; take one back",
        By.CONTROLLER,
        Section.SETTINGS,
        "[forget N]",
        during=True,
    ),
    Slash("help", "the words there are", By.SURFACE, Section.LOOK, during=True),
    Slash("cost", "what this task took, step by step", By.SURFACE, Section.LOOK, aliases=("usage",), during=True),
    Slash("todos", "the list of what is to be done", By.SURFACE, Section.LOOK, during=True),
    Slash(
        "jobs",
        "list the commands that go on, show what one printed, stop one",
        By.SURFACE,
        Section.LOOK,
        "[show ID | stop ID]",
        during=True,
        follows=Follows.JOBS,
    ),
    Slash("context", "what fills the model's window, and what it costs", By.SURFACE, Section.LOOK, during=True),
    Slash("mcp", "the MCP servers of this task, and how it stands with each", By.SURFACE, Section.LOOK, during=True),
    Slash("rules", "the files of rules here, and when each holds", By.SURFACE, Section.LOOK, during=True),
    Slash("skills", "the skills of this folder, and why one is left out", By.SURFACE, Section.LOOK, during=True),
)  # fmt: skip
SLASH = {name: row for row in ROWS for name in row.names}
"""The rows by name and alias."""

_ALONE = re.compile(r"/[^\W_][\w.:-]*")
_IN_TEXT = re.compile(r"(?<!\S)/(?P<name>[^\W_][\w.:-]*)(?=[\s,;!?)]|$)")


def first_word(prompt: str) -> tuple[str, str]:
    """The name of the word that a prompt begins with and what follows it; both empty when it begins with none."""
    word, _, rest = prompt.strip().partition(" ")
    word, _, more = word.partition("\n")
    rest = f"{more} {rest}".strip() if more else rest.strip()
    return (word[1:], rest) if _ALONE.fullmatch(word) else ("", "")


def is_alone(prompt: str) -> bool:
    """Whether a prompt looks like a word and is nothing else."""
    return _ALONE.fullmatch(prompt.strip()) is not None


def words_in(text: str) -> list[tuple[str, int, int]]:
    """The names in the first line of a text that stand behind a slash, each with where it begins and ends.

    Only the first line, as what comes below is often pasted or piped in: nobody gave a word there.
    """
    skipped = len(text) - len(text.lstrip())
    line = text.lstrip().partition("\n")[0]
    names = ((match["name"].rstrip(".:"), match.start() + skipped) for match in _IN_TEXT.finditer(line))
    return [(name, begin, begin + 1 + len(name)) for name, begin in names]


def nearest_names(name: str, names: list[str], most: int = 3) -> list[str]:
    """The names that somebody may have meant, the likeliest first."""
    from difflib import get_close_matches

    longer = [known for known in names if known.startswith(name)]
    return list(dict.fromkeys([*longer, *get_close_matches(name, names, n=most, cutoff=0.65)]))[:most]
