"""Keys that nothing gives away but that they are random; and what looks so and stays."""

import base64
import random
import string
from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.protocol.secrets.random_strings import is_random_string
from halocline.protocol.secrets.redaction import Redactor, redact_text

LIVE = Redactor(salt=b"one home's", at_random=True)
LETTERS = string.ascii_letters + string.digits
ROOT = Path(__file__).parents[2]
WAYS = ("{}\n", "key: {}\n", '"{}"', "export FOO={}\n", "Your value is {} here", "| {} |", "<{}>", "a = ['{}', 1]")
SHAPES = {
    "letters and digits, 24": (lambda chance: "".join(chance.choices(LETTERS, k=24)), 0.75),
    "letters and digits, 32": (lambda chance: "".join(chance.choices(LETTERS, k=32)), 0.8),
    "letters and digits, 43": (lambda chance: "".join(chance.choices(LETTERS, k=43)), 0.85),
    "letters and digits, 64": (lambda chance: "".join(chance.choices(LETTERS, k=64)), 0.9),
    "base64 for addresses, 43": (lambda chance: "".join(chance.choices(LETTERS + "-_", k=43)), 0.85),
    "base64 for addresses, 86": (lambda chance: "".join(chance.choices(LETTERS + "-_", k=86)), 0.9),
    "base64 of 30 bytes": (lambda chance: base64.b64encode(chance.randbytes(30)).decode(), 0.7),
    "base64 of 48 bytes": (lambda chance: base64.b64encode(chance.randbytes(48)).decode(), 0.8),
}
KEY = "q7Xw2Lr9Tz4Vb8Nk1Mc6Hd3Js5Gf0Pa"
BLOCK = "\n".join(base64.b64encode(random.Random(line).randbytes(48)).decode() for line in range(5))
HASH = base64.b64encode(random.Random(9).randbytes(64)).decode()


@pytest.mark.parametrize("shape", SHAPES)
def test_most_random_keys_are_found_whatever_stands_around_them(shape: str):
    make, part = SHAPES[shape]
    chance = random.Random(shape)
    keys = [make(chance) for _ in range(200)]
    found = [key for number, key in enumerate(keys) if key not in LIVE(WAYS[number % len(WAYS)].format(key))]
    assert len(found) >= part * len(keys)


@for_each(
    "text",
    [
        "35005e1c0df1b73f42097e187a074a7396787a35",
        "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "0f8fad5b-d9cb-469f-a165-70867728950e",
        f"sha512-{HASH}",
        f"github.com/x/y v1.2.3 h1:{HASH[:43]}=",
        f'"integrity": "{HASH}"',
        f"halocline/a.py,sha256={HASH[:43]},120",
        f"SHA256:{HASH[:43]} me@host",
        f"ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI{HASH[:43]} me@host",
        f"-----BEGIN CERTIFICATE-----\n{BLOCK}\n{HASH[:24]}==\n-----END CERTIFICATE-----",
        f'  "{BLOCK.replace(chr(10), chr(34) + chr(10) + "  " + chr(34))}"',
        f"data:image/png;base64,{HASH}",
        f"src='iVBORw0KGgo{HASH[:50]}'",
        '{"id":"chatcmpl-9ZAvFpjqvZHZplCwRtizPWf1Riynfu1k","call_id":"call_85QRVJW5GonFPpc1Lyny0OcnxlkZJicd"}',
        '{"id": "Ql7bZoOBAVBmhyAU8wn35so5do356ARN", "request_id": "011CZkZaBF1tNoB5wlCeusgyx"}',
        "https://docs.google.com/document/d/1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74OgvE2upms/edit",
        "https://example.com/watch?v=1BxiMVs0XRA5nFMdKvBdBZjgmUUqptlbs74",
        "/nix/store/0c1dzfs8kbc5hj8hd8vq3mphrxk9v0ql-bash-5.2/bin",
        "def testThat2FAWorksForOAuth2InIPv6Networks(self): CPyBytesWriter_WriteI16LE",
        "_ZN4core3fmt9Formatter9pad_integral17h3a5f1B2c3D4e5F6aE",
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
        '"ls": Spec("aAbBcCdfFgGhHiklLmnNopqQrRsStuUvxXZ1")',
        "DeepSeek-R1-Distill-Llama-70B and MyTestDatabaseSecret-a1b2c3",
        '"nextToken": "AY89a181L6ffhy7s5hBG6S1Zea0DmuUzVC4ByCWe"',
        "VGhlc2UgYXJlbid0IHRoZSBkcm9pZHMgeW91J3JlIGxvb2tpbmcgZm9y",
        "mappings: AAAA,SAASA,GAAGC,EAAEC,CAAC,CAAC;AAAA,OAAO,CAAC",
    ],
)
def test_what_is_random_and_no_secret_stays(text: str):
    assert LIVE(text) == text


def test_the_source_and_the_lock_file_of_this_project_have_no_marks():
    files = [*(ROOT / "src" / "halocline").rglob("*.py"), *(ROOT / "docs").rglob("*.md"), ROOT / "requirements.lock"]
    texts = {file: file.read_text(encoding="utf-8") for file in files}
    assert sum(map(len, texts.values())) > 3_000_000
    assert [file for file, text in texts.items() if "[redacted random string " in LIVE(text) != text] == []


def test_an_edit_keeps_the_string_that_a_mark_stands_for():
    text = f"first\nservice {KEY} on\nlast\n"
    shown = LIVE(text)
    assert KEY not in shown
    assert LIVE.restored(shown.replace("last", "end"), text) == text.replace("last", "end")


def test_numbers_of_objects_in_fields_of_their_own_stay_in_what_is_sent_on():
    assert redact_text(KEY) == KEY
    assert is_random_string(KEY)
