"""Commands of our own command line that only look, and those that control Halocline, which no task may run.

The gate judges a model's commands by this, and the command line itself refuses to run when a task started it.
"""

from collections.abc import Sequence

from halocline.protocol.values import set_of

NAMES = frozenset({"halo", "halocline"})
"""Names of the program and its package."""
LOOKING: dict[str, frozenset[str]] = {
    "completion": frozenset(),
    "doctor": frozenset(),
    "docs": frozenset(),
    "models": frozenset(),
    "hooks": frozenset({"list"}),
    "mcp": frozenset({"list"}),
    "plugins": frozenset({"list", "show"}),
    "policy": frozenset({"explain", "rules", "test"}),
    "rules": frozenset({"list", "why"}),
    "schedule": frozenset({"list", "show"}),
    "trust": frozenset({"list"}),
    "worktrees": frozenset({"diff", "list"}),
}
"""Commands that only show configuration or worktrees, each with its read-only actions; an empty set: it has no actions.

Alone they list.
Everything else controls Halocline: it starts a task, reads or changes other tasks, or changes the configuration.
"""
REACHING = frozenset({"--connect", "--fix", "--refresh"})
"""Flags that make one of them send data, perhaps a key, or change something."""
ALONE = frozenset({"--help", "-h", "--version", "-V"})
STEERING = frozenset(LOOKING) | set_of(
    """
    acp attach background batch board checkpoints commit-message config context demo editor eval explain export fix
    fork import improve login logout logs memory replay report run send stats stop storage tasks todos web
    """
)
"""All commands; a test compares them with the command line."""
REFUSED = "it controls Halocline, which a task must not do; ask the user to run it in their own terminal"


def is_steering(words: Sequence[str]) -> bool:
    """True if these arguments of the program do more than look."""
    if words and words[-1] in ALONE and len(words) <= 3:
        return not all(word.isalpha() for word in words[:-1])
    if not words or words[0] not in LOOKING or REACHING & {*words}:
        return True
    actions = LOOKING[words[0]]
    return bool(actions) and len(words) > 1 and words[1] not in actions
