import copy
import pickle

import msgspec
import pytest

from halocline.protocol.secrets.secret import Secret
from halocline.protocol.values import Value

KEY = "sk-1234567890abcdef"


class Holder(Value, frozen=True):
    secret: Secret


def test_a_secret_shows_in_no_text():
    secret = Secret(KEY)
    shown = f"{secret} {secret!r} {[secret]} {Holder(secret)} {ValueError(secret)!r} %s" % secret
    assert KEY not in shown
    assert secret.reveal() == KEY


@pytest.mark.parametrize(
    "write", [pickle.dumps, copy.deepcopy, msgspec.json.encode, lambda one: msgspec.json.encode(Holder(one))]
)
def test_a_secret_is_not_written_by_accident(write):
    with pytest.raises(TypeError):
        write(Secret(KEY))


def test_only_the_end_of_a_long_secret_is_shown():
    assert Secret(KEY).tail == "…cdef"
    assert Secret("hunter2").tail == "…"


def test_secrets_are_equal_by_what_they_hold():
    assert Secret("a") == Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert not Secret("")
