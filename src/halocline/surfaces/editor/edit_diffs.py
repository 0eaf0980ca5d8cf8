"""Show the edits of open tasks in the editor's diff view, and decide them there.

The editor shows a file before and after. A person may change what is after: then the edit that runs writes that.
"""

import asyncio
from pathlib import Path
from typing import Literal

from halocline.client.edits import EditDraft, EditProgress, EditProposal, EditSettled, ProposedText
from halocline.client.tasks import Client
from halocline.protocol import commands as cmd
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.kinds import Choice
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.editor.peer import Peer
from halocline.surfaces.editor.task_followers import TaskFollowers
from halocline.surfaces.web.open_tasks import OpenTasks

When = Literal["asked", "always", "never"]
_TOO_LATE = UsageError("This edit no longer waits for a decision.", "")


class EditDecision(Value, frozen=True):
    """A decision on an edit. `texts` are the files as they are in the editor, by path; only changed ones count."""

    task: str
    request: str
    accept: bool
    texts: dict[str, str] = {}
    note: str = ""


class EditDiffs:
    """Follows the open tasks and tells the editor which diffs to show. `when` is the person's setting."""

    def __init__(self, peer: Peer, tasks: OpenTasks, when: When = "asked") -> None:
        self._peer = peer
        self._tasks = tasks
        self._client: Client = tasks.client.named("editor")
        self.when = when
        self._shown: dict[tuple[str, str], EditProposal] = {}
        self._followers = TaskFollowers(tasks, self._follow)

    async def decide(self, given: EditDecision) -> JsonObject:
        """Accept an edit as it is in the editor, or reject it. Raises UsageError if it cannot be done exactly."""
        proposal = next(
            (one for (task, _), one in self._shown.items() if (task, one.request) == (given.task, given.request)), None
        )
        if proposal is None:
            raise _TOO_LATE
        proposed = {text.path: text.after for text in proposal.texts}
        changed = {path: text for path, text in given.texts.items() if path in proposed and text != proposed[path]}
        arguments = None
        if given.accept and changed:
            arguments = await self._client.rewrite_edit(given.task, given.request, changed)
            if arguments is None:
                raise UsageError(
                    "This edit cannot be made with your changes.",
                    "Accept it as it was proposed and change the file afterwards, or reject it and say what you want.",
                )
        decision = Choice.ALLOW_ONCE if given.accept else Choice.REJECT_ONCE
        command = cmd.ResolveApproval(
            task=given.task, request=given.request, decision=decision, arguments=arguments, note=given.note
        )
        await self._tasks.open(given.task)
        if not await self._client.pass_on(command):
            raise _TOO_LATE
        return {"changed": sorted(changed)}

    async def show_again(self, task: str, request: str) -> bool:
        """Show a waiting edit again whose diff was closed. Returns False if it cannot be shown."""
        for (of, _), proposal in self._shown.items():
            if (of, proposal.request) == (task, request) and proposal.texts:
                await self._show_proposal(task, proposal)
                return True
        return False

    async def close(self) -> None:
        await self._followers.close()

    async def _follow(self, task: str) -> None:
        calls: set[str] = set()
        try:
            async for progress in self._client.edits(task):
                calls.add(progress.call)
                await self._show(task, progress)
        except HaloclineError:
            pass  # the page that views the task says why it ended
        finally:
            for call in calls:
                await asyncio.shield(self._show(task, EditSettled(call)))

    async def _show(self, task: str, progress: EditProgress) -> None:
        match progress:
            case EditDraft(text=text) if self.when == "always" or (self.when == "asked" and progress.will_ask):
                await self._peer.notify(
                    "diff/draft", {"task": task, "call": progress.call, "files": [self._describe(task, text)]}
                )
            case EditProposal():
                self._shown[task, progress.call] = progress
                if progress.texts and self.when != "never":
                    await self._show_proposal(task, progress)
            case EditSettled(call=call):
                self._shown.pop((task, call), None)
                await self._peer.notify("diff/close", {"task": task, "call": call})

    async def _show_proposal(self, task: str, proposal: EditProposal) -> None:
        files = [self._describe(task, text) for text in proposal.texts]
        told = {"task": task, "call": proposal.call, "request": proposal.request, "title": proposal.title}
        await self._peer.notify("diff/open", {**told, "files": files})

    def _describe(self, task: str, text: ProposedText) -> JsonObject:
        whole = Path(self._client.state(task).workspace) / text.path
        return {"path": text.path, "file": str(whole), "before": text.before, "after": text.after}
