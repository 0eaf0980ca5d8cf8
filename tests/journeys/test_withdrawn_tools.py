"""A rule that denies a tool whatever it is asked for takes it out of what the model is offered."""

import pytest

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.tasks.recording import read_recording

DONE = Turn(text="done")
CALLS = Turn(calls=(Call("execute_command", {"command": "touch made"}), Call("web_fetch", {"url": "http://127.0.0.1"})))


def rule(conditions):
    return f'[[rule]]\ndecision = "deny"\nname = "mine"\n{conditions}\n'


def offered(record):
    return [{tool.name for tool in request.tools} for request in read_recording(record).requests.values()]


async def test_a_tool_that_a_rule_denies_is_not_offered_and_not_run_whatever_the_mode(journey, tmp_path):
    policy = journey.home.root / "policy.toml"
    policy.write_text(rule('reason = "no shell here"\ntools = ["execute_command", "web_*"]'))
    record, client = tmp_path / "recording", journey.client([CALLS, DONE, DONE])
    await journey.open(client, TaskOptions(record=record, approval_mode=ApprovalMode.YOLO))
    await journey.prompt(client)
    policy.unlink()
    await journey.prompt(client)
    await client.close()
    before, then, after = offered(record)
    assert before == then == after - {"execute_command", "web_fetch"}
    assert "execute_command" in after
    assert "read_file" in before
    results = [event.result.text for event in journey.logged if isinstance(event, ev.ToolCallEnded)]
    assert len(results) == 2
    assert all("mine" in result for result in results)
    assert not (journey.workspace / "made").exists()


@pytest.mark.parametrize(
    "more", ['kinds = ["execute"]', 'modes = ["plan"]', 'argv = ["rm"]', 'paths = ["*.lock"]', 'agent = "other"']
)
async def test_a_rule_with_further_conditions_leaves_the_tool_on_offer(journey, tmp_path, more):
    (journey.home.root / "policy.toml").write_text(rule(f'tools = ["execute_command"]\n{more}'))
    record, client = tmp_path / "recording", journey.client([DONE])
    await journey.open(client, TaskOptions(record=record))
    await journey.prompt(client)
    await client.close()
    assert all("execute_command" in names for names in offered(record))


async def test_a_rule_for_another_folder_leaves_the_tool_on_offer(journey, tmp_path):
    place = tmp_path / "elsewhere"
    (journey.home.root / "policy.toml").write_text(rule(f'tools = ["execute_command"]\nworkspace = "{place}"'))
    record, client = tmp_path / "recording", journey.client([DONE])
    await journey.open(client, TaskOptions(record=record))
    await journey.prompt(client)
    await client.close()
    assert all("execute_command" in names for names in offered(record))
