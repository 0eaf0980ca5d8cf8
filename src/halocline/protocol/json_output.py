"""Writes JSON of any text: what UTF-8 cannot hold (lone surrogates, as in names of files) becomes U+FFFD.

msgspec raises UnicodeEncodeError for it, which no caller expects; a test holds that surfaces write by this module.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from halocline.protocol.file_names import make_encodable


def encode(value: object, enc_hook: Callable[[Any], Any] | None = None) -> bytes:
    """The same as `msgspec.json.encode`."""
    try:
        return msgspec.json.encode(value, enc_hook=enc_hook)
    except UnicodeEncodeError:
        import json  # the one of the standard library makes a line of any text

        plain = msgspec.to_builtins(value, str_keys=True, enc_hook=enc_hook)
        return make_encodable(json.dumps(plain, ensure_ascii=False, separators=(",", ":"))).encode()
