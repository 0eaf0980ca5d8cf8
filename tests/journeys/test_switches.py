"""Approval switches that a person sets in a task: they hold from the next decision on, and pass no floor."""

import pytest
from tests.journeys.test_jobs import shell

from halocline.policy.presets import AutoApprove
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, Choice, Mode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.services.policy.approval_switches import SWITCH_MEANINGS

DONE = Turn(text="done")
ASK = TaskOptions(approval_mode=ApprovalMode.ASK, attended=True)
EDIT = ApprovalSwitch.EDIT


def touch(id):
    return Turn(calls=(shell("touch made", id),))


def write(id, path="made.txt"):
    return Turn(calls=(Call("write_to_file", {"path": path, "content": "x\n"}, id=id),))


def allow(journey):
    def answer(event):
        if not isinstance(event, ev.ApprovalRequested):
            return None
        return cmd.ResolveApproval(task=journey.task, request=event.request, decision=Choice.ALLOW_ONCE)

    return answer


def flip(client, journey, switch, on):
    return client.send(cmd.SetApprovalSwitch(task=journey.task, switch=switch, on=on))


async def asked_after(journey, client, *flips):
    """The names of the calls that are asked about in one turn, after these switches were set."""
    for switch, on in flips:
        flip(client, journey, switch, on)
    await journey.prompt(client, answer=allow(journey))
    return [event.name for event in journey.of(ev.ApprovalRequested)]


async def test_a_switch_holds_from_the_next_call_on_and_back(journey):
    turns = [turn for id in ("c1", "c2", "c3", "c4") for turn in (write(id, f"{id}.txt"), DONE)]
    client = journey.client(turns)
    await journey.open(client, ASK)
    assert await asked_after(journey, client) == ["write_to_file"]
    assert await asked_after(journey, client, (EDIT, True)) == []
    assert journey.of(ev.ToolCallStarted)[0].rule == "auto_approve.edit"
    assert await asked_after(journey, client, (EDIT, False)) == ["write_to_file"]
    assert await asked_after(journey, client, (EDIT, None)) == ["write_to_file"]
    assert journey.of(ev.ApprovalRequested)[0].rule == "mode-ask"
    await client.close()
    changes = [event for event in journey.logged if isinstance(event, ev.ApprovalSwitched)]
    assert [(event.switch, event.on, event.client) for event in changes] == [
        (EDIT, True, "test"),
        (EDIT, False, "test"),
        (EDIT, None, "test"),
    ]


async def test_a_switch_that_is_set_while_a_turn_runs_holds_for_its_next_call(journey):
    client = journey.client([write("c1", "a"), write("c2", "b"), DONE])
    await journey.open(client, ASK)

    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            flip(client, journey, EDIT, True)
        return allow(journey)(event)

    await journey.prompt(client, answer=answer)
    await client.close()
    assert [event.call for event in journey.of(ev.ApprovalRequested)] == ["c1"]


async def test_a_switch_stands_in_the_place_of_what_the_settings_say(journey):
    client = journey.client([write("c1"), DONE, write("c2"), DONE], auto_approve=AutoApprove(edit=True))
    await journey.open(client, ASK)
    assert await asked_after(journey, client) == []
    assert await asked_after(journey, client, (EDIT, None)) == ["write_to_file"]
    await client.close()


async def test_a_switch_holds_in_a_task_that_is_resumed_and_not_in_a_new_one(journey):
    client = journey.client([DONE])
    await journey.open(client, ASK)
    flip(client, journey, EDIT, True)
    await journey.prompt(client)
    await client.close()
    client = journey.client([write("c1"), DONE, write("c2"), DONE])
    await journey.open(client, ASK, resume=journey.task)
    assert await asked_after(journey, client) == []
    await journey.open(client, ASK)
    assert await asked_after(journey, client) == ["write_to_file"]
    await client.close()


@pytest.mark.parametrize("mode", [ApprovalMode.AUTO, ApprovalMode.YOLO])
async def test_a_switch_that_is_off_asks_in_every_mode(journey, mode):
    client = journey.client([write("c1"), touch("c2"), DONE])
    await journey.open(client, TaskOptions(approval_mode=mode, attended=True))
    off = ((EDIT, False), (ApprovalSwitch.ALL_COMMANDS, False))
    assert await asked_after(journey, client, *off) == ["write_to_file", "execute_command"]
    await client.close()


def everything_on(client, journey):
    for switch in ApprovalSwitch:
        flip(client, journey, switch, True)


async def test_no_switch_passes_plan_mode(journey):
    client = journey.client([write("c1"), touch("c2"), DONE])
    await journey.open(client, TaskOptions(mode=Mode.PLAN, attended=True))
    everything_on(client, journey)
    await journey.prompt(client)
    await client.close()
    assert [end for _, end in journey.ends] == ["rejected", "rejected"]


@pytest.mark.parametrize(
    "command", ["rm -rf {home}", "echo x > {home}/settings.toml", "cat {home}/settings.toml", "cat hidden.txt"]
)
async def test_no_switch_passes_a_floor(journey, command):
    journey.write(".haloclineignore", "hidden.txt\n")
    journey.write("hidden.txt", "x")
    client = journey.client([Turn(calls=(shell(command.format(home=journey.home.root), "c1"),)), DONE])
    await journey.open(client, ASK)
    everything_on(client, journey)
    await journey.prompt(client)
    await client.close()
    assert journey.ends == [("c1", "rejected")]


async def test_a_rule_that_denies_holds_whatever_its_name_is(journey):
    journey.home.policy.parent.mkdir(parents=True, exist_ok=True)
    journey.home.policy.write_text('[[rule]]\nname = "auto_approve.edit"\ndecision = "deny"\npaths = ["made.txt"]\n')
    client = journey.client([write("c1"), DONE])
    await journey.open(client, ASK)
    everything_on(client, journey)
    await journey.prompt(client)
    await client.close()
    assert journey.ends == [("c1", "rejected")]


async def test_secrets_are_asked_about_whatever_is_switched_on(journey):
    journey.write(".env", "KEY=1")
    client = journey.client([Turn(calls=(Call("read_file", {"path": ".env"}, id="c1"),)), DONE])
    await journey.open(client, ASK)
    everything_on(client, journey)
    assert await asked_after(journey, client) == ["read_file"]
    await client.close()


async def test_the_same_switch_twice_is_one_event(journey):
    client = journey.client([DONE])
    await journey.open(client, ASK)
    flip(client, journey, EDIT, True)
    flip(client, journey, EDIT, True)
    await journey.prompt(client)
    await client.close()
    assert len([event for event in journey.logged if isinstance(event, ev.ApprovalSwitched)]) == 1


def test_every_switch_of_the_settings_can_be_set_in_a_task_and_is_explained():
    assert [*AutoApprove.__struct_fields__] == [switch.value for switch in ApprovalSwitch] == [*SWITCH_MEANINGS]
