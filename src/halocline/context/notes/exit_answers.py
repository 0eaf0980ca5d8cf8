"""Explain exit code 1 of programs that use it as an answer: nothing found, files differ, test is false.

For those, 2 and above are failures. A line that could end with 1 for another reason gets no explanation. Pure.
"""

from collections.abc import Iterator, Mapping

from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command
from halocline.policy.shell.syntax.tree import Chain, Node, Simple

NOTHING, DIFFERENT, FALSE, MISSING = "nothing was found", "there are differences", "it is false", "it was not found"

ANSWERS: Mapping[str, str] = {
    **dict.fromkeys(("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack", "ugrep", "look", "pgrep", "pidof"), NOTHING),
    **dict.fromkeys(("diff", "cmp", "colordiff", "sdiff", "diff3", "zdiff", "zcmp"), DIFFERENT),
    **dict.fromkeys(("test", "[", "expr"), FALSE),
    **dict.fromkeys(("which", "type", "command -v", "command -V"), MISSING),
    "git grep": NOTHING,
    "git diff --exit-code": DIFFERENT,
    "git diff --quiet": DIFFERENT,
    "git merge-base --is-ancestor": "it is no ancestor",
    "git check-ignore": "it is not ignored",
    "git config --get": "it is not set",
    "git show-ref": MISSING,
}
"""Answers by the first words of a command; for `git`, a flag may be anywhere after the second."""


def find_answer(command: str, code: int | None, output: str) -> str:
    """Explain the exit code of a command line if it is an answer; empty if it is a success or a failure."""
    if code != 1 or "pipefail" in command:
        return ""
    try:
        answers = [_answer_of(one, output) for one in _deciding_commands(parse_command(command))]
    except NotUnderstood:
        return ""
    return next(filter(None, answers), "") if all(one is not None for one in answers) else ""


def _deciding_commands(node: Node) -> Iterator[Node]:
    """Yield the commands whose exit code the line may end with, last one first."""
    if not isinstance(node, Chain):
        yield node
        return
    is_piped = False
    for at in reversed(range(len(node.items))):
        if not is_piped:
            yield from _deciding_commands(node.items[at])
        before = node.joints[at - 1] if at else ""
        if before not in ("|", "|&", "&&"):
            return
        is_piped = before != "&&"


def _answer_of(node: Node, output: str) -> str | None:
    """Explain exit code 1 of this command; empty if it cannot end with 1 here, None if 1 is a failure."""
    if not isinstance(node, Simple) or not node.words:
        return None
    name, *words = (word.source.strip("'\"") for word in node.words)
    name = name.rpartition("/")[2] or name
    if name == "cd":
        return None if "cd: " in output else ""
    first = next((word for word in words if not word.startswith("-")), "") if name == "git" else (*words, "")[0]
    keys = (name, f"{name} {first}", *(f"{name} {first} {word}" for word in words))
    return next((ANSWERS[key] for key in keys if key in ANSWERS), None)
