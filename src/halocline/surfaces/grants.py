"""Permissions in words, as every surface that offers them shows them."""

from halocline.protocol.kinds import Grant, Scope, ToolKind
from halocline.surfaces.sanitize import reveal

CHANGES = frozenset({ToolKind.EDIT, ToolKind.DELETE, ToolKind.MOVE})
_REACH = {Scope.TASK: "in this task", Scope.PROJECT: "in this project", Scope.EVERYWHERE: "everywhere"}


def describe_grant(grant: Grant, scope: Scope = Scope.TASK) -> str:
    """Describe what *always* allows."""
    names = ", ".join(entry.rpartition("=")[0] for entry in grant.scripts)
    return f"{_describe_rule(grant)} {_REACH[scope]}" + (
        f", as long as {reveal(names)} does not change" if names else ""
    )


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
