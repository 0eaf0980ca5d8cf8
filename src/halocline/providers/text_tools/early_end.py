"""The end of a reply that is ended with its first call that acts: where it may be, and what the reply cost."""

import re

from halocline.context.token_estimate import estimate_tokens, request_tokens
from halocline.ports.model import Request
from halocline.protocol.events import UsageReported
from halocline.protocol.messages import Usage
from halocline.providers.catalog.models import ModelInfo, cost_of
from halocline.providers.reply import CALL_ENDINGS, KIND

_BRACKETS = re.compile(r"\\.|[\"{}\[\]()]", re.DOTALL)
_HEAD, _TAIL = 400, 100
_READ_AGAIN = 40


class CallEnd:
    """Tells cheaply, as a reply grows, where a whole call may end in it: a call is read again only there.

    A call in tags may end with a tag that closes one, any other where its brackets are closed. So that the work stays
    linear whatever the text, it is read at most some times as long as it is.
    """

    def __init__(self, names: str) -> None:
        self._opening = re.compile(rf"<(?:{names or '(?!)'})>|<{KIND}param(?:eter)?\b|<{KIND}arg_key")
        self._closing = re.compile(
            rf"(?:</{KIND}(?:{names}|invoke|function|function_calls?|tool_calls?|tool_use)>|[|｜]>)\Z"
        )
        self._begin = self._counted = self._depth = self._read = 0
        self._in_quotes = False

    def may_be_here(self, text: str, begin: int) -> bool:
        """True if a call that begins there, or later, may end with the text."""
        if begin != self._begin:
            self._begin = self._counted = begin
            self._depth, self._in_quotes = 0, False
        self._count_brackets(text)
        tail = text[-_TAIL:].rstrip()
        if begin == len(text) or not tail.endswith(CALL_ENDINGS):
            return False
        is_closed = self._closing.search(tail) or (
            not self._opening.search(text, begin, begin + _HEAD) and self._depth <= 0
        )
        if not is_closed or self._read > _READ_AGAIN * (len(text) + _HEAD * _HEAD):
            return False
        self._read += len(text)
        return True

    def _count_brackets(self, text: str) -> None:
        for found in _BRACKETS.finditer(text, self._counted):
            sign = found[0]
            if sign == '"':
                self._in_quotes = not self._in_quotes
            elif not self._in_quotes and sign[0] != "\\":
                self._depth += 1 if sign in "{[(" else -1
        self._counted = len(text.rstrip("\\"))  # what the last one escapes may follow


def estimate_usage(request: Request, text: str, info: ModelInfo) -> UsageReported:
    """Estimate the usage of a reply with this text."""
    usage = Usage(input=request_tokens(request), output=estimate_tokens(text))
    return UsageReported(usage, cost_of(info, usage), info.window)
