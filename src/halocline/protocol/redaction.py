"""Blots secrets out of text that leaves the log (exports, recordings, reports), and out of what commands print.

It knows keys by their published forms, so it finds what it knows and no more: look before you share. The forms are of
autumn 2026, from the vendors' documentation. The task's log itself is left as it is; it is private to the person.
"""

import re
from collections.abc import Iterable
from functools import cache

_FORMS = {
    "private-key": r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY[A-Z ]{0,9}-----(?:[^-]|-(?!-)){1,20000}-----END [A-Z ]{0,50}"
    r"-----",
    "aws-key": r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
    "github-token": r"\b(?:gh[oprsu]_[A-Za-z0-9]{36,255}|github_pat_[A-Za-z0-9_]{50,255})\b",
    "gitlab-token": r"\bgl(?:pat|ptt|rt|cbt|dt|ft|imt|agent|oas|soat)-[A-Za-z0-9_.-]{20,255}\b",
    "api-key": r"\b(?:sk-[A-Za-z0-9_-]{32,300}|gsk_[A-Za-z0-9]{40,80}|xai-[A-Za-z0-9]{60,100}|hf_[A-Za-z0-9]{30,60})\b",
    "google-key": r"\bAIza[A-Za-z0-9_-]{35}",
    "google-token": r"\bya29\.[A-Za-z0-9_-]{20,1000}",
    "slack-token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}|\bxapp-[0-9]-[A-Za-z0-9-]{10,255}",
    "stripe-key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}\b",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "pypi-token": r"\bpypi-AgE[A-Za-z0-9_-]{50,1000}",
    "sendgrid-key": r"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}",
    "digitalocean-token": r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    "azure-key": r"\bAccountKey=[A-Za-z0-9+/]{80,100}={0,2}",
    "jwt": r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
    "password": r"(?<=://)[^/\s:@\"'\\]{1,100}:[^/\s:@\"'\\]{1,200}(?=@)",
    "url-token": r"(?<=://)[^/\s:@\"'\\]{20,255}(?=@)",
    "authorization": r"(?i:(?<=ization: bearer )|(?<=ization: basic )|(?<=x-api-key: ))[A-Za-z0-9._~+/=-]{12,4000}",
}


_SIGNS = (
    *("-----begin ", "akia", "asia", "abia", "acca", "gho_", "ghp_", "ghr_", "ghs_", "ghu_", "github_pat_"),
    *("glpat-", "glptt-", "glrt-", "glcbt-", "gldt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
    *("sk-", "gsk_", "xai-", "hf_", "aiza", "ya29.", "xox", "xapp-", "k_live_", "k_test_", "npm_", "pypi-age"),
    *("sg.", "_v1_", "accountkey=", "eyj", "://", "-api-key: ", "ization: "),
)
"""A text without any of these, in lower case, has no secret of a known form; most texts are passed over so."""
_SHORTEST = 6
_LOOKS_LIKE_ONE = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*"
    r"|\b(?:(?:sk|pk|rk|gh[pousr]|glpat|xox[a-z]|tvly|hf|gsk|npm|pypi)[-_]|AIza|github_pat_)[A-Za-z0-9_-]{16,}"
    r"|\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"
    r"|(?<=bearer )[\w.~+/=-]{8,}"
)
_NAMED_LIKE_ONE = (
    r"""((?:authorization|cookie|api[_-]?key|token|secret|passw(?:or)?d)["']?\s{0,9}[:=]\s{0,9})"""
    r"""(?:(?:bearer|basic)\s+)?("[^"\n]*"|'[^'\n]*'|[^\s,;&"']+)"""
)


def redacted(text: str) -> str:
    """The text with `[redacted NAME]` in the place of every secret that is known by its form."""
    return _blotted(text, "[redacted {}]")


def without_keys(text: str) -> str:
    """What a program printed, for a model to read: a note in the place of every key that is known by its form."""
    return _blotted(text, "[a {} was left out]")


def thoroughly_redacted(text: str, secrets: Iterable[str], home: str) -> str:
    """For a text that a person will send on: also without these `secrets`, what is named like one, and the home folder.

    It takes too much rather than too little.
    """
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, "[redacted]")
    text = re.sub(_LOOKS_LIKE_ONE, "[redacted]", redacted(text), flags=re.IGNORECASE | re.DOTALL)
    text = re.sub(_NAMED_LIKE_ONE, r"\1[redacted]", text, flags=re.IGNORECASE)
    return re.sub(rf"{re.escape(home.rstrip('/'))}(?![\w.-])", "~", text) if len(home) > 1 else text


def _blotted(text: str, note: str) -> str:
    lower = text.lower()
    if not any(sign in lower for sign in _SIGNS):
        return text
    return _forms().sub(lambda match: note.format((match.lastgroup or "").replace("_", "-")), text)


@cache
def _forms() -> re.Pattern[str]:
    """All forms as one, made when it is first needed."""
    groups = (f"(?P<{name.replace('-', '_')}>{form})" for name, form in _FORMS.items())
    return re.compile("|".join(groups), re.DOTALL)
