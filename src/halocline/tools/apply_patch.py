"""apply_patch: one patch to several files, applied whole or not at all, in the format GPT models are trained on."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import replace

from halocline import edits
from halocline.edits.text import EditError, NotEncodable, count_lines
from halocline.ports.host import LARGEST_EDIT
from halocline.ports.tool import Summary, ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import Location, ToolKind
from halocline.protocol.values import JsonObject
from halocline.tools.changes import (
    LARGEST_WHOLE,
    Change,
    Original,
    define_edit,
    make_edits,
    read_original,
    require_as_known,
    require_encodable,
    restore_secrets,
)
from halocline.tools.places import find_existing

if TYPE_CHECKING:
    from halocline.edits.formats.patch import Section

_FORMAT = """\
Edit files with a patch:
*** Begin Patch
*** Update File: path
@@ enclosing class or function
 context line (3 before and after)
-removed line
+added line
*** End Patch
Also `*** Add File: path` with + lines, `*** Delete File: path`, and `*** Move to: path` after an Update File line. \
Every location must be unambiguous: add more @@ lines when text repeats. Applied whole or not at all."""
_TITLED = 4
_VERBS = {"add": "Add", "update": "Edit", "delete": "Delete"}


class Input(msgspec.Struct):
    input: Annotated[str, Meta(description="The whole patch.")]
    folder: str = ""
    """Folder that the patch's paths are relative to, when it came from a shell command; empty for the workspace."""


def summary(input: Input) -> Summary:
    try:
        sections = _read_sections(input)
    except EditError:  # `run` reports it and changes nothing
        return Summary(title="Apply a patch", kind=ToolKind.EDIT)
    titles = [_section_title(section) for section in sections]
    more = f" and {len(titles) - _TITLED} more files" if len(titles) > _TITLED else ""
    paths = tuple(path for section in sections for path in section.paths)
    return Summary(
        title=", ".join([titles[0], *(f"{one[:1].lower()}{one[1:]}" for one in titles[1:_TITLED])]) + more,
        kind=_gravest_kind(sections),
        paths=paths,
        locations=tuple(map(Location, paths)),
    )


def _read_sections(input: Input) -> Sequence["Section"]:
    """Return the patch's sections with paths relative to the workspace. Raises EditError."""
    sections = edits.formats.patch.parse_patch(input.input)
    if not input.folder:
        return sections
    return [
        replace(one, path=_path_below(one.path, input), move_to=_path_below(one.move_to, input)) for one in sections
    ]


def _path_below(path: str, input: Input) -> str:
    return str(Path(input.folder, path)) if path else ""


def _section_title(section: "Section") -> str:
    if section.move_to:
        return f"Move {section.path} to {section.move_to}"
    return f"{_VERBS[section.action]} {section.path}"


def _gravest_kind(sections: Sequence["Section"]) -> ToolKind:
    """Return the kind that needs the most: permission to edit does not cover deleting or moving."""
    if any(section.action == "delete" for section in sections):
        return ToolKind.DELETE
    return ToolKind.MOVE if any(section.move_to for section in sections) else ToolKind.EDIT


def keep(input: Input, places: Collection[int]) -> JsonObject:
    return {"input": edits.formats.patch.keep_files(input.input, places), "folder": input.folder}


async def _plan_changes(input: Input, ctx: ToolContext) -> list[Change]:
    try:
        sections = _read_sections(input)
    except EditError as error:
        raise ToolFailure(f"{error.text}\nNo file was changed. {error.hint}") from None
    changes, failures, person = [], [], ""
    for section in sections:
        try:
            changes.append(await _make_change(section, ctx))
        except ToolFailure as failure:
            failures.append(failure.text)
            person = person or failure.person
    if failures:
        rest = (
            f" The changes to the other {count_lines(len(changes)).replace('line', 'file')} apply." if changes else ""
        )
        raise ToolFailure("\n".join(failures) + f"\nNo file was changed.{rest}", person=person)
    return changes


async def _make_change(section: "Section", ctx: ToolContext) -> Change:
    was = await read_original(section.path, ctx, LARGEST_EDIT if section.edits else LARGEST_WHOLE)
    section = _restore_secrets(section, was, ctx)
    match section.action:
        case "add":
            return _add_file(was, section)
        case _ if was.data is None:
            await find_existing(section.path, ctx)
            raise ToolFailure(f"{was.name} does not exist.")
        case "delete":
            require_as_known(was, ctx)
            return Change(was, None, f"Deleted {was.name}.")
        case _:
            return await _update_file(was, section, ctx)


def _restore_secrets(section: "Section", was: Original, ctx: ToolContext) -> "Section":
    """Replace redaction marks with the secrets they stand for, line by line."""

    def meant(lines: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(restore_secrets(line, was, ctx) for line in lines)

    edits = tuple(
        replace(edit, search=meant(edit.search), replace=meant(edit.replace), headers=meant(edit.headers))
        for edit in section.edits
    )
    return replace(section, lines=meant(section.lines), edits=edits)


def _add_file(was: Original, section: "Section") -> Change:
    if was.data is not None:
        raise ToolFailure(f"{was.name} already exists. Use `*** Update File: {section.path}`.")
    file = replace(was.file, text="".join(f"{line}\n" for line in section.lines))
    require_encodable(was, file)
    return Change(was, file, f"Created {was.name} ({count_lines(len(section.lines))}).")


async def _update_file(was: Original, section: "Section", ctx: ToolContext) -> Change:
    try:
        made, parts = make_edits(was, section.edits, edits.plan.all_or_none)
    except NotEncodable as error:
        raise ToolFailure(f"{was.name}: {error.text} {error.hint}") from None
    except EditError as error:
        person = f"{was.name}: {error.person or error.text}"
        raise ToolFailure(f"{was.name}:\n{error.text}\n{error.hint}", person=person) from None
    if not section.move_to:
        return Change(was, made.file, "\n".join([f"Edited {was.name}:", *map(str, made.applied)]), parts=parts)
    target = await read_original(section.move_to, ctx)
    if target.data is not None:
        raise ToolFailure(f"{was.name} cannot be moved: {target.name} already exists.")
    report = "\n".join([f"Moved {was.name} to {target.name}:", *map(str, made.applied)])
    return Change(target, made.file, report, was, parts)


TOOL = define_edit("apply_patch", _FORMAT, Input, summary, _plan_changes, unsaid=("folder",), keep=keep)
