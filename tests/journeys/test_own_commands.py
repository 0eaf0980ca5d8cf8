"""Commands of the person (`!`), through whole tasks: beside turns, stopped, left, lost, and told to the model."""

import asyncio
import os
import signal
import sys

import pytest
from tests.hosts.test_processes import linux
from tests.journeys.soundness import assert_sound
from tests.journeys.test_jobs import DONE, shell

from halocline.context.notes.user_shell import HEAD, LEFT_OUT, own_commands_note
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.providers.scripted.model import Turn
from halocline.runtime.controller import TaskOptions
from halocline.task.log import LogUnwritable

ASKING = TaskOptions(approval_mode=ApprovalMode.ASK, mode=Mode.PLAN, attended=True)


async def ended(client, task, count=1):
    """The ends of so many commands of the person."""
    found = []
    async with asyncio.timeout(20):
        async for event in client.events(task):
            found += [event] if isinstance(event, ev.OwnCommandEnded) else []
            if len(found) == count:
                break
    return found


async def printed(client, task, text):
    async with asyncio.timeout(20):
        async for event in client.events(task):
            if isinstance(event, ev.ToolCallProgressed) and text in event.text:
                return


async def test_a_command_of_the_person_begins_no_turn_and_the_model_hears_of_it_with_the_next_prompt(journey):
    client = journey.client([Turn(text="I see", expect=HEAD)])
    await journey.open(client, ASKING)
    assert client.send(cmd.RunCommand(task=journey.task, command=" echo hello; exit 3 "))
    (end,) = await ended(client, journey.task)
    assert (end.output, end.exit_code) == ("hello\n", 3)
    assert client.state(journey.task).title == "!echo hello; exit 3"
    await journey.prompt(client, after=0)
    await client.close()
    assert [kind for kind in journey.kinds if kind not in ("ToolsOffered", "CheckpointTaken")] == [
        "TaskStarted",
        "OwnCommandStarted",
        "OwnCommandEnded",
        "TurnStarted",
        "OwnCommandsReported",
        "StepStarted",
        "UsageReported",
        "AssistantMessageCompleted",
        "TurnEnded",
    ]
    (told,) = journey.of(ev.OwnCommandsReported)
    assert told.content[0].text.startswith(f"{HEAD}\n\n$ echo hello; exit 3\nhello\n[exit code 3 in ")
    assert journey.state.user_commands.unreported == ()
    assert_sound(journey.logged)


@linux
async def test_a_command_whose_end_cannot_be_written_ends_the_task_with_the_reason(journey):
    client = journey.client([])
    await journey.open(client)
    client.send(cmd.RunCommand(task=journey.task, command="sleep 0.2"))
    with open("/dev/full", "wb", buffering=0) as full:
        os.dup2(full.fileno(), client._controller.stream(journey.task)._file)
    async with asyncio.timeout(20):
        async for _ in client.events(journey.task):
            pass
    assert isinstance(await client.ended(journey.task), LogUnwritable)
    assert not client.is_open(journey.task)
    await client.close()


async def test_the_folder_passes_from_the_person_to_the_model(journey):
    journey.write("inside/file", "")
    client = journey.client([Turn(calls=(shell("ls", "c1"),)), DONE])
    await journey.open(client)
    client.send(cmd.RunCommand(task=journey.task, command="cd inside"))
    await ended(client, journey.task)
    assert client.state(journey.task).host.shell.cwd == str(journey.workspace / "inside")
    await journey.prompt(client, after=0)
    await client.close()
    assert journey.results[0].startswith("file\n[exit code 0")


async def test_while_a_turn_runs_it_runs_beside_it_and_is_heard_before_the_next_request(journey):
    os.mkfifo(journey.workspace / "gate")
    client = journey.client([Turn(calls=(shell("echo ready; read x < gate", "c1"),)), Turn(text="ok", expect="[exit")])

    def answer(event):
        if isinstance(event, ev.OwnCommandEnded):
            (journey.workspace / "gate").write_text("go\n")
        ready = isinstance(event, ev.ToolCallProgressed) and event.call == "c1"
        return cmd.RunCommand(task=journey.task, command="echo sent") if ready else None

    await journey.open(client)
    await journey.prompt(client, answer=answer, after=0)
    await client.close()
    assert journey.kinds.index("OwnCommandStarted") < journey.kinds.index("ToolCallEnded")
    assert len(journey.of(ev.OwnCommandsReported)) == 1
    assert_sound(journey.logged)


async def test_one_is_stopped_and_another_goes_on_as_a_job(journey):
    client = journey.client([Turn(text="ok", expect="stopped after")])
    await journey.open(client)
    client.send(cmd.RunCommand(task=journey.task, command="echo first; sleep 60"))
    await printed(client, journey.task, "first")
    client.send(cmd.RunCommand(task=journey.task, command="echo second; sleep 61"))
    await printed(client, journey.task, "second")
    assert client.running(journey.task) == ("echo first; sleep 60", "echo second; sleep 61")
    assert client.send(cmd.StopCommand(task=journey.task, run="!1"))
    assert not client.send(cmd.StopCommand(task=journey.task, run="!9"))
    assert client.send(cmd.LeaveRunning(task=journey.task, run="!2"))
    ends = await ended(client, journey.task, 2)
    by_run = {end.run: end for end in ends}
    assert (by_run["!1"].output, by_run["!1"].stopped, by_run["!1"].exit_code) == ("first\n", True, None)
    assert (by_run["!2"].job, by_run["!2"].said) == ("job-1", "it continues as job-1")
    assert [(job.job, job.call) for job in client.state(journey.task).jobs.running] == [("job-1", "!2")]
    assert not client.send(cmd.StopCommand(task=journey.task, run="!1"))
    await journey.prompt(client)
    await client.close()


async def test_what_runs_when_the_task_is_closed_has_its_end(journey):
    client = journey.client([])
    await journey.open(client)
    client.send(cmd.RunCommand(task=journey.task, command="echo on; sleep 60"))
    await printed(client, journey.task, "on")
    await client.close()
    (end,) = [event for event in journey.logged if isinstance(event, ev.OwnCommandEnded)]
    assert (end.output, end.stopped) == ("on\n", True)


@linux
async def test_a_killed_halo_leaves_a_start_that_is_ended_when_the_task_is_taken_up(journey, tmp_path):
    program = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        "from halocline.runtime.task_options import Choices\n"
        "from halocline.client.tasks import open_client\n"
        "from halocline.runtime.controller import TaskOptions\n"
        "from halocline.protocol import commands as cmd, events as ev\n"
        "async def main():\n"
        "    client = open_client(Choices())\n"
        "    task = await client.start(Path(sys.argv[1]), TaskOptions(model='scripted/' + sys.argv[2]))\n"
        "    client.send(cmd.RunCommand(task=task, command='echo on; sleep 60'))\n"
        "    async for event in client.events(task):\n"
        "        if isinstance(event, ev.ToolCallProgressed):\n"
        "            print(task, flush=True)\n"
        "            await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    script = tmp_path / "script.toml"
    script.write_text('[[turn]]\ntext = "x"\n')
    env = {**os.environ, "HALOCLINE_HOME": str(journey.home.root)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, str(journey.workspace), str(script), env=env, stdout=asyncio.subprocess.PIPE
    )
    async with asyncio.timeout(20):
        task = (await process.stdout.readline()).decode().strip()
    process.send_signal(signal.SIGKILL)
    await process.wait()
    await journey.run(Turn(text="ok", expect="its process was killed"), resume=task)
    ends = journey.of(ev.OwnCommandEnded)
    assert [(end.stopped, end.said) for end in ends] == [(True, "its process was killed")]


async def test_keys_that_are_typed_or_printed_are_in_no_log(journey):
    key = "sk-ant-" + "api03-" + "Ab1" * 30
    client = journey.client([DONE])
    await journey.open(client)
    client.send(cmd.RunCommand(task=journey.task, command=f"echo {key}"))
    await ended(client, journey.task)
    await journey.prompt(client)
    await client.close()
    assert key not in journey.home.log(journey.task).read_text()


async def test_nothing_behind_the_exclamation_mark_is_a_mistake(journey):
    client = journey.client([])
    await journey.open(client)
    with pytest.raises(UsageError, match="no command"):
        client.send(cmd.RunCommand(task=journey.task, command="  "))
    await client.close()


def test_many_long_outputs_leave_room_for_the_newest():
    ends = [
        ev.OwnCommandEnded(run=f"!{at}", command=f"c{at}", output="x" * 20_000, said="exit code 0") for at in (1, 2)
    ]
    text = own_commands_note(ends).text
    assert text.count(LEFT_OUT) == 1
    assert text.index("$ c1") < text.index(LEFT_OUT) < text.index("$ c2")
    assert len(text) < 21_000
