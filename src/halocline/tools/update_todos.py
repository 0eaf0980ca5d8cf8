"""update_todos: the plan as a list that the user sees."""

from typing import Annotated

import msgspec
from msgspec import Meta

from halocline.context import notes
from halocline.ports.tool import ToolContext, ToolOutput
from halocline.protocol.events import TodosChanged
from halocline.protocol.kinds import Todo, TodoStatus, ToolKind
from halocline.protocol.messages import Text
from halocline.tools.schema import define_tool


class Input(msgspec.Struct):
    todos: Annotated[list[Todo], Meta(description="The whole list, in order.")]


async def run(input: Input, ctx: ToolContext) -> ToolOutput:
    done = sum(todo.status is TodoStatus.COMPLETED for todo in input.todos)
    text = f"{done} of {len(input.todos)} done."
    if input.todos and done == len(input.todos):
        text = notes.todos.ALL_DONE
    return ToolOutput(content=(Text(text),), events=(TodosChanged(todos=tuple(input.todos)),))


DESCRIPTION = (
    "Keep a to-do list for work of three or more steps. Send the whole list each time, with one item in_progress."
)
TOOL = define_tool("update_todos", DESCRIPTION, ToolKind.THINK, Input, "Update the to-do list", run)
