"""Functions and models of a program that do what they should not: the run ends, says so, and its log can be read."""

import asyncio
import sys

import pytest

import halocline
from halocline.protocol.kinds import CallStatus
from halocline.protocol.messages import AssistantMessage, Text, Usage
from halocline.testing import Call, Turn, calls_of, replay

WRITE = Turn(calls=(Call("write_to_file", {"path": "a.txt", "content": "x"}),))
ASK = Turn(calls=(Call("ask_followup_question", {"question": "Which?"}),))


class Failed(BaseException):
    """What `pytest.fail` raises is no Exception either."""


def fail(*_):
    raise Failed("as said")


def leave(*_):
    sys.exit(3)


def cancel(*_):
    asyncio.current_task().cancel()


async def cancel_later(*_):
    asyncio.current_task().cancel()
    await asyncio.sleep(60)


CALLBACKS = [(fail, Failed), (leave, SystemExit), (cancel, halocline.UsageError), (cancel_later, halocline.UsageError)]


@pytest.mark.parametrize(("does", "raises"), CALLBACKS)
async def test_a_run_raises_what_its_callbacks_and_hooks_do(scripted, workspace, does, raises):
    for turn, options in (
        (WRITE, {"on_approval": does}),
        (ASK, {"on_question": does}),
        (WRITE, {"hooks": {"PreToolUse": does}, "approval_mode": "yolo"}),
    ):
        if does is cancel and "on_approval" not in options:
            continue  # what returns None is an answer there
        async with asyncio.timeout(30):
            with pytest.raises(raises):
                await halocline.run("go", folder=workspace, model=scripted(turn, "done"), **options)
    assert not (workspace / "a.txt").exists()


@halocline.tool
def interrupt() -> str:
    """Raise in a thread what Ctrl-C raises."""
    raise KeyboardInterrupt


@halocline.tool
async def cancel_itself() -> str:
    """Cancel the task that runs it."""
    await cancel_later()
    return ""


@halocline.tool
async def raise_group() -> str:
    """Raise what is no Exception."""
    raise BaseExceptionGroup("several", [Failed()])


@halocline.tool
async def ask_a_number(ctx: halocline.ToolContext) -> str:
    """Ask what is no text."""
    return await ctx.ask(7) or ""


@halocline.tool(timeout=0.1)
async def stay() -> str:
    """Refuse to end, once."""
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        await asyncio.sleep(60)
    return ""


TOOLS = {
    interrupt: "interrupt failed: KeyboardInterrupt",
    cancel_itself: "cancel_itself failed: CancelledError",
    raise_group: "raise_group failed: BaseExceptionGroup: several",
    ask_a_number: "ask_a_number failed: TypeError: A question is text",
    stay: "stay took longer than 0.1 s",
}


@pytest.mark.slow
async def test_a_call_ends_whatever_its_function_does(scripted, workspace):
    options = {"tools": [*TOOLS], "on_approval": lambda asked: True}
    for tool, said in TOOLS.items():
        model = scripted(Turn(calls=(Call(tool.name, {}),)), "done")
        async with asyncio.timeout(60):
            done = await halocline.run("go", folder=workspace, model=model, **options)
        (call,) = calls_of(done)
        assert (call.status, call.text[: len(said)]) == (CallStatus.FAILED, said)
        assert await replay(done.task) == ()


class Model:
    name = "own/model"

    def __init__(self, *does):
        self.does = does

    async def stream(self, request):
        for one in self.does:
            if isinstance(one, BaseException):
                raise one
            yield one

    async def close(self):
        pass


class NoGenerator(Model):
    async def stream(self, request):
        return None


MODELS = [
    (Model(ValueError("no server")), "own/model failed: ValueError: no server"),
    (Model(SystemExit(3)), "own/model failed: SystemExit: 3"),
    (Model(), "own/model ended without an AssistantMessageCompleted"),
    (Model(7), "it yielded int, which is no event of a model"),
    (Model(halocline.events.TextDelta(7)), "Expected `str`, got `int`"),
    (Model(halocline.events.AssistantMessageCompleted(message=7)), "Expected `object`, got `int`"),
    (NoGenerator(), "stream of NoGenerator is no generator"),
]


async def test_a_model_may_say_what_it_used_after_its_reply(workspace):
    reply = halocline.events.AssistantMessageCompleted(message=AssistantMessage((Text("Hello."),)))
    used = halocline.events.UsageReported(usage=Usage(input=3, output=2), cost=0.5)
    done = await halocline.run("go", folder=workspace, model=Model(reply, used))
    assert (done.text, done.cost) == ("Hello.", 0.5)


@pytest.mark.parametrize(("model", "said"), MODELS)
async def test_the_error_of_a_model_of_the_program_is_named_as_its_own(workspace, model, said):
    with pytest.raises(halocline.HaloclineError, match=said):
        await halocline.run("go", folder=workspace, model=model)
