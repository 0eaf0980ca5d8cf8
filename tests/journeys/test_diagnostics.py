"""What becomes of files once they are edited, through whole tasks: language servers and formatters."""

import asyncio
import signal
import sys

import pytest
from tests.hosts.language_servers.conftest import SYSTEM, Site
from tests.hosts.language_servers.set_up import MISSING, PROGRAMS, are_there
from tests.hosts.test_processes import linux, pid_in, runs
from tests.journeys.soundness import assert_sound
from tests.journeys.test_crashes import halo

from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.codec import LOG_NAME
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Note
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.sections import LanguageServerSettings

DONE = Turn(text="done")
PATIENT = LanguageServerSettings(wait=20.0)
OLD = 'old: int = "x"\n\n\ndef f(x: int) -> int:\n    return x\n'


def replace(id, old, new, path="a.py"):
    blocks = f"------- SEARCH\n{old}\n=======\n{new}\n+++++++ REPLACE"
    return Call("replace_in_file", {"path": path, "diff": blocks}, id=id)


def write(id, content, path="a.py"):
    return Call("write_to_file", {"path": path, "content": content}, id=id)


def read(id, path="a.py"):
    return Call("read_file", {"path": path}, id=id)


def notes(journey, source="diagnostics"):
    """For each call of the latest prompt what was added to its result."""
    parts = [event.result.content for event in journey.of(ev.ToolCallEnded)]
    return [[part.text for part in content if isinstance(part, Note) and part.source == source] for content in parts]


def reported(journey):
    return [event.content[0].text for event in journey.logged if isinstance(event, ev.DiagnosticsReported)]


@pytest.fixture
def scripted_server(journey, tmp_path):
    """Puts the scripted server in the journey's way, in a mode."""

    def install(mode):
        place = tmp_path / "server"
        place.mkdir()
        site = Site(place)
        site.install(mode)
        journey.env = {"PATH": f"{site.programs}:{SYSTEM}"}
        return site

    return install


@pytest.mark.skipif(not are_there(), reason=MISSING)
async def test_the_model_reads_exactly_the_error_it_brought_in_and_nothing_once_it_is_mended(journey):
    journey.env = {"PATH": f"{PROGRAMS}:{SYSTEM}"}
    journey.write("a.py", OLD)
    script = [
        Turn(calls=(read("c1"),)),
        DONE,
        Turn(calls=(replace("c2", "    return x", '    return "no"'),), expect="a.py:1 | old: int ="),
        Turn(calls=(replace("c3", '    return "no"', "    return x + 1"),), expect="This edit introduced 1 error:"),
        DONE,
    ]
    client = journey.client(script, language_servers=PATIENT)
    await journey.open(client)
    await journey.prompt(client, "Look at it.")
    await journey.prompt(client, "Here are the @problems. Change something.")
    await client.close()
    (note,), nothing = notes(journey)
    assert note.startswith('This edit introduced 1 error:\na.py:5 | return "no"\n  Type "Literal[\'no\']" is not')
    assert "reportReturnType" in note
    assert nothing == []
    (asked,) = [part.text for event in journey.of(ev.MentionsResolved) for part in event.content]
    assert asked.startswith('1 error:\na.py:1 | old: int = "x"')
    assert_sound(journey.logged)


async def test_errors_in_all_files_of_a_patch_are_told(journey, scripted_server):
    scripted_server("versioned")
    journey.write("a.py", "one\n")
    journey.write("b.py", "two\n")
    patch = (
        "*** Begin Patch\n*** Update File: a.py\n-one\n+BAD one\n*** Update File: b.py\n-two\n+BAD two\n*** End Patch"
    )
    client = journey.client(
        [
            Turn(calls=(read("c1"),)),
            DONE,
            Turn(calls=(Call("apply_patch", {"input": patch}, id="c2"),)),
            DONE,
        ],
        language_servers=PATIENT,
    )
    await journey.open(client)
    await journey.prompt(client)
    await journey.prompt(client, "See @problems.")
    await client.close()
    assert notes(journey) == [
        [
            (
                "This edit introduced 2 errors:\n"
                "a.py:1 | BAD one\n  BAD is here (pyright)\nb.py:1 | BAD two\n  BAD is here (pyright)"
            )
        ]
    ]


async def test_an_error_that_is_found_late_is_told_before_a_later_request(journey, scripted_server):
    scripted_server("versioned")
    wait = Call("execute_command", {"command": "sleep 2", "requires_approval": False}, id="c2")
    await journey.run(
        Turn(calls=(write("c1", "BAD\n"),)),
        Turn(calls=(wait,)),
        Turn(text="I see.", expect="a.py:1 | BAD"),
        language_servers=PATIENT,
    )
    assert notes(journey) == [[], []]
    (told,) = reported(journey)
    assert told.startswith("The language server has since found 1 error introduced by an earlier edit:")


async def test_a_prompt_that_asks_for_problems_hears_when_nobody_knows_them(journey):
    await journey.run(Turn(text="I see.", expect="Unknown: no language server"), prompt="Mend the @problems.")
    await journey.run(Turn(text="I see."), prompt="Mail me@problems.example about @problemsolving.")
    assert reported(journey) == []


async def test_an_edit_that_is_interrupted_while_its_errors_are_looked_for_is_written_down(journey, scripted_server):
    scripted_server("late")
    script = [Turn(calls=(read("c1"),)), DONE, Turn(calls=(write("c2", "BAD\n"),)), DONE]
    client = journey.client(script, language_servers=PATIENT)

    def interrupt(event):
        return cmd.Interrupt(task=journey.task) if isinstance(event, ev.FileChanged) else None

    journey.write("a.py", "good\n")
    await journey.open(client)
    await journey.prompt(client)
    await journey.prompt(client, "@problems", answer=interrupt)
    await client.close()
    assert journey.ends == [("c2", "cancelled")]
    assert [change.path for change in journey.of(ev.FileChanged)] == ["a.py"]
    assert_sound(journey.logged)


@linux
async def test_a_killed_halo_takes_its_language_servers_along(journey, scripted_server, tmp_path, monkeypatch):
    site = scripted_server("hangs")
    monkeypatch.setenv("PATH", f"{site.programs}:{SYSTEM}")
    script = tmp_path / "script.toml"
    script.write_text(
        """
[[turn]]
[[turn.call]]
tool = "write_to_file"
arguments = { path = "a.py", content = "BAD" }
[[turn.call]]
tool = "execute_command"
arguments = { command = "sleep 1000" }
"""
    )
    process = await asyncio.to_thread(halo, journey, script, "go")
    pid = await pid_in(site.folder / "pid")
    process.send_signal(signal.SIGKILL)
    await asyncio.to_thread(process.wait)
    async with asyncio.timeout(10):
        while runs(pid):
            await asyncio.sleep(0.02)
    assert list(journey.home.tasks.glob(f"*/{LOG_NAME}"))


async def test_a_formatter_changes_what_was_written_and_the_model_sees_how(journey):
    upper = "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.upper())"
    formatter = f'{sys.executable} -c "{upper}" {{path}}'
    await journey.run(
        Turn(calls=(write("c1", "one\n", "a file.py"), write("c2", "one\n", "a.txt"))),
        Turn(text="done"),
        formatters={"*.py": formatter},
    )
    (note,), nothing = notes(journey, "formatter")
    assert note.startswith("a file.py was changed after your edit, by `")
    assert note.endswith("@@ -1 +1 @@\n-one\n+ONE\n")
    assert nothing == []
    assert (journey.workspace / "a file.py").read_text() == "ONE\n"
    written, formatted, other = journey.of(ev.FileChanged)
    assert (written.after, formatted.cause, other.path) == (formatted.before, "c1", "a.txt")
    assert [len(event.diffs) for event in journey.of(ev.ToolCallEnded)] == [2, 1]


async def test_a_formatter_that_fails_is_told_and_the_edit_stands(journey):
    await journey.run(
        Turn(calls=(write("c1", "one\n"),)), DONE, formatters={"*.py": "cd /; export A=1; echo cannot; exit 3"}
    )
    assert notes(journey, "formatter") == [
        [
            "The formatter for a.py (`cd /; export A=1; echo cannot; exit 3`) failed with exit code 3:\ncannot\n",
        ]
    ]
    assert journey.ends == [("c1", "completed")]
    assert journey.of(ev.ShellMoved) == []


async def test_a_formatter_runs_without_asking_as_the_person_set_it(journey):
    await journey.run(
        Turn(calls=(write("c1", "one\n"),)),
        DONE,
        options=TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS),
        formatters={"*.py": "echo two > {path}"},
    )
    assert (journey.workspace / "a.py").read_text() == "two\n"
    assert journey.of(ev.ApprovalRequested) == []
