"""What `halo policy explain` says of a command is what a task decides about it, by the same rule."""

import shutil
import tomllib
from pathlib import Path

import pytest
from tests.journeys.conftest import NO_SERVERS, ScriptedAssembly
from tests.samples import choose

from halocline.client.tasks import Client
from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import Controller, TaskOptions
from halocline.services.policy.rules import PolicyService, explain_command
from halocline.store.settings.settings import Settings

POLICY = Path(__file__).parents[1] / "policy"
ASK, EDITS, AUTO, YOLO = ApprovalMode.ASK, ApprovalMode.ACCEPT_EDITS, ApprovalMode.AUTO, ApprovalMode.YOLO
POSTURES = {
    "ask": (Mode.ACT, ASK, "off"),
    "ask-sandboxed": (Mode.ACT, ASK, "auto"),
    "plan": (Mode.PLAN, ASK, "off"),
    "plan-sandboxed": (Mode.PLAN, AUTO, "in-auto"),
    "accept-edits": (Mode.ACT, EDITS, "in-auto"),
    "auto": (Mode.ACT, AUTO, "off"),
    "auto-sandboxed": (Mode.ACT, AUTO, "in-auto"),
    "auto-required": (Mode.ACT, AUTO, "require"),
    "yolo": (Mode.ACT, YOLO, "off"),
    "yolo-sandboxed": (Mode.ACT, YOLO, "auto"),
}
STAYS = ("rights", "own_controls")
"""Kinds of harm that a shell could do by itself, in which no program is found."""
FILES = ("a.txt", "b.txt", "src/main.py", "src/util.py", "tests/test_main.py", "docs/guide.md", ".env", "private/n.txt")


def list_commands():
    """100 commands each that read, that work, and that would do harm; of a sample a tenth."""
    names = (POLICY / "commands" / f"everyday_{kind}_300.txt" for kind in ("reading", "work"))
    lists = [name.read_text(encoding="utf-8").replace("⏎", "\0").splitlines() for name in names]
    asks = tomllib.loads((POLICY / "auto" / "asks.toml").read_text(encoding="utf-8"))
    lists.append([one for kind, rows in asks.items() if kind not in STAYS for one in rows["commands"]])
    lists = [[one.replace("\0", "\n") for one in many if "/dev/tcp" not in one] for many in lists]
    some = choose(100, 10)
    return [one for many in lists for one in many[:: len(many) // some][:some]]


@pytest.fixture
def project(journey, monkeypatch):
    """A project in which nothing that runs finds a program, so that all commands meet it as it is, and end."""
    for name in FILES:
        journey.write(name, "x\n")
    journey.write(".clineignore", "private/\n")
    journey.home.root.mkdir(exist_ok=True)
    rules = '[[rule]]\nname = "no push"\ndecision = "deny"\nargv = ["git", "push"]\n'
    rules += '[[rule]]\nname = "ask make"\ndecision = "ask"\nargv = ["make"]\n'
    rules += '[[rule]]\nname = "npm"\ndecision = "allow"\nargv = ["npm", "test"]\n'
    (journey.home.root / "policy.toml").write_text(rules)
    nothing = journey.workspace.parent / "nothing"
    nothing.mkdir()
    if sandbox := shutil.which("bwrap"):
        (nothing / "bwrap").symlink_to(sandbox)
    monkeypatch.setenv("PATH", str(nothing))
    journey.env = {"PATH": str(nothing), "HOME": str(journey.workspace.parent), "LANG": "C.UTF-8"}
    return journey


def explain(journey, assembly, commands, posture):
    mode, approves, _ = posture
    context = PolicyService(assembly).policy_context(journey.workspace, mode, approves)
    return [explain_command(one, context) for one in commands]


async def decide(journey, assembly, commands, posture):
    """Run all commands in one task, and return what it decided about each, with the rule or the text of a refusal."""
    mode, approves, _ = posture
    options = TaskOptions(mode=mode, approval_mode=approves, attended=False)
    journey.longest = 300.0
    await journey.run(client=Client(Controller(assembly), "test"), options=options)
    started = {one.call: ("allow", one.rule) for one in journey.of(ev.ToolCallStarted)}
    asked = {one.call: ("ask", one.rule) for one in journey.of(ev.ApprovalRequested)}
    refused = {one.call: ("deny", one.result.text) for one in journey.of(ev.ToolCallEnded)}
    found = refused | started | asked
    return [found[f"c{number}"] for number in range(len(commands))]


def run(call, command):
    return Call("execute_command", {"command": command}, id=call)


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize("posture", POSTURES.values(), ids=POSTURES.keys())
async def test_what_is_explained_is_what_a_task_decides_by_the_same_rule(project, posture):
    commands = list_commands()
    turns = [Turn(calls=(run(f"c{n}", one), run(f"r{n}", f"cd {project.workspace}"))) for n, one in enumerate(commands)]
    settings = Settings(sandbox=posture[2], max_steps=len(turns) + 1, language_servers=NO_SERVERS)
    assembly = ScriptedAssembly(project.home, settings, (*turns, Turn(text="done")), project.env)
    before = explain(project, assembly, commands, posture)
    decided = await decide(project, assembly, commands, posture)
    after = explain(project, assembly, commands, posture)
    wrong, compared = {}, 0
    for command, then, now, found in zip(commands, before, after, decided, strict=True):
        if (then.decision, then.rule) == (now.decision, now.rule):
            compared += 1
            rule = found[1] if found[0] != "deny" else then.rule
            told = found[0] != "deny" or then.reason in found[1]
            if (found[0], rule, told) != (then.decision, then.rule, True):
                wrong[command] = (found, then.decision, then.rule, then.reason)
    assert wrong == {}
    assert compared >= 0.95 * len(commands)
