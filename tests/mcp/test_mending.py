"""Answers that are no valid messages: a request gets one at once instead of waiting for its time to be over."""

import json

from mcp_types import INTERNAL_ERROR
from tests.tables import for_each

from halocline.mcp.connection.mending import mend_answer


def failed(message, code=INTERNAL_ERROR):
    return {"error": {"code": code, "message": message}}


MEANT = [
    ({"result": [1, 2]}, {"result": {"content": [1, 2]}}),
    ({"result": 7}, {"result": {"content": 7}}),
    ({"result": None}, {"result": {"content": None}}),
    ({"result": {}}, {"result": {}}),
    ({"error": "it broke"}, failed("it broke")),
    ({"error": {"message": "it broke"}}, failed("it broke")),
    ({"error": {"code": "E1", "message": "it broke"}}, failed("it broke")),
    ({"error": {"code": 4}}, failed('{"code":4}', 4)),
    ({"error": ["it broke"]}, failed('["it broke"]')),
]


@for_each("sent, meant", MEANT)
def test_an_answer_of_another_form_is_one(sent, meant):
    assert mend_answer(json.dumps({"id": 6, **sent}).encode()) == {"jsonrpc": "2.0", "id": 6, **meant}


NO_ANSWERS = [
    "Loading...",
    "[]",
    "null",
    "7",
    '{"id": 6}',
    '{"result": []}',
    '{"id": {}, "result": []}',
    '{"id": 6, "me',
]


@for_each("line", NO_ANSWERS)
def test_what_prints_by_the_way_is_no_answer(line):
    assert mend_answer(line.encode()) is None


def test_a_request_of_a_server_is_no_answer():
    assert mend_answer(b'{"id": 6, "method": "ping", "result": []}') is None
