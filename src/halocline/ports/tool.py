"""The shape of a tool, and what a tool may touch.

A tool is one module of four parts: `Input` (what the model may send; its field texts are the schema), the spec,
`summary` (what will be touched; pure, read by the policy and by people) and `run` (the deed). A tool that edits also
has `preview`, which gives the diff a person approves. Tools never approve, count, measure, checkpoint or render.
"""

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar

import msgspec

from halocline.ports.blobs import Blobs
from halocline.ports.code import Code, SyntaxRule
from halocline.ports.documents import Documents
from halocline.ports.host import Files, Search, Shell, Web
from halocline.protocol.events import Diff, DurableEvent, Location, Todo, ToolKind
from halocline.protocol.messages import Message, ResultPart, Text, ToolCall
from halocline.protocol.values import JsonObject, Value

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
    "choices": "options",
}
"""Names that models give to parameters by habit, from other agents' tools."""


class ToolSpec(Value, frozen=True):
    """What the model is told of a tool."""

    name: str
    description: str
    schema: JsonObject

    @property
    def aliases(self) -> dict[str, str]:
        """Which names stand for which parameter, where the tool has no parameter of that name itself."""
        fields = self.schema.get("properties", {})
        return {alias: name for alias, name in ALIASES.items() if name in fields and alias not in fields}


class Summary(Value, frozen=True):
    """What a call will touch, before it happens.

    `paths` are as the model wrote them; the policy resolves them. `command` is the exact text a shell would run.
    `risky` is the model's own warning: it may raise a decision, never lower it. `place` is where a command runs when it
    is not the workspace: the folder in which an earlier one left the shell, or the job into which it is typed. `url` is
    what will be asked for over the network; `private` says that it may turn out to be in a private network.
    `in_sandbox`: a command takes the sandbox, if there is one, or asks to be let out; None for what starts no command.
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
    in_sandbox: bool | None = None

    @property
    def may_change(self) -> tuple[str, ...] | None:
        """The only paths the call can change; None when it may be any, as with a command."""
        return None if self.command else self.paths


class ToolOutput(Value, frozen=True):
    """What a call gave. `events` are facts to be logged before the call's end (`FileChanged`, `TodosChanged`)."""

    content: tuple[ResultPart, ...]
    diffs: tuple[Diff, ...] = ()
    events: tuple[DurableEvent, ...] = ()
    ends_turn: bool = False

    @classmethod
    def of(cls, text: str) -> "ToolOutput":
        return cls(content=(Text(text),))


class Asker(Protocol):
    """How a tool puts a question to the person."""

    async def __call__(self, question: str, options: Sequence[str], call: str) -> str | None:
        """The answer, or None when nobody can answer."""


class Reach(Protocol):
    """How a tool learns where it may connect to: the only way from a URL to addresses."""

    async def __call__(self, url: str) -> tuple[str, ...]:
        """Judge a URL of the call, or one that it led to, and give the IP addresses to connect to.

        They are empty when the name does not resolve here; then only a proxy can reach it.

        Raises:
            ToolFailure: the policy would not allow it without asking.
        """


class ToolContext(Value, frozen=True):
    """What a running tool may use. `messages` are what the model has before it, `takes_images` whether it sees."""

    call: str
    workspace: Path
    files: Files
    shell: Shell
    search: Search
    web: Web
    blobs: Blobs
    ask: Asker
    reach: Reach
    progress: Callable[[str], None]
    code: Code
    documents: Documents
    takes_images: Callable[[], bool] = lambda: False
    syntax_errors: SyntaxRule = SyntaxRule.WARN
    messages: tuple[Message, ...] = ()
    todos: tuple[Todo, ...] = ()

    def path(self, text: str) -> Path:
        """The absolute path for what the model wrote; no check is made here, the policy made it."""
        return self.workspace / Path(text).expanduser()


class Tool(Value, Generic[InputT], frozen=True):
    """One tool. `edits` says that it can change the workspace, so it runs alone and a checkpoint follows."""

    spec: ToolSpec
    kind: ToolKind
    input: type[InputT]
    summary: Callable[[InputT], Summary]
    run: Callable[[InputT, ToolContext], Awaitable[ToolOutput]]
    edits: bool = False
    preview: Callable[[InputT, ToolContext], Awaitable[tuple[Diff, ...]]] | None = None

    @property
    def name(self) -> str:
        return self.spec.name


AnyTool = Tool[Any]


class Toolset(Protocol):
    """The tools in force."""

    def find(self, name: str) -> AnyTool | None: ...

    def specs(self, model: str) -> tuple[ToolSpec, ...]:
        """What a model is offered. `find` knows the other tools as well."""

    def batches(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        """Neighbouring calls that may run together; a call that edits is always alone. Order is kept."""
