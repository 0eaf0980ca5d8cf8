"""Which commands a person should see even in auto mode.

This only ever raises a decision: a command that nothing here recognises is not thereby safe. It is a convenience, not
a boundary; only a sandbox is one.
"""

import re
from functools import cache

MAX_LENGTH = 8_000

_RISKS = (
    (r"\b(sudo|su|doas|pkexec)\b", "runs with other rights"),
    (r"\brm\s+(-\w+\s+)*-\w*[rRf]", "deletes without asking"),
    (r"\bfind\b.*\s-(delete|exec|execdir|ok)\b", "may delete or run what it finds"),
    (r"\b(shred|mkfs\S*|fdisk|parted|wipefs)\b", "destroys data"),
    (r"\bdd\b.*\bof=", "writes to a device or file"),
    (r">\s*/(dev|etc|proc|sys|boot)\b", "writes to the system"),
    (
        r"\bgit\b[^;&|\n]*\s(push|reset|clean|rebase|checkout|restore|stash|filter-branch|config|gc|am)\b",
        "changes git state",
    ),
    (r"\b(curl|wget)\b.*\|\s*(\w*sh|python\S*|perl|ruby|node)\b", "runs what it downloads"),
    (r"\b(eval|source|exec)\b|(^|[;&|]\s*)\.\s", "runs text as a command"),
    (r"\bbase64\b.*(-d|--decode).*\|", "runs hidden text"),
    (r"\b(chmod|chown|chgrp)\b.*(\s-\w*R|--recursive)", "changes rights of many files"),
    (r"\b(kill|pkill|killall|shutdown|reboot|halt|systemctl|service|launchctl|crontab)\b", "touches other processes"),
    (r"\b(ssh|scp|sftp|rsync|nc|ncat|telnet)\b", "reaches other machines"),
    (r"\b(npm|pnpm|yarn|cargo|gem|poetry|twine|uv)\s+(publish|upload|login)\b|\btwine\b", "publishes"),
    (r"\b(kubectl|terraform|aws|gcloud|az|heroku|flyctl|docker\s+(push|login|system|volume))\b", "reaches a service"),
    (r"(^|[\s=:\"'])(~|\$\{?HOME|/(?!(tmp|dev/null|usr/bin|bin)\b)\w)", "names a place outside the workspace"),
    (r"\bHALOCLINE_HOME\b|\.halocline/credentials", "names Halocline's own files"),
    (r"\.\./", "names a place that may be outside the workspace"),
)

_LOSES = frozenset({"deletes without asking", "may delete or run what it finds", "destroys data", "changes git state"})


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], str], ...]:
    """Compiled when the first command is judged, not at every start."""
    return tuple((re.compile(pattern), why) for pattern, why in _RISKS)


def risk(command: str) -> str:
    """Why a person should look at this command; empty when nothing is recognised."""
    if len(command) > MAX_LENGTH:
        return "is too long to judge"
    if any(not char.isprintable() and char not in "\n\t" for char in command):
        return "holds control characters"
    return next((why for pattern, why in _patterns() if pattern.search(command)), "")


def loses(command: str) -> str:
    """Why a person should look at it even in a sandbox: the workspace may lose something. Empty for nothing known."""
    return next((why for pattern, why in _patterns() if why in _LOSES and pattern.search(command)), "")
