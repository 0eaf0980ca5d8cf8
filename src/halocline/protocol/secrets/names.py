"""Finds values that are named like secrets and look like them: `NAME=value`, JSON, YAML, TOML, XML, options; pure.

Source code is full of names such as `token` and `password`, and redacting values there gets in the way of work. So a
value only counts if it is a literal and not made of words: not a reference, path or placeholder.
"""

import re
from collections import Counter
from collections.abc import Iterator
from math import log2

from halocline.protocol.patterns import compile_later

Span = tuple[int, int]

_NAMES = {
    "pass": ("password", "passwd", "passphrase", "_pass"),
    "pw": ("pwd", "_pw"),
    **{name: (name,) for name in ("secret", "token", "auth", "credential", "dsn", "webhook_url", "_pat", "_jwt")},
}
"""Names of secrets, by what several share: one search covers these."""
_KEYS = tuple(
    f"{kind}{sign}"
    for kind in (
        *("api", "access", "private", "signing", "encryption", "master", "account", "auth", "license", "service"),
        *("secret", "storage", "shared", "app", "session", "cookie", "client", "deploy", "subscription", "hmac", "aes"),
        *(
            "azure",
            "openai",
            "anthropic",
            "mistral",
            "cohere",
            "gemini",
            "deepl",
            "tavily",
            "groq",
            "datadog",
            "mapbox",
        ),
        *("speech", "vision", "translator", "algolia", "twilio", "sendgrid", "stripe", "mailgun", "vercel", "discord"),
    )
    for sign in ("", "_", "-")
)
"""Prefixes of `key` in names of secret keys."""
_VALUE = compile_later(
    r"(?:s|(?:[_-]?(?:key|value|base|string|live|test|prod|production|dev|staging|main|default|old|new|\d{1,2})){1,2})?"
    r"(?:\\?[\"'])?\]?"
    r"(?:\s{0,4}(?:(?::\s{0,2}[A-Za-z_.|\[\]? ]{1,30})?=(?![=~>])|:(?![:/])|=>|:=)\s{0,4}|[ \t]{1,4}(?=\S)|>)"
    r"(?:\\?[\"']?(?i:bearer|basic|token|apikey)[ ]+)?"
    r"(?:\\?\"(?P<double>[^\"\\\s]{8,4000})\\?\"|'(?P<single>[^'\s]{8,4000})'|(?P<raw>[^\s\"'`,;(){}\[\]<>\\|]{8,4000}+)(?![(\[{]))",
)
_BEFORE = compile_later(r"arn:[\w:-]{1,70}\Z|[\w.-]{1,40}\Z")
_ELSE = compile_later(
    r"(?i)public|next|page|continuation|cancel|sync|cursor|eos|bos|pad|unk|mask|special|cls|sep|max|min|num|count|limit"
    r"|author|no_|total|input|output|csrf_cookie_name|css|design"
)
"""Parts of names that sound like a secret and are none."""
_REFERENCE = compile_later(
    r"[$@%<{(&*^\[]|~?\.{0,2}/|[a-z][a-z0-9+.-]{1,20}:/|(?:process|os|env|self|this|config|settings|secrets?|vars?|data|local"
    r"|module|args|options|params|request|req|ctx|state|props)\b[.\[]|\[redacted|ENC\[|vault:|sha\d{1,3}[-:]|arn:",
)
_EXAMPLE = compile_later(
    r"(?i)example|sample|dummy|fake|placeholder|changeme|change-me|your|xxxx|\*{3}|\.\.\.|…|redacted|<|insert|replace|todo|hidden"
)
_WORDS = compile_later(r"[A-Za-z]*(?:[ _.:/+@#-]+[A-Za-z]*)*\d{0,2}[!?.:]?")
_CODE = compile_later(r"[A-Za-z_]\w*(?:(?:\.|::|->|\?\.)\w+)+[!?]?|[A-Za-z_]+[a-z]\d{0,3}")
_UUID = compile_later(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
"""As a token, this is a request id; some services' keys look like this too."""
_VAULT = compile_later(r"s\.[A-Za-z0-9]{24}")
"""Old form of Vault tokens, which looks like a name in source code."""
_NUMBER = compile_later(r"[\d.,:_+\-/TZ ]+(?:ms|s|m|h|d|px|em|rem|%|MB|GB|KB)?")
_SETTING = compile_later(
    r"\s*(?:[+-]\s+|export\s+|set\s+|ENV\s+|ARG\s+)?[\"']?([\w.-]{1,60})[\"']?\s*(?::=|=|:)\s*([\w!?.#@%^*+~-]{8,200})\s*(?:\s#.*)?"
)
_KIND = compile_later(
    r"(?i)(?:u?int|float|str|string|text|char|varchar|sha|md|utf|base|aes|rsa|v|type|field|arg|param)\w{0,4}\d+\w{0,4}"
)
"""Names of types and methods, which have numbers, too."""
_PASSWORD = frozenset({"password", "passwd", "passphrase", "pwd", "secret", "_pass", "_pw"})


def named_secrets(text: str) -> Iterator[Span]:
    """Yield the spans of values that are named like secrets."""
    lower = text.lower()
    if len(lower) != len(text):  # the lowercase form of a few letters is longer
        lower = "".join(letter.lower() if letter.isascii() else letter for letter in text)
    for start, name in _find_names(lower):
        value = _VALUE.match(text, start + len(name))
        if value is None or value.lastgroup is None:
            continue
        group = value.lastgroup
        before = _BEFORE.search(text, max(0, start - 80), start)
        if _is_secret(value[group], name, before[0] if before else "", group) or (
            group == "raw" and name in _PASSWORD and _is_set(text, value.span(group), value[group])
        ):
            yield value.span(group)


def _find_names(lower: str) -> Iterator[tuple[int, str]]:
    """Yield the start of each such name, and the name, in no order."""
    for name in (name for shared, names in _NAMES.items() if shared in lower for name in names):
        at = lower.find(name)
        while at >= 0:
            if name[0] != "_" or not lower[at + len(name) : at + len(name) + 1].isalpha():
                yield at, name
            at = lower.find(name, at + len(name))
    for name in ("key", "key-data"):
        at = lower.find(name)
        while at >= 0:
            if name == "key-data" or lower.endswith(_KEYS, max(0, at - 16), at):
                yield at, name
            at = lower.find(name, at + len(name))


def _is_secret(value: str, name: str, before: str, group: str) -> bool:
    if before.startswith("arn:") or _ELSE.search(before[-14:]) or (name == "auth" and before[-1:].isalpha()):
        return False
    if name == "token" and _UUID.fullmatch(value):
        return False
    if group == "raw":
        value = value.rstrip(".:!?")
        if len(value) < 8 or (_CODE.fullmatch(value) and not _VAULT.fullmatch(value)):
            return False
    return looks_secret(value, is_password=name in _PASSWORD and group != "raw")


def _is_set(text: str, span: Span, value: str) -> bool:
    """Return True if a whole line sets a password that a person made: `DB_PASSWORD: hunter22`, not code or prose."""
    line = text[text.rfind("\n", 0, span[0]) + 1 : (text.find("\n", span[1]) + 1 or len(text) + 1) - 1]
    found = _SETTING.fullmatch(line.rstrip("\r")) if len(line) < 300 else None
    if found is None or found[2] != value or _REFERENCE.match(value) or _EXAMPLE.search(value):
        return False
    if _mentions_itself(value) or _KIND.fullmatch(value) or not re.search(r"[A-Za-z]", value):
        return False
    return bool(re.search(r"\d" if found[1].isupper() else r"\d.*\d", value)) and not re.search(r"[a-z][A-Z]", value)


def looks_secret(value: str, *, is_password: bool = False) -> bool:
    """True if a value is probably a secret: not a word, number, path, reference or example."""
    if _REFERENCE.match(value) or _NUMBER.fullmatch(value):
        return False
    if is_random(value):
        return True
    if _EXAMPLE.search(value) or _mentions_itself(value):
        return False
    if _WORDS.fullmatch(value):
        return is_password and bool(re.fullmatch(r"[a-z]+\d{1,4}[!?.]?", value)) and len(value) >= 8
    kinds = sum(bool(re.search(kind, value)) for kind in (r"[a-z]", r"[A-Z]", r"\d", r"[^\w\s.:/-]"))
    return kinds >= 2 and bool(re.search(r"\d", value)) and len(value) >= 8 and not is_worded(value)


def is_random(value: str) -> bool:
    """True if a value looks machine-generated: long, mixed, with few repeated characters."""
    if len(value) < 20 or re.search(r"[\s(){}<>$]", value):
        return False
    mixed = all(re.search(kind, value) for kind in (r"[a-z]", r"[A-Z]", r"\d"))
    hexadecimal = re.fullmatch(r"[0-9a-f]{32,}|[0-9A-F]{32,}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", value)
    coded = re.fullmatch(r"[a-z0-9]{24,}", value) and len(re.findall(r"\d", value)) >= 4
    return bool(mixed or hexadecimal or coded) and entropy_of(value) >= 3.2 and not is_worded(value)


def entropy_of(text: str) -> float:
    """Return the Shannon entropy in bits per character."""
    return -sum(n / len(text) * log2(n / len(text)) for n in Counter(text).values())


def _mentions_itself(value: str) -> bool:
    return bool(re.search(r"(?i)passw|secret|token|(?:api|private).?key|credential|auth|bearer", value))


def is_worded(value: str, part: float = 0.7) -> bool:
    """True if more than `part` of the value is words, as in names: `my-service-v2`, `oauth2_access_token`."""
    words = re.findall(r"[A-Z]?[a-z]{3,}|[A-Z]{4,}", value)
    return sum(map(len, words)) > part * len(value)
