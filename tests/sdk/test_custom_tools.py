"""Functions as tools: what is wrong with one is said at once, and a good one is judged and replayed as any tool."""

import asyncio
import dataclasses
import logging
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Annotated, Literal, NewType, TypedDict

import msgspec
import pydantic
import pytest

import halocline
from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus
from halocline.sdk.tools import read_docstring
from halocline.testing import Call, Turn, calls_of, replay


class Size(pydantic.BaseModel):
    width: int


@dataclasses.dataclass
class Box:
    size: Size
    tags: list[str] = dataclasses.field(default_factory=list)


ENDLESS: list[object] = []
ENDLESS.append(ENDLESS)


def calling(name, **arguments):
    return Turn(calls=(Call(name, arguments),))


async def run_tool(scripted, workspace, tool, *, arguments=None, **options):
    model = scripted(calling(tool.name, **(arguments or {})), "done")
    done = await halocline.run("go", folder=workspace, model=model, tools=[tool], **options)
    (call,) = calls_of(done, tool.name)
    return done, call


def test_the_schema_comes_from_the_types_and_the_docstring():
    @halocline.tool
    def pack(
        box: Box, path: Path, mode: Literal["fast", "small"], level: Annotated[int, msgspec.Meta(ge=1)] = 3
    ) -> str:
        """Pack a box.

        Slowly, but well.

        Args:
            box: what goes in
            path (Path): where it goes,
                in the workspace
            mode: how

        Returns:
            Nothing of interest.
        """
        return ""

    schema = pack.definition.schema
    assert pack.definition.description == "Pack a box.\n\nSlowly, but well."
    assert schema["required"] == ["box", "path", "mode"]
    assert schema["properties"]["path"] == {"type": "string", "description": "where it goes, in the workspace"}
    assert schema["properties"]["mode"]["enum"] == ["fast", "small"]
    assert schema["properties"]["box"]["properties"]["size"]["properties"]["width"]["type"] == "integer"
    assert (pack.definition.paths, pack.definition.urls) == (("path",), ())
    assert pack(Box(Size(width=1)), Path("x"), "fast") == ""


def test_a_docstring_without_sections_is_the_description():
    assert read_docstring("One.\nTwo.") == ("One.\nTwo.", {})
    assert read_docstring("One.\n\nReturns:\n    x: no argument") == ("One.", {})


def no_docstring(x: int) -> int:
    return x


def no_type(x) -> int:
    """Do."""
    return x


def any_names(**more: int) -> int:
    """Do."""
    return 1


def only_positions(x: int, /) -> int:
    """Do."""
    return x


def no_schema(x: asyncio.Event) -> int:
    """Do."""
    return 1


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (no_docstring, "has no description"),
        (no_type, "has no type"),
        (any_names, "has no name for the model"),
        (only_positions, "has no name for the model"),
        (no_schema, "has no JSON Schema"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_where_it_is_decorated(function, said):
    with pytest.raises(halocline.UsageError, match=said) as caught:
        halocline.tool(function)
    assert caught.value.hint


def test_an_unknown_effect_and_a_wrong_name_are_refused():
    with pytest.raises(halocline.UsageError, match="is no effect"):
        halocline.tool(effect="writes")(len)
    with pytest.raises(halocline.UsageError, match="cannot be the name"):
        halocline.tool(name="two words", description="x")(no_docstring)


def test_a_method_of_an_object_is_a_tool_and_a_builtin_function_is_none():
    class Shop:
        def price(self, fruit: str) -> float:
            """Return a price."""
            return 1.5

    assert list(halocline.tool(Shop().price).definition.schema["properties"]) == ["fruit"]
    with pytest.raises(halocline.UsageError, match=r"cannot be read|has no type"):
        halocline.tool(name="make", description="x")(dict)


async def test_two_tools_of_one_name_and_the_name_of_a_built_in_tool_are_refused(scripted, workspace):
    def read_file(x: int) -> int:
        """Do."""
        return x

    one = halocline.tool(description="x")(no_docstring)
    for tools in ([one, one], [halocline.tool(read_file)]):
        with pytest.raises(halocline.UsageError, match=r"name|already"):
            await halocline.run("go", folder=workspace, model=scripted("x"), tools=tools)


@pytest.mark.parametrize("name", ["Bash", "Write", "Task", "bash", "write_file", "use_mcp_tool", "mcp__a__b"])
async def test_a_name_that_means_another_tool_in_rules_or_for_models_is_refused(scripted, workspace, name):
    one = halocline.tool(name=name, description="x")(no_docstring)
    with pytest.raises(halocline.UsageError, match="stands for another tool"):
        await halocline.run("go", folder=workspace, model=scripted("x"), tools=[one])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("text", "text"),
        (None, "Done."),
        (3, "3"),
        (Box(Size(width=1), ["a"]), '{"size":{"width":1},"tags":["a"]}'),
        ([Path("a")], '["a"]'),
        (Size(width=2), '{"width":2}'),
        (object(), "cannot be shown"),
        (ENDLESS, "cannot be shown"),
    ],
)
@pytest.mark.parametrize("is_async", [True, False])
async def test_a_result_reads_as_text(scripted, workspace, value, text, is_async):
    def give() -> object:
        return value

    async def give_later() -> object:
        return value

    tool = halocline.tool(name="give", description="Give.", effect="reads")(give_later if is_async else give)
    _, call = await run_tool(scripted, workspace, tool)
    assert text in call.text


async def test_arguments_come_in_their_types(scripted, workspace):
    got = {}

    @halocline.tool(effect="reads")
    def take(box: Box, path: Path, count: int, other: Path = Path("x"), note: str | None = None) -> None:
        """Take."""
        got.update(box=box, path=path, count=count, other=other, note=note)

    arguments = {"box": {"size": {"width": "3"}}, "path": "a/b", "count": "7"}
    await run_tool(scripted, workspace, take, arguments=arguments)
    assert got["box"] == Box(Size(width=3))
    assert (got["path"], got["other"]) == (workspace / "a/b", workspace / "x")
    assert (got["count"], got["note"]) == (7, None)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [({}, "'x' is missing"), ({"x": 1, "y": 2}, "no argument 'y'"), ({"x": "many"}, "Invalid arguments")],
)
async def test_the_model_reads_what_is_wrong_with_its_arguments(scripted, workspace, arguments, said):
    @halocline.tool(effect="reads")
    def take(x: int) -> None:
        """Take."""

    _, call = await run_tool(scripted, workspace, take, arguments=arguments)
    assert (call.status, said in call.text) == (CallStatus.FAILED, True), call.text


async def test_no_one_is_asked_about_a_call_that_cannot_run(scripted, workspace):
    @halocline.tool
    def take(x: int) -> None:
        """Take."""

    def never(asked):
        raise AssertionError(asked.title)

    _, call = await run_tool(scripted, workspace, take, on_approval=never)
    assert call.status is CallStatus.FAILED


def raises() -> None:
    raise ValueError("no such city")


def fails() -> None:
    raise halocline.ToolFailure("The city is not in the list. Call list_cities first.")


async def hangs() -> None:
    await asyncio.sleep(60)


async def times_out() -> None:
    raise TimeoutError("the server is slow")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "said"),
    [
        (raises, "ValueError: no such city"),
        (fails, "The city is not in the list. Call list_cities first."),
        (hangs, "took longer than 0.05 s"),
        (times_out, "TimeoutError: the server is slow"),
    ],
)
async def test_an_error_is_a_failure_that_the_model_understands(scripted, workspace, function, said, caplog):
    tool = halocline.tool(name="act", description="Act.", effect="reads", timeout=0.05)(function)
    with caplog.at_level(logging.WARNING):
        _, call = await run_tool(scripted, workspace, tool)
    assert (call.status, said in call.text) == (CallStatus.FAILED, True)
    assert ("Traceback" in caplog.text) == (function in (raises, times_out))


def stops() -> object:
    return next(iter([]))


class Unspeakable(Exception):
    def __str__(self):
        raise RuntimeError


def fails_without_words() -> None:
    raise Unspeakable


def cancels() -> None:
    raise asyncio.CancelledError


async def waits_for_what_is_cancelled() -> None:
    other = asyncio.create_task(asyncio.sleep(60))
    other.cancel()
    await other


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (stops, "StopIteration"),
        (fails_without_words, "Unspeakable"),
        (cancels, "CancelledError"),
        (waits_for_what_is_cancelled, "CancelledError"),
    ],
)
@pytest.mark.parametrize("timeout", [None, 5])
async def test_an_odd_error_is_a_failure_of_the_tool_too(scripted, workspace, function, said, timeout):
    tool = halocline.tool(name="act", description="Act.", effect="reads", timeout=timeout)(function)
    async with asyncio.timeout(4):
        _, call = await run_tool(scripted, workspace, tool)
    assert (call.status, f"act failed: {said}" in call.text) == (CallStatus.FAILED, True), call.text


def test_a_tool_that_never_returns_keeps_no_program_from_ending(scripted, workspace):
    never = threading.Event()

    @halocline.tool(effect="reads", timeout=0.1)
    def hang() -> None:
        """Hang."""
        never.wait(10)

    begun = time.monotonic()
    done = halocline.run_sync("go", folder=workspace, model=scripted(calling("hang"), "done"), tools=[hang])
    assert "took longer than 0.1 s" in calls_of(done)[0].text
    assert time.monotonic() - begun < 8


JUDGED = [
    # effect, mode of approval, what is asked or refused
    ("", "ask", "asks"),
    ("", "accept-edits", "asks"),
    ("", "auto", "asks"),
    ("", "yolo", "runs"),
    ("reads", "ask", "runs"),
    ("reads", "auto", "runs"),
    ("edits", "ask", "asks"),
    ("edits", "accept-edits", "runs"),
    ("edits", "auto", "runs"),
    ("network", "ask", "asks"),
    ("network", "accept-edits", "asks"),
    ("network", "auto", "runs"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("effect", "mode", "outcome"), JUDGED)
async def test_the_gate_judges_a_tool_by_its_effect(scripted, workspace, effect, mode, outcome):
    asked = []

    @halocline.tool(effect=effect)
    def act() -> str:
        """Act."""
        return "acted"

    done, call = await run_tool(
        scripted, workspace, act, approval_mode=mode, on_approval=lambda event: asked.append(event) or "allow"
    )
    assert (call.text, bool(asked)) == ("acted", outcome == "asks")
    assert await replay(done.task) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("effect", "runs"), [("", False), ("reads", True), ("edits", False), ("network", True)])
async def test_plan_mode_runs_no_tool_that_may_change_something(scripted, workspace, effect, runs):
    @halocline.tool(effect=effect)
    def act() -> str:
        """Act."""
        return "acted"

    _, call = await run_tool(scripted, workspace, act, mode="plan", approval_mode="auto")
    assert (call.text == "acted") is runs


@pytest.mark.slow
@pytest.mark.parametrize("effect", ["reads", "edits"])
async def test_a_path_among_the_arguments_is_judged_as_that_of_a_built_in_tool(scripted, workspace, effect):
    (workspace / ".env").write_text("KEY=1")

    @halocline.tool(effect=effect)
    def touch(path: Path) -> str:
        """Touch a file."""
        return "acted"

    for path, runs in [("a.txt", True), ("/etc/hosts", False), (".env", False), (".git/config", effect == "reads")]:
        _, call = await run_tool(scripted, workspace, touch, arguments={"path": path}, approval_mode="accept-edits")
        assert (call.text == "acted") is runs, (path, call.text)


@dataclasses.dataclass
class Source:
    path: Path


class Copy(TypedDict):
    source: Source
    address: halocline.Url


class Picture(pydantic.BaseModel):
    file: list[Path]


Place = NewType("Place", Path)
HIDDEN = [Source, Copy, Picture, list[Source], dict[str, Path], list[list[Path]], Source | None]


@pytest.mark.parametrize("kind", HIDDEN)
def test_a_path_that_is_too_deep_in_a_type_to_be_judged_makes_no_tool(kind):
    def take(x: kind) -> None:
        """Take."""

    with pytest.raises(halocline.UsageError, match="The argument x of the tool take has a path inside") as caught:
        halocline.tool(take)
    assert "list[Path]" in caught.value.hint


@pytest.mark.parametrize("kind", [Path, Place, Path | None, Annotated[Path, "x"], list[Place], tuple[Path, ...]])
async def test_a_path_in_a_list_or_under_another_name_is_judged(scripted, workspace, kind):
    (workspace / ".env").write_text("KEY=1")

    @halocline.tool(effect="reads")
    def take(x: kind) -> str:
        """Take."""
        return "taken"

    is_one = kind in (Path, Place, Path | None, Annotated[Path, "x"])
    _, call = await run_tool(scripted, workspace, take, arguments={"x": ".env" if is_one else ["a", ".env"]})
    assert call.status is CallStatus.REJECTED


@pytest.mark.parametrize(
    ("kind", "effect", "said"),
    [
        (list[halocline.Url], "network", "takes several addresses"),
        (dict[str, halocline.Url], "network", "takes several addresses"),
        (Copy, "network", "a path inside|several addresses"),
        (halocline.Url, "reads", "reaches no server"),
        (halocline.Url, "edits", "reaches no server"),
    ],
)
def test_an_address_that_would_not_be_judged_makes_no_tool(kind, effect, said):
    def take(x: kind) -> None:
        """Take."""

    def take_two(x: halocline.Url, y: halocline.Url | None = None) -> None:
        """Take."""

    with pytest.raises(halocline.UsageError, match=said):
        halocline.tool(effect=effect)(take)
    with pytest.raises(halocline.UsageError, match="takes several addresses"):
        halocline.tool(effect="network")(take_two)


async def test_an_address_among_the_arguments_is_judged(scripted, workspace):
    @halocline.tool(effect="network")
    def fetch(url: halocline.Url) -> str:
        """Fetch."""
        return "fetched"

    for url, runs in [("https://example.com/x", True), ("http://169.254.169.254/", False), ("file:///etc", False)]:
        _, call = await run_tool(scripted, workspace, fetch, arguments={"url": url}, approval_mode="auto")
        assert (call.text == "fetched") is runs, (url, call.text)


async def test_a_public_address_makes_a_tool_that_may_do_anything_no_less_judged(scripted, workspace):
    @halocline.tool
    def act(url: halocline.Url) -> str:
        """Act."""
        return "acted"

    for url in ("https://example.com/", "http://169.254.169.254/"):
        asked = []
        options = {"approval_mode": "auto", "on_approval": lambda event, asked=asked: asked.append(event) or "deny"}
        _, call = await run_tool(scripted, workspace, act, arguments={"url": url}, **options)
        assert (call.status, bool(asked)) == (CallStatus.REJECTED, True)


async def test_a_rule_refuses_a_tool_by_its_name_and_it_is_not_offered(scripted, workspace):
    @halocline.tool(effect="reads")
    def act() -> str:
        """Act."""
        return "acted"

    _, call = await run_tool(scripted, workspace, act, disallowed_tools=["act"])
    assert call.status is CallStatus.REJECTED


async def test_what_was_allowed_always_is_asked_again_when_the_definition_changes(scripted, workspace):
    asked = []

    def make(text):
        return halocline.tool(name="act", description=text)(lambda: "acted")

    model = scripted(calling("act"), calling("act"), "done", calling("act"), "done")
    options = {"model": model, "on_approval": lambda event: asked.append(event.grant.subject) or "always"}
    done = await halocline.run("go", folder=workspace, tools=[make("Act.")], **options)
    assert len(asked) == 1
    async with halocline.open(resume=done.task, tools=[make("Act otherwise.")], **options) as task:
        await task.run("again")
    assert len(set(asked)) == 2


@pytest.mark.parametrize(("effect", "writes"), [("", True), ("reads", False), ("edits", True), ("network", False)])
async def test_the_context_writes_only_for_a_tool_that_may_edit(scripted, workspace, effect, writes):
    @halocline.tool(effect=effect)
    async def save(path: Path, ctx: halocline.ToolContext) -> None:
        """Save."""
        await ctx.write_text(path, "new")

    options = {"approval_mode": "accept-edits", "on_approval": lambda asked: "allow"}
    _, call = await run_tool(scripted, workspace, save, arguments={"path": "n.txt"}, **options)
    assert ((workspace / "n.txt").exists(), "so it changes no files" in call.text) == (writes, not writes), call.text


@pytest.mark.slow
async def test_the_context_reads_writes_runs_asks_and_shows_progress(scripted, workspace):
    (workspace / "a.txt").write_text("old\n")

    @halocline.tool
    async def work(path: Path, ctx: halocline.ToolContext) -> str:
        """Work."""
        ctx.progress("half way")
        text = await ctx.read_text(path)
        await ctx.write_text(path, text.upper())
        ran = await ctx.run("cat a.txt; exit 3")
        answer = await ctx.ask("Go on?", ["yes", "no"])
        return f"{ran.output.strip()} {ran.exit_code} {answer} {await ctx.list_folder()} {ctx.workspace.name}"

    model = scripted(calling("work", path="a.txt"), "done")
    options = {"on_approval": lambda asked: "allow", "on_question": lambda asked: asked.options[0]}
    async with halocline.open(folder=workspace, model=model, tools=[work], **options) as task:
        seen = [event async for event in task.stream("go")]
    (call,) = calls_of(seen, "work")
    assert call.text == "OLD 3 yes ['a.txt'] workspace"
    assert "half way\n" in "".join(event.text for event in seen if isinstance(event, ev.ToolCallProgressed))
    assert [event.path for event in seen if isinstance(event, ev.FileChanged)] == ["a.txt"]
    assert await replay(task.id) == ()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("effect", "act", "said"),
    [
        ("reads", lambda ctx: ctx.write_text("a.txt", "x"), "so it changes no files"),
        ("reads", lambda ctx: ctx.run("make all"), "was not run"),
        ("edits", lambda ctx: ctx.write_text("other.txt", "x"), "out of reach"),
        ("reads", lambda ctx: ctx.read_text(".env"), "secrets"),
        ("reads", lambda ctx: ctx.read_text("missing.txt"), "missing.txt does not exist"),
        ("reads", lambda ctx: ctx.read_text("hidden.txt"), "hidden.txt does not exist, or is hidden"),
        ("reads", lambda ctx: ctx.list_folder(".."), "out of reach"),
        ("reads", lambda ctx: ctx.list_folder(ctx.workspace.parent), "out of reach"),
        ("reads", lambda ctx: ctx.read_text("/etc/hostname"), "out of reach"),
        ("", lambda ctx: ctx.run("rm -rf /"), "was not run"),
    ],
)
async def test_the_context_does_no_more_than_the_gate_allowed(scripted, workspace, effect, act, said):
    (workspace / ".env").write_text("KEY=1")
    (workspace / ".haloclineignore").write_text("hidden.txt\n")
    (workspace / "hidden.txt").write_text("hidden")

    async def work(ctx: halocline.ToolContext) -> str:
        """Work."""
        await act(ctx)
        return "worked"

    tool = halocline.tool(effect=effect)(work)
    _, call = await run_tool(scripted, workspace, tool, approval_mode="accept-edits", on_approval=lambda asked: "allow")
    assert (call.status, said in call.text) == (CallStatus.FAILED, True), call.text


async def test_the_context_lists_a_folder_outside_that_an_argument_names_and_none_above_it(
    scripted, workspace, tmp_path
):
    (tmp_path / "other" / "inner").mkdir(parents=True)

    @halocline.tool(effect="reads")
    async def look(path: Path, ctx: halocline.ToolContext) -> list[str]:
        """Look."""
        return await ctx.list_folder(path if path.name == "other" else path.parent)

    for path, said in [(tmp_path / "other", '["inner/"]'), (tmp_path / "other" / "inner", "out of reach")]:
        arguments = {"path": str(path)}
        _, call = await run_tool(scripted, workspace, look, arguments=arguments, on_approval=lambda asked: "allow")
        assert said in call.text


async def test_files_that_a_tool_wrote_before_it_failed_are_in_the_log(scripted, workspace):
    @halocline.tool(effect="edits")
    async def work(path: Path, ctx: halocline.ToolContext) -> None:
        """Work."""
        await ctx.write_text(path, "new\n")
        raise halocline.ToolFailure("The second half is missing.")

    done, call = await run_tool(scripted, workspace, work, arguments={"path": "a.txt"}, approval_mode="accept-edits")
    assert "The second half is missing. Before that it wrote a.txt." in call.text
    assert any(isinstance(event, ev.FileChanged) for event in done.events)


@pytest.mark.parametrize("fails", [False, True])
async def test_a_tool_that_declares_no_change_and_makes_one_is_found_and_said(scripted, workspace, fails):
    (workspace / "known.txt").write_text("old")

    @halocline.tool(effect="reads")
    def look() -> str:
        """Look."""
        (workspace / "known.txt").write_text("changed")
        (workspace / "new.txt").write_text("x")
        if fails:
            raise halocline.ToolFailure("It broke.")
        return "looked"

    model = scripted(calling("read_file", path="known.txt"), calling("look"), Turn("done", expect="declared to change"))
    done = await halocline.run("go", folder=workspace, model=model, tools=[look])
    (call,) = calls_of(done, "look")
    assert "look is declared to change no files, but while it ran these changed: known.txt, new.txt." in call.text
    (outside,) = [event for event in done.events if isinstance(event, ev.FilesChangedOutside)]
    assert [file.by for file in outside.files] == ["look (declared to change no files)"]
    assert await replay(done.task) == ()


async def test_hidden_files_are_not_named_when_they_change(scripted, workspace):
    (workspace / ".halignore").write_text("hidden/\n")
    (workspace / ".clineignore").write_text("hidden/\n")
    (workspace / "hidden").mkdir()

    @halocline.tool(effect="reads")
    def look() -> str:
        """Look."""
        (workspace / "hidden" / "new.txt").write_text("x")
        return "looked"

    _, call = await run_tool(scripted, workspace, look)
    assert call.text == "looked"


async def test_reading_tools_run_together_and_others_alone(scripted, workspace):
    both = asyncio.Barrier(2)

    @halocline.tool(effect="reads")
    async def meet() -> str:
        """Meet the other call."""
        async with asyncio.timeout(5):
            await both.wait()
        return "met"

    model = scripted(Turn(calls=(Call("meet"), Call("meet"))), "done")
    done = await halocline.run("go", folder=workspace, model=model, tools=[meet])
    assert [call.text for call in calls_of(done)] == ["met", "met"]


async def test_a_task_that_is_resumed_without_its_program_offers_its_tools_no_more(scripted, workspace):
    @halocline.tool(effect="reads")
    def act() -> str:
        """Act."""
        return "acted"

    model = scripted(calling("act"), "done", calling("act"), "done")
    done = await halocline.run("go", folder=workspace, model=model, tools=[act])
    async with halocline.open(resume=done.task, model=model) as task:
        (call,) = calls_of(await task.run("again"))
    assert "There is no tool 'act'" in call.text
    assert await replay(done.task) == ()


KILLED = """
    import asyncio, os, signal, sys
    from pathlib import Path
    import halocline
    from halocline.testing import Call, Scripted, Turn

    @halocline.tool(effect="edits")
    async def act(path: Path, ctx: halocline.ToolContext) -> str:
        '''Act.'''
        await ctx.write_text(path, "half")
        if len(sys.argv) == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return "acted"

    async def main():
        model = Scripted([Turn(calls=(Call("act", {"path": "a.txt"}),)), Turn("done"), Turn("again")])
        options = dict(model=model, tools=[act], approval_mode="yolo")
        options |= {"resume": sys.argv[1]} if sys.argv[1:] else {"folder": "."}
        async with halocline.open(**options) as task:
            print(task.id, flush=True)
            print((await task.run("go")).text)

    asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.process
async def test_a_call_that_dies_with_its_process_is_closed_and_the_task_goes_on(scripted, workspace, tmp_path):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(KILLED))
    first = subprocess.run([sys.executable, program], cwd=workspace, capture_output=True, text=True, env=os.environ)
    assert first.returncode == -signal.SIGKILL, first.stderr
    task = first.stdout.strip()
    assert await replay(task) == ("Its log ends in the middle of a turn.",)
    second = subprocess.run([sys.executable, program, task], cwd=workspace, capture_output=True, text=True)
    assert second.stdout.split() == [task, "done"], second.stderr
    async with halocline.open(resume=task, model=scripted("x")) as opened:
        calls = calls_of(opened.past)
    assert [(call.tool, call.status) for call in calls] == [("act", CallStatus.CANCELLED)]
    assert "may or may not have taken effect" in calls[0].text
    assert await replay(task) == ()
