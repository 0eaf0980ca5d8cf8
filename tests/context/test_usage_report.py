from hypothesis import given, strategies as st

from halocline.context.reports.usage import (
    CALLS,
    COMMANDS,
    FILES,
    IMAGES,
    KINDS,
    NOTES,
    PROMPTS,
    REPLIES,
    RESULTS,
    RULES,
    SKILLS,
    SUMMARY,
    SYSTEM,
    THINKING,
    TOOLS,
    usage_report,
)
from halocline.ports.model import Request
from halocline.protocol.messages import (
    AssistantMessage,
    Image,
    Message,
    Note,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    Usage,
    UserMessage,
)
from halocline.protocol.state.state import State
from halocline.tools.toolset import Tools

SYSTEM_PROMPT = (
    "You.\n\n# Working\nWell.\n\n# Skills\nGet them.\n- sing: loudly\n- dance: fast\n\n# Project rules\nNo tabs.\n"
)
WORKSPACE = "/w"
PICTURE = Image("image/png", "b")


def request(*messages: Message, system: str = SYSTEM_PROMPT) -> Request:
    return Request(model="x/y", system=system, messages=messages, tools=Tools().specs(State()), cache_key="t")


def called(name: str, text: str = "one two three", error: bool = False, id: str = "c", **arguments: object):
    call = AssistantMessage((ToolCall(id, name, arguments),))
    return (call, ToolResult(id, (Text(text),), is_error=error))


def parts(*messages: Message):
    return {(part.kind, part.name): part for part in usage_report(request(*messages), Usage(), WORKSPACE).parts}


def test_each_thing_has_a_part_of_its_own():
    found = parts(
        UserMessage(
            (Text("fix it\nnow"), Note("x", "environment"), Note("Be kind.", "rules"), Image("image/png", "b"))
        ),
        UserMessage((Note("It was so.", "summary"), Note("- a.py", "ledger"))),
        AssistantMessage((Thinking("hm"), Text("Well."), ToolCall("1", "read_file", {"path": "/w/./a.py"}))),
        ToolResult("1", (Text("text"), PICTURE)),
        *called("execute_command", command="make\n"),
        *called("search_files", regex="x"),
        *called("job", action="read", job="job-1"),
    )
    assert {key for key in found if key[0] != TOOLS} == {
        *((SYSTEM, name) for name in ("role", "working")),
        *((RULES, name) for name in ("project rules", "Be kind.")),
        *((SKILLS, name) for name in ("sing", "how to use them", "dance")),
        (PROMPTS, "fix it"),
        *((SUMMARY, name) for name in ("summary", "ledger")),
        (NOTES, "environment"),
        (REPLIES, "words"),
        (THINKING, "thinking"),
        *((CALLS, name) for name in ("job", "read_file", "execute_command", "search_files")),
        *((FILES, name) for name in ("a.py",)),
        *((COMMANDS, name) for name in ("make", "job job-1")),
        (RESULTS, "search_files"),
        *((IMAGES, name) for name in ("from the user", "a.py")),
    }
    assert list(dict.fromkeys(kind for kind, _ in found)) == list(KINDS)
    assert {name for kind, name in found if kind == TOOLS} == {spec.name for spec in Tools().specs(State())}


usages = st.builds(Usage, input=st.integers(1, 500_000), cache_read=st.integers(0, 10_000), output=st.integers(0, 999))


@given(usages)
def test_what_the_provider_counted_is_what_the_parts_add_up_to(usage: Usage):
    messages = (UserMessage((Text("hello " * 50),)), AssistantMessage((Text("Hi."),)))
    report = usage_report(request(*messages), usage, WORKSPACE)
    assert report.used == report.counted == usage.total == sum(part.tokens for part in report.parts)
    later = usage_report(request(*messages, UserMessage((Text("more " * 90),))), usage, WORKSPACE)
    assert later.counted == usage.total
    assert later.used >= report.used
    assert later.used == sum(part.tokens for part in later.parts)


def test_without_a_count_everything_is_an_estimate():
    report = usage_report(request(UserMessage((Text("x"),))), Usage(input=9), WORKSPACE)
    assert (report.counted, report.scale) == (0, 1.0)
    interrupted = AssistantMessage((Text("x"),), interrupted=True)
    assert usage_report(request(UserMessage((Text("x"),)), interrupted), Usage(), WORKSPACE).counted == 0


def test_reasoning_that_was_not_given_to_us_is_not_carried_on():
    usage = Usage(input=1_000, output=500, reasoning=400)
    hello = UserMessage((Text("x"),))
    assert usage_report(request(hello, AssistantMessage((Text("x"),))), usage, WORKSPACE).counted == 1_100
    kept = AssistantMessage((Thinking("", redacted="abc"), Text("x")))
    assert usage_report(request(hello, kept), usage, WORKSPACE).counted == 1_500


def stale(*messages: Message) -> dict[str, int]:
    found = parts(*messages)
    return {name: part.stale for (kind, name), part in found.items() if kind == FILES}


READ = called("read_file", path="a.py")


def test_a_file_that_was_edited_after_it_was_read_is_stale():
    assert stale(*READ)["a.py"] == 0
    assert stale(*called("write_to_file", path="a.py"), *READ)["a.py"] == 0
    for edit in (
        called("write_to_file", path="/w/a.py", content="x"),
        called("replace_in_file", path="./a.py", diff="x"),
        called("apply_patch", patch="*** Begin Patch\n*** Update File: a.py\n@@\n*** End Patch"),
    ):
        whole = parts(*READ)[FILES, "a.py"].tokens
        assert stale(*READ, *edit)["a.py"] == whole
    assert stale(*READ, *called("write_to_file", path="a.py", error=True))["a.py"] == 0
    assert stale(*READ, *called("write_to_file", path="b.py"))["a.py"] == 0


def test_a_file_that_was_read_again_is_stale_unless_only_a_part_was():
    twice = parts(*READ, *READ)[FILES, "a.py"]
    assert (twice.times, twice.stale * 2) == (2, twice.tokens)
    assert stale(*READ, *called("read_file", path="a.py", start_line=2))["a.py"] == 0
    assert stale(*READ, *called("read_file", "[unchanged: read_file gave you this]", path="a.py"))["a.py"] == 0


def test_each_file_of_rules_has_a_part_whatever_its_headings_are():
    rule = "## {path} (the project's)\n<rule>\n# Commands\nUse make.\n</rule>"
    texts = "\n\n".join(rule.format(path=path) for path in ("AGENTS.md", ".clinerules/a b.md"))
    system = f"You.\n\n# Rules\nFollow them.\n\n{texts}\n"
    later = UserMessage((Note(f"It joins.\n{rule.format(path='src/AGENTS.md')}", "rules"),))
    report = usage_report(request(later, system=system), Usage(), WORKSPACE)
    names = {part.name for part in report.parts if part.kind == RULES}
    assert names == {"rules", "AGENTS.md", ".clinerules/a b.md", "src/AGENTS.md"}
    assert [part.name for part in report.parts if part.kind == SYSTEM] == ["role"]
