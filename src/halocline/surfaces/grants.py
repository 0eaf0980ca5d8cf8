"""Permissions in words, as every surface that offers them shows them."""

from halocline.protocol.kinds import Grant, Scope, ToolKind
from halocline.surfaces.sanitize import reveal

LONGEST_NAME = 40
"""Most characters of a rule on a button."""
CHANGES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
_REACH = {Scope.TASK: "in this task", Scope.PROJECT: "in this project", Scope.EVERYWHERE: "everywhere"}


def describe_grant(grant: Grant, scope: Scope = Scope.TASK) -> str:
    """Describe what *always* allows."""
    return f"{_describe_rule(grant)} {_REACH[scope]}{_describe_condition(grant)}"


def name_grant(grant: Grant, scope: Scope) -> str:
    """Describe it in few words, as on a button. `describe_rule` has all of it."""
    is_any_edit = grant.kind in CHANGES and not (grant.subject or grant.argv or grant.mcp)
    rule = "edits" if is_any_edit else _describe_rule(grant)
    if len(rule) > LONGEST_NAME:
        rule = f"{rule[:LONGEST_NAME]}…" + "`" * (rule[:LONGEST_NAME].count("`") % 2)
    return f"{rule} {_REACH[scope]}"


def describe_rule(grant: Grant) -> str:
    """Describe all of what *always* allows, whatever its scope."""
    return f"{_describe_rule(grant)}{_describe_condition(grant)}"


def _describe_condition(grant: Grant) -> str:
    names = ", ".join(entry.rpartition("=")[0] for entry in grant.scripts)
    return f", as long as {reveal(names)} does not change" if names else ""


def _describe_rule(grant: Grant) -> str:
    subject = f"`{reveal(grant.subject)}`" if grant.subject else ""
    match grant.kind:
        case _ if grant.mcp:
            return (
                f"the tool {reveal(grant.mcp)}"
                if not grant.mcp.endswith("/*")
                else f"all tools of {reveal(grant.mcp[:-2])}"
            )
        case _ if grant.argv:
            return f"`{reveal(' '.join(grant.argv))} …`"
        case ToolKind.EXECUTE:
            return subject or "all commands"
        case ToolKind.FETCH:
            return f"fetching from {subject}"
        case kind if kind in CHANGES:
            return f"edits to {subject}" if subject else "edits in the workspace"
        case kind:
            return f"{kind} of {subject}" if subject else f"all {kind} actions"
