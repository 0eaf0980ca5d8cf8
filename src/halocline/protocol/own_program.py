"""Which words of our own command line only look, and which steer Halocline: what no task may have done by a command.

The gate judges the commands of a model by it, and the command line itself refuses whoever a task started.
"""

from collections.abc import Sequence

NAMES = frozenset({"halo", "halocline"})
"""The names of the program, and of its package."""
LOOKING: dict[str, frozenset[str]] = {
    "doctor": frozenset(),
    "models": frozenset(),
    "hooks": frozenset({"list"}),
    "mcp": frozenset({"list"}),
    "policy": frozenset({"explain", "rules", "test"}),
    "rules": frozenset({"list", "why"}),
    "trust": frozenset({"list"}),
}
"""Commands that only look at what is set up, each with those of its actions that do; none: the command has no actions.

Everything else steers: it starts a task, reads or changes other tasks, or changes what Halocline obeys.
"""
REACHING = frozenset({"--connect", "--fix", "--refresh"})
"""Flags with which one of them sends something, perhaps a key, or changes something."""
ALONE = frozenset({"--help", "-h", "--version", "-V"})
STEERING = frozenset(
    {
        "attach",
        "checkpoints",
        "context",
        "demo",
        "export",
        "fork",
        "import",
        "login",
        "logout",
        "memory",
        "replay",
        "run",
        "storage",
        "tasks",
        "todos",
        "web",
        *LOOKING,
    }
)
"""Every command; a test compares it with the command line."""
REFUSED = "it steers Halocline, which a task must not do; ask the user to run it in a terminal of their own"


def is_steering(words: Sequence[str]) -> bool:
    """Whether these words behind the program's name do more than look."""
    if words and words[-1] in ALONE and len(words) <= 3:
        return not all(word.isalpha() for word in words[:-1])
    if not words or words[0] not in LOOKING or REACHING & {*words}:
        return True
    actions = LOOKING[words[0]]
    return bool(actions) and (len(words) < 2 or words[1] not in actions)
