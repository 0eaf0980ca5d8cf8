"""Encodes any text as JSON: lone surrogates, which UTF-8 cannot encode and file names may have, become U+FFFD.

msgspec raises UnicodeEncodeError for them, which no caller expects; a test checks that surfaces use this module.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from halocline.protocol.file_names import make_encodable


def encode(value: object, enc_hook: Callable[[Any], Any] | None = None) -> bytes:
    """Like `msgspec.json.encode`."""
    try:
        return msgspec.json.encode(value, enc_hook=enc_hook)
    except UnicodeEncodeError:
        import json  # the standard library encodes any text

        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=enc_hook)
        return make_encodable(json.dumps(plain, ensure_ascii=False, separators=(",", ":"))).encode()
