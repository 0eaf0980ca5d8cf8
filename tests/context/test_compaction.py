import pytest
from hypothesis import given, settings, strategies as st
from msgspec.structs import replace
from tests.samples import choose

from halocline.context.compaction.facts import list_facts
from halocline.context.compaction.plan import Tight, limit_in, summary_request, trim_messages, try_compactions
from halocline.context.compaction.thresholds import Room, find_room
from halocline.context.compaction.view import build_view
from halocline.context.token_estimate import message_tokens, request_tokens
from halocline.ports.model import Request
from halocline.protocol.events.compaction import CompactionCause
from halocline.protocol.kinds import Todo, TodoStatus
from halocline.protocol.messages import AssistantMessage, Note, Text, ToolCall, ToolResult, Usage, UserMessage
from halocline.protocol.state.budget import BudgetState
from halocline.protocol.state.compaction import CompactionState
from halocline.protocol.state.files import FilesState
from halocline.protocol.state.plan import PlanState
from halocline.protocol.state.prompt import ModelState
from halocline.protocol.state.state import State

ASKED, CROWDED, OVERFLOW = CompactionCause.ASKED, CompactionCause.CROWDED, CompactionCause.OVERFLOW
SMALL = Room(8_000, 6_400)
TEXT = "some words of a file that was read\n"


def prompt(text="fix it"):
    return UserMessage((Text(text), Note("it is noon", "environment")))


def read(number, path="", size=2_000):
    call = ToolCall(f"c{number}", "read_file", {"path": path or f"f{number}.py"})
    text = (TEXT * (size // len(TEXT) + 1))[:size]
    return AssistantMessage((Text("I look."), call)), ToolResult(call.id, (Text(f"{number}\n{text}"),))


def history(steps, size=2_000):
    return (prompt(), *(message for number in range(steps) for message in read(number, size=size)))


def request(state):
    return Request(model="m", system="You are an agent.", messages=build_view(state))


def shorter(state, tight, room=SMALL):
    return try_compactions(state, request(state), request_tokens(request(state)), room, tight)


def after(state, made):
    return request(State(messages=state.messages, compaction=CompactionState(applied=(made,))))


def is_sound(messages):
    """Every call is answered directly after its message, and every result has its call."""
    left = list(messages)
    while left:
        message = left.pop(0)
        if isinstance(message, ToolResult):
            return False
        for call in message.tool_calls if isinstance(message, AssistantMessage) else ():
            if not (left and isinstance(left[0], ToolResult) and left.pop(0).call == call.id):
                return False
    return True


def test_the_first_message_stays_and_so_do_the_newest():
    state = State(messages=history(20))
    made = shorter(state, Tight(ASKED, summary="Half is done."))
    seen = after(state, made).messages
    assert seen[0] == state.messages[0]
    assert Note("Half is done.", "summary") in seen[1].content
    assert seen[-1] == state.messages[-1]
    assert made.after < made.before * 0.8
    assert is_sound(seen)


def test_a_compaction_that_would_save_little_is_not_made():
    assert shorter(State(messages=history(2)), Tight(ASKED)) is None


def test_files_that_were_not_edited_since_are_shown_again_and_edited_ones_are_not():
    edit = ToolCall("e", "replace_in_file", {"path": "f1.py", "diff": "…"})
    edited = (AssistantMessage((edit,)), ToolResult("e", (Text("edited"),)))
    ran = [read(number, path="", size=3_000) for number in range(3, 20)]
    commands = (replace(message, content=message.content[:1]) for pair in ran for message in pair[:1])
    state = State(messages=(prompt(), *read(1), *read(2), *edited, *commands, prompt("go on " * 6_000), *read(99)))
    made = shorter(state, Tight(ASKED), Room(60_000, 12_000))
    assert made.carried == (4,)


def test_facts_name_what_is_open_what_changed_what_was_read_and_how_commands_ended():
    command = ToolCall("r", "execute_command", {"command": "make   test"})
    messages = (
        prompt(),
        *read(1, "a.py"),
        prompt("and never touch the database"),
        AssistantMessage((command,)),
        ToolResult("r", (Text("FAILED\n[exit code 2 in 0.3 s]"),)),
    )
    todos = (Todo("write the test", TodoStatus.PENDING), Todo("read", TodoStatus.COMPLETED))
    said = list_facts(
        State(messages=messages, plan=PlanState(todos=todos), files=FilesState(changed=frozenset({"b.py"}))),
        len(messages),
        2_000,
    )
    for fact in (
        "- [ ] write the test",
        "- [x] read",
        "- b.py",
        "- a.py",
        "- make test: exit code 2",
        "> and never touch",
    ):
        assert fact in said
    assert "it is noon" not in said


def test_the_newest_words_of_the_person_are_kept_when_there_is_not_room_for_all():
    messages = [prompt(), *(prompt(f"wish {number} " + "x" * 400) for number in range(50)), prompt("the last wish")]
    said = list_facts(State(messages=tuple(messages)), len(messages), 500)
    assert "the last wish" in said
    assert "wish 1 " not in said
    assert " earlier ones omitted]" in said


def test_a_summary_is_asked_for_at_the_end_of_the_same_conversation():
    state = State(messages=history(3))
    asked = summary_request(request(state), "the API", Room(100_000, 80_000))
    assert asked.messages[:-1] == request(state).messages
    assert "the API" in asked.messages[-1].content[0].words
    assert asked.summary


def test_what_is_too_long_even_for_a_summary_is_asked_for_in_a_shorter_form():
    state = State(messages=history(40))
    asked = summary_request(request(state), "", Room(9_000, 7_000))
    assert request_tokens(asked) <= 9_000
    assert is_sound(asked.messages)


@pytest.mark.parametrize(
    ("said", "limit"),
    [
        ("This model's maximum context length is 8192 tokens. However, your messages resulted in 9411 tokens.", 8_192),
        ("prompt is too long: 213462 tokens > 200000 maximum", 200_000),
        ("the request exceeds the available context size (4096 tokens), try increasing it", 4_096),
        ("input length and `max_tokens` exceed context limit: 198000 + 8192 > 200000", 200_000),
        ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).", 1_048_576),
        ("Requested token count exceeds the model's maximum context length of 131072 tokens.", 131_072),
        ("Your input exceeds the context window of this model.", 750_000),
        ("Error 400: too long", 750_000),
    ],
)
def test_a_server_says_how_much_it_takes(said, limit):
    assert limit_in(said, 1_000_000 if limit < 1_000_000 else 1_400_000) == limit


@pytest.mark.parametrize(
    ("window", "allowed"),
    [(64_000, 37_000), (128_000, 98_000), (200_000, 160_000), (8_192, 6_553), (1_000_000, 960_000), (None, 98_000)],
)
def test_the_classic_reserves_hold(window, allowed):
    assert find_room(State(model=ModelState(window=window))).allowed == allowed


def test_a_person_may_let_less_fill_but_not_more():
    assert find_room(State(model=ModelState(window=200_000)), 0.5).allowed == 100_000
    assert find_room(State(model=ModelState(window=200_000)), 1.0).allowed == 160_000


def test_what_a_server_was_found_to_take_counts_more_than_what_is_written_of_it():
    assert find_room(State(model=ModelState(window=200_000, limit=50_000))).window == 50_000


PIECES = st.lists(
    st.tuples(st.sampled_from(["read", "say", "two", "unanswered", "giant"]), st.integers(0, 9_000)), max_size=30
)


def made_of(pieces):
    """A history, cut anywhere: with calls that have no results, several calls, giant results."""
    messages = [prompt()]
    for number, (kind, size) in enumerate(pieces):
        match kind:
            case "read":
                messages += read(number, f"f{size % 5}.py", size)
            case "say":
                messages.append(prompt("w " * size))
            case "two":
                calls = tuple(ToolCall(f"t{number}{n}", "execute_command", {"command": "x" * size}) for n in range(2))
                messages += [AssistantMessage(calls), *(ToolResult(call.id, (Text("y" * size),)) for call in calls)]
            case "unanswered":
                messages.append(AssistantMessage((ToolCall(f"u{number}", "list_files"),)))
            case "giant":
                messages += read(number, "big.py", size * 20)
    return tuple(messages)


@settings(max_examples=choose(150, 30), deadline=None)
@given(PIECES, st.sampled_from(list(CompactionCause)), st.integers(0, 4), st.sampled_from([2_000, 8_000, 64_000]))
def test_a_compaction_of_any_history_is_sound_and_smaller_than_before(pieces, cause, share, window):
    state = State(messages=made_of(pieces))
    small = find_room(State(model=ModelState(window=window)))
    made = shorter(state, Tight(cause, summary="so " * 2_000, share=share), small)
    if made is not None:
        seen = after(state, made)
        assert is_sound(seen.messages)
        assert made.after <= made.before * 0.9
        assert request_tokens(seen) <= request_tokens(request(state))
        again = State(messages=(*state.messages, *read(900)), compaction=CompactionState(applied=(made,)))
        assert is_sound(request(again).messages)


@settings(max_examples=choose(150, 30), deadline=None)
@given(PIECES, st.integers(3_000, 60_000))
def test_any_history_can_be_cut_to_any_room(pieces, most):
    messages = build_view(State(messages=made_of(pieces)))
    cut = trim_messages(messages, most)
    assert is_sound(cut)
    assert sum(map(message_tokens, cut)) <= most


@settings(max_examples=choose(100, 20), deadline=None)
@given(PIECES, st.sampled_from([4_000, 8_000, 64_000]))
def test_what_is_left_after_an_overflow_fits_what_the_server_takes(pieces, window):
    state = State(messages=made_of(pieces), budget=BudgetState(last_usage=Usage()))
    before = request_tokens(request(state))
    if before <= window:
        return
    limit = limit_in("too long", before) if window >= before else window
    made = shorter(state, Tight(OVERFLOW, share=0, limit=limit), find_room(State(model=ModelState(limit=limit))))
    assert made is not None
    assert request_tokens(after(state, made)) <= limit
