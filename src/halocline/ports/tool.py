"""The shape of a tool, and what a tool may touch.

A tool is one module of four parts: `Input` (what the model may send; its field texts are the schema), the spec,
`summary` (what will be touched; pure, read by the policy and by people) and `run` (the deed). A tool that edits also
has `preview`, which gives the diff a person approves. Tools never approve, count, measure, checkpoint or render.
"""

import os.path
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec

from halocline.ports.blobs import Blobs
from halocline.ports.code import Code, SyntaxRule
from halocline.ports.documents import Documents
from halocline.ports.host import Files, Search, Shell, Web
from halocline.ports.revisions import Revisions
from halocline.ports.web_search import WebSearch
from halocline.protocol.events import ApprovalMode, Diff, DurableEvent, Location, Mode, Todo, ToolKind
from halocline.protocol.messages import Message, ResultPart, Text, ToolCall
from halocline.protocol.state.file_knowledge import Known, SeenFile
from halocline.protocol.state.state import PROGRESS as PROGRESS, State
from halocline.protocol.values import JsonObject, Value

if TYPE_CHECKING:
    from halocline.ports.browser import Browser  # most tasks have none of these
    from halocline.ports.mcp import Mcp
    from halocline.ports.subagents import Subagents

InputT = TypeVar("InputT", bound=msgspec.Struct)

ALIASES = {
    "absolutePath": "path",
    "file_path": "path",
    "filePath": "path",
    "filename": "path",
    "target_file": "path",
    "directory": "path",
    "contents": "content",
    "file_text": "content",
    "response": "result",
    "summary": "result",
    "answer": "result",
    "cmd": "command",
    "pattern": "regex",
    "query": "regex",
    "glob": "file_pattern",
    "todo_list": "todos",
    PROGRESS: "todos",
    "choices": "options",
    "old_string": "old_text",
    "old_str": "old_text",
    "oldText": "old_text",
    "new_string": "new_text",
    "new_str": "new_text",
    "newText": "new_text",
    "replaceAll": "replace_all",
}
"""Names that models give to parameters by habit, from other agents' tools."""


class ToolSpec(Value, frozen=True):
    """What the model is told of a tool. `unsaid` are parameters it is not told of, which models send by habit."""

    name: str
    description: str
    schema: JsonObject
    unsaid: tuple[str, ...] = ()

    @property
    def aliases(self) -> dict[str, str]:
        """Which names stand for which parameter, where the tool has no parameter of that name itself."""
        fields = {*self.schema.get("properties", {}), *self.unsaid}
        return {alias: name for alias, name in ALIASES.items() if name in fields and alias not in fields}


class Summary(Value, frozen=True):
    """What a call will touch, before it happens.

    `paths` are as the model wrote them; the policy resolves them. `command` is the exact text a shell would run.
    `risky` is the model's own warning: it may raise a decision, never lower it. `place` is where a command runs when it
    is not the workspace: the folder in which an earlier one left the shell, or the job into which it is typed. `url` is
    what will be asked for over the network; `private` says that it may turn out to be in a private network. `on_page`:
    it acts on the page that the browser shows, whose URL is put in before the call is judged; so is the `tool`.
    `in_sandbox`: a command takes the sandbox, if there is one, or asks to be let out; None for what starts no command.
    `mcp` is a tool of an MCP server (`policy.mcp.named`), `read_only` whether that server declares it so, `definition`
    the hash of all that the server says of it: leave holds while it stays. `agent` is who acts, by name; the task's own
    has none. `changed`: that definition is another than the person knew. `detail` is what they decide on, when that is
    more than the title.
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

    @property
    def may_change(self) -> tuple[str, ...] | None:
        """The only paths the call can change; None when it may be any, as with a command."""
        return None if self.command or self.mcp else self.paths


class ToolOutput(Value, frozen=True):
    """What a call gave. `events` are facts to be logged before the call's end (`FileChanged`, `TodosChanged`).

    `seen` are the files that it read for the model.
    """

    content: tuple[ResultPart, ...]
    diffs: tuple[Diff, ...] = ()
    events: tuple[DurableEvent, ...] = ()
    ends_turn: bool = False
    seen: tuple[SeenFile, ...] = ()

    @classmethod
    def of(cls, text: str) -> "ToolOutput":
        return cls(content=(Text(text),))


class Overtaken(Exception):
    """The person sent a message instead of an answer. The model reads it after the results of the calls."""


class Asker(Protocol):
    """How a tool puts a question to the person."""

    async def __call__(self, question: str, options: Sequence[str], call: str) -> str | None:
        """The answer, or None when nobody can answer. Raises Overtaken, which tools let pass."""


class Reach(Protocol):
    """How a tool learns where it may connect to: the only way from a URL to addresses."""

    async def __call__(self, url: str, *, part: bool = False) -> tuple[str, ...]:
        """Judge a URL of the call, or one that it led to, and give the IP addresses to connect to.

        They are empty when the name does not resolve here; then only a proxy can reach it. A `part` of a page that was
        admitted, as a picture or a script, needs no leave of its own at a public address.

        Raises:
            ToolFailure: the policy would not allow it without asking.
        """


class ToolHost(Value, frozen=True):
    """The world as a task's tools reach it. What is None is not set up."""

    files: Files
    shell: Shell
    search: Search
    web: Web
    blobs: Blobs
    code: Code
    documents: Documents
    revisions: Revisions
    web_search: WebSearch | None = None
    browser: "Browser | None" = None
    mcp: "Mcp | None" = None
    subagents: "Subagents | None" = None


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

    `judged_command` is the read-only form of its command that runs in the place of what the model wrote.
    """

    id: str = ""
    rule: str = ""
    judged_command: str = ""


class TaskView(Value, frozen=True):
    """What a tool knows of its task. `folder` holds the task's own files; `roots` are its folders beside the workspace.

    `messages` are what the model read before this call; `takes_images` says if it can see images.
    """

    folder: Path = Path()
    roots: tuple[Path, ...] = ()
    mode: Mode = Mode.ACT
    approval_mode: ApprovalMode = ApprovalMode.ASK
    model: str = ""
    takes_images: Callable[[], bool] = lambda: False
    messages: tuple[Message, ...] = ()
    todos: tuple[Todo, ...] = ()
    known: Known = {}
    syntax_errors: SyntaxRule = SyntaxRule.WARN
    partial_edits: bool = False
    new_task_id: Callable[[], str] = str


class ToolContext(Value, frozen=True):
    """What a running tool may use. `report` shows progress to people."""

    call: CurrentCall
    workspace: Path
    host: ToolHost
    task: TaskView
    ask: Asker
    reach: Reach
    report: Callable[[str], None]
    secrets: SecretFilter = SecretFilter()

    def path(self, text: str) -> Path:
        """The absolute path for what the model wrote; no check is made here, the policy made it."""
        return self.workspace / os.path.expanduser(text)


class Tool(Value, Generic[InputT], frozen=True):
    """One tool. `edits` says that it can change the workspace, so it runs alone and a checkpoint follows.

    `instead` is for an input that plainly means another tool: it gives that tool's name and arguments. It also gets the
    folder in which the shell stands, empty for the workspace. `keeps_in` is a folder of Halocline's own that it may
    write in, beside the places that were judged.
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

    @property
    def name(self) -> str:
        return self.spec.name


AnyTool = Tool[Any]


class Toolset(Protocol):
    """The tools in force."""

    def find(self, name: str, state: State | None = None) -> AnyTool | None:
        """The tool of that name. Tools of MCP servers are known by the state alone."""

    def specs(self, state: State) -> tuple[ToolSpec, ...]:
        """What the model is offered in a task. `find` also knows those that do the same as others."""

    def batches(self, calls: Sequence[ToolCall], state: State | None = None) -> list[list[ToolCall]]:
        """Neighbouring calls that may run together: readers, and calls to different MCP servers. Order is kept."""
