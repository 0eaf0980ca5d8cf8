"""Commands that go on, through whole tasks: started, used, read, left, lost."""

import asyncio
import os
import signal
import sys

from tests.hosts.test_processes import linux, pid_in, runs
from tests.journeys.soundness import assert_sound
from tests.journeys.test_crashes import halo

from halocline.protocol import codec, commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice
from halocline.providers.scripted.model import Call, Turn
from halocline.providers.scripted.script import load_script
from halocline.runtime.controller import TaskOptions

DONE = Turn(text="done")
SERVER = """
import http.server, sys
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(f"Serving on http://localhost:{server.server_port}", flush=True)
open("port", "w").write(str(server.server_port))
server.serve_forever()
"""
FETCH = (
    "import urllib.request as u; print(u.urlopen(f'http://127.0.0.1:{open(\"port\").read()}/hello').read().decode())"
)


def shell(command, id, **more):
    return Call("execute_command", {"command": command, "requires_approval": False, **more}, id=id)


def job(id, **arguments):
    return Call("job", arguments, id=id)


async def test_a_server_is_started_used_read_and_stopped(journey):
    journey.write("serve.py", SERVER)
    journey.write("fetch.py", FETCH)
    journey.write("hello", "world")
    await journey.run(
        Turn(calls=(shell(f"{sys.executable} serve.py", "c1", background=True),)),
        Turn(calls=(shell(f"{sys.executable} fetch.py", "c2"),), expect="still running as job-1"),
        Turn(calls=(job("c3", action="stop", job="job-1"),), expect="GET /hello"),
        Turn(text="done", expect="[job-1: stopped (on request)"),
    )
    assert "world\n[exit code 0" in journey.results[1]
    facts = [event for event in journey.logged if isinstance(event, ev.JobStarted | ev.JobEnded | ev.JobsReported)]
    assert [type(fact).__name__ for fact in facts] == ["JobStarted", "JobsReported", "JobEnded"]
    assert journey.state.jobs.running == ()
    assert_sound(journey.logged)


async def test_the_model_hears_of_an_end_before_its_next_request(journey):
    os.mkfifo(journey.workspace / "gate")
    await journey.run(
        Turn(calls=(shell("echo ready; read x < gate; echo over; exit 3", "c1", background=True),)),
        Turn(calls=(shell("echo go > gate", "c2"), job("c3", action="list"), shell("sleep 0.3", "c4"))),
        Turn(text="I see", expect="job-1 (echo ready; read x < gate; echo over; exit 3): ended with exit code 3"),
    )
    (ended,) = journey.of(ev.JobEnded)
    assert (ended.exit_code, ended.stopped) == (3, "")


async def test_a_person_lets_a_running_command_go_on(journey):
    def answer(event):
        return cmd.LeaveRunning(task=journey.task) if isinstance(event, ev.ToolCallProgressed) else None

    await journey.run(
        Turn(calls=(shell("echo working; sleep 60", "c1"),)),
        Turn(text="done", expect="the user moved it to the background; still running as job-1"),
        options=TaskOptions(approval_mode=ApprovalMode.YOLO, attended=True),
        answer=answer,
    )
    assert journey.results == ["working\n[the user moved it to the background; still running as job-1]"]
    (ended,) = [event for event in journey.logged if isinstance(event, ev.JobEnded)]
    assert ended.stopped == "the task was closed"


async def test_a_person_stops_a_job(journey):
    client = journey.client([Turn(calls=(shell("echo ready; sleep 60", "c1", background=True),)), DONE, DONE])
    await journey.open(client)
    await journey.prompt(client)
    assert [info.name for info in client.jobs(journey.task)] == ["job-1"]
    assert not client.send(cmd.StopJob(task=journey.task, job="job-9"))
    assert client.send(cmd.StopJob(task=journey.task, job="job-1"))
    async with asyncio.timeout(20):
        while client.state(journey.task).jobs.running:
            await asyncio.sleep(0.01)
    await journey.prompt(client)
    await client.close()
    told = [event.content[0].text for event in journey.logged if isinstance(event, ev.JobsReported)]
    assert len(told) == 1
    assert "stopped (on request)" in told[0]


async def test_an_interrupt_leaves_jobs_alone(journey):
    calls = (shell("echo ready; sleep 60", "c1", background=True), shell("echo here; sleep 61", "c2"))
    client = journey.client([Turn(calls=calls), DONE])

    def answer(event):
        ours = isinstance(event, ev.ToolCallProgressed) and event.call == "c2"
        return cmd.Interrupt(task=journey.task) if ours else None

    await journey.open(client)
    await journey.prompt(client, answer=answer)
    assert [info.exit_code for info in client.jobs(journey.task)] == [None]
    await client.close()


async def test_the_folder_of_the_shell_stands_in_the_approval(journey):
    def answer(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ALWAYS)
        return None

    journey.write("sub/file", "")
    texts = ("cd sub; export A=1", "touch a", "cd ..", "touch a")
    await journey.run(
        Turn(calls=tuple(shell(text, f"c{number}") for number, text in enumerate(texts))),
        DONE,
        answer=answer,
        options=TaskOptions(approval_mode=ApprovalMode.ASK, attended=True),
    )
    assert [(asked.detail, asked.place) for asked in journey.of(ev.ApprovalRequested)] == [
        ("cd sub; export A=1", ""),
        ("touch a", "sub"),
        ("touch a", ""),
    ]
    assert [moved.cwd for moved in journey.of(ev.ShellMoved)] == [str(journey.workspace / "sub"), ""]


@linux
async def test_a_killed_halo_takes_everything_along_and_the_resumed_task_says_so(journey, tmp_path):
    script = tmp_path / "script.toml"
    background = "mkdir sub; echo $$ > job; echo ready; setsid sh -c 'echo $$ > daemon; exec sleep 1000' & wait"
    script.write_text(
        f"""
[[turn]]
[[turn.call]]
tool = "execute_command"
arguments = {{ command = "mkdir sub; cd sub; export COLOUR=red" }}
[[turn.call]]
tool = "execute_command"
arguments = {{ command = "{background}", background = true }}
[[turn.call]]
tool = "execute_command"
arguments = {{ command = "echo $$ > running; sleep 1000" }}
[[turn]]
text = "I see."
expect = "job-1 ({background[:40]}"
"""
    )
    process = await asyncio.to_thread(halo, journey, script, "go")
    pids = [await pid_in(journey.workspace / "sub" / name) for name in ("job", "daemon", "running")]
    process.send_signal(signal.SIGKILL)
    await asyncio.to_thread(process.wait)
    async with asyncio.timeout(10):
        while any(map(runs, pids)):
            await asyncio.sleep(0.02)
    (log,) = journey.home.tasks.glob(f"*/{codec.LOG_NAME}")
    journey.task = log.parent.name
    await journey.run(resume=journey.task, prompt="Go on.", client=journey.client(load_script(script).turns))
    (told,) = [event for event in journey.logged if isinstance(event, ev.JobsReported)]
    assert "is gone: it ended when Halocline was closed." in told.content[0].text
    assert "Commands start in the workspace again" in told.content[0].text
    assert "COLOUR" in told.content[0].text
    assert journey.state.jobs.running == ()
    assert journey.state.host.shell.cwd == ""
    assert_sound(journey.logged)


async def test_a_task_that_is_opened_again_hears_what_its_end_took_along_and_uses_new_names(journey):
    start = Turn(calls=(shell("cd ..; echo ready; sleep 60", "c1", background=True), shell("cd ..", "c2")))
    script = (start, DONE, Turn(calls=start.calls[:1], expect="job-1 (cd ..; echo ready; sleep 60): stopped"), DONE)
    await journey.run(*script)
    await journey.run(*script, resume=journey.task)
    assert [event.job for event in journey.logged if isinstance(event, ev.JobStarted)] == ["job-1", "job-2"]
    assert "Commands start in the workspace again" in journey.of(ev.JobsReported)[0].content[0].text
