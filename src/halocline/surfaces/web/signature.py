"""Verifies a browser's signature: ECDSA over P-256 with SHA-256, in WebCrypto's format.

Nothing here is secret, so constant time is not needed. Source: FIPS 186-5, SEC 1 (2.3.4, 4.1.4).
"""

import hashlib

Point = tuple[int, int] | None
"""None: the point at infinity."""
_P = 2**256 - 2**224 + 2**192 + 2**96 - 1
_N = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
_B = 0x5AC635D8AA3A93E7B3EBBD55769886BC651D06B0CC53B0F63BCE3C3E27D2604B
_G: Point = (
    0x6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296,
    0x4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5,
)
_HALF = 32


def read_public_key(data: bytes) -> Point:
    """Parse an uncompressed public key. Raises ValueError."""
    x, y = int.from_bytes(data[1 : 1 + _HALF]), int.from_bytes(data[1 + _HALF :])
    if len(data) != 1 + 2 * _HALF or data[0] != 4 or max(x, y) >= _P or (y * y - (x * x * x - 3 * x + _B)) % _P:
        raise ValueError("not a P-256 public key")
    return x, y


def is_signed(message: bytes, signature: bytes, public_key: bytes) -> bool:
    """True if the signature of the message is valid. Raises ValueError for an invalid key."""
    point = read_public_key(public_key)
    r, s = int.from_bytes(signature[:_HALF]), int.from_bytes(signature[_HALF:])
    if len(signature) != 2 * _HALF or not (0 < r < _N and 0 < s < _N):
        return False
    known = int.from_bytes(hashlib.sha256(message).digest())
    inverse = pow(s, -1, _N)
    found = _add_points(_multiply(known * inverse % _N, _G), _multiply(r * inverse % _N, point))
    return found is not None and found[0] % _N == r


def _add_points(one: Point, other: Point) -> Point:
    if one is None or other is None:
        return one or other
    (x, y), (u, v) = one, other
    if x == u:
        if (y + v) % _P == 0:
            return None
        slope = (3 * x * x - 3) * pow(2 * y, -1, _P)
    else:
        slope = (v - y) * pow(u - x, -1, _P)
    sum_x = (slope * slope - x - u) % _P
    return sum_x, (slope * (x - sum_x) - y) % _P


def _multiply(number: int, point: Point) -> Point:
    found: Point = None
    while number:
        if number & 1:
            found = _add_points(found, point)
        point, number = _add_points(point, point), number >> 1
    return found
