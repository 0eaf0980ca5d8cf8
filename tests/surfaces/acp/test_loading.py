import base64
from pathlib import Path
from typing import Any

import pytest
from acp import schema
from tests.servers.model_server import ModelServer
from tests.surfaces.acp.editor import Editor, begin, connect, prompt

from halocline.protocol import events as ev
from halocline.protocol.messages import Usage
from halocline.providers.scripted.script import Call, Turn
from halocline.surfaces.acp.updates import Updates

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
TURNS = [
    Turn(
        calls=(
            Call("read_file", {"path": "dot.png"}),
            Call("update_todos", {"todos": [{"text": "Look", "status": "completed"}, {"text": "Think"}]}),
        )
    ),
    Turn(text="Seen."),
    Turn(text="Again."),
]


def blocks_of(editor: Editor, kind: type) -> list[Any]:
    return [one.content for one in editor.of(kind)]


@pytest.mark.process
async def test_a_loaded_session_brings_back_images_files_the_plan_and_the_usage(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "dot.png").write_bytes(base64.b64decode(PIXEL))
    text = schema.TextResourceContents(uri=f"file://{folder}/open.py", text="print(1)\nprint(2)")
    blocks = [
        schema.TextContentBlock(text="Look", type="text"),
        schema.ImageContentBlock(data=PIXEL, mime_type="image/png", type="image"),
        schema.EmbeddedResourceContentBlock(resource=text, type="resource"),
    ]
    first, second = Editor(), Editor()
    async with ModelServer(TURNS) as server:
        flags = ("-m", "openai/gpt-5", "--base-url", server.url("openai"))
        async with connect(first, tmp_path, *flags) as connection:
            _, session = await begin(connection, folder)
            await connection.prompt(session_id=session.session_id, prompt=blocks)
        async with connect(second, tmp_path, *flags) as connection:
            await connection.initialize(1, schema.ClientCapabilities())
            await connection.load_session(cwd=str(folder), session_id=session.session_id, mcp_servers=[])
            loaded = [*second.updates]
            await connection.prompt(session_id=session.session_id, prompt=prompt("again"))
    sent = blocks_of(second, schema.UserMessageChunk)
    assert [one.type for one in sent] == ["text", "image", "resource"]
    assert (sent[1].data, sent[2].resource.text) == (PIXEL, text.text)
    shown = [part.content for one in second.of(schema.ToolCallProgress) for part in one.content or ()]
    assert [one.data for one in shown if one.type == "image"] == [PIXEL]
    (plan,) = second.of(schema.AgentPlanUpdate)
    assert [(one.content, one.status) for one in plan.entries] == [("Look", "completed"), ("Think", "pending")]
    told = first.of(schema.UsageUpdate)[-1]
    usage = [one for one in loaded if not isinstance(one, schema.AvailableCommandsUpdate)][-1]
    assert (usage.used, usage.size, usage.cost) == (told.used, told.size, told.cost)


def test_the_cost_of_a_session_goes_on_from_that_of_the_task() -> None:
    updates = Updates("/", lambda blob: None, cost=1.0)
    (usage,) = updates.of(ev.UsageReported(usage=Usage(input=10, output=1), cost=0.5, window=100))
    assert isinstance(usage, schema.UsageUpdate)
    assert usage.cost is not None
    assert usage.cost.amount == 1.5
