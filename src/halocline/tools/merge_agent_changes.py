"""merge_agent_changes: adds what an agent changed in its worktree to the files of the workspace, as an edit of them.

What must stay true: nothing that a file has now is lost. Where both sides changed the same lines, it stays as it is,
and both sides come back.
"""

from collections.abc import Collection
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline.edits.text import BinaryContent, decode_text
from halocline.ports.tool import Summary, ToolContext, ToolOutput
from halocline.protocol.errors import WRONG_CALL, ToolFailure
from halocline.protocol.kinds import Diff, Location, ToolKind
from halocline.protocol.messages import Text
from halocline.protocol.values import JsonObject
from halocline.tools.changes import Change, ChangedSinceRead, Original, read_original, write_changes
from halocline.tools.places import absolute_path
from halocline.tools.schema import define_tool
from halocline.tools.spawn_agent import agents_of

MOST_TRIES = 20
"""Tries of a merge that meets others; each time at least one of them came to its end."""
CONFLICT = "CONFLICT: {path} was not changed. Both sides changed these lines; make the edit yourself:\n{conflicts}"


class Input(msgspec.Struct):
    agent: Annotated[str, Meta(description="The name of the agent.")]
    paths: Annotated[list[str], Meta(description="Files to take, as its report lists them.")] = []
    deleted: Annotated[list[str], Meta(description="Files to delete, as it did.")] = []


def summary(input: Input) -> Summary:
    paths = (*input.paths, *input.deleted)
    return Summary(
        title=f"Take the changes of the agent {input.agent} to {len(paths)} file{'s' * (len(paths) != 1)}",
        kind=ToolKind.DELETE if input.deleted else ToolKind.EDIT,
        paths=paths,
        locations=tuple(map(Location, paths)),
    )


class _Planned(NamedTuple):
    """The changes, a text for each file that stays, and what is taken of the agent by the changes."""

    changes: list[Change]
    stays: list[str]
    taken: dict[str, bytes | None]


async def _plan_changes(input: Input, ctx: ToolContext) -> _Planned:
    """Plan the edits. Raises ToolFailure."""
    if not (input.paths or input.deleted):
        raise ToolFailure("Name the files to take. Nothing was changed.", person=WRONG_CALL)
    plan = _Planned([], [], {})
    files = {path: await read_original(path, ctx, any_content=True) for path in _list_paths(input)}
    found = await agents_of(ctx).merge(input.agent, {path: was.data for path, was in files.items()})
    for path, was in files.items():
        merged = found[path]
        if merged.conflicts:
            plan.stays.append(CONFLICT.format(path=path, conflicts=merged.conflicts))
        elif merged.data == was.data:
            plan.stays.append(f"{was.name} has these changes already.")
        else:
            plan.changes.append(_plan_change(path, was, merged.data, input, ctx))
            plan.taken[path] = merged.taken
    return plan


def _plan_change(path: str, was: Original, data: bytes | None, input: Input, ctx: ToolContext) -> Change:
    if data is None and path not in input.deleted:
        raise ToolFailure(f"The agent deleted {path}. List it in `deleted` to delete it here. Nothing was changed.")
    if data is None:
        return Change(was, None, f"Deleted {was.name}.")
    report = f"{'Created' if was.data is None else 'Merged'} {was.name}."
    declared = ctx.host.files.declared_encoding(was.path)
    try:
        return Change(was, decode_text(data, declared), report)
    except BinaryContent:
        return Change(was, decode_text(b"", declared), report, raw=data)


async def preview(input: Input, ctx: ToolContext) -> tuple[Diff, ...]:
    """Return a diff for each file, an empty one where it stays, so that `keep` knows the file by its place."""
    changes = {change.original.path: change.diff for change in (await _plan_changes(input, ctx)).changes}
    return tuple(changes.get(absolute_path(path, ctx), Diff(path, "")) for path in _list_paths(input))


def keep(input: Input, places: Collection[int]) -> JsonObject:
    kept = {path for place, path in enumerate(_list_paths(input)) if place in places}
    paths, deleted = ([path for path in some if path in kept] for some in (input.paths, input.deleted))
    return {"agent": input.agent, "paths": paths, "deleted": deleted}


def _list_paths(input: Input) -> list[str]:
    return [*dict.fromkeys((*input.paths, *input.deleted))]


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    plan = await _plan_changes(input, ctx)
    output = ToolOutput(())
    for more in reversed(range(MOST_TRIES) if plan.changes else ()):
        try:
            output = await write_changes(plan.changes, ctx)
            break
        except ChangedSinceRead:  # others merge into the same files
            before, plan = plan, await _plan_changes(input, ctx)
            if not more or _list_edited_lines(before) != _list_edited_lines(plan):
                raise
    if plan.taken:
        await agents_of(ctx).note_merged(input.agent, plan.taken)
    return replace(output, content=(*output.content, *(Text(text) for text in plan.stays)))


def _list_edited_lines(plan: _Planned) -> list[tuple[str, list[str]]]:
    """Return the lines added and removed: the same ones are the edit that was judged and shown, wherever it stands."""
    return [
        (one.original.name, [line for line in one.diff.text.split("\n") if line[:1] in ("+", "-")])
        for one in plan.changes
    ]


DESCRIPTION = (
    "Take changes of an agent that wrote: each file gets them by a three-way merge with what it is now. Where both "
    "changed the same lines, the file stays, and you get both sides. The worktree stays as it is."
)
TOOL = define_tool(
    "merge_agent_changes", DESCRIPTION, ToolKind.EDIT, Input, summary, run, edits=True, preview=preview, keep=keep
)
