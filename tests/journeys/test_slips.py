import pytest

from halocline.controller.assembly import Assembly
from halocline.controller.client import Client
from halocline.controller.controller import Controller, TaskOptions
from halocline.protocol import events as ev
from halocline.store.settings import Settings
from halocline.surfaces.cli.output import final_text
from halocline.testing.model_server import Call, ModelServer, Turn

ESCAPED, PLAIN = "if (a &lt; b &amp;&amp; c) {}\n", "if (a < b && c) {}\n"
WRITES = Turn(calls=(Call("write_to_file", {"file_path": "a.ts", "content": ESCAPED}),))
FINISHES = Turn(calls=(Call("attempt_completion", {"response": "All good."}),))


async def play(journey, model):
    async with ModelServer([WRITES, FINISHES]) as server:
        settings = Settings(base_url=server.url("openai"))
        client = Client(Controller(Assembly(journey.home, settings, {})), "test")
        options = TaskOptions(model=model, approval_mode=ev.ApprovalMode.YOLO)
        await journey.run(client=client, options=options)
    return server.requests


@pytest.mark.parametrize(("model", "written"), [("deepseek/deepseek-chat", PLAIN), ("deepseek/other", ESCAPED)])
async def test_the_file_is_mended_for_a_listed_family_alone(journey, model, written):
    await play(journey, model)
    assert (journey.workspace / "a.ts").read_text() == written


async def test_the_log_and_the_next_request_hold_what_the_model_said(journey):
    requests = await play(journey, "deepseek/deepseek-chat")
    said = next(event for event in journey.logged if isinstance(event, ev.AssistantMessageCompleted))
    assert said.message.tool_calls[0].arguments == {"file_path": "a.ts", "content": ESCAPED}
    assert b"&lt;" in requests[1].raw


async def test_a_report_under_another_name_is_the_answer(journey):
    await play(journey, "deepseek/deepseek-chat")
    assert final_text(journey.state) == "All good."
