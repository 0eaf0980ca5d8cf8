"""report_bug: a bug report on Halocline as a file. Nothing is sent.

What must stay true: secrets are redacted before anyone sees the report, the user included.
"""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline._version import __version__
from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.protocol.messages import Text
from halocline.tools.schema import define_tool

YES, NO = "Write the report", "Do not report"
LONGEST = 20_000
DECLINED = "The user does not want to report it. Nothing was written."


class Input(msgspec.Struct):
    title: Annotated[str, Meta(description="The bug in one line.")]
    what_happened: Annotated[str, Meta(description="What happened, and what should have happened.")]
    steps_to_reproduce: Annotated[str, Meta(description="Numbered steps to reproduce it.")]
    api_request_output: Annotated[str, Meta(description="The API's response, if relevant.")] = ""
    additional_context: Annotated[str, Meta(description="Anything else that may help.")] = ""


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    title, text = (
        ctx.secrets.redact_thoroughly(" ".join(input.title.split())),
        ctx.secrets.redact_thoroughly(_write_report(input, ctx))[:LONGEST],
    )
    answer = await ctx.ask(f"# {title}\n\n{text}\n\n**Write this report?** Nothing is sent.", (YES, NO), ctx.call.id)
    if answer == NO:
        return ToolOutput.of(DECLINED)
    if answer not in (YES, None):
        return ToolOutput.of(f"Not written yet. The user says: {answer}")
    path = ctx.task.folder / f"bug-report-{ctx.call.id[-12:]}.md"
    try:
        await ctx.host.files.write(path, f"# {title}\n\n{text}\n".encode(), None)
    except OSError as error:
        raise ToolFailure(f"The report cannot be written to {path}: {error.strerror}.") from error
    told = f"The report is in `{path}`. Nothing was sent. Read it, and give it to those from whom you have Halocline."
    return ToolOutput((Text(told),), ends_turn=True)


def _write_report(input: Input, ctx: ToolContext) -> str:
    import platform

    system = f"Python {platform.python_version()}\n- {platform.platform()}"
    about = f"- Halocline {__version__}, {system}\n- Model: {ctx.task.model}"
    parts = {
        "What happened": input.what_happened,
        "Steps to reproduce": input.steps_to_reproduce,
        "API response": input.api_request_output,
        "Additional context": input.additional_context,
        "Environment": about,
    }
    return "\n\n".join(f"## {head}\n\n{text.strip()}" for head, text in parts.items() if text.strip())


DESCRIPTION = (
    "Prepare a report on a bug in Halocline itself. The user reviews it; nothing is sent. Version, system and "
    "model are filled in."
)
TOOL = define_tool("report_bug", DESCRIPTION, ToolKind.OTHER, Input, "Report a bug: {0.title}", run)
