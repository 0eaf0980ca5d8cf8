"""use_skill: loads the instructions of a skill on demand. A skill is text: this runs nothing in it."""

import asyncio
from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.context.user_files.skills import found_skills, skill_for_model
from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ToolKind
from halocline.tools.schema import define_tool


class Input(msgspec.Struct):
    skill_name: Annotated[str, Meta(description="Skill name, as listed in the system prompt.")]


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    found = await asyncio.to_thread(found_skills, ctx.workspace, roots=ctx.task.roots, plugins=ctx.task.plugins)
    skills = {skill.name: skill for skill in found.offered}
    skill = skills.get(input.skill_name.strip().removeprefix("/"))
    if skill is None:
        raise ToolFailure(f"No skill is named {input.skill_name!r}. Available skills: {', '.join(skills) or 'none'}.")
    try:
        text = await asyncio.to_thread(skill_for_model, skill)
    except OSError as error:
        raise ToolFailure(f"{skill.file} cannot be read: {error.strerror}.") from error
    return ToolOutput.of(text)


DESCRIPTION = "Load the instructions of a skill that fits the task, before you start on what it is for."
TOOL = define_tool("use_skill", DESCRIPTION, ToolKind.READ, Input, "Use skill {0.skill_name}", run)
