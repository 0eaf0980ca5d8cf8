import pytest

from halocline.policy.redaction import REDACTED, redacted


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Authorization: Bearer abc.def-123456", "abc.def-123456"),
        ('{"api_key": "hunter22"}', "hunter22"),
        ("ANTHROPIC_API_KEY=sk-ant-api03-AbCdEfGhIjKlMnOp", "AbCdEfGhIjKlMnOp"),
        ("the key sk-proj-0123456789abcdefghij was refused", "0123456789abcdefghij"),
        ("password: 'let me in'", "let me in"),
        ("https://ada:s3cret@example.org/x", "s3cret"),
        ("token ghp_0123456789abcdefghijABCDEFGHIJ", "0123456789abcdefghij"),
        ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2ln", "eyJzdWIi"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----", "MIIE"),
        ("Cookie: session=abcdef; other=ghijkl", "abcdef"),
        ("x my-own-secret y", "my-own-secret"),
    ],
)
def test_what_looks_like_a_key_or_is_known_as_one_is_taken_out(text, secret):
    clean = redacted(text, ["my-own-secret"])
    assert secret not in clean
    assert REDACTED in clean


@pytest.mark.parametrize(
    "text",
    [
        "The task-list was empty.",
        "3 tokens: 5",
        "sketching_the_whole_layout_anew",
        "exit code 1 after 0.6 s",
        "a/b/c.py:12",
    ],
)
def test_ordinary_words_stay(text):
    assert redacted(text, ["", "abc"]) == text


def test_the_home_folder_becomes_a_tilde():
    assert redacted("in /home/ada/x and /home/adam/y", home="/home/ada") == "in ~/x and /home/adam/y"
