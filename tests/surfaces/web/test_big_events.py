"""What a page gets of a large event."""

import json

from halocline.protocol import events as ev
from halocline.protocol.kinds import CallStatus, Diff, ToolKind
from halocline.protocol.messages import Text, ToolResult
from halocline.surfaces.web.event_trimming import LARGEST, trim_event

LONG = "echo begin\n" + "true\n" * LARGEST + "rm -r build\n" + "true\n" * LARGEST


def test_what_is_decided_on_is_never_cut() -> None:
    asked = ev.ApprovalRequested(
        "r1", "c1", "execute_command", LONG, ToolKind.EXECUTE, "ask mode", (), LONG, (Diff("a.txt", LONG, 1, 0),)
    )
    told = json.loads(trim_event(asked))
    assert (told["title"], told["detail"], told["diffs"][0]["text"]) == (LONG, LONG, LONG)
    assert "cut" not in told


def test_a_long_result_is_cut_and_says_by_how_much() -> None:
    ended = ev.ToolCallEnded("c1", "x", CallStatus.COMPLETED, ToolResult("c1", (Text(LONG),)))
    told = json.loads(trim_event(ended))
    assert len(trim_event(ended)) < LARGEST
    assert told["cut"] > LARGEST
