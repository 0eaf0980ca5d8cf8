import msgspec
import pytest
from hypothesis import given, strategies as st
from tests.tables import for_each

from halocline.protocol.values import JsonObject
from halocline.task.calls.argument_repair import repair_arguments
from halocline.task.calls.arguments import input_of
from halocline.tools import execute_command, write_to_file

GEMINI, DEEPSEEK, LLAMA = "gemini/gemini-2.5-pro", "deepseek/deepseek-chat", "ollama/llama3.2"
CURRENT = (
    "anthropic/claude-sonnet-5-5",
    "openai/gpt-5.6",
    "gemini/gemini-3.8-flash",
    "deepseek/deepseek-v4-pro",
    "mistral/mistral-medium-latest",
    "xai/grok-4.7",
    "",
)


def content(text: str, path: str = "a.ts") -> JsonObject:
    return {"path": path, "content": text}


UNDONE = [
    (DEEPSEEK, content("let x: Map&lt;a, b&gt; = y &amp;&amp; z;"), content("let x: Map<a, b> = y && z;")),
    (DEEPSEEK, content("print(&quot;it&#39;s &amp;lt;&quot;)"), content('print("it\'s &lt;")')),
    (GEMINI, {"command": "a &amp;&amp; b &gt; c"}, {"command": "a && b > c"}),
    (DEEPSEEK, {"path": "a.c", "diff": "x-&gt;y"}, {"path": "a.c", "diff": "x->y"}),
    (LLAMA, content("```ts\nx = 1\n"), content("x = 1\n")),
    (LLAMA, content("x = 1\n```\n"), content("x = 1\n")),
    (LLAMA, content("x = 1\n```"), content("x = 1\n")),
    (GEMINI, content('say(\\"hi\\")'), content('say("hi")')),
    (DEEPSEEK.upper(), content("a &lt; b"), content("a < b")),
]


@pytest.mark.parametrize(("model", "sent", "meant"), UNDONE)
def test_what_a_listed_family_does_to_text_is_undone(model: str, sent: JsonObject, meant: JsonObject) -> None:
    assert repair_arguments(sent, model) == meant


KEPT = [
    (DEEPSEEK, content("if (a < b) s = '&lt;';")),
    (DEEPSEEK, content("a & b &amp; c")),
    (DEEPSEEK, content("<p>1 &lt; 2</p>", path="a.html")),
    (DEEPSEEK, content("Write `&lt;` for it.", path="a.md")),
    (LLAMA, content("```py\nx = 1\n```\n", path="README.md")),
    (LLAMA, content("x = 1\n```\ny = 2\n")),
    (LLAMA, content("a &lt; b")),
    (GEMINI, content('say("he said \\"hi\\"")')),
    (GEMINI, {"question": "&lt;?", "options": ["&gt;"]}),
    (DEEPSEEK, {"path": "a &amp; b.py", "content": 3}),
]


@pytest.mark.parametrize(("model", "sent"), KEPT)
def test_what_may_be_meant_so_stays(model: str, sent: JsonObject) -> None:
    assert repair_arguments(sent, model) is sent


@for_each("model", CURRENT)
@for_each("slip, sent, meant", UNDONE)
def test_nothing_is_touched_for_a_model_that_is_not_listed(
    model: str, slip: str, sent: JsonObject, meant: JsonObject
) -> None:
    assert repair_arguments(sent, model) is sent


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(["path", "content", "diff", "command", "other"]), st.text()))
def test_whatever_the_text_is_another_models_arguments_are_the_same_object(arguments: JsonObject) -> None:
    assert repair_arguments(arguments, "anthropic/claude-sonnet-5-5") is arguments


def test_a_person_who_changes_a_call_means_what_they_write() -> None:
    sent = {"command": "echo '&lt;'"}
    assert input_of(sent, execute_command.TOOL).command == "echo '&lt;'"
    assert input_of(sent, execute_command.TOOL, DEEPSEEK).command == "echo '<'"


def test_a_call_under_other_names_is_mended_too() -> None:
    given_as = input_of({"file_path": "a.ts", "contents": "a &lt; b"}, write_to_file.TOOL, DEEPSEEK)
    assert msgspec.structs.asdict(given_as) == {"path": "a.ts", "content": "a < b"}
