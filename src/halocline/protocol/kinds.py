"""What sort of thing is done, and in which mode."""

from enum import StrEnum


class ToolKind(StrEnum):
    """What sort of thing a tool does; ACP's kinds."""

    READ = "read"
    EDIT = "edit"
    DELETE = "delete"
    MOVE = "move"
    SEARCH = "search"
    EXECUTE = "execute"
    THINK = "think"
    FETCH = "fetch"
    OTHER = "other"


class Mode(StrEnum):
    """Plan reads and talks; act also changes things."""

    PLAN = "plan"
    ACT = "act"
