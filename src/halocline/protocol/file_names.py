"""Names of files as texts hold them: on one line, and in characters that can be written as UTF-8; pure."""

import re

_SURROGATES = re.compile("[\ud800-\udfff]")


def make_encodable(text: str) -> str:
    """The text with U+FFFD in the place of each byte or half character that UTF-8 cannot hold."""
    return _SURROGATES.sub("\ufffd", text)


def make_printable(name: str) -> str:
    """A file name that cannot break a line or an encoder."""
    text = make_encodable(name)
    return text if text.isprintable() else "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)
