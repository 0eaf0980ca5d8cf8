"""What a page gets of a large row."""

import json

from halocline.protocol.kinds import CallStatus, Choice, Diff, ToolKind
from halocline.surfaces.rows.kinds import Approval, CallRow, ReplyRow
from halocline.surfaces.web.row_trimming import LARGEST, encode_row

LONG = "echo begin\n" + "true\n" * LARGEST + "rm -r build\n" + "true\n" * LARGEST
ASKED = Approval("r1", "ask mode", LONG, (Diff("a.txt", LONG, 1, 0),))
CALL = CallRow("c1", "execute_command", LONG, ToolKind.EXECUTE, None, {"command": LONG}, approval=ASKED)


def test_what_is_decided_on_is_never_cut() -> None:
    encoded, cut = encode_row(CALL)
    row = json.loads(encoded)
    assert (row["title"], row["approval"]["detail"], row["approval"]["diffs"][0]["text"]) == (LONG, LONG, LONG)
    assert cut == ("arguments",)


def test_what_was_decided_on_is_cut_like_the_rest() -> None:
    decided = Approval("r1", "ask mode", LONG, decision=Choice.ALLOW_ONCE)
    row = CallRow("c1", "x", LONG, status=CallStatus.COMPLETED, output=LONG, approval=decided)
    encoded, cut = encode_row(row)
    assert cut == ("title", "output", "approval")
    assert len(encoded) < LARGEST


def test_a_reply_that_is_being_written_is_whole_and_cut_once_it_is_complete() -> None:
    assert json.loads(encode_row(ReplyRow(LONG, draft=True))[0])["text"] == LONG
    encoded, cut = encode_row(ReplyRow(LONG))
    assert (cut, "characters are not shown" in json.loads(encoded)["text"]) == (("text",), True)
