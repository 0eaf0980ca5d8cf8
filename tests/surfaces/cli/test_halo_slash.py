"""Slash commands, jobs and hand-overs at a terminal."""

import asyncio
import json
import sys
from pathlib import Path

import pytest
from tests.servers.model_server import Fault, ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, asks, call
from tests.surfaces.cli.test_halo_terminal import COMPOSER, CTRL_C, CTRL_D, HI, Person
from tests.tables import for_each

from halocline.protocol import events as ev
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import Text
from halocline.runtime.prompts.slash_commands import ROWS, SLASH_COMMANDS, SlashCommand

SERVE = {"call": [call("execute_command", command="echo started; sleep 60", requires_approval=False, background=True)]}


def test_a_job_is_named_by_the_command_that_the_model_wrote(halo: Halo) -> None:
    written = "for i in 1 2; do echo tick $i; sleep 30; done"
    job = {"call": [call("execute_command", command=written, requires_approval=False, background=True)]}
    person = Person(halo, "-m", halo.script(job, HI), "go").sees("Hello.", COMPOSER)
    person.types("/jobs\r").sees("job-1", written, COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


def test_jobs_are_listed_shown_stopped_and_named_when_the_exit_stops_them(halo: Halo) -> None:
    both = {"call": [*SERVE["call"], call("execute_command", command="echo two started; sleep 61", background=True)]}
    person = Person(halo, "-y", "-m", halo.script(both, HI), "go")
    person.sees("Hello.", COMPOSER).types("/jobs\r").sees(
        "job-1", "running for", "echo started; sleep 60", "job-2", COMPOSER
    )
    person.types("/jobs show job-1\r").sees("echo started; sleep 60", "started", COMPOSER)
    person.types("/jobs show 1\r").sees("echo started; sleep 60", "started", COMPOSER)
    person.types("/jobs show job-9\r").sees("No job 'job-9'. Jobs: job-1, job-2.", COMPOSER)
    person.types("/jobs what\r").sees("/jobs stop ID  stop a job", COMPOSER)
    person.types("/jobs stop job-1\r").sees("Stopping job-1", COMPOSER)
    person.types(CTRL_D).sees("Stopped 1 job: echo two started; sleep 61")
    assert person.is_gone_with() == 0
    assert [event.stopped for event in halo.log() if isinstance(event, ev.JobEnded)] == [
        "on request",
        "the task was closed",
    ]
    assert halo.state().budget.steps == 2


async def test_a_run_without_a_person_names_the_jobs_that_it_stops(halo: Halo) -> None:
    done = await halo.run("-p", "-y", "-m", halo.script(SERVE, HI), "go")
    assert (done.code, done.out) == (0, "Hello.\n")
    assert done.err == "halo: Stopped 1 job: echo started; sleep 60\n"


def test_a_hand_over_goes_on_in_the_new_task_at_once(halo: Halo) -> None:
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('extra_tools = ["new_task"]\n')
    # A script begins anew with each task, so the new one proposes another hand-over first.
    hand_over = {"call": [*SERVE["call"], call("new_task", context="# Work\n\nAll of it.")]}
    person = Person(halo, "-y", "-m", halo.script(hand_over, {"text": "Going on.", "expect": "stays"}), "go")
    person.sees("All of it.", "Continue this in a new task?", "Start the new task").presses("1")
    person.sees(
        "continues this work",
        "Stopped 1 job: echo started; sleep 60",
        "All of it.",
        "Handed over by task",
        "Stay in this one",
    ).presses("2")
    person.sees("Going on.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    logs = {task: halo.log(task) for task in halo.tasks}
    (old,) = [task for task, log in logs.items() if any(isinstance(event, ev.HandedOver) for event in log)]
    (handed,) = [event for event in logs[old] if isinstance(event, ev.HandedOver)]
    assert set(logs) == {old, handed.to}
    (begun,) = [event for event in logs[handed.to] if isinstance(event, ev.TurnStarted)]
    assert begun.content[0] == Text(f"# Work\n\nAll of it.\n\n(Handed over by task {old}.)")


async def test_an_effort_is_set_for_the_task_and_asked_of_the_next_request(halo: Halo) -> None:
    async with ModelServer([Turn(text="Hello."), Turn(text="Again.")]) as server:
        flags = ("-m", "openai/gpt-5.1", "--base-url", server.url("openai"), "--api-key", "k", "--effort", "low")
        await asyncio.to_thread(_sets_an_effort, Person(halo, *flags, "hi"))
        asked = [request.body.get("reasoning_effort") for request in server.requests]
    assert asked == ["low", "high"]
    assert halo.state().model.effort == "high"


def _sets_an_effort(person: Person) -> None:
    person.sees("Hello.", COMPOSER).types("/effort\r").sees("from the settings: low", COMPOSER)
    person.types("/effort hard\r").sees("has no effort 'hard'", COMPOSER)
    person.types("/effort high\r").sees("may miss the provider's cache", "Effort: high", COMPOSER)
    person.types("and again\r").sees("Again.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


async def test_a_model_of_a_provider_without_a_key_is_named_as_one_of_the_server_in_use(halo: Halo) -> None:
    async with ModelServer(models=("tiny",)) as server:
        halo.home.mkdir()
        connection = f'[providers.openai-compatible]\nbase_url = "{server.url("openai")}"\nlocal = true\n'
        (halo.home / "settings.toml").write_text(connection)

        def change() -> None:
            person = Person(halo, "-m", "openai-compatible/tiny").sees(COMPOSER).types("/model openai/big\r")
            person.sees("There is no key for OpenAI", "/model openai-compatible/big", COMPOSER).types(CTRL_D)
            assert person.is_gone_with() == 0

        await asyncio.to_thread(change)


def test_a_plan_is_read_as_markdown_and_its_options_are_keys(halo: Halo) -> None:
    reading = {"call": [call("plan_mode_respond", response="I *look*.", needs_more_exploration=True)]}
    asking = {"call": [call("plan_mode_respond", response="# Plan\n\n- one\n- two", options=["left", "right"])]}
    plan = {"call": [call("plan_mode_respond", response="**Then right.**")], "expect": "right"}
    person = Person(halo, "--mode", "plan", "-m", halo.script(reading, asking, plan), "go")
    person.sees("I ", "look", "Plan", "one", "left", "right").presses("2")
    person.sees("Then right.", "done", "Go on with this plan?", "Stay in plan mode").presses("n")
    person.sees(COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


def test_a_word_with_a_slash_lets_the_model_have_its_tool(halo: Halo) -> None:
    rule = {"call": [call("new_rule", path="kind", content="Be kind.")], "expect": "The user asks for new_rule"}
    person = Person(halo, "-m", halo.script(rule, HI))
    person.sees(COMPOSER).types("/newrule be kind\r").sees("New rule .clinerules/kind.md", "Be kind.").presses("y")
    person.sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert (halo.folder / ".clinerules/kind.md").read_text() == "Be kind.\n"


@for_each("row", ROWS)
def test_every_word_is_in_the_reference_and_is_answered_once(row: SlashCommand) -> None:
    from docs.generate import words

    assert all(f"`/{name}`" in words() for name in row.names)
    assert bool(row.answer) is not row.is_for_the_model
    assert [SLASH_COMMANDS[name] for name in row.names] == [row] * len(row.names)


ENTER, TAB, DOWN = "\r", "\t", "\x1b[B"
WRITE = {"call": [call("read_file", path="a.txt"), call("write_to_file", path="a.txt", content="new\n")]}


def flow(halo: Halo, name: str, text: str) -> None:
    path = halo.folder / f".clinerules/workflows/{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_words_that_look_are_answered_at_once(halo: Halo) -> None:
    flow(halo, "ship", "---\ndescription: Ship it\n---\nShip.\n")
    person = Person(halo, "-m", halo.script({**HI, "usage": {"input": 1200, "output": 30}}), "hi").sees(COMPOSER)
    person.types("/help\r").sees(
        "Work", "/init [what matters]", "write or improve AGENTS.md", "Workflow", "/ship", COMPOSER
    )
    person.types("/cost\r").sees("1 step", "1.2k tokens", "hi", COMPOSER)
    person.types("/todos\r").sees("The to-do list is empty.", COMPOSER)
    person.types("/skills\r").sees("No skills here", COMPOSER)
    person.types("/model\r").sees("The model is", "/model PROVIDER/NAME", COMPOSER)
    person.types("/inti\r").sees("There is no slash command /inti. Did you mean /init?", COMPOSER)
    person.types("/compact undo\r").sees("There is no compaction to undo.", COMPOSER)
    person.types("/quit\r")
    assert person.is_gone_with() == 0
    assert halo.state().budget.steps == 1


def test_servers_and_their_prompts_are_listed_and_a_prompt_is_taken(halo: Halo) -> None:
    server = {"command": sys.executable, "args": [str(Path(__file__).parents[2] / "mcp" / "server.py")]}
    halo.home.mkdir()
    (halo.home / "mcp.json").write_text(json.dumps({"mcpServers": {"test": server}}))
    (halo.home / "settings.toml").write_text("[mcp]\nwait = 20\n")
    person = Person(halo, "-m", halo.script(HI, {"text": "Greeted."}), "hi").sees(COMPOSER)
    person.types("/mcp\r").sees("test  ready, 2 tools", "Prompts: /mcp:test:greet", COMPOSER)
    person.types("/mcp test\r").sees("test  ready, 2 tools", "echo", COMPOSER)
    person.types("/mcp other\r").sees("No MCP server 'other'. Servers: test.", COMPOSER)
    person.types("/help\r").sees("Prompt", "/mcp:test:greet <who>", "(test)", COMPOSER)
    person.types("/mcp:test:greet\r").sees("/mcp:test:greet needs who.", COMPOSER)
    person.types("/mcp:test:greet you all\r").sees(
        "The prompt /mcp:test:greet, from an MCP server.", "Greeted.", COMPOSER
    )
    person.types("/quit\r")
    assert person.is_gone_with() == 0


def test_a_server_is_turned_off_for_the_next_request(halo: Halo) -> None:
    server = {"command": sys.executable, "args": [str(Path(__file__).parents[2] / "mcp" / "server.py")]}
    halo.home.mkdir()
    (halo.home / "mcp.json").write_text(json.dumps({"mcpServers": {"test": server}}))
    (halo.home / "settings.toml").write_text("[mcp]\nwait = 20\n")
    person = Person(halo, "-m", halo.script(HI, {"text": "Second."}), "hi").sees("Hello.", COMPOSER)
    person.types("/mcp test off\r").sees("test is off from the next request on", "mcp.json", COMPOSER)
    person.types("and\r").sees("Second.", COMPOSER).types("/mcp\r").sees("test  off", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert json.loads((halo.home / "mcp.json").read_text())["mcpServers"]["test"]["disabled"] is True


def test_settings_agents_and_hooks_are_listed_and_a_setting_is_changed(halo: Halo) -> None:
    agent = halo.folder / ".claude/agents/finder.md"
    agent.parent.mkdir(parents=True)
    agent.write_text("---\nname: finder\ndescription: Finds things\ntools: Read\n---\nFind.")
    person = Person(halo, "-m", halo.script(HI)).sees(COMPOSER)
    person.types("/config\r").sees("/config NAME VALUE", COMPOSER)
    person.types("/config max_steps\r").sees("max_steps = ", "Steps", COMPOSER)
    person.types("/config max_steps 12\r").sees("max_steps is now 12", "auto_approve apply at once", COMPOSER)
    person.types("/config max_steps soon\r").sees("'soon' is not a value for max_steps.", COMPOSER)
    person.types("/config nothing\r").sees("There is no setting 'nothing'.", COMPOSER)
    person.types("/agents\r").sees("finder: Finds things", ".claude/agents/finder.md", COMPOSER)
    person.types("/agents finder\r").sees("tools   read_file", COMPOSER)
    person.types("/agents other\r").sees("No agent 'other'. Agents: finder.", COMPOSER)
    person.types("/hooks\r").sees("No hooks.", COMPOSER)
    person.types("/btw\r").sees("Type the question after it", COMPOSER)
    person.types("/btw why?\r").sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert "max_steps = 12" in (halo.home / "settings.toml").read_text()


def test_words_that_change_the_task_change_it(halo: Halo) -> None:
    other = halo.script({"text": "I am another."}, name="other")
    person = Person(halo, "-m", halo.script(HI)).sees(COMPOSER)
    person.types("/mode plan\r").sees("Mode: plan", COMPOSER).types("/mode act\r").sees("Mode: act", COMPOSER)
    person.types("/mode\r").sees("The mode is act.", COMPOSER)
    person.types("/approvals\r").sees("The approval mode is ask.", COMPOSER)
    person.types("/mode dance\r").sees("Unknown mode 'dance'. Use plan or act.", COMPOSER)
    person.types("/mode yolo\r").sees("yolo is an", COMPOSER)
    person.types("/approvals plan\r").sees("/mode plan", COMPOSER)
    person.types("/permissions yolo\r").sees("Switch to yolo", "back").presses("1").sees("Approvals: yolo", COMPOSER)
    person.types(f"/model {other}\r").sees("Model:", COMPOSER)
    person.types("hi\r").sees("I am another.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    state = halo.state()
    assert (state.plan.mode, state.permissions.approval_mode, state.model.name) == (Mode.ACT, ApprovalMode.YOLO, other)


def test_a_goal_in_words_begins_a_turn_and_is_shown_until_it_is_taken_back(halo: Halo) -> None:
    report = {"call": [call("attempt_completion", result="All read.")]}
    person = Person(halo, "-m", halo.script(HI, report)).sees(COMPOSER)
    person.types("/goal\r").sees("There is no goal.", COMPOSER)
    person.types("/goal all is read\r").sees("Goal: all is read", "Goal not met: no report", "Goal met", COMPOSER)
    person.types("/goal\r").sees("met, checked 2 times", COMPOSER)
    person.types("/goal off\r").sees("The goal was taken back.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert not halo.state().goal.is_set


def test_a_conversation_is_shortened_at_a_word(halo: Halo) -> None:
    long = {"text": "Much was said. " * 4_000}
    person = Person(halo, "-m", halo.script(long, long, long), "one")
    for word in ("two", "three"):
        person.sees("done", COMPOSER).types(f"{word}\r")
    person.sees("done", COMPOSER).types("/compact the names\r").sees(
        "Compacting", "compacted from", "tokens (at your request)", COMPOSER
    )
    person.types(CTRL_D)
    assert person.is_gone_with() == 0
    (made,) = [event for event in halo.log() if isinstance(event, ev.Compacted)]
    assert (made.focus, made.cause) == ("the names", CompactionCause.ASKED)


async def test_ctrl_c_leaves_a_conversation_as_long_as_it_is(halo: Halo) -> None:
    long = Turn(text="Much was said. " * 4_000)
    async with ModelServer([long, long, long, Turn(fault=Fault.STALL, retry_after=30), Turn(text="Hello.")]) as server:

        def sit() -> int:
            person = Person(halo, *asks(server), "one")
            for word in ("two", "three"):
                person.sees("done", COMPOSER).types(f"{word}\r")
            person.sees("done", COMPOSER).types("/compact\r").sees("Compacting").types(CTRL_C).sees(COMPOSER)
            person.types("hi\r").sees("Hello.", COMPOSER).types(CTRL_D)
            return person.is_gone_with()

        assert await asyncio.to_thread(sit) == 0
    assert [event for event in halo.log() if isinstance(event, ev.Compacted)] == []
    assert halo.state().last_message.text == "Hello."


@pytest.mark.parametrize("answer", ["yes", "YES", "y", "1", "restore the files"])
def test_a_question_of_our_own_takes_words_and_none_of_them_reaches_the_model(halo: Halo, answer: str) -> None:
    (halo.folder / "a.txt").write_text("old\n")
    person = Person(halo, "-y", "-m", halo.script(WRITE, HI), "go").sees("Hello.", COMPOSER)
    person.types("/undo\r").sees("Restore the files").presses(answer).sees("To undo: ", COMPOSER)
    assert (halo.folder / "a.txt").read_text() == "old\n"
    person.types(CTRL_D)
    assert person.is_gone_with() == 0
    assert [event.content[0].text for event in halo.log() if isinstance(event, ev.TurnStarted)] == ["go"]


def test_the_last_change_of_files_is_taken_back_once_a_person_said_yes(halo: Halo) -> None:
    (halo.folder / "a.txt").write_text("old\n")
    person = Person(halo, "-y", "-m", halo.script(WRITE, HI), "go").sees("Hello.", COMPOSER)
    person.types("/undo\r").sees("restore  a.txt", "Restore the files", "Keep them as they are")
    person.presses("no").sees("→ Keep them as they are", "Nothing was changed.", COMPOSER)
    assert (halo.folder / "a.txt").read_text() == "new\n"
    person.types("/undo\r").sees("restore  a.txt", "Restore the files").presses("1").sees("→ Restore", "To undo: ")
    undo = person.read(r"/checkpoint restore [0-9a-f]{10}")
    assert (halo.folder / "a.txt").read_text() == "old\n"
    person.sees(COMPOSER).types(f"{undo}\r").sees("restore  a.txt").presses("1").sees("To undo: ", COMPOSER)
    assert (halo.folder / "a.txt").read_text() == "new\n"
    person.types("/undo\r").sees("restore  a.txt", "Restore the files").presses("1").sees("To undo: ", COMPOSER)
    person.types("/undo\r").sees("Nothing to undo", COMPOSER)
    person.types("/checkpoint\r").sees("2", "Write a.txt", "1", "Start", COMPOSER)
    person.types("/checkpoint diff 2\r").sees("1 file changed since checkpoint 2: +1 −1", "- new", "+ old", COMPOSER)
    person.types("/checkpoint restore 2\r").sees("restore  a.txt", "Restore the files").presses("1").sees(COMPOSER)
    assert (halo.folder / "a.txt").read_text() == "new\n"
    person.types("/checkpoint restore 9\r").sees("This task has no checkpoint 9.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


def test_a_new_task_is_begun_and_the_old_one_gone_on_with(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(HI), "first of all").sees("Hello.", COMPOSER)
    (old,) = halo.tasks
    person.types("/clear\r").sees(f"New task. To return to the previous one: /resume {old}", COMPOSER)
    person.types("/resume\r").sees(old, "first of all", "/resume ID", COMPOSER)
    person.types("/resume nothing\r").sees("nothing", COMPOSER)
    person.types(f"/resume {old}\r").sees("Hello.", COMPOSER)
    person.types("/export all.md\r").sees("Written to", "all.md", COMPOSER)
    person.types("/export all.md\r").sees("already", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert halo.tasks == [old]
    assert "first of all" in (halo.folder / "all.md").read_text()


def test_a_fork_goes_on_where_the_task_was(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(HI, {"text": "From the fork."}), "first of all").sees("Hello.", COMPOSER)
    (old,) = halo.tasks
    person.types("/fork soon\r").sees("Give an event number", COMPOSER)
    person.types("/fork\r").sees("first of all", "Hello.", COMPOSER)
    person.types("and then\r").sees("From the fork.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert len(halo.tasks) == 2
    assert [event.to for event in halo.log(old) if isinstance(event, ev.TaskForked)] == [
        task for task in halo.tasks if task != old
    ]


def test_an_answer_may_be_a_word(halo: Halo) -> None:
    asking = {"call": [call("ask_followup_question", question="Which way?")]}
    person = Person(halo, "-m", halo.script(asking, {**HI, "expect": "left"}), "go")
    person.sees("Which way?", "›").types("/todos\r").sees("The to-do list is empty.", "›")
    person.types("/undo\r").sees("/undo works between turns", "›").types("left\r")
    person.sees("Hello.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0


async def test_a_run_without_a_person_follows_a_workflow(halo: Halo) -> None:
    flow(halo, "ship", "Ship $1 to $2.\n")
    script = halo.script({**HI, "expect": "Ship it to prod."})
    done = await halo.run("-p", "-m", script, "/ship.md it prod")
    assert (done.code, done.out) == (0, "Hello.\n")


@pytest.mark.parametrize(
    ("prompt", "said"),
    [
        ("/jobs", "/jobs works only in a terminal session."),
        ("/newtask now", "/newtask works only in a terminal session."),
        ("/shpi", "There is no slash command /shpi. Did you mean /ship?"),
    ],
)
async def test_a_run_without_a_person_says_which_word_it_cannot_follow(halo: Halo, prompt: str, said: str) -> None:
    flow(halo, "ship", "Ship.\n")
    done = await halo.run("-p", "-m", halo.script(HI), prompt)
    assert done.code == 2
    assert said in " ".join(done.err.split())
    assert halo.tasks == []


async def test_a_path_is_a_prompt_like_any_other(halo: Halo) -> None:
    done = await halo.run("-p", "-m", halo.script({**HI, "expect": "/etc/hosts"}), "/etc/hosts")
    assert (done.code, done.out) == (0, "Hello.\n")


async def test_a_plan_is_the_answer_of_a_run_without_a_person(halo: Halo) -> None:
    asking = {"call": [call("plan_mode_respond", response="Two ways.", options=["a", "b"])]}
    plan = {"call": [call("plan_mode_respond", response="The way is a.")], "expect": "nobody can answer"}
    done = await halo.run("-p", "--mode", "plan", "-m", halo.script(asking, plan), "plan it")
    assert (done.code, done.out, done.err) == (0, "The way is a.\n", "")


WRITES = {"call": [call("write_to_file", path="a.txt", content="x\n")]}


def test_a_switch_is_listed_confirmed_and_holds_for_the_next_call(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(HI, WRITES, {"text": "Done it."}), "go")
    person.sees("Hello.", COMPOSER).types("/auto-approve\r")
    person.sees("Allowed without asking: read files here, safe commands.", "all_commands   by approval mode", COMPOSER)
    person.types("/auto-approve edit on\r").sees("Switch edit to on?", "Keep it").presses("2")
    person.sees("edit is unchanged: by approval mode", COMPOSER)
    person.types("/auto-approve edit on\r").sees("Keep it").presses("1")
    person.sees("Auto-approve edit: on, set by cli", COMPOSER).types("write\r").sees("Done it.", COMPOSER)
    person.types("/auto-approve read-outside ask\r").sees("Auto-approve read outside: always ask", COMPOSER)
    person.types("/auto-approve nothing on\r").sees("Unknown switch 'nothing'", COMPOSER)
    person.types("/auto-approve edit maybe\r").sees("/auto-approve NAME on|ask|mode", COMPOSER)
    person.types(CTRL_D)
    assert person.is_gone_with() == 0
    changes = [(event.switch, event.on) for event in halo.log() if isinstance(event, ev.ApprovalSwitched)]
    assert changes == [("edit", True), ("read_outside", False)]
    assert not [event for event in halo.log() if isinstance(event, ev.ApprovalRequested)]


def test_a_switch_is_kept_for_new_tasks_when_the_person_says_so(halo: Halo) -> None:
    person = Person(halo, "-m", halo.script(HI), "go")
    person.sees("Hello.", COMPOSER).types("/auto-approve web ask keep\r")
    person.sees("Saved for new tasks: auto_approve.web in settings.toml.", COMPOSER).types(CTRL_D)
    assert person.is_gone_with() == 0
    assert "web = false" in (halo.home / "settings.toml").read_text()
