"""Public MCP servers in whole tasks, over pipes, streamable HTTP and SSE: each is killed in the middle of its task."""

import asyncio
import json
import subprocess

import openpyxl
import pytest
from tests.context.test_tool_schemas import wire
from tests.context.vendor_rules import VENDORS
from tests.mcp.public import SERVERS, Running
from tests.mcp.set_up import MISSING, program, search_path

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.sections import McpSettings
from halocline.tools.mcp_tool import spec_of

pytestmark = [pytest.mark.slow, pytest.mark.process]
ALONE = TaskOptions(approval_mode=ApprovalMode.YOLO)
PATIENT = McpSettings(wait=60, share=1)
KUBECONFIG = """{apiVersion: v1, kind: Config, current-context: near,
 clusters: [{name: near, cluster: {server: "http://127.0.0.1:9"}}], users: [{name: me, user: {token: x}}],
 contexts: [{name: near, context: {cluster: near, user: me}}]}"""


@pytest.fixture(params=SERVERS)
async def running(journey, request, tmp_path):
    """A public server beside a workspace that has what its calls read."""
    if program(SERVERS[request.param].words[0]) is None:
        pytest.skip(MISSING)
    home = tmp_path / "person"
    home.mkdir()
    journey.longest = 120
    journey.env = {"HOME": str(home), "PATH": search_path()}
    journey.write("kube.yaml", KUBECONFIG)
    book = openpyxl.Workbook()
    book.active.title = "One"
    book.save(journey.workspace / "a.xlsx")
    git = ["git", "-C", str(journey.workspace), "-c", "user.name=A", "-c", "user.email=a@b"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "a first commit"], check=True)
    running = Running(SERVERS[request.param], journey.workspace, home)
    journey.home.mcp.write_text(json.dumps({"mcpServers": {"one": running.entry}}))
    await running.start()
    yield running
    await running.end()


async def test_a_public_server_serves_a_task_that_goes_on_after_it_was_killed(journey, running):
    def call(at, tool, arguments):
        return Turn(calls=(Call(f"one__{tool}", json.loads(running.fill(json.dumps(arguments))), id=f"c{at}"),))

    starting = []

    def kill(event):
        if isinstance(event, ev.ToolCallStarted) and event.call == "c3":
            running.kill()
            starting.append(asyncio.ensure_future(running.start()))

    wait = Turn(calls=(Call("execute_command", {"command": running.wait_command}, id="w"),))
    asked = [call(at, tool, arguments) for at, (tool, arguments, _) in enumerate(running.server.calls)]
    second = running.server.calls[1]
    later = [call(at, *second[:2]) for at in (4, 5)]  # the first may meet a start that began before the server was back
    turns = [wait, *asked, call(3, *second[:2]), wait, *later, Turn(text="done")]
    await journey.run(*turns, answer=kill, options=ALONE, mcp=PATIENT)
    await asyncio.gather(*starting)
    ends = dict(journey.ends)
    assert [ends[f"c{at}"] for at in (0, 1, 2, 5)] == ["completed", "completed", "failed", "completed"]
    for (_, _, words), result in zip(running.server.calls, journey.results[1:], strict=False):
        assert words in result
    assert [event.reason for event in journey.of(ev.TurnEnded)] == [StopReason.END_TURN]
    assert list(judge_tools(journey.state.mcp.servers)) == []


def judge_tools(servers):
    """Yield what vendors would refuse in the tools on offer."""
    for tool in (tool for server in servers for tool in server.tools):
        for vendor, sent in wire(spec_of(tool)).items():
            yield from VENDORS[vendor.split()[0]].faults(*sent)
