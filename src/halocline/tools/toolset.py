"""Which tools are in force, which of them a model is offered, and which calls may run together."""

import re
from collections.abc import Iterable, Sequence

from halocline.ports.tool import AnyTool, ToolSpec
from halocline.protocol.messages import ToolCall
from halocline.tools import (
    apply_patch,
    ask_followup_question,
    attempt_completion,
    execute_command,
    job,
    list_code_definition_names,
    list_files,
    read_file,
    replace_in_file,
    search_files,
    update_todos,
    web_fetch,
    write_to_file,
)

ALL: tuple[AnyTool, ...] = (
    read_file.TOOL,
    list_files.TOOL,
    search_files.TOOL,
    list_code_definition_names.TOOL,
    replace_in_file.TOOL,
    apply_patch.TOOL,
    write_to_file.TOOL,
    execute_command.TOOL,
    job.TOOL,
    web_fetch.TOOL,
    update_todos.TOOL,
    ask_followup_question.TOOL,
    attempt_completion.TOOL,
)

PATCHES = r"(.*/)?(gpt-(4\.1|[5-9]|\d\d)|o[34](?!\w)|codex)"
"""Models that were trained on the format of apply_patch; OpenAI's, whoever serves them."""
OFFERED = {"apply_patch": PATCHES, "replace_in_file": rf"(?!{PATCHES})"}
"""Which models are offered a tool that not every model is: each has one way to edit a part of a file."""


def with_sandbox(tools: Iterable[AnyTool]) -> tuple[AnyTool, ...]:
    """The tools where commands are held in a sandbox."""
    return tuple(execute_command.SANDBOXED if tool is execute_command.TOOL else tool for tool in tools)


class Tools:
    """Fulfils `ports.tool.Toolset` with the tools given, in their order."""

    def __init__(self, tools: Iterable[AnyTool] = ALL) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def find(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def specs(self, model: str) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values() if re.match(OFFERED.get(tool.name, ""), model))

    def batches(self, calls: Sequence[ToolCall]) -> list[list[ToolCall]]:
        batches: list[list[ToolCall]] = []
        open_batch = False
        for call in calls:
            together = self._may_share(call)
            if together and open_batch:
                batches[-1].append(call)
            else:
                batches.append([call])
            open_batch = together
        return batches

    def _may_share(self, call: ToolCall) -> bool:
        tool = self.find(call.name)
        return tool is not None and not tool.edits
