"""Tools that a server runs only as tasks (MCP 2025-11-25): begun, asked about until they end, then fetched.

The SDK has the messages and no client for them.
"""

import asyncio
from collections.abc import Callable
from contextlib import suppress

import mcp_types as types
from mcp.client.session import ClientSession
from pydantic import ValidationError

from halocline.mcp.connection.errors import TROUBLES
from halocline.mcp.tool_names import plain_text
from halocline.protocol.values import JsonObject

KEPT = 24 * 3_600_000
"""Milliseconds for which the server is asked to keep a task."""
_POLL, _LONGEST_POLL = 1.0, 30.0
"""Seconds between two questions: what a server that suggests none gets, and the most that one may suggest."""

_CANCEL_TIME = 1.0
"""Seconds that a cancelled call waits for the server to learn of it."""


def needs_task(tool: types.Tool, capabilities: types.ServerCapabilities) -> bool:
    """True if the tool runs only as a task. Without the capability the tool's own word does not count."""
    requests = capabilities.tasks and capabilities.tasks.requests
    can = bool(requests and requests.tools and requests.tools.call is not None)
    return can and tool.execution is not None and tool.execution.task_support == "required"


async def call_as_task(
    session: ClientSession,
    tool: str,
    arguments: JsonObject,
    report: Callable[[str], None],
    meta: types.RequestParamsMeta | None = None,
) -> types.CallToolResult:
    """Run a tool as a task and return its result. A task that is left early is cancelled on the server."""
    asked = types.CallToolRequestParams(name=tool, arguments=arguments, task=types.TaskMetadata(ttl=KEPT), _meta=meta)
    task = await _begin_task(session, types.CallToolRequest(params=asked))
    id = task.task_id
    try:
        await _wait_for_end(session, task, report)
        params = types.GetTaskPayloadRequestParams(task_id=id)
        return await session.send_request(types.GetTaskPayloadRequest(params=params), types.CallToolResult)
    except asyncio.CancelledError:
        cancel = types.CancelTaskRequest(params=types.CancelTaskRequestParams(task_id=id))
        with suppress(*TROUBLES):
            async with asyncio.timeout(_CANCEL_TIME):
                await session.send_request(cancel, types.CancelTaskResult)
        raise


async def _begin_task(session: ClientSession, request: types.CallToolRequest) -> types.Task:
    """Send the call and return the task that it began.

    The SDK admits a call's own result only: it refuses the answer, and its error has it.
    """
    try:
        return (await session.send_request(request, types.CreateTaskResult)).task
    except ValidationError as error:
        answer = error.errors(include_url=False)[0]["input"]
        if not (isinstance(answer, dict) and "task" in answer):
            raise
        return types.CreateTaskResult.model_validate(answer, by_name=False).task


async def _wait_for_end(
    session: ClientSession, task: "types.Task | types.GetTaskResult", report: Callable[[str], None]
) -> None:
    """Ask about a task until it ended, or until it needs an answer: that comes while its result is fetched."""
    while task.status == "working":
        await asyncio.sleep(min(task.poll_interval / 1000 if task.poll_interval else _POLL, _LONGEST_POLL))
        params = types.GetTaskRequestParams(task_id=task.task_id)
        task = await session.send_request(types.GetTaskRequest(params=params), types.GetTaskResult)
        report(plain_text(task.status_message or task.status, 300))
