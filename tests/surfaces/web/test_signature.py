import random

import pytest

from halocline.surfaces.web.signature import is_signed, read_public_key

# RFC 6979, A.2.5: ECDSA, 256 bits, SHA-256.
KEY = bytes.fromhex(
    "04"
    "60FED4BA255A9D31C961EB74C6356D68C049B8923B61FA6CE669622E60F29FB6"
    "7903FE1008B8BC99A41AE9E95628BC64F2F1B20C2D7E9F5177A3C294D4462299"
)
SIGNED = {
    b"sample": "EFD48B2AACB6A8FD1140DD9CD45E81D69D2C877B56AAF991C34D0EA84EAF3716"
    "F7CB1C942D657C41D436C7A1B6E29F65F3E900DBB9AFF4064DC4AB2F843ACDA8",
    b"test": "F1ABB023518351CD71D881567B1EA663ED3EFCF6C5132B354F28D3B0B7D38367"
    "019F4113742A2B14BD25926B49C649155F267E60D3814B4C0CC84250E46F0083",
}
ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


@pytest.mark.parametrize("message", SIGNED)
def test_a_signature_holds_for_its_message_alone(message):
    signature = bytes.fromhex(SIGNED[message])
    assert is_signed(message, signature, KEY)
    for other in (b"", b"sample ", b"Sample", *(text for text in SIGNED if text != message)):
        assert not is_signed(other, signature, KEY)


def test_a_signature_with_any_bit_changed_is_none():
    signature = bytes.fromhex(SIGNED[b"sample"])
    for bit in random.Random(7).sample(range(512), 24):
        changed = bytearray(signature)
        changed[bit // 8] ^= 1 << bit % 8
        assert not is_signed(b"sample", bytes(changed), KEY)


@pytest.mark.parametrize("part", [0, ORDER, ORDER + 1, 2**256 - 1])
def test_numbers_outside_their_range_are_no_signature(part):
    good = bytes.fromhex(SIGNED[b"sample"])
    assert not is_signed(b"sample", part.to_bytes(32) + good[32:], KEY)
    assert not is_signed(b"sample", good[:32] + part.to_bytes(32), KEY)
    assert not is_signed(b"sample", b"", KEY)
    assert not is_signed(b"sample", good + b"\0", KEY)


@pytest.mark.parametrize("key", [b"", KEY[:-1], KEY[1:], b"\2" + KEY[1:], KEY[:-1] + b"\0", b"\4" + b"\0" * 64])
def test_what_is_no_point_of_the_curve_is_no_key(key):
    with pytest.raises(ValueError, match="not a P-256 public key"):
        read_public_key(key)
