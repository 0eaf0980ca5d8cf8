"""generate_explanation: a diff with remarks on its lines. The first call gives the numbered diff, the second explains.

The remarks stand in the diffs of the call's end: nothing else is kept, and a surface shows them below their lines.
"""

from typing import TYPE_CHECKING, Annotated

import msgspec
from msgspec import Meta

from halocline.context.budget import Budget, fit_lines
from halocline.ports.tool import Summary, Tool, ToolContext, ToolOutput, ToolSpec
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events import Diff, Remark, ToolKind
from halocline.protocol.messages import Text
from halocline.tools.schema import schema_of

if TYPE_CHECKING:
    from halocline.edits.unified import FileDiff

DIFF = Budget(2_000, 100_000, 500)
MOST_COMMENTS = 50
LONGEST_COMMENT = 2_000
NOW = "Now call it again with the same refs and your comments."


class Comment(msgspec.Struct):
    path: Annotated[str, Meta(description="File, as the diff names it.")]
    line: Annotated[int, Meta(description="Line number that the diff shows.")]
    text: Annotated[str, Meta(description="What this line does, and why.")]


class Input(msgspec.Struct):
    title: Annotated[str, Meta(description="What the changes are, in a few words.")]
    from_ref: Annotated[str, Meta(description="Git ref, or checkpoint (TASK/2).")]
    to_ref: Annotated[str, Meta(description="The later one; without it the files as they are now.")] = ""
    comments: Annotated[
        list[Comment], Meta(description="Leave out first: the numbered diff comes back. Then comment on its lines.")
    ] = []


def summary(input: Input) -> Summary:
    span = f"{input.from_ref}..{input.to_ref}"
    if not input.comments:
        return Summary(title=f"Read changes {span}", kind=ToolKind.READ)
    return Summary(title=f"{input.title} ({span})", kind=ToolKind.OTHER)


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    from halocline.edits.unified import parse_diff

    if ctx.host.revisions is None:
        raise ToolFailure("There are no versions to compare here.")
    files = parse_diff(await ctx.host.revisions.diff(input.from_ref, input.to_ref))
    if not files:
        return ToolOutput.of("Nothing differs between them. New files that git does not know yet are not looked at.")
    return _explain_files(input, files) if input.comments else _show_diff(files)


def _show_diff(files: "tuple[FileDiff, ...]") -> ToolOutput:
    from halocline.edits.unified import number_diff

    fitted = fit_lines(number_diff(files), DIFF)
    cut = "\n[The diff goes on; nearer refs show the rest.]" if fitted.cut else ""
    return ToolOutput.of("\n".join(fitted.lines) + f"{cut}\n[{NOW}]")


def _explain_files(input: Input, files: "tuple[FileDiff, ...]") -> ToolOutput:
    """Raises ToolFailure when a comment is on no line of the diff; nothing is shown then."""
    if len(input.comments) > MOST_COMMENTS:
        raise ToolFailure(f"These are {len(input.comments)} comments; at most {MOST_COMMENTS} are shown. Choose.")
    known = {file.path: file.lines for file in files}
    if lost := [f"{one.path}:{one.line}" for one in input.comments if one.line not in known.get(one.path, ())]:
        raise ToolFailure(f"Not in the diff: {', '.join(lost[:10])}. Use paths and line numbers that it shows.")
    diffs = tuple(diff for file in files if (diff := _diff_with_comments(file, input.comments)).remarks)
    told = f"The user sees {len(input.comments)} comments on {len(diffs)} of {len(files)} changed files."
    return ToolOutput((Text(told),), diffs=diffs)


def _diff_with_comments(file: "FileDiff", comments: list[Comment]) -> Diff:
    from halocline.edits.unified import diff_with_remarks

    mine = (Remark(one.line, one.text.strip()[:LONGEST_COMMENT]) for one in comments if one.path == file.path)
    return diff_with_remarks(file, tuple(sorted(mine, key=lambda remark: remark.line)))


TOOL: Tool[Input] = Tool(
    spec=ToolSpec(
        "generate_explanation",
        "Explain changes to the user by comments on the lines of their diff.",
        schema_of(Input),
    ),
    kind=ToolKind.READ,
    input=Input,
    summary=summary,
    run=run,
)
