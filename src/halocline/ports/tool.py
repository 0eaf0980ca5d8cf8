"""The structure of a tool, and what a tool may use.

A tool is one module with four parts: `Input` (its arguments; the field descriptions become the schema), the spec,
`summary` (what the call will touch; pure, read by the policy and by people) and `run` (the action). A tool that edits
also has `preview`, which returns the diff to approve. Tools never approve, count, measure, checkpoint or render.
"""

import os.path
from collections.abc import Awaitable, Callable, Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, runtime_checkable

import msgspec

from halocline.ports.blobs import Blobs
from halocline.ports.code import Code, SyntaxRule
from halocline.ports.host import Files, Search, Shell, ShellCommand, Web
from halocline.ports.shell_facts import Hides
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import DurableEvent
from halocline.protocol.events.custom_tools import CustomTool
from halocline.protocol.events.plugins import Plugin
from halocline.protocol.events.tool_calls import SeenFile
from halocline.protocol.kinds import ApprovalMode, Diff, Location, Mode, Todo, ToolKind
from halocline.protocol.messages import Message, ResultPart, Text, ToolCall
from halocline.protocol.state.file_knowledge import Known
from halocline.protocol.state.plan import PROGRESS as PROGRESS
from halocline.protocol.state.state import State
from halocline.protocol.values import JsonObject, Value

if TYPE_CHECKING:
    from halocline.ports.browser import Browser  # most tasks have none of these
    from halocline.ports.documents import Documents
    from halocline.ports.mcp import Mcp
    from halocline.ports.reach import Reach
    from halocline.ports.revisions import Revisions
    from halocline.ports.subagents import Subagents
    from halocline.ports.web_search import WebSearch

InputT = TypeVar("InputT", bound=msgspec.Struct)

ALIASES = {
    alias: name
    for name, aliases in {
        "path": "absolutePath file_path filePath filename target_file directory",
        "content": "contents file_text",
        "result": "response summary answer",
        "command": "cmd",
        "regex": "pattern query",
        "file_pattern": "glob",
        "todos": f"todo_list {PROGRESS}",
        "options": "choices",
        "old_text": "old_string old_str oldText oldString",
        "new_text": "new_string new_str newText newString",
        "replace_all": "replaceAll",
    }.items()
    for alias in aliases.split()
}
"""Parameter names from other agents' tools that models use by habit."""
FOLDERS = ("workdir", "cwd", "directory", "dir_path", "working_directory", "working_dir", "workingDirectory")
"""Such names for the folder that a command runs in."""


LONGEST_EVERYWHERE = 1_024
"""Characters of a tool's description that every vendor takes; only OpenAI takes no more."""


class ToolSpec(Value, frozen=True):
    """A tool's definition for the model. `unsaid` are accepted parameters that the model does not see.

    `reads`: it changes nothing in the world, so a model may call it with others before it knows any result.
    """

    name: str
    description: str
    schema: JsonObject
    unsaid: tuple[str, ...] = ()
    reads: bool = False

    @property
    def aliases(self) -> dict[str, str]:
        """Map alternative names to parameters, unless the tool has a parameter with that name."""
        fields = {*self.schema.get("properties", {}), *self.unsaid}
        known = ALIASES | dict.fromkeys(FOLDERS, "folder") if "folder" in fields else ALIASES
        return {alias: name for alias, name in known.items() if name in fields and alias not in fields}


class Summary(Value, frozen=True):
    """What a call will touch, before it runs.

    `paths` are as the model wrote them; the policy resolves them. `command` is the exact text for the shell. `risky` is
    the model's own warning: it can make a decision stricter, never looser. `place` is where a command runs if not in
    the workspace: the shell's current folder, or the job that gets it as input. `url` is the URL to fetch; `private`
    means that it may be in a private network. `on_page` calls act on the browser's page, whose URL is filled in before
    the call is judged; so is `tool`. `in_sandbox` is true if a command uses the sandbox, if there is one, false if it
    asks to run outside, None if there is no command. `mcp` is a tool of an MCP server (`policy.mcp.named`), `read_only`
    is the server's claim, `definition` is the hash of its whole definition: a grant is valid while that is unchanged.
    `changed` means that the definition differs from the one that the person approved. `agent` is the name of the acting
    agent; the main agent has none. `detail` is what the person decides on, if that is more than the title.
    `custom` is a tool of the program that runs the task, as a grant names it; `anywhere` means that it may change any
    file.
    """

    title: str
    kind: ToolKind
    paths: tuple[str, ...] = ()
    command: str = ""
    locations: tuple[Location, ...] = ()
    risky: bool = False
    place: str = ""
    url: str = ""
    private: bool = False
    tool: str = ""
    on_page: bool = False
    in_sandbox: bool | None = None
    mcp: str = ""
    read_only: bool = False
    definition: str = ""
    agent: str = ""
    changed: bool = False
    detail: str = ""
    custom: str = ""
    anywhere: bool = False

    @property
    def may_change(self) -> tuple[str, ...] | None:
        """The only paths that the call can change; None if it may change any, as a command can."""
        return None if self.command or self.mcp or self.anywhere else self.paths


class ToolOutput(Value, frozen=True):
    """Result of a call. `events` are logged before the call's end (`FileChanged`, `TodosChanged`).

    `seen` are the files that it read for the model. `redacted`: the tool has redacted its text, as a whole file's can
    be done better before it is cut. `for_person` is as in `ToolCallEnded`.
    """

    content: tuple[ResultPart, ...]
    diffs: tuple[Diff, ...] = ()
    events: tuple[DurableEvent, ...] = ()
    ends_turn: bool = False
    seen: tuple[SeenFile, ...] = ()
    redacted: bool = False
    for_person: str = ""

    @classmethod
    def of(cls, text: str) -> "ToolOutput":
        return cls(content=(Text(text),))


class Overtaken(Exception):
    """A person sent a message instead of an answer. The model reads it after the results of the calls."""


class Asker(Protocol):
    """Lets a tool ask the person a question."""

    async def __call__(self, question: str, options: Sequence[str], call: str) -> str | None:
        """Return the answer, or None if no one can answer. Raises Overtaken, which tools do not catch."""


class Program(Protocol):
    """The program that a task runs in, with tools of its own."""

    async def call(self, tool: CustomTool, arguments: JsonObject, ctx: "ToolContext") -> ToolOutput:
        """Run one of its tools. Raises ToolFailure with what the model should do instead."""


@runtime_checkable
class FunctionTool(Protocol):
    """A function that is a tool, as `halocline.tool` makes it."""

    definition: CustomTool

    async def answer(self, arguments: JsonObject, ctx: "ToolContext") -> ToolOutput:
        """Run the function for a call of the model. Raises ToolFailure."""


class ToolHost(Value, frozen=True):
    """The world as a task's tools reach it. What is None is not set up."""

    files: Files
    shell: Shell
    search: Search
    web: Web
    blobs: Blobs
    code: Code
    documents: "Documents"
    revisions: "Revisions"
    web_search: "WebSearch | None" = None
    browser: "Browser | None" = None
    mcp: "Mcp | None" = None
    subagents: "Subagents | None" = None
    program: Program | None = None


class SecretFilter(Value, frozen=True):
    """Keeps secrets from the model.

    `redact` removes them from what the model reads; `redact_thoroughly` also removes possible ones from a text that
    leaves the machine. `restore` puts back the secrets that marks in an edit's first text stand for, as its second text
    has them; it raises `redaction.UnknownMark`.
    """

    redact: Callable[[str], str] = str
    redact_thoroughly: Callable[[str], str] = str
    restore: Callable[[str, str], str] = lambda text, original: text


class CurrentCall(Value, frozen=True):
    """The call that runs. `rule` allowed it, or asked a person who did.

    `judged_command` is the read-only form of its command that runs in the place of what the model wrote;
    `mixed_command` is that text with its parts that read in such forms; `left_out` says what those leave
    out. `hides`, `shows_secrets` and `traceparent` are as in `ShellCommand`.
    """

    id: str = ""
    rule: str = ""
    judged_command: str = ""
    mixed_command: str = ""
    hides: Hides | None = None
    shows_secrets: bool = False
    left_out: str = ""
    traceparent: str = ""


class TaskView(Value, frozen=True):
    """What a tool knows of its task. `folder` holds the task's own files; `roots` are its folders beside the workspace.

    `messages` returns what the model read before this call; `takes_images` says if it can see images. `known` are the
    files that it read or wrote, as it last saw them; it overwrites no other. None: a person sees what is overwritten.
    """

    folder: Path = Path()
    roots: tuple[Path, ...] = ()
    plugins: tuple[Plugin, ...] = ()
    mode: Mode = Mode.ACT
    approval_mode: ApprovalMode = ApprovalMode.ASK
    model: str = ""
    takes_images: Callable[[], bool] = lambda: False
    messages: Callable[[], Sequence[Message]] = tuple
    todos: tuple[Todo, ...] = ()
    known: Known | None = None
    syntax_errors: SyntaxRule = SyntaxRule.WARN
    partial_edits: bool = False
    new_task_id: Callable[[], str] = str


async def refuse_command(command: str) -> ShellCommand:
    """Refuse every command: so it is where none is judged while a call runs. Raises ToolFailure."""
    raise ToolFailure(f"No command can run within this call: {command}")


class ToolContext(Value, frozen=True):
    """The context of a running tool. `report` shows progress to people.

    `admit_command` judges a command that the tool itself wants to run, and returns it as it may run; it raises
    ToolFailure if the gate does not allow it. `note_writes` takes the `FileChanged` of a tool that writes before its
    end, so that the change counts as the task's also if the call is cut off.
    """

    call: CurrentCall
    workspace: Path
    host: ToolHost
    task: TaskView
    ask: Asker
    reach: "Reach"
    report: Callable[[str], None]
    secrets: SecretFilter = SecretFilter()
    admit_command: Callable[[str], Awaitable[ShellCommand]] = refuse_command
    note_writes: Callable[[Sequence[DurableEvent]], None] = lambda facts: None

    def path(self, text: str) -> Path:
        """Return the absolute path for a path from the model. It is not checked here: the policy already did that."""
        return self.workspace / os.path.expanduser(text)


class Tool(Value, Generic[InputT], frozen=True):
    """One tool. `edits` means that it can change the workspace, so it runs alone and a checkpoint follows.

    A tool of kind EDIT changes files only through `host.files`, where each change waits until it is safe; any other
    tool that edits waits before it runs. `instead` handles an input clearly meant for another tool: it returns that
    tool's name and arguments. It also gets the shell's current folder, empty for the workspace. `keeps_in` is a folder
    of Halocline's own that the tool may write to, besides the paths that were judged. `keep` returns the arguments for
    only some of the changes that `preview` shows, by their places.
    """

    spec: ToolSpec
    kind: ToolKind
    input: type[InputT]
    summary: Callable[[InputT], Summary]
    run: Callable[[InputT, ToolContext], Awaitable[ToolOutput]]
    edits: bool = False
    preview: Callable[[InputT, ToolContext], Awaitable[tuple[Diff, ...]]] | None = None
    instead: Callable[[InputT, str], tuple[str, JsonObject] | None] | None = None
    keeps_in: Path | None = None
    keep: Callable[[InputT, Collection[int]], JsonObject] | None = None

    @property
    def name(self) -> str:
        return self.spec.name


AnyTool = Tool[Any]


class Toolset(Protocol):
    """The tools in force."""

    def find(self, name: str, state: State | None = None) -> AnyTool | None:
        """Find a tool by name. MCP tools are found only with a state."""

    def translate(self, call: ToolCall, state: State) -> ToolCall | None:
        """Return the call, under another name, that one of another program's tool is; None if the name is unknown."""

    def specs(self, state: State) -> tuple[ToolSpec, ...]:
        """Return the tools offered to the model in a task. `find` also finds tools that duplicate others."""

    def batches(self, calls: Sequence[ToolCall], state: State | None = None) -> list[list[ToolCall]]:
        """Group adjacent calls that may run together, in order: read-only ones, and calls to different MCP servers."""
