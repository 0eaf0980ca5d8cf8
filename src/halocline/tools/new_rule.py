"""new_rule: writes a rule for agents into the project. The policy always asks about this folder."""

from pathlib import PurePosixPath
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.edits.text import TextFile, count_lines, lines_of
from halocline.ports.tool import Summary, ToolContext
from halocline.protocol.errors import ToolFailure
from halocline.tools.changes import Change, define_edit, read_original, summarize_edit

FOLDER = ".clinerules"
OTHER_THINGS = frozenset({"workflows", "hooks", "skills"})
"""Subfolders of the rules folder whose files are not rules."""
NOT_A_PLACE = "{path!r} is not a valid path for a rule. Use a Markdown file below {folder}/, outside {others}."


class Input(msgspec.Struct):
    path: Annotated[str, Meta(description=f"Name of the new Markdown file, below {FOLDER}/.")]
    content: Annotated[str, Meta(description="The rule; Markdown.")]


def summary(input: Input) -> Summary:
    return summarize_edit("New rule", _rule_place(input.path))


async def _plan_changes(input: Input, ctx: ToolContext) -> list[Change]:
    path = _rule_place(input.path)
    if (found := await ctx.host.files.info(ctx.path(FOLDER))) and found.is_file:
        raise ToolFailure(f"{FOLDER} is a single file in this project. Add the rule to it with an edit.")
    was = await read_original(path, ctx)
    if was.data is not None:
        raise ToolFailure(f"{path} already exists. Edit it, or give the rule another name.")
    content = input.content.rstrip() + "\n"
    return [Change(was, TextFile(content), f"Created the rule {was.name} ({count_lines(len(lines_of(content)))}).")]


def _rule_place(text: str) -> str:
    """Return the path of the rule. Raises ToolFailure if it is not below the rules folder."""
    path = PurePosixPath(text.strip())
    parts = path.parts[1:] if path.parts[:1] == (FOLDER,) else path.parts
    suffix = path.suffix or ".md"
    good = parts and not path.is_absolute() and ".." not in parts and suffix in (".md", ".txt")
    if not good or parts[0] in OTHER_THINGS or parts[0].startswith("~"):
        raise ToolFailure(NOT_A_PLACE.format(path=text, folder=FOLDER, others=", ".join(sorted(OTHER_THINGS))))
    return str(PurePosixPath(FOLDER, *parts).with_suffix(suffix))


DESCRIPTION = f"Create a rule file in {FOLDER}/ that agents follow in this project. The user approves it."
TOOL = define_edit("new_rule", DESCRIPTION, Input, summary, _plan_changes)
