"""Which tools are in force, which of them a model is offered, and which calls may run together."""

import re
from collections.abc import Iterable, Sequence

from halocline.ports.tool import AnyTool, ToolSpec
from halocline.protocol.messages import ToolCall
from halocline.protocol.state import State
from halocline.tools import (
    apply_patch,
    ask_followup_question,
    attempt_completion,
    execute_command,
    generate_explanation,
    job,
    list_code_definition_names,
    list_files,
    new_rule,
    new_task,
    plan_mode_respond,
    read_file,
    replace_in_file,
    report_bug,
    search_files,
    update_todos,
    use_skill,
    web_fetch,
    web_search,
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
    web_search.TOOL,
    use_skill.TOOL,
    update_todos.TOOL,
    ask_followup_question.TOOL,
    attempt_completion.TOOL,
    plan_mode_respond.TOOL,
    new_task.TOOL,
    new_rule.TOOL,
    report_bug.TOOL,
    generate_explanation.TOOL,
)

PATCHES = r"(.*/)?(gpt-(4\.1|[5-9]|\d\d)|o[34](?!\w)|codex)"
"""Models that were trained on the format of apply_patch; OpenAI's, whoever serves them."""
OFFERED = {"apply_patch": PATCHES, "replace_in_file": rf"(?!{PATCHES})"}
"""Which models are offered a tool that not every model is: each has one way to edit a part of a file."""
ON_REQUEST = ("new_task", "new_rule", "report_bug", "generate_explanation")
"""Offered where the settings name them, or a person asked for one in this task: most tasks do not pay for them."""
SET_UP = ("web_search", "use_skill")
"""Offered where an engine or a skill is there."""


class Tools:
    """Fulfils `ports.tool.Toolset` with the tools given, in their order."""

    def __init__(self, tools: Iterable[AnyTool] = ALL) -> None:
        self._tools = {tool.name: tool for tool in tools}

    def find(self, name: str) -> AnyTool | None:
        return self._tools.get(name)

    def specs(self, state: State) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values() if _is_offered(tool.name, state))

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


def _is_offered(name: str, state: State) -> bool:
    if name == plan_mode_respond.TOOL.name:
        return state.has_planned
    if name in ON_REQUEST or name in SET_UP:
        return name in state.offered
    return re.match(OFFERED.get(name, ""), state.model) is not None
