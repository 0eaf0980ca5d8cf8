import string

import pytest
from hypothesis import given, strategies as st

from halocline.mcp.tool_names import LONGEST_NAME, digest_tool, name_for, plain_text

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


def test_the_order_of_fields_does_not_change_a_digest_and_every_word_does():
    assert digest_tool("t", {"a": 1, "b": [2]}) == digest_tool("t", {"b": [2], "a": 1})
    assert digest_tool("t", {"a": 1}) != digest_tool("t", {"a": 2})
