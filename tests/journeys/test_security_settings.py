"""Every value of every setting that loosens or tightens what a task may do, and what that changes in the world.

The settings and their values come from the registry: one without a row here, or a test named here, fails.
"""

import os
import socket
import subprocess
import threading
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from tests.journeys.test_standings import is_there

from halocline.policy.presets import AutoApprove
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.store.settings.project import RIGHTS, ProjectRight
from halocline.store.settings.settings import Settings

TIGHTENED = (ProjectRight.OFF, ProjectRight.ON, ProjectRight.STRICTER, ProjectRight.FEWER)
SECURITY = [name for name, right in RIGHTS.items() if right in TIGHTENED or name.startswith("sandbox")]
"""A folder may only tighten these, so each of them guards something."""
ELSEWHERE = {
    "auto_approve.mcp": ("policy/test_mcp.py", "test_the_switch_for_servers"),
    "web": ("runtime/test_managed_settings.py", "test_where_the_web_is_off_no_tool"),
    "memory": ("journeys/test_memory.py", "test_an_accepted_note_is_a_line_with_date_and_task"),
    "mcp.sampling": ("journeys/test_mcp_asking.py", "test_without_a_person_no_server_asks_the_model"),
    "partial_edits": ("tools/test_editing.py", "test_where_the_settings_want_what_fits"),
    "subagents": ("journeys/test_subagents.py", "test_sub_agents_are_offered_where_they_are_wanted"),
    "syntax_errors": ("journeys/test_reading.py", "test_an_edit_that_introduces_a_syntax_error"),
    "hook_failures": ("journeys/test_hooks.py", "test_a_guard_that_fails_lets_pass_when_the_settings_say_so"),
    "sandbox_processes": ("hosts/sandbox/test_sandbox_jobs.py", "test_limits_hold_and_are_not_lifted"),
    "sandbox_file_size": ("hosts/sandbox/test_sandbox_jobs.py", "test_limits_hold_and_are_not_lifted"),
}
"""Settings whose values are tried elsewhere, with the test's file and the beginning of its name."""
FEATURES = {"language_servers.enabled", "language_servers.project_binaries", "mcp.enabled", "mcp.others"}
"""What starts programs of the person's own or of a trusted project; they need such programs to be seen."""
ASK, EDITS, AUTO, YOLO = ApprovalMode.ASK, ApprovalMode.ACCEPT_EDITS, ApprovalMode.AUTO, ApprovalMode.YOLO
KEY = "ghp_" + "a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8"
TOOL = """
import os, socket
open("ran.txt", "w").close()
try: open("../out/ran.txt", "w").close()
except OSError as error: print(error)
try: socket.create_connection(("127.0.0.1", PORT), 2).send(b"hello")
except OSError as error: print(error)
print(os.environ.get("GH_TOKEN", ""))
"""


def command(text):
    return Call("execute_command", {"command": text})


CALLS = {
    "read": Call("read_file", {"path": "a.txt"}),
    "read outside": Call("read_file", {"path": "../out/o.txt"}),
    "edit": Call("write_to_file", {"path": "edited.txt", "content": "x\n"}),
    "edit outside": Call("write_to_file", {"path": "../out/edited.txt", "content": "x\n"}),
    "look": command("cat b.txt"),
    "run": command("python3 tool.py"),
    "commit": command("git -c user.name=a -c user.email=a@b commit -q --allow-empty -m two"),
    "key": command("cat config"),
    "secret": command("cat .env"),
    "fetch": Call("web_fetch", {"url": "https://example.invalid/"}),
    "browse": Call("browser_action", {"action": "launch", "url": "https://example.invalid/"}),
}
NONE = frozenset()
FIVE = ("read", "read outside", "edit", "look", "run")
ROWS = {
    # The setting, the approval mode, further settings, the calls, and for each value what the world then shows.
    "approval_mode": (
        None,
        {},
        FIVE,
        {
            ASK: {"read", "look"},
            EDITS: {"read", "look", "edit"},
            AUTO: {"read", "look", "edit"},
            YOLO: {"read", "read outside", "look", "edit", "run", "run outside", "network"},
        },
    ),
    "auto_approve.read": (ASK, {}, ("read",), {None: {"read"}, True: {"read"}, False: NONE}),
    "auto_approve.read_outside": (ASK, {}, ("read outside",), {None: NONE, True: {"read outside"}, False: NONE}),
    "auto_approve.edit": (ASK, {}, ("edit",), {None: NONE, True: {"edit"}, False: NONE}),
    "auto_approve.edit_outside": (ASK, {}, ("edit outside",), {None: NONE, True: {"edit outside"}, False: NONE}),
    "auto_approve.safe_commands": (ASK, {}, ("look",), {None: {"look"}, True: {"look"}, False: NONE}),
    "auto_approve.project_code": (
        AUTO,
        {},
        ("run",),
        {None: NONE, True: {"run", "run outside", "network"}, False: NONE},
    ),
    "auto_approve.all_commands": (
        ASK,
        {},
        ("run", "secret", "look"),
        {None: {"look"}, True: {"run", "run outside", "network", "secret", "look"}, False: NONE},
    ),
    "auto_approve.web": (ASK, {}, ("fetch",), {None: {"asked"}, True: NONE, False: {"asked"}}),
    "auto_approve.browser": (
        ASK,
        {"browser": True, "browser_executable": "/bin/false"},
        ("browse",),
        {None: {"asked"}, True: NONE, False: {"asked"}},
    ),
    "browser": (
        ASK,
        {"browser_executable": "/bin/false"},
        ("browse",),
        {True: {"asked"}, False: NONE},
    ),
    "sandbox": (
        AUTO,
        {},
        ("run",),
        {"in-auto": {"run"}, "auto": {"run"}, "require": {"run"}, "off": NONE},
    ),
    "sandbox_network": (YOLO, {"sandbox": "auto"}, ("run",), {True: {"run", "network"}, False: {"run"}}),
    "sandbox_git_writes": (YOLO, {"sandbox": "auto"}, ("commit",), {True: {"commit"}, False: NONE}),
    "sandbox_writable": (YOLO, {"sandbox": "auto"}, ("run",), {(): {"run"}, ("OUT",): {"run", "run outside"}}),
    "hide_keys": (ASK, {}, ("key",), {True: NONE, False: {"key shown"}}),
    "pass_environment": (YOLO, {}, ("run",), {(): NONE, ("GH_TOKEN",): {"token"}}),
    "checkpoints": (YOLO, {}, ("edit",), {True: {"edit", "checkpoint"}, False: {"edit"}}),
}


def values_of(name):
    """The values that a setting may have, by its type; of a list, an empty one and one with an entry."""
    kind = type(Settings())
    for part in name.split("."):
        field = {one.name: one for one in msgspec.inspect.type_info(kind).fields}[part].type
        while isinstance(field, msgspec.inspect.Metadata):
            field = field.type
        kind = getattr(field, "cls", None)
    return list(_list_values(field))


def _list_values(field):
    match field:
        case msgspec.inspect.UnionType():
            for one in field.types:
                yield from _list_values(one)
        case msgspec.inspect.NoneType():
            yield None
        case msgspec.inspect.BoolType():
            yield from (True, False)
        case msgspec.inspect.LiteralType():
            yield from field.values
        case msgspec.inspect.EnumType():
            yield from field.cls
        case msgspec.inspect.VarTupleType():
            yield from ("empty", "an entry")
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            yield "a number"


CASES = [(name, value) for name, row in ROWS.items() for value in row[3]]


def test_every_value_of_every_such_setting_is_tried():
    assert [*sorted({*ROWS, *ELSEWHERE, *FEATURES})] == sorted(SECURITY)
    for name, row in ROWS.items():
        values = ["an entry" if value and isinstance(value, tuple) else value for value in row[3]]
        tried = {"empty" if value == () else value for value in values}
        assert tried == set(values_of(name)), name


@pytest.mark.parametrize(("path", "name"), ELSEWHERE.values())
def test_a_test_elsewhere_exists(path, name):
    assert f"def {name}" in (Path(__file__).parents[1] / path).read_text()


@pytest.fixture
def server():
    """A listener on this machine, and what reached it."""
    found, made = [], socket.create_server(("127.0.0.1", 0))

    def serve():
        while True:
            try:
                one, _ = made.accept()
            except OSError:
                return
            found.append(one)
            one.close()

    threading.Thread(target=serve, daemon=True).start()
    yield made.getsockname()[1], found
    made.close()


def fill(journey, port):
    texts = {"a.txt": "zq7read\n", "b.txt": "zq7look\n", "config": f"token = {KEY}\n", ".env": "zq7secret\n"}
    for name, text in (texts | {"tool.py": TOOL.replace("PORT", str(port))}).items():
        journey.write(name, text)
    (journey.workspace.parent / "out").mkdir()
    (journey.workspace.parent / "out" / "o.txt").write_text("zq7outside\n")
    who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "one"]):
        subprocess.run(["git", *words], cwd=journey.workspace, check=True, env=os.environ | who)
    journey.env = {"PATH": os.environ["PATH"], "HOME": str(journey.workspace.parent), "GH_TOKEN": "zq7token"}


def look(journey, reached):
    """What the world shows: files that were made, what the model was told, what reached the network."""
    folder, said = journey.workspace, "\n".join(journey.results)
    commits = subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=folder, capture_output=True, text=True)
    shown = {
        "edit": (folder / "edited.txt").exists(),
        "edit outside": (folder.parent / "out" / "edited.txt").exists(),
        "run": (folder / "ran.txt").exists(),
        "run outside": (folder.parent / "out" / "ran.txt").exists(),
        "read": "zq7read" in said,
        "read outside": "zq7outside" in said,
        "look": "zq7look" in said,
        "secret": "zq7secret" in said,
        "key shown": KEY in said,
        "token": "zq7token" in said,
        "network": bool(reached),
        "commit": commits.stdout.strip() == "2",
        "asked": bool(journey.of(ev.ApprovalRequested)),
        "checkpoint": bool(list(journey.home.root.glob("**/objects/??/*"))),
    }
    return {name for name, is_so in shown.items() if is_so}


@pytest.mark.process
@pytest.mark.parametrize(("name", "value"), CASES, ids=[f"{name}={value}" for name, value in CASES])
async def test_a_value_does_what_it_says(journey, server, tmp_path, monkeypatch, name, value):
    mode, more, calls, rows = ROWS[name]
    if name.startswith("sandbox") and value != "off" and not is_there("bubblewrap", tmp_path / "probe"):
        pytest.skip("this machine has no bubblewrap")
    port, reached = server
    monkeypatch.setenv("GH_TOKEN", "zq7token")
    fill(journey, port)
    table, _, switch = name.partition(".")
    given = AutoApprove(**{switch: value}) if switch else value
    if name == "sandbox_writable":
        given = tuple(str(journey.workspace.parent / "out") for _ in value)
    settings = {"sandbox": "off", "max_failures": 50, **more} | ({table: given} if name != "approval_mode" else {})
    options = TaskOptions(approval_mode=mode or value, attended=False)
    turns = [Turn(calls=tuple(replace(CALLS[one], id=one) for one in calls)), Turn(text="done")]
    journey.longest = 60.0
    await journey.run(client=journey.client(turns, **settings), options=options)
    ends = dict(journey.ends)
    found = look(journey, reached)
    assert found & relevant(name) == set(rows[value]), (found, ends, journey.results)


def relevant(name):
    """What a setting is about: everything that one of its values shows."""
    return {one for shown in ROWS[name][3].values() for one in shown}
