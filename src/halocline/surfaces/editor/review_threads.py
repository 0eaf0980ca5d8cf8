"""Show the model's comments on changed lines as threads in the editor, and answer replies to them."""

from pathlib import Path

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.kinds import Diff
from halocline.protocol.messages import Text
from halocline.protocol.values import JsonObject, Value
from halocline.surfaces.editor.peer import Peer
from halocline.surfaces.editor.task_followers import TaskFollowers
from halocline.surfaces.web.open_tasks import OpenTasks

REPLY = "About line {line} of {path}, where you commented:\n{quoted}\n\n{text}"


class ThreadReply(Value, frozen=True):
    """A person's reply below a comment of the model."""

    task: str
    path: str
    line: int
    comment: str
    text: str


class ReviewThreads:
    """Follows the open tasks for explained changes."""

    def __init__(self, peer: Peer, tasks: OpenTasks) -> None:
        self._peer = peer
        self._tasks = tasks
        self._client = tasks.client.named("editor")
        self._followers = TaskFollowers(tasks, self._follow)

    async def reply(self, given: ThreadReply) -> JsonObject:
        """Ask the model about its comment, and return its answer. Raises UsageError while a turn runs."""
        await self._tasks.open(given.task)
        state = self._client.state(given.task)
        if state.turn and not state.turn_is_over:
            raise UsageError("The task is working.", "Reply when its turn has ended.")
        quoted = "\n".join(f"> {line}" for line in given.comment.splitlines())
        prompt = REPLY.format(line=given.line, path=given.path, quoted=quoted, text=given.text)
        events = self._client.events(given.task, state.seq)
        submit = cmd.SubmitPrompt(task=given.task, content=(Text(prompt),), verbatim=True)
        await self._client.pass_on(submit)
        answer = ""
        async for event in events:
            if isinstance(event, ev.AssistantMessageCompleted):
                answer = event.message.text or answer
            elif isinstance(event, ev.TurnEnded):
                return {"text": answer or event.text}
        raise UsageError("The task was closed.", "Open it to go on.")

    async def close(self) -> None:
        await self._followers.close()

    async def _follow(self, task: str) -> None:
        state = self._client.state(task)
        try:
            async for event in self._client.events(task, state.seq):
                if isinstance(event, ev.ToolCallEnded) and any(diff.remarks for diff in event.diffs):
                    files = [self._describe(Path(state.workspace), diff) for diff in event.diffs if diff.remarks]
                    await self._peer.notify("review/show", {"task": task, "call": event.call, "files": files})
        except HaloclineError:
            pass  # the page that views the task says why it ended

    def _describe(self, workspace: Path, diff: Diff) -> JsonObject:
        remarks = [{"line": one.line, "text": one.text} for one in diff.remarks]
        return {"path": diff.path, "file": str(workspace / diff.path), "remarks": remarks}
