import base64
import html
import json
import random
import re
import shlex
import string
import textwrap
import urllib.parse
from itertools import product

import msgspec
import pytest
from tests.tables import for_each

from halocline.protocol.secrets.redaction import Redactor, redact_text, thoroughly_redacted

LIVE = Redactor(salt=b"one home's")
LETTERS = string.ascii_letters + string.digits


def some(length, letters=LETTERS):
    """A made-up ending, so that no text of ours has the form of a real key."""
    return "".join(random.Random(length).choices(letters, k=length))


PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{some(64)}\n{some(40)}\n-----END RSA PRIVATE KEY-----"


@for_each(
    "secret, name",
    [
        (PEM, "private-key"),
        (PEM.replace("RSA ", "").replace("KEY", "KEY BLOCK"), "private-key"),
        ("AKIA" + some(16, "ABCDEFGH234567"), "aws-key"),
        ("ghp_" + some(36), "github-token"),
        ("github_pat_" + some(82), "github-token"),
        ("glpat-" + some(20), "gitlab-token"),
        ("glagent-" + some(20), "gitlab-token"),
        ("gloas-" + some(20), "gitlab-token"),
        ("sk-ant-api03-" + some(90), "api-key"),
        ("sk-proj-" + some(60), "api-key"),
        ("sk-or-v1-" + some(64, "0123456789abcdef"), "api-key"),
        ("gsk_" + some(52), "api-key"),
        ("hf_" + some(34), "api-key"),
        ("AIza" + some(35), "google-key"),
        ("xoxb-" + some(40, string.digits), "slack-token"),
        ("sk_live_" + some(24), "stripe-key"),
        ("npm_" + some(36), "npm-token"),
        ("pypi-AgE" + some(100), "pypi-token"),
        ("SG." + some(22) + "." + some(43), "sendgrid-key"),
        ("dop_v1_" + some(64, "0123456789abcdef"), "digitalocean-token"),
        ("AccountKey=" + some(86) + "==", "azure-key"),
        ("eyJ" + some(20) + ".eyJ" + some(60) + "." + some(43), "jwt"),
    ],
)
def test_a_key_is_known_by_its_form(secret, name):
    assert redact_text(f'x = "{secret}"; y') == f'x = "[redacted {name}]"; y'
    assert secret not in LIVE(f'x = "{secret}"; y')
    assert re.search(rf"\[redacted {name} [0-9a-f]{{8}}\]", LIVE(f'x = "{secret}"; y'))
    # As a line of a recording has it.
    line = msgspec.json.encode({"text": f"before {secret} after"}).decode()
    assert redact_text(line) == f'{{"text":"before [redacted {name}] after"}}'


def test_passwords_and_headers_are_blotted_out_where_they_stand():
    assert redact_text("postgres://user:hunter2@db/x") == "postgres://[redacted password]@db/x"
    assert redact_text(f"Authorization: Bearer {some(30)}") == "Authorization: Bearer [redacted authorization]"
    for said in ("authoriZation: BEARER ", "Proxy-Authorization: basic ", "X-API-Key: "):
        assert redact_text(said + some(30)) == f"{said}[redacted authorization]"


def test_a_token_that_is_the_name_in_an_address_is_blotted_out_but_a_name_is_not():
    assert redact_text(f"https://{some(24)}@example.com/x") == "https://[redacted url-token]@example.com/x"
    assert redact_text("ssh://git@example.com/x") == "ssh://git@example.com/x"


@pytest.mark.parametrize(
    "text",
    [
        "risk-assessment-of-the-whole-system",
        "task-1234",
        "https://example.com:8080/a@b",
        "sk-short",
        "a" * 5000,
        "AKIAX",
    ],
)
def test_ordinary_text_stays_as_it_is(text):
    assert redact_text(text) == text


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
    clean = thoroughly_redacted(text, ["my-own-secret"], "")
    assert secret not in clean
    assert "[redacted" in clean


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
def test_ordinary_words_of_a_report_stay(text):
    assert thoroughly_redacted(text, ["", "abc"], "") == text


def test_the_home_folder_becomes_a_tilde():
    assert thoroughly_redacted("in /home/ada/x and /home/adam/y", (), "/home/ada") == "in ~/x and /home/adam/y"


QUOTED = {
    "plain": str,
    "python": repr,
    "a word of a shell": shlex.quote,
    "printf %q": lambda value: re.sub(r"([^\w@%+=:,./-])", r"\\\1", value),
    "set -x": lambda value: "'" + value.replace("'", "'\\''") + "'",
    "double quotes of a shell": lambda value: '"' + re.sub(r'(["\\$`])', r"\\\1", value) + '"',
    "json": json.dumps,
    "json as it is": lambda value: json.dumps(value, ensure_ascii=False),
    "json in json": lambda value: json.dumps(json.dumps(value, ensure_ascii=False), ensure_ascii=False),
    "html": html.escape,
    "a path of an address": urllib.parse.quote,
    "a part of an address": lambda value: urllib.parse.quote(value, safe=""),
    "a form": urllib.parse.quote_plus,
    "base64": lambda value: base64.b64encode(value.encode()).decode(),
    "base64 over lines": lambda value: textwrap.fill(base64.b64encode(value.encode()).decode(), 12),
    "hexadecimal": lambda value: value.encode().hex(),
    "over lines": lambda value: "\n".join(value[at : at + 10] for at in range(0, len(value), 10)),
    "over lines with numbers": lambda value: "\n".join(f"{at} {value[at:][:10]}" for at in range(0, len(value), 10)),
}
VALUES = (
    "vault-of-the-grey-heron",
    'p"a\\ss/wörd+of 2026',
    "it's-a-quoted $ecret`x`",
    "aB3dE6gH9jK2mN5pQ8rS1tU4vW7xY0zA" * 2,
)


@for_each("form, value", [*product(QUOTED, VALUES)])
def test_a_stored_value_is_blotted_out_in_every_way_that_programs_quote_it(form, value):
    redactor = Redactor(lambda: frozenset(VALUES), b"of a test")
    shown = redactor(f"first\n{QUOTED[form](value)}\nlast\n")
    assert "[redacted" in shown
    assert QUOTED[form](value) not in shown
