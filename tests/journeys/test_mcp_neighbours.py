"""Tools, results and calls of servers in forms that no one reported yet: the rows stand in `neighbours.json`.

Each class is one server: a bad element must cost itself, so the others of its server are judged beside it.
"""

import json
import os
import sys
from base64 import b64encode
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image as Drawing
from tests.journeys.conftest import Journey
from tests.journeys.test_mcp_public import judge_tools
from tests.tables import Failures

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.providers.scripted.model import Call, Turn
from halocline.store.settings.sections import McpSettings

pytestmark = [pytest.mark.slow, pytest.mark.process]
HERE = Path(__file__).parent.parent / "mcp"
ROWS = json.loads((HERE / "neighbours.json").read_text(encoding="utf-8"))
PLAIN = {"type": "object", "properties": {}}


def encode_picture(row):
    if "data" in row:
        return b64encode(row["data"].encode()).decode()
    out = BytesIO()
    Drawing.new("P" if row["form"] == "GIF" else "RGB", (6, 4)).save(out, row["form"])
    encoded = b64encode(out.getvalue()).decode()
    match row.get("how"):
        case "lines":
            return "\n".join(encoded[at : at + 20] for at in range(0, len(encoded), 20))
        case "head":
            return f"data:image/png;base64,{encoded}"
        case "unpadded":
            return encoded.rstrip("=")
        case "cut":
            return b64encode(out.getvalue()[:-8]).decode()
    return encoded


async def play(journey: Journey, told, *calls):
    """Run a task that makes these calls of a server, all of them in one reply."""
    (journey.workspace.parent / "told.json").write_text(json.dumps(told))
    words = [str(HERE / "told_server.py"), str(journey.workspace.parent / "told.json")]
    journey.env = {"HOME": str(journey.workspace.parent / "person"), "PATH": os.environ["PATH"]}
    journey.home.mcp.write_text(json.dumps({"mcpServers": {"s": {"command": sys.executable, "args": words}}}))
    made = [Turn(calls=(Call(f"s__{name}", given, id=f"c{at}"),)) for at, (name, given) in enumerate(calls)]
    await journey.run(*made, Turn(text="done"), mcp=McpSettings(wait=30, share=1))
    return [event.result for event in journey.of(ev.ToolCallEnded)]


async def test_every_vendor_takes_the_tools_of_a_server_with_odd_schemas(journey):
    tools = [{"name": f"t{at}", "inputSchema": schema} for at, schema in enumerate(ROWS["schemas"].values())]
    await play(journey, {"tools": tools})
    (server,) = journey.state.mcp.servers
    assert [tool.tool for tool in server.tools] == [tool["name"] for tool in tools]
    assert list(judge_tools([server])) == []


async def test_a_bad_tool_costs_itself(journey):
    await play(journey, {"tools": [row["tool"] for row in ROWS["tools"]]})
    (server,) = journey.state.mcp.servers
    kept = [row["tool"]["name"] for row in ROWS["tools"] if row["kept"]]
    assert [tool.tool for tool in server.tools] == kept
    assert list(judge_tools([server])) == []
    told = " ".join(event.text for event in journey.of(ev.Noticed))
    assert all(name in told for name in ("t1", "t2", "number 4", "number 13"))


async def test_a_bad_part_of_a_result_costs_itself(journey):
    rows = ROWS["results"]
    tools = [{"name": f"t{at}", "inputSchema": PLAIN} for at in range(len(rows))]
    told = {"tools": tools, "results": {f"t{at}": row["result"] for at, row in enumerate(rows)}}
    results = await play(journey, told, *((tool["name"], {}) for tool in tools))
    failures = Failures(len(rows))
    for row, result, ended in zip(rows, results, journey.of(ev.ToolCallEnded), strict=True):
        with failures.collect(row["of"]):
            assert ended.status is CallStatus.COMPLETED, result.text
            assert all(words in result.text for words in row["reads"]), result.text
    failures.show()


async def test_a_picture_is_what_it_is_or_a_line_of_text(journey):
    rows = ROWS["pictures"]
    tools = [{"name": f"t{at}", "inputSchema": PLAIN} for at in range(len(rows))]
    parts = [{"type": "image", "mimeType": row["type"], "data": encode_picture(row)} for row in rows]
    told = {"tools": tools, "results": {f"t{at}": {"content": [part]} for at, part in enumerate(parts)}}
    results = await play(journey, told, *((tool["name"], {}) for tool in tools))
    failures = Failures(len(rows))
    for row, result in zip(rows, results, strict=True):
        with failures.collect(row["of"]):
            assert (f"[an image, {row['is']}, stored as" in result.text) is bool(row["is"]), result.text
    failures.show()


async def test_a_call_is_fitted_to_its_schema(journey):
    rows = ROWS["calls"]
    tools = [
        {"name": f"t{at}", "inputSchema": {"type": "object", "properties": {"v": row["schema"]}, "required": ["v"]}}
        for at, row in enumerate(rows)
    ]
    results = await play(journey, {"tools": tools}, *((f"t{at}", {"v": row["given"]}) for at, row in enumerate(rows)))
    failures = Failures(len(rows))
    for row, result in zip(rows, results, strict=True):
        with failures.collect(row["of"]):
            sent = json.loads(result.text)["v"]
            assert (sent, type(sent)) == (row["sent"], type(row["sent"]))
    failures.show()
