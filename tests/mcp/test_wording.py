import string

import mcp_types as types
import pytest
from hypothesis import given, strategies as st

from halocline.context.tool_schemas import normalize_schema
from halocline.mcp.results import tool_of
from halocline.mcp.tool_names import LONGEST_NAME, digest_tool, name_for, plain_text
from halocline.ports.tool import LONGEST_EVERYWHERE
from halocline.providers.accepted import fit_function
from halocline.tools.mcp_tool import spec_of

NAMES = st.text(min_size=1, max_size=120)


@pytest.mark.parametrize(
    ("server", "tool", "name"),
    [
        ("git", "git_log", "git__git_log"),
        ("my-server", "get-sum", "my-server__get-sum"),
    ],
)
def test_a_plain_name_is_the_servers_and_the_tools(server, tool, name):
    assert name_for(server, tool) == name


@given(NAMES, NAMES)
def test_every_name_is_one_that_every_provider_takes(server, tool):
    name = name_for(server, tool)
    assert len(name) <= LONGEST_NAME
    assert name[0] in string.ascii_letters
    assert all(sign.isascii() and (sign.isalnum() or sign in "_-") for sign in name)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (("a__b", "c"), ("a", "b__c")),
        (("s", "a.b"), ("s", "a_b")),
        (("s", "x" * 80), ("s", "x" * 81)),
        (("s s", "t"), ("s_s", "t")),
    ],
)
def test_two_tools_never_share_a_name(one, other):
    assert name_for(*one) != name_for(*other)


def test_what_nobody_sees_is_taken_out_of_a_text():
    assert plain_text("a\u200bb\u202ec\x1b[31md\U000e0041\n\te", 100) == "abc[31md\n\te"


def test_a_long_text_is_cut_with_a_sign():
    assert plain_text("x" * 50, 10) == "x" * 9 + "…"


@given(st.lists(st.text("abc", min_size=1, max_size=30), min_size=1), st.integers(50, 200))
def test_a_text_of_words_is_cut_behind_one_of_them(words, most):
    text = " ".join(words)
    cut = plain_text(text, most)
    assert len(cut) <= most
    kept = cut.removesuffix("…").split(" ")
    assert kept == words[: len(kept)]
    assert (cut == text) == (len(text) <= most)


@pytest.mark.parametrize("server", ["s", "a server with a long name " * 3])
@pytest.mark.parametrize("choices", [0, 2, 40])
@pytest.mark.parametrize("length", [0, 500, 1_000, 5_000])
def test_every_vendor_gets_our_sentence_about_the_arguments_whole(server, choices, length):
    sets = [{"required": [f"argument_{at}"], "properties": {f"argument_{at}": {}}} for at in range(choices)]
    given = types.Tool(name="t", description="word " * (length // 5), input_schema={"type": "object", "anyOf": sets})
    tool = tool_of(server, given)
    said = normalize_schema(dict(given.input_schema)).said
    for told in (spec_of(tool).description, fit_function(spec_of(tool))["description"]):
        assert told.endswith(said)
        assert told.startswith(f"[{server}] ")
        assert {word.rstrip("…") for word in told.removesuffix(said).removeprefix(f"[{server}] ").split()} <= {
            *("word", "The", "tool", "t.", "")
        }
    assert len(fit_function(spec_of(tool))["description"]) <= LONGEST_EVERYWHERE


def test_the_order_of_fields_does_not_change_a_digest_and_every_word_does():
    assert digest_tool("t", {"a": 1, "b": [2]}) == digest_tool("t", {"b": [2], "a": 1})
    assert digest_tool("t", {"a": 1}) != digest_tool("t", {"a": 2})
