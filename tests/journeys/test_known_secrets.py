"""What this machine's person keeps secret reaches neither the model nor the log, by whatever tool it is met."""

import base64
import json
import os
import re
import sys
from itertools import product
from pathlib import Path
from urllib.parse import quote

import pytest
from tests.pairings import in_turn
from tests.samples import SAMPLED

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.messages import Text
from halocline.protocol.secrets.secret import Secret
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.secrets.store import SecretStore

SERVER = str(Path(__file__).parent.parent / "mcp" / "server.py")
YOLO = TaskOptions(approval_mode=ApprovalMode.YOLO, trusted=True)
DONE = Turn(text="done")
STORED = "vault-of-the-grey-heron"  # no form of a key, and words only
VARIABLE = 'p"a\\ss/wörd+of 2026'  # what JSON and addresses write otherwise
SERVERS = "token.of.the.server/7"
SECRETS = (STORED, VARIABLE, SERVERS)

WRITTEN = {
    "plain": lambda secret: secret,
    "in a sentence": lambda secret: f"it is {secret}, they say",
    "json": lambda secret: json.dumps({"value": secret}),
    "base64": lambda secret: base64.b64encode(secret.encode()).decode(),
    "base64 with more": lambda secret: base64.b64encode(f"user:{secret}\n".encode()).decode(),
    "base64 for addresses": lambda secret: base64.urlsafe_b64encode(f"xy{secret}z".encode()).decode(),
    "percent": lambda secret: quote(secret, safe=""),
    "hexadecimal": lambda secret: secret.encode().hex(),
    "over two lines": lambda secret: f"{secret[:9]}\n{secret[9:]}",
    "over two lines of a shell": lambda secret: f'X="{secret[:9]}\\\n{secret[9:]}"',
    "indented": lambda secret: f"x: >\n  {secret[:9]}\n  {secret[9:]}",
}


@pytest.fixture
def keeper(journey):
    """A journey whose person keeps three secrets."""
    journey.env = {"HOME": str(journey.workspace.parent / "person"), "PATH": os.environ["PATH"], "APP_SECRET": VARIABLE}
    SecretStore(journey.home.credentials).put("exa", Secret(STORED))
    entry = {"command": sys.executable, "args": [SERVER], "env": {"SERVER_TOKEN": SERVERS}}
    journey.home.mcp.write_text(json.dumps({"mcpServers": {"test": entry}}))
    return journey


def marks_of(result: str) -> list[str]:
    return re.findall(r"\[redacted [a-z ]+ [0-9a-f]{8}\]", result)


def shown(journey) -> str:
    """All that the model and every reader of the log get, as it is and as JSON has it."""
    log = journey.home.log(journey.task).read_text()
    texts = [event.result.text for event in journey.of(ev.ToolCallEnded)]
    return "\n".join([log, *texts])


def assert_hidden(journey, *secrets: str) -> None:
    text = shown(journey)
    for secret in secrets:
        for name, write in WRITTEN.items():
            assert write(secret) not in text, (name, secret)
    assert "[redacted stored key" in text


CALLS = {
    "read_file": Call("read_file", {"path": "notes"}, id="c1"),
    "read_file of lines": Call("read_file", {"path": "notes", "start_line": 2, "end_line": 3}, id="c1"),
    "search_files": Call("search_files", {"regex": "."}, id="c1"),
    "cat": Call("execute_command", {"command": "cat notes"}, id="c1"),
    "sed": Call("execute_command", {"command": "sed -n p notes >&2; false"}, id="c1"),
}


FORMS = [form for form in WRITTEN if form not in ("over two lines of a shell", "indented")]


@pytest.mark.parametrize(("form", "tool"), [*(in_turn(FORMS, [*CALLS]) if SAMPLED else product(FORMS, CALLS))])
async def test_a_secret_is_left_out_of_what_a_tool_shows(keeper, form: str, tool: str):
    call = CALLS[tool]
    body = "\n".join(f"{WRITTEN[form](secret)}" for secret in SECRETS)
    keeper.write("notes", f"first\n{body}\nlast\n" if "lines" not in call.arguments else body)
    await keeper.run(Turn(calls=(call,)), DONE, options=YOLO)
    text = shown(keeper)
    assert not [secret for secret in SECRETS if WRITTEN[form](secret) in text]
    assert "[redacted" in text


@pytest.mark.parametrize("form", WRITTEN)
async def test_a_secret_is_left_out_of_what_is_piped_and_mentioned(keeper, form: str):
    keeper.write("notes", "".join(f"{WRITTEN[form](secret)}\n\n" for secret in SECRETS))
    await keeper.run(DONE, prompt="look at @notes", options=YOLO)
    text = shown(keeper)
    assert not [secret for secret in SECRETS if WRITTEN[form](secret) in text]


async def test_a_secret_is_left_out_of_what_a_server_says(keeper):
    await keeper.run(Turn(calls=(Call("test__look", {}, id="c1"),)), DONE, options=YOLO)
    assert keeper.ends == [("c1", "completed")]
    assert_hidden(keeper, SERVERS)


async def test_a_server_writes_on_nobodys_terminal(keeper):
    sent = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x9b1mbold\x00\x08 and\ttabs\nlines"
    await keeper.run(Turn(calls=(Call("test__echo", {"text": sent}, id="c1"),)), DONE, options=YOLO)
    (said,) = keeper.results
    assert re.fullmatch(r"red(?:1m)?bol and\ttabs\nlines", said)  # a backspace erases, as on a terminal


async def test_what_a_person_types_is_kept_out_when_it_is_a_stored_key(keeper):
    await keeper.run(DONE, prompt=f"my key is {STORED}", options=YOLO)
    assert_hidden(keeper, STORED)
    (first,) = keeper.of(ev.TurnStarted)
    assert isinstance(first.content[0], Text)
    assert first.content[0].text.startswith("my key is [redacted stored key")


async def test_an_edit_keeps_what_a_mark_stands_for(keeper):
    keeper.write("conf.py", f'KEY = "{STORED}"\nURL = "https://me:hunter2secret@example.org"\nx = 1\n')
    read = Turn(calls=(Call("read_file", {"path": "conf.py"}, id="c1"),))
    await keeper.run(read, DONE, options=YOLO)
    lines = [line.partition(" | ")[2] for line in keeper.results[0].splitlines()[:3]]
    assert "redacted stored key" in lines[0]
    assert "redacted password" in lines[1]
    blocks = f"------- SEARCH\n{lines[0]}\n{lines[1]}\n=======\n{lines[1]}\n{lines[0]}  # kept\n+++++++ REPLACE"
    edit = Turn(calls=(Call("replace_in_file", {"path": "conf.py", "diff": blocks}, id="c2"),))
    await keeper.run(read, DONE, edit, DONE, resume=keeper.task, options=YOLO)
    expected = f'URL = "https://me:hunter2secret@example.org"\nKEY = "{STORED}"  # kept\nx = 1\n'
    assert (keeper.workspace / "conf.py").read_text() == expected
    assert_hidden(keeper, STORED)


CONFIG = f'KEY = "{STORED}"\nURL = "https://me:hunter2secret@example.org"\nx = 1\n'
PASSES_A_MARK_ON = {
    "command": lambda mark: Call("execute_command", {"command": f"sed -i 's/^KEY.*/KEY = {mark}/' conf.py"}, id="c2"),
    "heredoc": lambda mark: Call("execute_command", {"command": f"cat > conf.py <<'E'\nKEY={mark}\nE"}, id="c2"),
    "server": lambda mark: Call("test__echo", {"text": f"KEY={mark}"}, id="c2"),
    "new file": lambda mark: Call("write_to_file", {"path": "new.py", "content": f"KEY = '{mark}'\n"}, id="c2"),
    "other file": lambda mark: Call("write_to_file", {"path": "other.py", "content": f"K = '{mark}'\n"}, id="c2"),
    "added by a patch": lambda mark: Call(
        "apply_patch", {"input": f"*** Begin Patch\n*** Add File: new.py\n+K = '{mark}'\n*** End Patch"}, id="c2"
    ),
    "a number of nothing": lambda mark: Call(
        "replace_in_file",
        {"path": "conf.py", "old_text": "x = 1", "new_text": f"x = '{mark[:-9]}00000000]'"},
        id="c2",
    ),
}


@pytest.mark.parametrize("call", PASSES_A_MARK_ON.values(), ids=PASSES_A_MARK_ON)
async def test_a_mark_is_never_written_for_a_secret(keeper, call):
    keeper.write("conf.py", CONFIG)
    keeper.write("other.py", "K = ''\n")
    read = Turn(calls=(Call("read_file", {"files": [{"path": "conf.py"}, {"path": "other.py"}]}, id="c1"),))
    await keeper.run(read, DONE, options=YOLO)
    mark = marks_of(keeper.results[0])[0]
    await keeper.run(read, DONE, Turn(calls=(call(mark),)), DONE, resume=keeper.task, options=YOLO)
    assert keeper.ends[-1] == ("c2", "failed")
    assert "stands for a secret" in keeper.results[-1]
    assert (keeper.workspace / "conf.py").read_text() == CONFIG
    assert (keeper.workspace / "other.py").read_text() == "K = ''\n"
    assert not (keeper.workspace / "new.py").exists()


KEEPS = {
    "write_to_file": lambda text: Call("write_to_file", {"path": "conf.py", "content": text + "y = 2\n"}, id="c2"),
    "old and new text": lambda text: Call(
        "replace_in_file", {"path": "conf.py", "old_text": text, "new_text": text + "y = 2\n"}, id="c2"
    ),
    "apply_patch": lambda text: Call(
        "apply_patch",
        {
            "input": "*** Begin Patch\n*** Update File: conf.py\n@@\n"
            + "".join(f" {line}\n" for line in text.splitlines())
            + "+y = 2\n*** End Patch"
        },
        id="c2",
    ),
}


@pytest.mark.parametrize("call", KEEPS.values(), ids=KEEPS)
async def test_every_way_of_editing_keeps_secrets(keeper, call):
    keeper.write("conf.py", CONFIG)
    read = Turn(calls=(Call("read_file", {"path": "conf.py"}, id="c1"),))
    await keeper.run(read, DONE, options=YOLO)
    text = "".join(f"{line.partition(' | ')[2]}\n" for line in keeper.results[0].splitlines()[:3])
    assert len(marks_of(text)) == 2
    await keeper.run(read, DONE, Turn(calls=(call(text),)), DONE, resume=keeper.task, options=YOLO)
    assert keeper.ends[-1] == ("c2", "completed")
    assert (keeper.workspace / "conf.py").read_text() == CONFIG + "y = 2\n"
    assert_hidden(keeper, STORED)
