"""Takes out of a text what nobody else should read: keys that are known, what looks like a key, the home folder.

It is for text that a person will send on. It takes too much rather than too little; it cannot know every secret.
"""

import re
from collections.abc import Iterable

REDACTED = "[removed]"
_SHORTEST = 6
_PATTERNS = (
    re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)", re.DOTALL),
    re.compile(r"\b(?:(?:sk|pk|rk|gh[pousr]|glpat|xox[a-z]|tvly|hf|gsk|npm|pypi)[-_]|AIza)[A-Za-z0-9_-]{16,}"),
    re.compile(r"\bgithub_pat_\w{20,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    re.compile(r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"),
    re.compile(r"(?<=://)[^/\s:@]+:[^/\s@]+(?=@)"),
)
_NAMED = re.compile(
    r"""((?:authorization|cookie|api[_-]?key|token|secret|passw(?:or)?d)["']?\s{0,9}[:=]\s{0,9})"""
    r"""(?:(?:bearer|basic)\s+)?("[^"\n]*"|'[^'\n]*'|[^\s,;&"']+)""",
    re.IGNORECASE,
)
_BEARER = re.compile(r"\b(bearer\s+)[\w.~+/=-]{8,}", re.IGNORECASE)


def redacted(text: str, secrets: Iterable[str] = (), home: str = "") -> str:
    """The text without them; the home folder becomes `~`."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, REDACTED)
    for pattern in _PATTERNS:
        text = pattern.sub(REDACTED, text)
    text = _BEARER.sub(rf"\1{REDACTED}", text)
    text = _NAMED.sub(rf"\1{REDACTED}", text)
    return re.sub(rf"{re.escape(home.rstrip('/'))}(?![\w.-])", "~", text) if len(home) > 1 else text
