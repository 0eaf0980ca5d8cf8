"""What the administrator set, seen in whole tasks: no option, program, plug-in or switch in an open task lifts it."""

import json
from pathlib import Path
from typing import Any

import pytest

import halocline
from halocline.client.tasks import Client, open_client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, ApprovalSwitch, CallStatus, Choice
from halocline.protocol.messages import Effort, Text
from halocline.runtime.controller import TaskOptions
from halocline.runtime.limits import CAPS
from halocline.runtime.task_options import Choices
from halocline.sdk.running import _open_on
from halocline.store.paths import Home

pytestmark = pytest.mark.process
OURS = "set by your administrator in"
PLUGIN = """
import halocline

@halocline.tool(effect="reads")
def greet(name: str) -> str:
    "Greet someone."
    return "Hello " + name

class Acme:
    name = "ai21/x"
    def __init__(self, name): pass
    async def close(self): pass
    def stream(self, request): raise RuntimeError("the plug-in was asked")

providers = {"ai21": Acme}
"""


class Machine:
    """An administrator's folder, a home, a project, and a scripted model that makes calls."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work = Home(folder / "home", folder / "etc"), folder / "work"
        for place in (self.home.root, self.home.managed, self.work):
            place.mkdir(mode=0o755)
        self.home.tasks.mkdir()
        self.script = folder / "script.toml"
        self.env = {"HOME": str(folder), "HALOCLINE_HOME": str(self.home.root), "PATH": "/usr/bin:/bin"}
        self.clients: list[Client] = []
        self.plays()
        self.mine()

    def manage(self, text: str) -> None:
        self.home.managed_settings.write_text(text)

    def mine(self, text: str = "") -> None:
        lines = f'model = "{self.model}"\ncheckpoints = false\n{text}\n'
        self.home.settings.write_text(lines + "[language_servers]\nenabled = false\n")

    @property
    def model(self) -> str:
        return f"scripted/{self.script}"

    def plays(self, *calls: tuple[str, dict[str, Any]]) -> None:
        lines = []
        for tool, arguments in calls:
            lines += [
                "[[turn]]",
                "[[turn.call]]",
                f'tool = "{tool}"',
                "arguments = " + json.dumps(arguments).replace('": ', '" = '),
            ]
        self.script.write_text("\n".join([*lines, *(["[[turn]]", 'text = "done"'] * 9)]))

    def client(self, **choices: Any) -> Client:
        client = open_client(Choices(**choices), "test", home=self.home, environment=self.env)
        self.clients.append(client)
        return client

    async def run(self, client: Client, task: str, answer: str = "") -> list[ev.Event]:
        """Send a prompt; return the events of its turn. Questions get the answer, and approvals a yes."""
        sent, seen = client.state(task).seq, []
        client.send(cmd.SubmitPrompt(task=task, content=(Text("go"),)))
        async for event in client.events(task, sent):
            seen.append(event)
            match event:
                case ev.QuestionAsked(request=request):
                    client.send(cmd.AnswerQuestion(task=task, request=request, answer=answer))
                case ev.ApprovalRequested(request=request):
                    client.send(cmd.ResolveApproval(task=task, request=request, decision=Choice.ALLOW_ONCE))
                case ev.TurnEnded():
                    break
        return seen

    async def outcome(self, *calls: tuple[str, dict[str, Any]], client: Client | None = None, **options: Any) -> list:
        """Play the calls in a new task; return how each ended, and with what text."""
        self.plays(*calls)
        client = client or self.client()
        task = await client.start(self.work, TaskOptions(**{"approval_mode": ApprovalMode.AUTO, **options}))
        ends = [event for event in await self.run(client, task) if isinstance(event, ev.ToolCallEnded)]
        return [(end.status is CallStatus.COMPLETED, end.result.text) for end in ends]


@pytest.fixture
async def machine(tmp_path: Path):
    machine = Machine(tmp_path)
    yield machine
    for client in machine.clients:
        await client.close()


def install_plugin(machine: Machine) -> None:
    top = machine.home.plugins / "tidy"
    top.mkdir(parents=True)
    may = '["reads", "edits", "commands", "network"]'
    (top / "plugin.toml").write_text(f'name = "tidy"\nversion = "1"\nmay = {may}\npython = "code.py"\n')
    (top / "code.py").write_text(PLUGIN)
    service = machine.client().plugins_of(machine.work)
    service.decide(service.find("tidy").found, trusted=True)


async def open_by_program(machine: Machine, **options: Any):
    """Open a task as a program does, with the options of `halocline.run`."""
    from halocline.sdk.options import read_choices

    client = open_client(read_choices(options), "sdk", home=machine.home, environment=machine.env)
    machine.clients.append(client)
    return await _open_on(client, {"folder": machine.work, **options}, None)


@pytest.mark.parametrize("limit", ['allowed_providers = ["scripted"]', 'allowed_models = ["scripted/*"]'])
async def test_a_model_that_is_not_allowed_is_opened_by_no_way(machine, limit) -> None:
    install_plugin(machine)
    machine.manage(limit)
    client = machine.client()
    for name in ("openai/gpt-5", "ai21/x", "openai-compatible/x"):
        with pytest.raises(UsageError, match="may not be used here"):
            await client.start(machine.work, TaskOptions(model=name))
        with pytest.raises(UsageError, match="may not be used here"):
            await open_by_program(machine, model=name)
    task = await client.start(machine.work, TaskOptions())
    with pytest.raises(UsageError, match="may not be used here"):
        await client.change_model(task, "openai/gpt-5")
    machine.mine('[model_aliases]\nmine = "openai/gpt-5"\n')
    with pytest.raises(UsageError, match="may not be used here"):
        await machine.client().start(machine.work, TaskOptions(model="mine"))
    machine.mine('fallback_models = ["openai/gpt-5"]\n')
    with pytest.raises(UsageError, match="may not be used here"):
        await machine.client().start(machine.work, TaskOptions())


async def test_a_plugin_takes_no_name_of_an_allowed_provider(machine) -> None:
    install_plugin(machine)
    machine.manage('allowed_providers = ["ai21"]')
    with pytest.raises(UsageError, match="key"):
        await machine.client().start(machine.work, TaskOptions(model="ai21/x"))


async def test_a_model_of_a_program_is_used_only_where_programs_models_are_allowed(machine) -> None:
    class Own:
        name = "scripted/own"

        async def close(self) -> None: ...

        def stream(self, request): ...

    machine.manage('allowed_models = ["scripted/*"]')
    with pytest.raises(UsageError, match="program/scripted/own may not be used"):
        await open_by_program(machine, model=Own())
    machine.manage('allowed_models = ["program/*"]')
    assert (await open_by_program(machine, model=Own())).state.model.name == "scripted/own"


async def test_a_model_that_is_set_is_the_only_one(machine) -> None:
    machine.manage(f'model = "{machine.model}"')
    client = machine.client()
    task = await client.start(machine.work, TaskOptions(model=machine.model))
    for open_other in (
        lambda: client.start(machine.work, TaskOptions(model="openai/gpt-5")),
        lambda: client.change_model(task, "openai/gpt-5"),
        lambda: open_by_program(machine, model="openai/gpt-5"),
    ):
        with pytest.raises(UsageError, match=OURS):
            await open_other()


async def test_a_tool_that_is_off_is_offered_to_no_task_and_refused_to_every_caller(machine) -> None:
    install_plugin(machine)
    machine.manage('tools_off = ["write_to_file", "greet"]')
    (machine.home.policy).write_text('[[rule]]\ndecision = "allow"\ntools = ["write_to_file", "greet"]\n')
    calls = (("write_to_file", {"path": "a.txt", "content": "x"}), ("greet", {"name": "Ada"}))
    client = machine.client(allowed_tools=("Write", "greet"), custom_tools=("greet",))
    for ended, text in await machine.outcome(*calls, client=client, approval_mode=ApprovalMode.YOLO):
        assert not ended
        assert OURS in text
    assert not (machine.work / "a.txt").exists()


async def test_where_the_web_is_off_no_tool_and_no_known_command_reaches_it(machine) -> None:
    machine.manage("web = false")
    machine.mine(
        'browser = true\nsandbox = "off"\nsandbox_network = true\n[web_search]\nengine = "searxng"\nurl = "http://a"\n'
    )
    calls = (
        ("web_fetch", {"url": "https://example.com/", "prompt": "x"}),
        ("execute_command", {"command": "curl https://example.com", "requires_approval": False}),
    )
    found = await machine.outcome(*calls, approval_mode=ApprovalMode.YOLO)
    assert [ended for ended, _ in found] == [False, False]
    assert all(OURS in text for _, text in found)


async def test_no_switch_brings_back_a_mode_that_is_off(machine) -> None:
    machine.mine('approval_mode = "yolo"')
    client = machine.client()
    before = await client.start(machine.work, TaskOptions())
    await client.let_go(before)
    machine.manage('modes_off = ["yolo"]')
    client = machine.client()
    with pytest.raises(UsageError, match=OURS):
        await client.start(machine.work, TaskOptions(approval_mode=ApprovalMode.YOLO))
    with pytest.raises(UsageError, match=OURS):
        await open_by_program(machine, approval_mode="yolo")
    task = await client.start(machine.work, TaskOptions())
    assert client.state(task).permissions.approval_mode is ApprovalMode.AUTO
    with pytest.raises(UsageError, match=OURS):
        client.send(cmd.SetPolicy(task=task, approval_mode=ApprovalMode.YOLO))
    resumed = await client.resume(before, TaskOptions())
    assert client.state(resumed).permissions.approval_mode is ApprovalMode.AUTO


async def test_a_mode_that_was_turned_off_holds_at_once_in_an_open_task(machine) -> None:
    machine.mine('sandbox = "off"')
    machine.plays(("execute_command", {"command": "touch a; some-program", "requires_approval": False}))
    client = machine.client()
    task = await client.start(machine.work, TaskOptions(approval_mode=ApprovalMode.YOLO))
    machine.manage('modes_off = ["yolo", "auto", "accept-edits"]')
    (end,) = [event for event in await machine.run(client, task) if isinstance(event, ev.ToolCallEnded)]
    assert "needs the user's approval" in end.result.text


async def test_a_hook_that_allows_everything_allows_no_more_than_the_modes_that_are_left(machine) -> None:
    machine.plays(("write_to_file", {"path": "a.txt", "content": "x"}))
    options = {"approval_mode": "ask", "hooks": {"PreToolUse": lambda given: halocline.HookAnswer(allow=True)}}
    machine.manage('modes_off = ["yolo", "auto", "accept-edits"]')
    await (await open_by_program(machine, **options)).run("go")
    assert not (machine.work / "a.txt").exists()
    machine.manage("")
    await (await open_by_program(machine, **options)).run("go")
    assert (machine.work / "a.txt").exists()


async def test_a_required_sandbox_holds_every_command(machine) -> None:
    machine.manage('sandbox = "require"')
    machine.mine('sandbox = "off"')
    command = {"command": "touch ../outside; echo done", "requires_approval": False, "unsandboxed": True}
    await machine.outcome(("execute_command", command), approval_mode=ApprovalMode.YOLO)
    assert not (machine.work.parent / "outside").exists()
    task = await open_by_program(machine, approval_mode="yolo")
    assert task.state.budget.limits.sandbox == "require"
    (machine.work / ".halocline").mkdir()
    (machine.work / ".halocline/settings.toml").write_text('sandbox = "off"')
    client = machine.client()
    assert client.requires_sandbox(str(machine.work))


@pytest.mark.parametrize("name", CAPS)
async def test_a_cap_is_the_limit_of_every_task_and_no_answer_extends_it(machine, name) -> None:
    machine.manage(f"{name} = 2")
    options = {name: 9} if name in Choices.__struct_fields__ else {}
    client = machine.client(**options)
    task = await client.start(machine.work, TaskOptions())
    limits = client.state(task).budget.limits
    field = {"time": "seconds"}.get(CAPS[name], CAPS[name])
    assert (getattr(limits, field), limits.capped) == (2, (CAPS[name],))
    if options:
        assert any(text.startswith(f"{name} stays 2") and OURS in text for text in client.remarks(task))
        assert getattr((await open_by_program(machine, **options)).state.budget.limits, field) == 2


async def test_at_a_cap_no_one_is_asked_to_go_on(machine) -> None:
    machine.manage("max_steps = 1")
    machine.plays(*[("list_files", {"path": "."})] * 3)
    client = machine.client()
    task = await client.start(machine.work, TaskOptions(attended=True))
    seen = await machine.run(client, task, answer="Go on")
    assert not any(isinstance(event, ev.QuestionAsked | ev.LimitExtended) for event in seen)
    assert "set by your administrator" in seen[-1].text
    machine.manage("max_steps = 200")
    machine.mine("max_steps = 1")
    machine.home.managed_settings.unlink()
    other = machine.client()
    task = await other.start(machine.work, TaskOptions(attended=True))
    seen = await machine.run(other, task, answer="Stop here")
    assert any(isinstance(event, ev.QuestionAsked) for event in seen)


async def test_rules_that_became_unusable_refuse_every_call_of_open_tasks(machine) -> None:
    client = machine.client()
    await client.start(machine.work, TaskOptions())
    machine.home.managed_rules.symlink_to("nowhere")
    calls = (
        ("write_to_file", {"path": "a.txt", "content": "x"}),
        ("execute_command", {"command": "touch b.txt", "requires_approval": False}),
        ("list_files", {"path": "."}),
    )
    for ended, text in await machine.outcome(*calls, client=client, approval_mode=ApprovalMode.YOLO):
        assert not ended
        assert f"Cannot read {machine.home.managed_rules}" in text
    assert [*machine.work.iterdir()] == []


async def test_a_switch_that_is_set_cannot_be_turned_in_a_task(machine) -> None:
    machine.manage("[auto_approve]\nedit = false")
    client = machine.client()
    task = await client.start(machine.work, TaskOptions(approval_mode=ApprovalMode.ACCEPT_EDITS))
    for on in (True, None):
        with pytest.raises(UsageError, match=OURS):
            client.send(cmd.SetApprovalSwitch(task=task, switch=ApprovalSwitch.EDIT, on=on))
    await client.let_go(task)
    machine.home.managed_settings.unlink()
    client = machine.client()
    await client.resume(task, TaskOptions())
    client.send(cmd.SetApprovalSwitch(task=task, switch=ApprovalSwitch.EDIT, on=True))
    machine.manage("[auto_approve]\nedit = false")
    machine.plays(("write_to_file", {"path": "a.txt", "content": "x"}))
    await machine.run(client, task)
    assert not (machine.work / "a.txt").exists()


async def test_an_effort_that_is_set_cannot_be_changed_in_a_task(machine) -> None:
    machine.manage('effort = "low"')
    client = machine.client(effort=Effort.HIGH)
    task = await client.start(machine.work, TaskOptions(effort=Effort.HIGH))
    with pytest.raises(UsageError, match=OURS):
        client.send(cmd.SetEffort(task=task, effort=Effort.HIGH))
    assert client.settings.find("effort")[0].value == "low"


async def test_a_file_that_became_unusable_keeps_what_it_set_in_open_processes_and_stops_new_ones(machine) -> None:
    machine.manage("max_steps = 2")
    client = machine.client()
    await client.start(machine.work, TaskOptions())
    machine.manage("max_steps = [")
    task = await client.start(machine.work, TaskOptions())
    assert client.state(task).budget.limits.steps == 2
    assert any("The settings from before stay in force." in text for text in client.remarks(task))
