import subprocess

import pytest

from halocline.hosts.sandbox import self_test
from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Choice, SandboxStanding
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

ALONE = TaskOptions(approval_mode=ApprovalMode.AUTO, attended=False)
WATCHED = TaskOptions(approval_mode=ApprovalMode.AUTO, attended=True)
YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=False)
DONE = Turn(text="done")


@pytest.fixture(autouse=True)
def _has_a_sandbox(tmp_path_factory):
    place = tmp_path_factory.mktemp("probe")
    found = self_test.find_backend(SandboxRequest(place / "w", place / "h", place / "s", place / "o"), required=False)
    if found.checked.standing is not SandboxStanding.FULL:
        pytest.skip("no full sandbox on this machine")


def run(command, **more):
    return Turn(calls=(Call("execute_command", {"command": command, **more}, id="c1"),))


def all_of(journey, kind):
    return [event for event in journey.events if isinstance(event, kind)]


async def test_a_command_that_reaches_out_runs_in_the_sandbox_without_a_question(journey):
    await journey.run(run("cat /etc/hostname > out; curl -s localhost; true"), DONE, options=ALONE, sandbox="auto")
    assert (journey.workspace / "out").exists()
    assert all_of(journey, ev.ApprovalRequested) == []
    assert [event.sandbox for event in all_of(journey, ev.ToolCallStarted)] == ["in the sandbox"]
    assert [event.standing for event in all_of(journey, ev.SandboxChecked)] == [SandboxStanding.FULL]


async def test_the_sandbox_is_looked_at_once(journey):
    await journey.run(run("true"), run("true"), DONE, options=ALONE, sandbox="auto")
    assert len(all_of(journey, ev.SandboxChecked)) == 1


async def test_without_the_setting_nothing_is_said_of_a_sandbox(journey):
    await journey.run(run("true"), DONE, options=YOLO)
    assert all_of(journey, ev.SandboxChecked) == []
    assert [event.sandbox for event in all_of(journey, ev.ToolCallStarted)] == [""]


@pytest.mark.parametrize("options", [ALONE, YOLO], ids=["auto", "yolo"])
async def test_nobody_there_means_nothing_leaves_the_sandbox(journey, options):
    await journey.run(run("touch made", unsandboxed=True), DONE, options=options, sandbox="auto")
    assert not (journey.workspace / "made").exists()
    assert [event.by for event in all_of(journey, ev.ApprovalResolved)] == ["nobody"]


async def test_a_person_lets_a_command_out_and_reads_that_it_would_be(journey):
    def allow(event):
        if isinstance(event, ev.ApprovalRequested):
            return cmd.ResolveApproval(task=event.task, request=event.request, decision=Choice.ALLOW_ONCE)
        return None

    await journey.run(run("touch made", unsandboxed=True), DONE, options=WATCHED, answer=allow, sandbox="auto")
    (asked,) = all_of(journey, ev.ApprovalRequested)
    assert (asked.sandbox, asked.grant) == ("outside the sandbox", None)
    assert (journey.workspace / "made").exists()
    assert [event.sandbox for event in all_of(journey, ev.ToolCallStarted)] == ["outside the sandbox"]


async def test_where_it_is_required_nobody_is_asked_to_leave_it(journey):
    await journey.run(run("touch made", unsandboxed=True), DONE, options=YOLO, sandbox="require")
    assert all_of(journey, ev.ApprovalRequested) == []
    assert not (journey.workspace / "made").exists()


async def test_every_folder_of_the_task_may_be_written_and_what_others_obey_there_is_kept(journey, tmp_path):
    library = tmp_path / "library"
    (library / ".git" / "hooks").mkdir(parents=True)
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=False, roots=(str(library),))
    command = f"touch {library}/made; touch {library}/.git/hooks/pre-commit {tmp_path}/outside; true"
    await journey.run(run(command), DONE, options=options, sandbox="require")
    assert (library / "made").exists()
    assert not (library / ".git" / "hooks" / "pre-commit").exists()
    assert not (tmp_path / "outside").exists()


async def test_auto_mode_takes_a_full_sandbox_unless_it_is_off(journey):
    await journey.run(run("cat /etc/hostname > out; curl -s localhost; true"), DONE, options=ALONE, sandbox="in-auto")
    assert (journey.workspace / "out").exists()
    assert all_of(journey, ev.ApprovalRequested) == []
    assert [event.sandbox for event in all_of(journey, ev.ToolCallStarted)] == ["in the sandbox"]


async def test_other_modes_do_without_it_by_default(journey):
    await journey.run(run("touch made"), DONE, options=YOLO, sandbox="in-auto")
    assert all_of(journey, ev.SandboxChecked) == []
    assert (journey.workspace / "made").exists()


async def test_git_commits_in_the_sandbox_of_auto_mode_without_a_question(journey):
    subprocess.run(["git", "init", "-q", journey.workspace], check=True)
    subprocess.run(["git", "-C", journey.workspace, "config", "user.name", "me"], check=True)
    subprocess.run(["git", "-C", journey.workspace, "config", "user.email", "me@example.org"], check=True)
    await journey.run(run("touch a; git add a && git commit -qm one"), DONE, options=ALONE, sandbox="in-auto")
    assert all_of(journey, ev.ApprovalRequested) == []
    count = subprocess.run(
        ["git", "-C", journey.workspace, "rev-list", "--count", "HEAD"], capture_output=True, check=True
    )
    assert count.stdout == b"1\n"


async def test_in_auto_mode_the_sandbox_keeps_what_other_programs_obey(journey):
    for name in (".gitlab-ci.yml", ".cursor/mcp.json", "mise.toml", ".env"):
        journey.write(name, "as it was\n")
    commands = "for f in .gitlab-ci.yml .cursor/mcp.json mise.toml; do echo x > $f; done; cat .env; echo y > .gdbinit"
    await journey.run(run(commands), DONE, options=ALONE, sandbox="in-auto")
    names = (".gitlab-ci.yml", ".cursor/mcp.json", "mise.toml")
    assert [(journey.workspace / name).read_text() for name in names] == ["as it was\n"] * 3
