import json
from typing import Any

import pytest
from benchmarks.scenarios import SCENARIOS
from benchmarks.server import encode_answers, problems_of

S1 = SCENARIOS["S1"]
READ = {"role": "tool", "content": "VALUE_0 = 0\n"}
EDIT = {"role": "tool", "content": "done"}


def events(answer: list[bytes]) -> list[dict[str, Any]]:
    chunks = [piece.split(b"\r\n")[1] for piece in answer[1:-1]]
    return [json.loads(chunk.removeprefix(b"data: ")) for chunk in chunks]


def test_the_pieces_of_a_call_add_up_to_its_arguments() -> None:
    deltas = [choice["delta"] for event in events(encode_answers(S1)[1]) for choice in event["choices"]]
    pieces = [call["function"]["arguments"] for delta in deltas for call in delta.get("tool_calls", ())]
    assert len(pieces) > 2
    assert json.loads("".join(pieces)) == S1.calls[1].arguments


def test_every_word_of_the_last_answer_is_an_event_of_its_own() -> None:
    answer = encode_answers(SCENARIOS["S4"])[-1]
    words = [choice["delta"].get("content") for event in events(answer) for choice in event["choices"]]
    assert [word for word in words if word] == SCENARIOS["S4"].answer


@pytest.mark.parametrize(
    ("number", "results", "sound"),
    [
        (0, [], True),
        (1, [READ], True),
        (2, [READ, EDIT], True),
        (1, [], False),
        (1, [EDIT], False),
        (2, [READ, {"role": "tool", "content": ""}], False),
        (2, [READ, {"role": "tool", "content": [{"type": "text", "text": "done"}]}], True),
        (3, [READ, EDIT], False),
    ],
)
def test_a_request_is_sound_when_it_brings_all_results_and_the_last_one_is_right(
    number: int, results: list[dict[str, Any]], sound: bool
) -> None:
    assert (problems_of(S1, number, results) == []) is sound
