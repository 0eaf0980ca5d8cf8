"""The names of tools that a model was offered, as a log tells them: what it invents is in no span and no figure."""

from collections.abc import Iterable

from halocline.protocol import events as ev

UNKNOWN = "unknown"


class ToolNames:
    """Names of tools: those that are always there, and those that the events of a log offered, asked about or ran."""

    def __init__(self, always: Iterable[str] = ()) -> None:
        self._known = {*always}

    def learn(self, event: ev.Event) -> None:
        """Take in what an event says of tools."""
        match event:
            case ev.ToolsOffered():
                self._known.update(event.tools)
            case ev.McpOffered():
                self._known.update(tool.name for tool in event.server.tools)
            case ev.CustomToolsOffered():
                self._known.update(tool.name for tool in event.tools)
            case ev.ToolCallStarted() | ev.ApprovalRequested():
                self._known.add(event.name)
            case _:
                pass

    def find(self, name: str) -> str:
        """Return the name of a tool; UNKNOWN if there is none of this name."""
        return name if name in self._known else UNKNOWN
