import random
import string

import msgspec
import pytest

from halocline.protocol.redaction import redacted

LETTERS = string.ascii_letters + string.digits


def some(length, letters=LETTERS):
    """A made-up ending, so that no text of ours has the form of a real key."""
    return "".join(random.Random(length).choices(letters, k=length))


PEM = f"-----BEGIN RSA PRIVATE KEY-----\n{some(64)}\n{some(40)}\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("secret", "name"),
    [
        (PEM, "private-key"),
        ("AKIA" + some(16, "ABCDEFGH234567"), "aws-key"),
        ("ghp_" + some(36), "github-token"),
        ("github_pat_" + some(82), "github-token"),
        ("glpat-" + some(20), "gitlab-token"),
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
    assert redacted(f'x = "{secret}"; y') == f'x = "[redacted {name}]"; y'
    # As a line of a recording has it.
    line = msgspec.json.encode({"text": f"before {secret} after"}).decode()
    assert redacted(line) == f'{{"text":"before [redacted {name}] after"}}'


def test_passwords_and_headers_are_blotted_out_where_they_stand():
    assert redacted("postgres://user:hunter2@db/x") == "postgres://[redacted password]@db/x"
    assert redacted(f"Authorization: Bearer {some(30)}") == "Authorization: Bearer [redacted authorization]"


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
    assert redacted(text) == text
