"""What a transcript becomes, without writing it anywhere."""

from collections.abc import Callable
from pathlib import Path

from halocline.importers.programs import THEIRS, load_program
from halocline.importers.to_events import to_events
from halocline.importers.transcript import FoundTranscript, Ground
from halocline.ports.blobs import blob_reference
from halocline.protocol import events as ev


def read(
    tool: str, path: Path, redact: Callable[[str], str] = str
) -> tuple[FoundTranscript, list[ev.DurableEvent], Ground]:
    (found,) = load_program(tool).open_transcripts(path)
    ground = Ground(put=blob_reference, redact=redact, folder=found.workspace)
    return (
        found,
        list(to_events(load_program(tool).read_entries(found, ground), found.started, THEIRS.get(tool, {}), ground)),
        ground,
    )


def of(kind: type, events: list[ev.DurableEvent]) -> list:
    return [event for event in events if isinstance(event, kind)]


def prompts(events: list[ev.DurableEvent]) -> list[str]:
    return ["".join(getattr(part, "text", "") for part in e.content) for e in of(ev.TurnStarted, events)]


def calls(events: list[ev.DurableEvent]) -> list[tuple[str, dict[str, object]]]:
    replies = of(ev.AssistantMessageCompleted, events)
    return [(call.name, call.arguments) for reply in replies for call in reply.message.tool_calls]


def results(events: list[ev.DurableEvent]) -> list[tuple[str, str]]:
    return [(str(end.status), end.result.text) for end in of(ev.ToolCallEnded, events)]


def hold_the_laws(events: list[ev.DurableEvent]) -> None:
    """Each call one end, each turn one end, nothing outside a turn, and time goes forward."""
    asked = [call.id for e in of(ev.AssistantMessageCompleted, events) for call in e.message.tool_calls]
    assert sorted(asked) == sorted(end.call for end in of(ev.ToolCallEnded, events))
    assert len(set(asked)) == len(asked)
    depth = 0
    for event in events:
        depth += isinstance(event, ev.TurnStarted) - isinstance(event, ev.TurnEnded)
        assert depth in (0, 1)
    assert depth == 0
    assert [event.at for event in events] == sorted(event.at for event in events)
