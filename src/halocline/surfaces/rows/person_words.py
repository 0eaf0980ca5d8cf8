"""The words in which a person reads a sentence that was written for the model.

A result tells the model what happened and then what to do instead; a person reads what happened. Where that is not
said for a person, its second wording stands here. The whole text is a key away (Ctrl-O).
"""

import re

WRONG_CALL = "the model called a tool wrongly"
_WORDINGS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.DOTALL), wording)
    for pattern, wording in (
        (r"Not allowed: (.*?): no mode allows that \(rule [^)]*\)\. Nothing was run.*", r"blocked: \1 (never allowed)"),
        (r"Not allowed: (.*?)(?: \(rule [^)]*\))?\. Nothing was run.*", r"blocked: \1"),
        (r"(?:There is no (?:tool|command|agent|job)\b|Invalid arguments for |No (?:job|skill) ).*", WRONG_CALL),
        (r"(?:The user (?:sent a new message|answered)|Declined: the user sent).*", "answered below"),
        (r"The user declined (?:this|an?) (.*?)\..*", r"you declined this \1"),
        (r"Skipped because the user declined.*", "skipped"),
        (r"the user moved it to the background; still running as (\S+)", r"in the background (\1)"),
        (r"stopped by the user after (.*)", r"stopped after \1"),
        (r"\[?… ?the middle of ([\d,]+) bytes is left out here.*", r"… the middle of \1 bytes is not shown"),
        (
            r"(\S+) is unchanged: it exists already, and you have not read it.*",
            r"\1: not applied, the model had not read it",
        ),
        (
            r"(\S+) is unchanged: it changed on disk since you last.*",
            r"\1: not applied, it changed since the model read it",
        ),
        (r"(\S+) is unchanged: \S+ stands for a secret hidden from you.*", r"\1: not applied, it would lose a secret"),
        (
            r"Not done: a file changed after the user saw this edit.*",
            "not applied: a file changed after you saw the edit",
        ),
        (
            r"Not done: (?:this needs the user's approval \((.*?); rule.*)",
            r"not approved: \1, and no one could be asked",
        ),
        (r"Nothing was run: (.*?)\. .*", r"not run: \1"),
        (r"Not done: (.*?)\. .*", r"not done: \1"),
        (r"(.*needs) (?:the user's|your) approval.*", r"\1 your approval"),
    )
)
_ADVICE = (
    "Use|Read|Send|Set|Name|Write|Search|Find|Check|Copy|Launch|Start|Stage|Compare|Remove|Fetch|Ask|Do|Put|Add|Edit|"
    "Continue|Correct|Change|Replace|List|Say|State|Scroll|Try|Wait|Give|Call|Choose|Let|Investigate"
)
_IS_ADVICE = re.compile(rf"(?:{_ADVICE})\b(?! \d+ of| \S+ failed)")
_ENDS = re.compile(
    rf"\n|(?<=[.!?]) (?=[A-Z`\[])|[;:,] (?:and )?(?:{_ADVICE.lower()}|make it|match|run it|make the)\b|; the user\b|"
    r", so (?:send|call|the call)\b|[:,] (?:with|not by) "
)
"""Ends of the part that says what happened."""


def tell_person(told: str) -> str:
    """Return in a line what a result says that the model was told."""
    text = told.strip()
    for pattern, wording in _WORDINGS:
        if found := pattern.fullmatch(text):
            return found.expand(wording).strip()
    first = _ENDS.split(text, maxsplit=1)[0].strip()
    return WRONG_CALL if _IS_ADVICE.match(first) else first


def tell_outcome(said: str) -> str:
    """The same of a remark about a command, which is whole where it has no second wording."""
    found = next((found.expand(wording) for pattern, wording in _WORDINGS if (found := pattern.fullmatch(said))), said)
    return found.strip()
