import json
import os
import re
import sys
from pathlib import Path

import pytest

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Note
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions

DONE = Turn(text="done")
TOKEN = "ghp_" + "a1B2" * 9
"""No real one."""
MARK = r"\[redacted (?:github-token|password|private-key) [0-9a-f]{8}\]"
BEGIN = "-----BEGIN RSA PRIVATE KEY-----"
URL = "https://someone:hunter2secret@example.com/x.git"


def runs(command: str, id: str = "c1") -> Turn:
    return Turn(calls=(Call("execute_command", {"command": command}, id=id),))


async def test_keys_in_what_a_command_prints_reach_neither_the_model_nor_the_log(journey):
    journey.write("config", f"url = {URL}\ntoken {TOKEN}\nname = x\n")
    await journey.run(runs("cat config"), DONE)
    (result,) = journey.results
    assert re.search(r"https://(MARK)@example.com/x.git\ntoken (MARK)\nname = x".replace("MARK", MARK), result)
    assert TOKEN not in journey.home.log(journey.task).read_text()


async def test_keys_in_the_address_of_a_remote_are_left_out(journey):
    await journey.run(runs(f"git init -q . && git remote add o {URL}"), runs("git remote -v; git config --list"), DONE)
    assert "hunter2secret" not in journey.results[1]
    assert journey.results[1].count("@example.com/x.git") == 3


async def test_the_copy_of_a_long_output_is_read_without_keys_too(journey):
    lines = "a line of text\n" * 9000
    journey.write("config", f"{lines}{TOKEN}\n{lines}")
    await journey.run(runs("cat config"), DONE)
    copy = re.findall(r"\S*/outputs/\S+txt", journey.results[0])[0]
    calls = (
        Call("read_file", {"path": copy, "start_line": 8990}, id="c2"),
        Call("search_files", {"path": copy, "regex": "ghp_"}, id="c3"),
    )
    await journey.run(DONE, DONE, Turn(calls=calls), DONE, resume=journey.task)
    assert all(re.search(MARK, result) and TOKEN not in result for result in journey.results[-2:])


@pytest.mark.parametrize(
    "command",
    [
        f"echo {TOKEN}; sleep 0.3",
        f"printf {TOKEN[:20]}; sleep 0.3; echo {TOKEN[20:]}; sleep 0.3",
        f"seq 1000 | sed s/.*/{TOKEN}/; sleep 0.3",
        f"printf '%s\\n' '{BEGIN}' ghp_; sleep 0.3; printf 'a\\n%s\\n' '{BEGIN.replace('BEGIN', 'END')}'",
    ],
    ids=["whole", "in two", "cut", "private"],
)
async def test_keys_are_left_out_while_a_command_still_runs(journey, command):
    shown = []
    client = journey.client([runs(command), DONE])
    await journey.open(client)
    await journey.prompt(client, answer=lambda event: shown.append(event))
    await client.close()
    live = "".join(event.text for event in shown if isinstance(event, ev.ToolCallProgressed))
    assert re.search(MARK, live)
    assert "ghp_" not in live


async def test_a_line_that_is_not_finished_is_shown_while_a_command_waits(journey):
    shown = []
    client = journey.client([runs("printf 'url of https://example.com: '; sleep 0.4; echo x"), DONE])
    await journey.open(client)
    await journey.prompt(client, answer=lambda event: shown.append(event))
    await client.close()
    live = [event.text for event in shown if isinstance(event, ev.ToolCallProgressed)]
    assert live == ["url of https://example.com: ", "x\n"]


async def test_somebody_who_wants_to_see_keys_does(journey):
    journey.write("config", TOKEN)
    await journey.run(runs("cat config"), DONE, hide_keys=False)
    assert TOKEN in journey.results[0]


async def test_what_hooks_say_has_no_keys_and_nothing_that_a_terminal_obeys(journey):
    folder = journey.workspace / ".clinerules/hooks"
    folder.mkdir(parents=True)
    said = f"see {TOKEN} \\u001b[2Jand\\u202e this"
    (folder / "PostToolUse").write_text(f"#!/bin/sh\ncat >/dev/null\nprintf '%s' '{{\"context\": \"{said}\"}}'\n")
    (folder / "PostToolUse").chmod(0o755)
    (folder / "PreToolUse").write_text(f"#!/bin/sh\necho 'no {TOKEN}' >&2; exit 2\n")
    (folder / "PreToolUse").chmod(0o755)
    options = TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True)
    await journey.run(runs("true"), DONE, options=options)
    (refused,) = journey.of(ev.HookRan)
    assert re.fullmatch(f"no {MARK}", refused.said)
    (folder / "PreToolUse").unlink()
    await journey.run(runs("true"), DONE, options=options)
    (told,) = [part.text for run in journey.of(ev.HookRan) for part in run.content if isinstance(part, Note)]
    assert re.search(f"see {MARK} and this$", told)


async def test_a_random_key_that_nothing_names_is_left_out_of_files_commands_and_servers_and_an_edit_keeps_it(journey):
    key = "q7Xw2Lr9Tz4Vb8Nk1Mc6Hd3Js5Gf0Pa"
    server = str(Path(__file__).parent.parent / "mcp" / "server.py")
    journey.env = {"PATH": os.environ["PATH"]}
    journey.home.mcp.write_text(json.dumps({"mcpServers": {"test": {"command": sys.executable, "args": [server]}}}))
    file = journey.write("notes.txt", f"first\nservice {key}\n")
    shown = [
        Turn(calls=(Call("read_file", {"path": "notes.txt"}, id="c1"),)),
        Turn(calls=(Call("execute_command", {"command": "cat notes.txt; env | sort"}, id="c2"),)),
        Turn(calls=(Call("test__echo", {"text": f"it is {key[:16]}" + key[16:]}, id="c3"),)),
    ]
    await journey.run(*shown, DONE)
    assert all("[redacted random string " in result and key not in result for result in journey.results)
    mark = re.search(r"\[redacted random string [0-9a-f]{8}\]", journey.results[0])
    diff = f"------- SEARCH\nservice {mark[0]}\n=======\nthe service: {mark[0]}\n+++++++ REPLACE"
    await journey.run(Turn(calls=(Call("replace_in_file", {"path": "notes.txt", "diff": diff}, id="c1"),)), DONE)
    assert file.read_text() == f"first\nthe service: {key}\n"
