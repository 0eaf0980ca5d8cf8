"""Plan and act mode, and the to-do list."""

from msgspec.structs import replace

from halocline.protocol.kinds import Mode, Todo
from halocline.protocol.values import Value

PROGRESS = "task_progress"
"""Argument from Cline's prompts that some models send with every call: the to-do list as a Markdown checklist."""


class TodoAge(Value, frozen=True):
    """Requests since the list's last change or reminder, reminders since its change, and whether the mode changed."""

    requests: int = 0
    reminders: int = 0
    mode_changed: bool = False

    def after_reminder(self) -> "TodoAge":
        return TodoAge(reminders=self.reminders + 1)

    def after_request(self) -> "TodoAge":
        return TodoAge(self.requests + 1, self.reminders)

    def after_switch(self) -> "TodoAge":
        return replace(self, mode_changed=True)


class PlanState(Value, frozen=True):
    """The mode, and the to-do list. `has_planned` means that the task was in plan mode at some time."""

    mode: Mode = Mode.ACT
    has_planned: bool = False
    todos: tuple[Todo, ...] = ()
    todo_age: TodoAge = TodoAge()

    def in_mode(self, mode: Mode) -> "PlanState":
        """Return the state in a mode."""
        return replace(self, mode=mode, has_planned=self.has_planned or mode is Mode.PLAN)

    def after_switch(self, mode: Mode) -> "PlanState":
        return replace(self.in_mode(mode), todo_age=self.todo_age.after_switch())
