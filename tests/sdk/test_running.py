"""Whole programs on the public face, with a scripted model."""

import asyncio
import dataclasses
import re
from contextlib import aclosing
from pathlib import Path
from typing import TypedDict

import msgspec
import pydantic
import pytest

import halocline
from halocline.protocol import events as ev
from halocline.protocol.kinds import Choice
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolCall
from halocline.sdk.option_types import KINDS
from halocline.testing import Call, Fault, Turn, calls_of, replay

WRITE = Turn(calls=(Call("write_to_file", {"path": "a.txt", "content": "new\n"}),))


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Named(TypedDict):
    x: int


class Packed(msgspec.Struct):
    x: int


class Model(pydantic.BaseModel):
    x: int


class Nested(pydantic.BaseModel):
    inner: list[Model]


@dataclasses.dataclass
class Mixed:
    nested: Nested
    point: Point
    tree: "Tree"


@dataclasses.dataclass
class Tree:
    children: list["Tree"] = dataclasses.field(default_factory=list)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "answer", "value"),
    [
        pytest.param(Point, '{"x": 1}', Point(1), id="dataclass"),
        pytest.param(Named, '{"x": 1}', {"x": 1}, id="TypedDict"),
        pytest.param(Packed, '{"x": 1}', Packed(1), id="Struct"),
        pytest.param(Model, '{"x": 1}', Model(x=1), id="pydantic"),
        pytest.param(Nested, '{"inner": [{"x": 1}]}', Nested(inner=[Model(x=1)]), id="nested pydantic"),
        pytest.param(
            Mixed,
            '{"nested": {"inner": [{"x": 1}]}, "point": {"x": 2}, "tree": {"children": [{}]}}',
            Mixed(Nested(inner=[Model(x=1)]), Point(2), Tree([Tree()])),
            id="mixed",
        ),
        pytest.param(list[str], '{"value": ["a"]}', ["a"], id="list"),
        pytest.param(int, '{"value": 3}', 3, id="int"),
        pytest.param(list[Point], '{"value": [{"x": 1}]}', [Point(1)], id="list of dataclasses"),
        pytest.param(dict[str, int], '{"a": 1}', {"a": 1}, id="dict"),
    ],
)
async def test_a_result_has_the_type_that_was_asked_for(scripted, workspace, kind, answer, value):
    done = await halocline.run("go", folder=workspace, model=scripted(answer), result=kind)
    assert done.value == value
    assert (done.ended, done.steps) == (StopReason.END_TURN, 1)


async def test_an_answer_that_never_fits_is_an_error_with_the_rest_of_the_result(scripted, workspace):
    with pytest.raises(halocline.TaskFailed, match="gave no Point") as caught:
        await halocline.run("go", folder=workspace, model=scripted("a", "b", "c", "d"), result=Point)
    assert caught.value.hint
    assert caught.value.result.task


@dataclasses.dataclass
class Even:
    x: int

    def __post_init__(self):
        if self.x % 2:
            raise ValueError(f"{self.x} is odd")


class EvenModel(pydantic.BaseModel):
    x: int

    @pydantic.field_validator("x")
    @classmethod
    def is_even(cls, x):
        if x % 2:
            raise ValueError(f"{x} is odd")
        return x


@pytest.mark.parametrize("kind", [Even, EvenModel])
async def test_what_a_validator_refuses_is_asked_again_with_its_words(scripted, workspace, kind):
    turns = (Turn('{"x": 1}'), Turn('{"x": 3}', expect="1 is odd"), Turn('{"x": 4}', expect="3 is odd"))
    done = await halocline.run("go", folder=workspace, model=scripted(*turns), result=kind)
    assert (done.value.x, done.steps, done.ended) == (4, 3, StopReason.END_TURN)
    assert [type(event) for event in done.events if isinstance(event, ev.TurnStarted | ev.TurnEnded)] == [
        ev.TurnStarted,
        ev.TurnEnded,
    ] * 3
    assert await replay(done.task) == ()


@pytest.mark.parametrize("kind", [Even, EvenModel])
async def test_what_a_validator_refuses_for_the_third_time_is_an_error_that_keeps_the_text(scripted, workspace, kind):
    with pytest.raises(halocline.TaskFailed, match=r"(?s)but is none.*5 is odd") as caught:
        await halocline.run("go", folder=workspace, model=scripted(*[Turn('{"x": 5}')] * 9), result=kind)
    assert (caught.value.result.text, caught.value.result.steps) == ('{"x": 5}', 3)


async def test_a_restore_takes_back_a_run_whose_answer_was_asked_for_again(scripted, workspace):
    model = scripted("before", WRITE, Turn('{"x": 1}'), Turn('{"x": 2}'))
    async with halocline.open(folder=workspace, model=model, approval_mode="yolo") as task:
        await task.run("one")
        assert (await task.run("two", result=Even)).value == Even(2)
        assert (await task.restore()).changed == ("a.txt",)


async def test_a_type_without_a_schema_is_refused_before_anything_is_sent(scripted, workspace):
    with pytest.raises(halocline.UsageError, match="has no JSON Schema"):
        await halocline.run("go", folder=workspace, model=scripted("x"), result=asyncio.Event)


async def test_a_result_says_what_changed_and_what_it_cost(scripted, workspace):
    model = scripted(msgspec.structs.replace(WRITE, cost=0.25), msgspec.structs.replace(Turn("done"), cost=0.5))
    done = await halocline.run("go", folder=workspace, model=model, approval_mode="accept-edits")
    (change,) = done.changes
    assert (change.path, change.added, change.removed) == ("a.txt", 1, 0)
    assert "+new" in change.text
    assert (done.text, done.cost, done.value) == ("done", 0.75, None)
    assert done.tokens.output > 0
    assert [type(done.events[0]), type(done.events[-1])] == [ev.TurnStarted, ev.TurnEnded]


@pytest.mark.slow
@pytest.mark.parametrize(
    "answer", ["allow_once", "allow", Choice.ALLOW_ONCE, True, halocline.Decision(Choice.ALLOW_ONCE), "allow_always"]
)
async def test_an_approval_is_given_in_words_or_values(scripted, workspace, answer):
    done = await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"), on_approval=lambda asked: answer)
    assert (workspace / "a.txt").read_text() == "new\n"
    assert done.refused == ()


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["reject_once", "deny", False, "never", "reject_always"])
async def test_an_approval_is_refused_in_words_or_values(scripted, workspace, answer):
    async def decide(asked):
        assert (asked.name, asked.title) == ("write_to_file", "Write a.txt")
        return answer

    done = await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"), on_approval=decide)
    assert not (workspace / "a.txt").exists()
    assert [(one.tool, one.arguments["path"]) for one in done.refused] == [("write_to_file", "a.txt")]


@pytest.mark.slow
@pytest.mark.parametrize("answer", ["yes", None, 1, "ALLOW_ONCE", object()])
async def test_what_is_no_decision_allows_nothing_and_is_refused_with_a_sentence(scripted, workspace, answer):
    with pytest.raises(halocline.UsageError, match="is no decision about an approval") as caught:
        await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"), on_approval=lambda asked: answer)
    assert "allow_once" in caught.value.hint
    assert not (workspace / "a.txt").exists()


async def test_an_error_in_a_callback_ends_the_run_and_is_raised(scripted, workspace):
    def broken(asked):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"), on_approval=broken)
    assert not (workspace / "a.txt").exists()


async def test_a_callback_that_waits_for_what_is_cancelled_ends_the_run(scripted, workspace):
    async def broken(asked):
        raise asyncio.CancelledError

    async with asyncio.timeout(120):
        with pytest.raises(halocline.UsageError, match="was cancelled, and decided nothing"):
            await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"), on_approval=broken)
    assert not (workspace / "a.txt").exists()


async def test_without_a_callback_what_needs_approval_is_refused(scripted, workspace):
    done = await halocline.run("go", folder=workspace, model=scripted(WRITE, "done"))
    assert done.text == "done"
    (refused,) = done.refused
    assert "nobody can give it" in refused.text


async def test_questions_are_answered_by_a_callback_or_stay_unanswered(scripted, workspace):
    ask = Turn(calls=(Call("ask_followup_question", {"question": "Which?", "options": ["a", "b"]}),))
    done = await halocline.run(
        "go", folder=workspace, model=scripted(ask, "done"), on_question=lambda asked: asked.options[1]
    )
    assert "b" in calls_of(done)[0].text
    done = await halocline.run("go", folder=workspace, model=scripted(ask, "done"), on_approval=lambda asked: "allow")
    assert done.text == "done"


async def test_an_error_of_the_model_is_raised_with_its_hint(scripted, workspace):
    with pytest.raises(halocline.TaskFailed, match="the key was not accepted") as caught:
        await halocline.run("go", folder=workspace, model=scripted(Turn(fault=Fault.AUTH)))
    assert caught.value.hint
    assert caught.value.result.ended is StopReason.ERROR


async def test_a_limit_ends_a_run_and_is_named(scripted, workspace):
    read = Turn(calls=(Call("list_files", {"path": "."}),))
    done = await halocline.run("go", folder=workspace, model=scripted(read, read, "done"), max_steps=1)
    assert (done.ended, done.limit) == (StopReason.MAX_TURN_REQUESTS, "steps")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"folder": "/nowhere/at/all"}, "does not exist"),
        ({"mode": "fly"}, "is no mode"),
        ({"approval_mode": "never"}, "is no approval mode"),
        ({"effort": "some"}, "is no effort"),
        ({"tools": [len]}, "is no tool"),
        ({"hooks": {"BeforeAll": print}}, "There is no hook"),
        ({"hooks": {"PreToolUse": "print"}}, "is no function"),
        ({"colour": "red"}, "There is no option"),
        ({"model": "nowhere/x"}, "There is no provider"),
        ({"model": 5}, "model is a name or a halocline.Model, not int"),
        ({"tools": None}, "tools is a list of decorated functions, not NoneType"),
        ({"tools": print}, "tools is a list"),
        ({"hooks": [print]}, "hooks is a dict"),
        ({"disallowed_tools": "plain"}, "disallowed_tools is a list of texts, not str"),
        ({"allowed_tools": [5]}, "allowed_tools is a list of texts"),
        ({"roots": "here"}, "roots is a list of paths"),
        ({"max_steps": "5"}, "max_steps is a whole number, not str"),
        ({"max_steps": True}, "max_steps is a whole number, not bool"),
        ({"time_limit": "x"}, "time_limit is a number"),
        ({"max_cost": "x"}, "max_cost is a number"),
        ({"trusted": "no"}, "trusted is True or False, not str"),
        ({"on_approval": 5}, "on_approval is a function, not int"),
        ({"api_key": 5}, "api_key is text, not int"),
        ({"prompt": b"x"}, "A prompt is text, not bytes"),
    ],
)
async def test_a_wrong_option_is_refused_with_a_hint(scripted, workspace, options, said):
    with pytest.raises(halocline.UsageError, match=said):
        await halocline.run(**{"prompt": "go", "folder": workspace, "model": scripted("x"), **options})


def test_the_type_of_every_option_is_checked():
    assert {*KINDS, "model"} == set(halocline.Options.__annotations__)


async def test_events_are_streamed_while_they_happen(scripted, workspace):
    async with halocline.open(folder=workspace, model=scripted(Turn("one two three", chunk=4))) as task:
        seen = [event async for event in task.stream("go")]
        assert "".join(event.text for event in seen if isinstance(event, ev.TextDelta)) == "one two three"
        assert isinstance(seen[-1], ev.TurnEnded)
        assert task.result.text == "one two three"
        assert task.state.task == task.id


async def test_several_prompts_are_turns_of_one_task_and_their_results_are_apart(scripted, workspace):
    async with halocline.open(folder=workspace, model=scripted("first", "second")) as task:
        first, second = await task.run("one"), await task.run("two")
    assert (first.text, second.text) == ("first", "second")
    assert (first.steps, second.steps) == (1, 1)
    assert await replay(task.id) == ()


async def test_a_model_of_the_program_may_be_of_a_provider_that_no_one_knows(workspace):
    class Echo:
        name = "mine/echo"

        async def stream(self, request):
            text = request.messages[-1].content[0].text
            yield ev.AssistantMessageCompleted(AssistantMessage((Text(f"You said: {text}"),), model=self.name))

        async def close(self):
            return None

    async with halocline.open(folder=workspace, model=Echo()) as task:
        assert (await task.run("hello")).text == "You said: hello"
        assert (task.remarks, task.state.model.name) == ((), "mine/echo")
    async with halocline.open(resume=task.id, model=Echo()) as again:
        assert (await again.run("again")).text == "You said: again"
    assert await replay(task.id) == ()
    with pytest.raises(halocline.UsageError, match="There is no provider 'mine'"):
        await halocline.run("go", folder=workspace, model="mine/echo")


async def test_a_task_is_resumed_by_its_id(scripted, workspace):
    model = scripted("first", "second")
    done = await halocline.run("one", folder=workspace, model=model)
    async with halocline.open(resume=done.task, model=model) as task:
        assert (await task.run("two")).text == "second"
        assert task.workspace == workspace


async def test_an_interrupt_ends_the_turn_and_the_task_goes_on(scripted, workspace):
    async with halocline.open(folder=workspace, model=scripted(Turn("slow", delay=30), "after")) as task:
        running = asyncio.create_task(task.run("go"))
        async for event in task.events():
            if isinstance(event, ev.StepStarted):
                break
        task.interrupt()
        assert (await running).ended is StopReason.CANCELLED
        assert task.state.turn is None


async def test_a_message_steers_the_running_turn(scripted, workspace):
    @halocline.tool(effect="reads")
    async def wait() -> str:
        """Wait until the person said something."""
        await task.steer("use b")
        return "waited"

    model = scripted(Turn(calls=(Call("wait"),)), Turn("done", expect="use b"))
    async with halocline.open(folder=workspace, model=model, tools=[wait]) as task:
        assert (await task.run("go")).text == "done"


async def test_a_fork_goes_its_own_way(scripted, workspace):
    model = scripted("first", "second")
    async with halocline.open(folder=workspace, model=model) as task:
        await task.run("one")
        other = await task.fork()
        try:
            assert (await other.run("two")).text == "second"
        finally:
            await other.close()
        assert len(task.state.messages) < len(other.result.events) + 4
        assert (await task.run("three")).text == "second"


@pytest.mark.slow
async def test_files_and_conversation_go_back(scripted, workspace):
    (workspace / "a.txt").write_text("old\n")
    read = Turn(calls=(Call("read_file", {"path": "a.txt"}),))
    model = scripted(read, WRITE, "done", "again")
    async with halocline.open(folder=workspace, model=model, approval_mode="yolo") as task:
        start = task.state.seq
        await task.run("go")
        assert await task.restore() == halocline.Restored(("a.txt",))
        assert (workspace / "a.txt").read_text() == "old\n"
        await task.rewind(start)
        assert len(task.state.messages) == 0


async def test_a_restore_after_an_interrupt_takes_back_what_the_tool_wrote(scripted, workspace):
    (workspace / "a.txt").write_text("old\n")

    @halocline.tool(effect="edits")
    async def work(path: Path, ctx: halocline.ToolContext) -> None:
        """Work."""
        await ctx.write_text(path, "half\n")
        ctx.progress("half way")
        await asyncio.sleep(60)

    model = scripted(Turn(calls=(Call("work", {"path": "a.txt"}),)), "done")
    async with halocline.open(folder=workspace, model=model, tools=[work], approval_mode="yolo") as task:
        async with aclosing(task.stream("go")) as events:
            async for event in events:
                if isinstance(event, ev.ToolCallProgressed):
                    break
        assert await task.restore() == halocline.Restored(("a.txt",))
        assert (workspace / "a.txt").read_text() == "old\n"
        assert task.state.turn is None
    assert await replay(task.id) == ()


async def test_a_restore_after_a_rewind_is_of_the_latest_run_that_is_left(scripted, workspace):
    other = Turn(calls=(Call("write_to_file", {"path": "b.txt", "content": "new\n"}),))
    async with halocline.open(folder=workspace, model=scripted(WRITE, "1", other, "2"), approval_mode="yolo") as task:
        await task.run("one")
        here = task.state.seq
        await task.run("two")
        assert await task.rewind(here) == halocline.Restored(("b.txt",))
        assert await task.restore() == halocline.Restored(("a.txt",))
    assert not [*workspace.iterdir()]


async def test_what_a_restore_keeps_is_returned_with_the_reason(scripted, workspace):
    async with halocline.open(folder=workspace, model=scripted(WRITE, "1"), approval_mode="yolo") as task:
        start = task.state.seq
        await task.run("one")
        (workspace / "a.txt").write_text("mine\n")
        expected = halocline.Restored((), {"a.txt": "you and the task changed the same lines"})
        assert await task.restore() == expected
        assert await task.rewind(start) == expected
        assert (await task.restore(start, overwrite=True)).changed == ("a.txt",)


async def test_the_model_and_the_mode_are_switched(scripted, workspace, tmp_path):
    script = tmp_path / "other.toml"
    script.write_text('[[turn]]\ntext = "x"\n[[turn]]\ntext = "from the other"\n')
    async with halocline.open(folder=workspace, model=scripted("first")) as task:
        await task.run("one")
        await task.switch_model(f"scripted/{script}")
        assert (await task.run("two")).text == "from the other"
        task.switch_mode("plan")
        assert task.state.plan.mode is halocline.Mode.PLAN
        with pytest.raises(halocline.UsageError, match="is no mode"):
            task.switch_mode("dream")


@pytest.mark.parametrize(("form", "begin"), [("markdown", "# go"), ("html", "<!doctype"), ("jsonl", '{"type"')])
async def test_a_task_is_exported(scripted, workspace, form, begin):
    async with halocline.open(folder=workspace, model=scripted("done")) as task:
        await task.run("go")
        assert task.export(form).lower().startswith(begin)
        with pytest.raises(halocline.UsageError, match="is no form"):
            task.export("pdf")


async def test_many_run_at_once_up_to_a_number_and_one_failure_stops_no_other(scripted, workspace):
    now, most = 0, 0

    @halocline.tool(effect="reads")
    async def count() -> None:
        """Count."""
        nonlocal now, most
        now, most = now + 1, max(most, now + 1)
        await asyncio.sleep(0.05)
        now -= 1

    model = scripted(Turn(calls=(Call("count"),)), "done")
    jobs = [*map(str, range(6)), halocline.Job("x", folder="/nowhere/at/all")]
    done = await halocline.run_all(jobs, at_once=2, folder=workspace, model=model, tools=[count])
    assert [one.text for one in done] == ["done"] * 6 + [""]
    assert "does not exist" in str(done[-1].error)
    assert most == 2
    assert len({one.task for one in done[:-1]}) == 6


async def test_an_error_in_a_callback_fails_one_of_many_alone(scripted, workspace):
    def decide(asked):
        raise ZeroDivisionError("no ground")

    jobs = [halocline.Job("one", model=scripted(WRITE, "done")), halocline.Job("two", model=scripted("done"))]
    broken, done = await halocline.run_all(jobs, folder=workspace, on_approval=decide)
    assert (broken.error.text, done.text) == ("ZeroDivisionError: no ground", "done")
    assert isinstance(broken.error.__cause__, ZeroDivisionError)


async def test_many_that_are_cancelled_end_at_once(scripted, workspace):
    @halocline.tool(effect="reads")
    async def hang() -> None:
        """Hang."""
        await asyncio.sleep(60)

    model = scripted(Turn(calls=(Call("hang"),)), "done")
    async with asyncio.timeout(120):
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(halocline.run_all("ab", folder=workspace, model=model, tools=[hang]), 0.5)


async def test_no_run_starts_once_the_money_for_all_is_spent(scripted, workspace):
    model = scripted(Turn("done", cost=0.4))
    done = await halocline.run_all(["a", "b", "c"], at_once=1, max_total_cost=0.5, folder=workspace, model=model)
    assert [one.error is None for one in done] == [True, True, False]
    with pytest.raises(halocline.TaskFailed, match="Not started"):
        _ = done[-1].value


class Priceless:
    """A model that says nothing of its usage, and looks around for ever."""

    name = "mine/priceless"

    async def stream(self, request):
        call = ToolCall(f"c{len(request.messages)}", "list_files", {"path": "."})
        yield ev.AssistantMessageCompleted(AssistantMessage((call,), model=self.name))

    async def close(self):
        return None


async def test_a_model_of_unknown_price_that_reports_nothing_counts_at_its_most_for_a_limit_in_money(workspace):
    done = await halocline.run("go", folder=workspace, model=Priceless(), max_cost=1.0)
    assert (done.limit, done.steps, done.cost) == ("cost", 2, None)
    assert re.search(r"(\$\d\.\d+) is spent \(of which \1 is the most that requests without a report", done.reason)


async def test_a_limit_in_money_for_many_ends_them_once_a_price_is_unknown(workspace):
    done = await halocline.run_all("abc", at_once=1, max_total_cost=1.0, folder=workspace, model=Priceless())
    assert [one.limit for one in done] == ["cost", "", ""]
    assert "the cost of a run before it is unknown" in done[1].error.text


async def test_a_named_model_of_unknown_price_is_refused_at_once_by_a_limit_in_money(workspace):
    options = {"folder": workspace, "model": "openai/nothing-like-it", "base_url": "http://127.0.0.1:9", "api_key": "k"}
    with pytest.raises(halocline.UsageError, match=r"cost limit of .1.00 cannot be enforced"):
        await halocline.run("go", max_cost=1.0, **options)
    (done,) = await halocline.run_all(["go"], max_total_cost=1.0, **options)
    assert "cost limit of $1.00 cannot be enforced" in done.error.text


def test_a_script_runs_without_async(scripted, workspace):
    assert halocline.run_sync("go", folder=workspace, model=scripted("done")).text == "done"


async def test_a_notebook_whose_loop_runs_does_too(scripted, workspace):
    assert halocline.run_sync("go", folder=workspace, model=scripted("done")).text == "done"


async def test_text_that_begins_with_a_slash_is_text(scripted, workspace):
    done = await halocline.run(
        "/etc/hosts is read by whom?", folder=workspace, model=scripted(Turn("ok", expect="/etc"))
    )
    assert done.text == "ok"


async def test_prompts_that_wait_for_each_other_have_results_of_their_own(scripted, workspace):
    model = scripted(Turn("first", delay=0.1, cost=1.0), Turn("second", cost=2.0))
    async with halocline.open(folder=workspace, model=model) as task:
        first, second = await asyncio.gather(task.run("one"), task.run("two"))
    assert [(one.text, one.cost, one.steps) for one in (first, second)] == [("first", 1.0, 1), ("second", 2.0, 1)]


async def test_a_prompt_that_waits_behind_an_interrupted_turn_is_answered(scripted, workspace):
    async with halocline.open(folder=workspace, model=scripted(Turn("slow", chunk=1, pace=30), "after")) as task:
        first, second = asyncio.create_task(task.run("one")), asyncio.create_task(task.run("two"))
        async for event in task.events():
            if isinstance(event, ev.TextDelta):
                break
        task.interrupt()
        assert (await first).ended is StopReason.CANCELLED
        assert (await second).text == "after"


@pytest.mark.slow
async def test_several_programs_run_in_one_process(scripted, workspace):
    done = await asyncio.gather(*(halocline.run("go", folder=workspace, model=scripted(str(n))) for n in range(5)))
    assert [one.text for one in done] == list("01234")


async def test_a_run_that_is_cancelled_leaves_a_task_that_can_be_resumed(scripted, workspace, halocline_home):
    running = asyncio.create_task(halocline.run("go", folder=workspace, model=scripted(Turn("slow", delay=60))))
    while not list(halocline_home.glob("tasks/*/events.jsonl")):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    (task,) = (halocline_home / "tasks").iterdir()
    async with halocline.open(resume=task.name, model=scripted("again")) as opened:
        assert opened.state.turn is None


async def test_a_limit_with_a_callback_for_approvals_alone_ends_the_run(scripted, workspace):
    read = Turn(calls=(Call("list_files", {"path": "."}),))
    model = scripted(read, read, "done")
    done = await halocline.run("go", folder=workspace, model=model, max_steps=1, on_approval=lambda asked: "allow")
    assert done.limit == "steps"


@pytest.mark.parametrize("options", [{}, {"on_approval": lambda asked: "allow"}])
async def test_the_time_limit_cuts_off_what_hangs(scripted, workspace, options):
    @halocline.tool(effect="reads")
    async def hang() -> None:
        """Hang."""
        await asyncio.sleep(60)

    model = scripted(Turn(calls=(Call("hang"),)), "done")
    done = await halocline.run("go", folder=workspace, model=model, tools=[hang], time_limit=0.3, **options)
    assert (done.limit, calls_of(done)[0].status) == ("time", "cancelled")
    assert await replay(done.task) == ()


async def test_an_error_shows_its_hint_in_a_traceback(workspace):
    with pytest.raises(halocline.UsageError) as caught:
        await halocline.run("go", folder=workspace, model="nowhere/x")
    assert caught.value.__notes__ == [caught.value.hint]


@pytest.mark.process
async def test_a_command_runs_in_a_notebook_too(scripted, workspace):
    run = Turn(calls=(Call("execute_command", {"command": "echo $((6 * 7))"}),))
    done = halocline.run_sync("go", folder=workspace, model=scripted(run, "done"), approval_mode="yolo")
    assert "42" in calls_of(done)[0].text
