"""What a task started tries to steer Halocline: by our own command line, begun in every way, and by the door."""

import asyncio
import os
import shlex
import sys
from pathlib import Path

import pytest
from tests.surfaces.cli.halo_process import HALO, Halo, call, shell, until_written
from tests.surfaces.cli.test_halo_attach import FOR_EVER, guest, writing

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch
from halocline.protocol.plan_approval import CHOICES
from halocline.surfaces.cli.command_table import COMMANDS

OURS = shlex.join(HALO)
DONE = {"text": "Done."}
REFUSED = "A Halocline task started this command"
BEGUN = {
    "as it is": "{}",
    "without its mark": "env -u HALOCLINE_COMMAND {}",
    "without any variable but two": "env -i PATH=$PATH HALOCLINE_HOME=$HALOCLINE_HOME HOME=$HOME {}",
    "in a session of its own": "setsid -w {}",
    "as a daemon that forked twice": "(setsid sh -c '({}) & exit' &) ; sleep 1.5",
    "by python": f'{sys.executable} -c "import os, sys; os.execv(sys.argv[1], sys.argv[1:])" {{}}',
    "by make": "printf 'all:\\n\\t{}\\n' > Makefile; make -s",
    "by a name that leads to it": "ln -sf {program} ./tool && ./tool {words}",
}
STEERING = ("trust add", "mcp add x -- true", "login openai --with-key --no-test", "run -p hello", "memory forget 1")
GUEST = """
import os, socket, time
time.sleep(1)  # the door opens a moment after the task
for door in [os.path.join(at, "door") for at, _, names in os.walk(os.environ["HALOCLINE_HOME"]) if "door" in names]:
    heard = b""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(door)
        line.settimeout(5)
        try:
            line.sendall(b'{"name":"x","asks":true}\\n{"type":"set_policy","task":"","approval_mode":"yolo"}\\n')
            while part := line.recv(4096):
                heard += part
        except ConnectionError:
            pass
    with open("heard", "ab") as file:
        file.write(heard or b"nothing;")
"""


async def tried(halo: Halo, *commands: str) -> str:
    """What the commands print that a model runs where nothing is asked, as a file that the gate does not look into."""
    (halo.folder / "try.sh").write_text("".join(f"({command}) >> out 2>&1 < /dev/null\n" for command in commands))
    done = await halo.run("run", "-p", "-y", "-m", halo.script({"call": [shell("sh try.sh")]}, DONE), "go")
    assert done.code == 0, done.err
    return (halo.folder / "out").read_text()


def begun(how: str, words: str) -> str:
    program = Path(sys.executable).with_name("halo")
    return BEGUN[how].format(f"{OURS} {words}", program=program, words=words)


@pytest.mark.parametrize("how", BEGUN)
async def test_our_command_line_refuses_what_a_task_started_however_it_was_begun(halo: Halo, how: str) -> None:
    (halo.folder / ".halocline" / "hooks").mkdir(parents=True)
    said = await tried(halo, *(begun(how, words) for words in STEERING))
    assert said.count(REFUSED) == len(STEERING), said
    assert not (halo.home / "trust.json").exists()
    assert not (halo.home / "mcp.json").exists()
    assert len(halo.tasks) == 1


async def test_every_command_that_does_more_than_look_is_refused(halo: Halo) -> None:
    words = {
        "attach": "x",
        "checkpoints": "list",
        "doctor": "--connect",
        "export": "x",
        "fork": "x",
        "logout": "x",
        "hooks": "list --hooks-dir x",
        "mcp": "remove x",
        "models": "--refresh",
        "plugins": "install x",
        "policy": "audit x",
        "replay": "x",
        "send": "x hi",
        "rules": "new",
        "tasks": "list",
        "trust": "remove",
        "worktrees": "discard x",
    }
    said = await tried(halo, *(f"echo == {name}; {OURS} {name} {words.get(name, '')}" for name in COMMANDS))
    parts = dict(part.split("\n", 1) for part in said.split("== ")[1:])
    assert [*parts] == [*COMMANDS]
    look = [name for name, part in parts.items() if REFUSED not in part]
    assert look == ["schedule", "hooks", "completion", "docs"]


async def test_what_only_looks_answers(halo: Halo) -> None:
    said = await tried(
        halo,
        f"{OURS} --version",
        f"{OURS} policy explain ls",
        f"{OURS} trust list",
        f"{OURS} doctor",
        f"{OURS} rules list",
        f"{OURS} trust add --help",
    )
    assert REFUSED not in said
    assert "No trusted folders" in said


async def test_a_task_may_use_another_home(halo: Halo) -> None:
    other = halo.root / "other"
    said = await tried(halo, f"HALOCLINE_HOME={other} {OURS} trust add", "echo over")
    assert REFUSED not in said


async def test_the_door_lets_in_nothing_that_the_task_started(halo: Halo) -> None:
    (halo.folder / "guest.py").write_text(GUEST)
    ways = [f"{sys.executable} guest.py", f"env -i HALOCLINE_HOME={halo.home} setsid -w {sys.executable} guest.py"]
    calls = [{"call": [shell(f"{way}; mv heard heard.{number}")]} for number, way in enumerate(ways)]
    done = await halo.run(
        "run", "-p", "--output-format", "stream-json", "--approval-mode", "yolo", "-m", halo.script(*calls, DONE), "go"
    )
    assert [(halo.folder / f"heard.{number}").read_bytes() for number in range(len(ways))] == [b"nothing;"] * len(ways)
    assert done.err.count("Refused process") == len(ways)
    assert not [event for event in halo.log() if isinstance(event, ev.PolicyChanged)]


async def test_a_task_cannot_join_another_task_of_its_home(halo: Halo) -> None:
    (halo.folder / "guest.py").write_text(GUEST)
    async with writing(halo, "-y", "-m", halo.script(FOR_EVER, name="first")):
        first = halo.tasks[0]
        other = halo.script({"call": [shell(f"{sys.executable} guest.py")]}, DONE, name="second")
        done = await halo.run("run", "-p", "-y", "-m", other, "go")
        assert done.code == 0
        assert (halo.folder / "heard").read_bytes() == b"nothing;nothing;"
        assert not [event for event in halo.log(first) if isinstance(event, ev.PolicyChanged)]


async def test_a_guest_may_make_a_task_stricter_and_a_looser_mode_is_left_to_where_it_runs(halo: Halo) -> None:
    async with writing(halo, "--approval-mode", "auto", "-m", halo.script(FOR_EVER)) as writer:
        async with guest(halo, "ann") as ann:
            for mode in (ApprovalMode.YOLO, ApprovalMode.ASK, ApprovalMode.ACCEPT_EDITS):
                ann.send(cmd.SetPolicy, approval_mode=mode)
            ann.send(cmd.Label, name="x")
            await ann.until(ev.TaskLabelled)
            said = [event.text for event in ann.seen if isinstance(event, ev.Noticed)]
        changes = [event for event in halo.log() if isinstance(event, ev.PolicyChanged)]
        assert [(event.approval_mode, event.client) for event in changes] == [("ask", f"ann {os.getpid()}")]
        assert sum(f"process {writer.pid} shows your request" in one for one in said) == 2
        assert sum("asks for the approval mode" in one for one in said) == 2


async def test_a_guest_cannot_loosen_approvals_by_the_answer_to_a_plan(halo: Halo) -> None:
    plan = call("plan_mode_respond", response="Two ways.", options=["left", "right"])
    terminal = halo.terminal("--mode", "plan", "-m", halo.script({"call": [plan]}, DONE))
    await asyncio.to_thread(terminal.expect, "What should I do?")
    terminal.send("go\r")
    await asyncio.to_thread(terminal.expect, "Two ways.")
    async with guest(halo, "ann") as ann:
        await ann.until(ev.QuestionAsked)
        asked = next(event for event in ann.seen if isinstance(event, ev.QuestionAsked))
        for answer in reversed(CHOICES):
            ann.send(cmd.AnswerQuestion, request=asked.request, answer=answer)
        await ann.until(ev.QuestionAnswered)
    answered = next(event for event in halo.log() if isinstance(event, ev.QuestionAnswered))
    assert answered.answer == "Approve the plan, and ask before changes"
    assert not [event for event in halo.log() if isinstance(event, ev.PolicyChanged)]
    terminal.close(force=True)


async def test_a_guest_whose_command_is_nested_too_deeply_is_answered(halo: Halo) -> None:
    async with writing(halo, "-y", "-m", halo.script(FOR_EVER)):
        while not (doors := [*halo.home.glob("tasks/*/door")]):
            await asyncio.sleep(0.02)
        reader, writer = await asyncio.open_unix_connection(str(doors[0]))
        writer.write(b'{"name":"x"}\n{"later":' + b"[" * 5_000 + b"]" * 5_000 + b"}\n")
        async with asyncio.timeout(20):
            while b'"answered"' not in (line := await reader.readline()):
                assert line
        assert b"nested too deeply" in line
        writer.close()


async def test_commands_know_the_home_that_they_must_not_steer(halo: Halo) -> None:
    said = await tried(halo, "echo $HALOCLINE_COMMAND")
    assert said.split()[1] == str(halo.home)


async def test_a_command_of_the_person_in_a_task_is_sent_to_a_terminal(halo: Halo) -> None:
    terminal = halo.terminal("-m", halo.script(DONE))
    await asyncio.to_thread(terminal.expect, "What should I do?")
    terminal.send(f"!{OURS} trust add > said 2>&1; echo over > over\r")
    await until_written(halo.folder / "over")
    assert "in your own terminal" in (halo.folder / "said").read_text()
    terminal.close(force=True)


async def test_a_guest_may_switch_to_ask_more_and_what_asks_less_is_left_to_where_it_runs(halo: Halo) -> None:
    edit, web = ApprovalSwitch.EDIT, ApprovalSwitch.WEB
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text("auto_approve = {web = false}\n")
    async with writing(halo, "--approval-mode", "auto", "-m", halo.script(FOR_EVER)) as writer:
        async with guest(halo, "ann") as ann:
            for switch, on in ((edit, True), (web, None), (edit, False), (edit, None)):
                ann.send(cmd.SetApprovalSwitch, switch=switch, on=on)
            ann.send(cmd.Label, name="x")
            await ann.until(ev.TaskLabelled)
            said = [event.text for event in ann.seen if isinstance(event, ev.Noticed)]
        changes = [event for event in halo.log() if isinstance(event, ev.ApprovalSwitched)]
        assert [(event.switch, event.on, event.client) for event in changes] == [(edit, False, f"ann {os.getpid()}")]
        assert sum(f"process {writer.pid} shows your request" in one for one in said) == 3
        assert any("To allow it, type /auto-approve edit on" in one for one in said)
