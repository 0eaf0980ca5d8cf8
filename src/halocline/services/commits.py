"""Commit what a task changed: the files to choose from, a message without asking a model, and the commit itself; push
it, and open a pull request.

You do this, not the agent: it is git's own commit with its hooks, and never happens automatically.
"""

import asyncio
import os
import textwrap
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from msgspec.structs import replace

from halocline.git.commit import commit_files, list_uncommitted, read_committed
from halocline.git.pull_request import TOKENS, open_pull_request, plan_pull_request
from halocline.git.push import plan_push, push_branch
from halocline.ports.blobs import blob_reference
from halocline.ports.revisions import (
    Committed as Committed,
    PullRequestPlan as PullRequestPlan,
    PushPlan as PushPlan,
    Uncommitted,
)
from halocline.protocol.child_environment import ChildEnvironment, child_environment
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.events import FileChanged
from halocline.protocol.secrets.values import SHORTEST
from halocline.protocol.state.evidence.facts import gather_evidence
from halocline.protocol.state.evidence.findings import find_evidence
from halocline.protocol.values import Value
from halocline.runtime.assembly.folder_access import FolderAccess
from halocline.runtime.history.actions import TaskHistory
from halocline.services.commit_message import CommitMessageRequest, CommitMessages
from halocline.services.tasks import TaskService

SUBJECT = 68
"""Characters of the first line of a proposed message."""
WIDTH = 72
MOST_LINES = 12
MOST_COMPARED = 40
"""Files that are compared with the newest commit, each by a call of git."""
LONGEST = 20_000
"""Characters of a message."""


class CommitPlan(Value, frozen=True):
    """The uncommitted files, the paths among them that the task changed, and a proposed message.

    `shared` are those of the task's that someone else changed, too: since then, or before it did.
    """

    uncommitted: Uncommitted
    ours: tuple[str, ...]
    message: str
    shared: tuple[str, ...] = ()


class Committing:
    """Commits of tasks. Git's hooks do not get the variables that hold keys."""

    def __init__(self, time: TaskHistory, tasks: TaskService, access: FolderAccess) -> None:
        self._time = time
        self._tasks = tasks
        self._access = access

    async def plan(self, task: str) -> CommitPlan:
        """Plan a commit in a task's workspace. Raises UsageError if it has no repository."""
        past = await asyncio.to_thread(self._time.past, task)
        workspace = self._workspace(task)
        found = await list_uncommitted(workspace)
        edits = [event for event in past if isinstance(event, FileChanged)]
        changed, both = {event.path for event in edits}, set[str]()
        with suppress(HaloclineError):  # without checkpoints, only edits by tools are known
            compared = await self._time.compare(workspace, f"{task}@1")
            since = await self._time.plan(workspace, f"{task}@1")
            names = {name for file in compared.files for name in (file.path, file.before) if name}
            changed |= names - {*since.yours}
            both = {*since.merges, *since.conflicts}
        info = self._tasks.info(task)
        title = (info.name or info.title) if info else ""
        ours = tuple(file.path for file in found.files if {file.path, str(workspace / file.path)} & changed)
        earlier = await _find_changed_before(workspace, ours[:MOST_COMPARED], edits)
        shared = tuple(path for path in ours if path in both or path in earlier)
        facts = gather_evidence(past)
        evidence = find_evidence(facts, whole=True).text
        return CommitPlan(found, ours, propose_message(title, facts.report, evidence), shared)

    async def commit(self, task: str, paths: Sequence[str], message: str, runs: Sequence[str] = ()) -> Committed:
        """Commit these files of a task's workspace, whole; `runs` are the programs that were shown to the person.

        Raises UsageError with git's message.
        """
        if not paths:
            raise UsageError("No files are selected.", "Select the files to commit.")
        if not message.strip() or len(message) > LONGEST or "\0" in message:
            raise UsageError(
                "The commit message is empty, too long or not text.", f"Write a message of up to {LONGEST} characters."
            )
        return await commit_files(self._workspace(task), paths, message.strip(), self.make_environment(), runs)

    async def plan_push(self, task: str) -> PushPlan:
        """Find out what a push of the workspace's branch would send where. Raises UsageError."""
        return await plan_push(self._workspace(task))

    async def push(self, task: str, shown: PushPlan) -> str:
        """Push what was shown to the person; return git's output. Raises UsageError with git's message."""
        return await push_branch(self._workspace(task), shown, self.make_environment())

    async def plan_pull_request(self, task: str) -> PullRequestPlan:
        """Propose a pull request for the workspace's branch. Raises UsageError."""
        plan = await plan_pull_request(self._workspace(task))
        facts = gather_evidence(await asyncio.to_thread(self._time.past, task))
        evidence = find_evidence(facts, whole=True).text
        if " ".join(evidence.split()) in " ".join(plan.body.split()):  # the message of its commit may have it
            return plan
        return replace(plan, body=f"{plan.body}\n\n{evidence}".strip())

    async def open_pull_request(self, task: str, wanted: PullRequestPlan, *, draft: bool) -> str:
        """Open a pull request through gh, which gets its own key; return its address. Raises UsageError."""
        workspace = self._workspace(task)
        return await open_pull_request(workspace, wanted, self.make_environment(TOKENS), draft=draft)

    def make_environment(self, more: Iterable[str] = ()) -> ChildEnvironment:
        """Return the environment of git and of programs that sign in by themselves, which get `more` variables."""
        passed = (*self._access.settings.pass_environment, *more)
        return child_environment(os.environ, self._access.key_variables(), passed)

    def redact(self, text: str) -> str:
        """Redact a text that others will read, whatever the settings say."""
        return self._access.secrets.redact_thoroughly(text)

    def holds_key(self, text: str) -> bool:
        """True if a text has one of the keys that are known here."""
        return any(value in text for value in self._access.secrets.values() if len(value) >= SHORTEST)

    def write_message(self, task: str, paths: tuple[str, ...], model: str) -> AsyncGenerator[str, None]:
        """Have a model write the message for these files of a task's workspace: see `CommitMessages.write`."""
        wanted = CommitMessageRequest(self._workspace(task), model, paths=paths)
        return CommitMessages(self._access).write(wanted)

    def _workspace(self, task: str) -> Path:
        info = self._tasks.info(task)
        if not info or not os.path.isdir(info.workspace):
            raise UsageError("The folder of this task does not exist.", "Commit with git instead.")
        return Path(info.workspace)


async def _find_changed_before(workspace: Path, paths: Sequence[str], edits: Sequence[FileChanged]) -> set[str]:
    """Return the files that were not as in the newest commit when the task first edited them."""
    first = {event.path: event.before for event in reversed(edits)}
    before = {path: first.get(path, first.get(str(workspace / path), "")) for path in paths}
    known = [path for path, content in before.items() if content]  # new files, and those that only commands changed
    committed = await read_committed(workspace, known)

    def is_committed(path: str) -> bool:
        data = committed.get(path, b"")
        forms = (data, data.replace(b"\n", b"\r\n"))  # git may have changed the ends of lines
        return path in committed and before[path] in [blob_reference(form) for form in forms]

    return {path for path in known if not is_committed(path)}


def propose_message(title: str, result: str, evidence: str = "") -> str:
    """Compose a message from a task's title, the first paragraph of its newest result and the evidence; pure."""
    words = " ".join(title.lstrip("/ ").split())
    subject = textwrap.shorten(words, SUBJECT, placeholder="…").rstrip(".") or "Changes"
    paragraph = result.strip().split("\n\n", 1)[0]
    lines = [line for one in paragraph.splitlines() for line in textwrap.wrap(one, WIDTH) or [""]]
    proof = "\n".join(textwrap.fill(one, WIDTH, break_long_words=False) for one in evidence.splitlines())
    return "\n\n".join(filter(None, (subject[0].upper() + subject[1:], "\n".join(lines[:MOST_LINES]), proof)))
