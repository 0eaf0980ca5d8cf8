"""Which tools are in force, and which calls may run together."""

from collections.abc import Iterable, Sequence

from halocline.ports.tool import AnyTool, ToolSpec
from halocline.protocol.messages import ToolCall
from halocline.tools import (
    ask_followup_question,
    attempt_completion,
    execute_command,
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
    replace_in_file.TOOL,
    write_to_file.TOOL,
    execute_command.TOOL,
    web_fetch.TOOL,
    update_todos.TOOL,
    ask_followup_question.TOOL,
    attempt_completion.TOOL,
)


class Tools:
    """Fulfils `ports.tool.Toolset` with the tools given, in their order."""

    def __init__(self, tools: Iterable[AnyTool] = ALL) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._specs = tuple(tool.spec for tool in self._tools.values())

    def find(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def specs(self) -> tuple[ToolSpec, ...]:
        return self._specs

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
