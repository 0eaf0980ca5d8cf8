"""A task of Cline of which only the screen is left: its rows become the conversation again."""

import json

from tests.importers.reading import calls, hold_the_laws, of, prompts, read, results
from tests.importers.transcripts import PIXEL, STARTED, write

from halocline.protocol import events as ev
from halocline.protocol.messages import Image, Text, Thinking, Usage

PICTURE = f"data:image/png;base64,{PIXEL}"


def say(kind, text="", **more):
    return {"type": "say", "say": kind, "text": text if isinstance(text, str) else json.dumps(text), **more}


def ask(kind, text="", **more):
    return {"type": "ask", "ask": kind, "text": text if isinstance(text, str) else json.dumps(text), **more}


def request(**counts):
    return say("api_req_started", {"request": "…", "tokensIn": 10, "tokensOut": 2, "cacheReads": 5, **counts})


def imported(tmp_path, *rows):
    folder = tmp_path / "tasks" / f"{STARTED}000"
    write(folder / "ui_messages.json", [{"ts": STARTED * 1000 + at, **row} for at, row in enumerate(rows)])
    _, events, ground = read("cline", folder)
    hold_the_laws(events)
    return events, ground


def test_tools_commands_and_servers_become_calls_with_the_results_that_the_screen_shows(tmp_path):
    events, ground = imported(
        tmp_path,
        say("task", "Repair it", images=[PICTURE]),
        request(cost=0.5),
        say("reasoning", "Where is it?"),
        say("text", "I look."),
        say("tool", {"tool": "listFilesRecursive", "path": "src", "content": "a.py\nb.py"}),
        request(),
        say("tool", {"tool": "readFile", "path": "a.py", "content": "/p/a.py", "readLineStart": 3}),
        ask("tool", {"tool": "editedExistingFile", "path": "a.py", "diff": "-1\n+2"}),
        ask("tool", {"tool": "newFileCreated", "path": "b.py", "content": "x = 1"}),
        say("diff_error", "The search block does not match."),
        ask("command", "make test"),
        say("command_output", "2 passed\n"),
        ask("command_output", "done"),
        say("use_mcp_server", {"serverName": "docs", "type": "use_mcp_tool", "toolName": "find", "arguments": "{}"}),
        say("mcp_server_request_started"),
        say("mcp_server_response", "found it"),
        say("completion_result", "It is repaired."),
        ask("completion_result"),
    )
    assert calls(events) == [
        ("list_files", {"path": "src", "recursive": True}),
        ("read_file", {"path": "a.py", "start_line": 3}),
        ("replace_in_file", {"path": "a.py", "diff": "-1\n+2"}),
        ("write_to_file", {"path": "b.py", "content": "x = 1"}),
        ("execute_command", {"command": "make test"}),
        ("use_mcp_tool", {"server_name": "docs", "tool_name": "find", "arguments": "{}"}),
    ]
    shown = dict(zip(calls_by_name(events), results(events), strict=True))
    assert shown["list_files"] == ("completed", "a.py\nb.py")
    assert shown["write_to_file"] == ("failed", "The search block does not match.")
    assert shown["execute_command"] == ("completed", "2 passed\n\ndone")
    assert shown["use_mcp_tool"] == ("completed", "found it")
    assert [type(part) for part in of(ev.TurnStarted, events)[0].content][1] is Image
    replies = [event.message for event in of(ev.AssistantMessageCompleted, events)]
    assert replies[0].content[0] == Thinking("Where is it?")
    assert replies[-1].text == "It is repaired."
    usage = [(event.usage, event.cost) for event in of(ev.UsageReported, events)]
    assert usage[0] == (Usage(input=10, output=2, cache_read=5), 0.5)
    assert not ground.lost


def calls_by_name(events):
    names = {call.id: call.name for e in of(ev.AssistantMessageCompleted, events) for call in e.message.tool_calls}
    return [names[end.call] for end in of(ev.ToolCallEnded, events)]


def test_questions_plans_and_feedback_keep_who_said_what(tmp_path):
    events, ground = imported(
        tmp_path,
        say("task", "Plan it"),
        request(),
        ask("followup", {"question": "Which one?", "options": ["a", "b"], "selected": "b"}),
        request(),
        ask("plan_mode_respond", {"response": "First this.", "options": []}),
        say("user_feedback", "Go on."),
        request(),
        say("text", "I go on.", partial=True),
        say("text", "I go on."),
    )
    assert prompts(events) == ["Plan it", "Go on."]
    assert calls(events) == [("ask_followup_question", {"question": "Which one?", "options": ["a", "b"]})]
    assert results(events) == [("completed", "b")]
    assert [e.message.text for e in of(ev.AssistantMessageCompleted, events)] == ["", "First this.", "I go on."]
    assert not ground.lost


def test_words_below_a_question_are_its_answer_and_the_next_ones_a_prompt(tmp_path):
    events, ground = imported(
        tmp_path,
        say("task", "Ask me"),
        request(),
        say("text", "One thing first."),
        ask("followup", {"question": "Which color?", "options": []}),
        say("checkpoint_created", ""),
        say("user_feedback", "Blue", images=[PICTURE]),
        request(),
        say("completion_result", "It is blue."),
        say("user_feedback", "Thanks."),
        request(),
        ask("followup", {"question": "More?"}),
    )
    assert prompts(events) == ["Ask me", "Thanks."]
    assert [(event.question, event.options) for event in of(ev.QuestionAsked, events)] == [("Which color?", ())]
    assert [(event.answer, event.by) for event in of(ev.QuestionAnswered, events)] == [("Blue", "user")]
    assert [status for status, _ in results(events)] == ["completed", "cancelled"]
    assert results(events)[0] == ("completed", "Blue")
    first = of(ev.ToolCallEnded, events)[0].result
    assert [type(part) for part in first.content] == [Text, Image]
    assert [e.message.text for e in of(ev.AssistantMessageCompleted, events)][:2] == ["One thing first.", "It is blue."]
    assert not ground.lost


def test_what_the_browser_showed_is_a_result_with_its_picture(tmp_path):
    events, _ = imported(
        tmp_path,
        say("task", "Look"),
        request(),
        ask("browser_action_launch", "http://localhost:3000"),
        say("browser_action_result", {"currentUrl": "http://localhost:3000/", "logs": "ready", "screenshot": PICTURE}),
        request(),
        say("browser_action", {"action": "click", "coordinate": "3,4", "text": ""}),
        say("browser_action_result", {"currentUrl": "http://localhost:3000/next"}),
    )
    assert [given for _, given in calls(events)] == [
        {"action": "launch", "url": "http://localhost:3000"},
        {"action": "click", "coordinate": "3,4"},
    ]
    first = of(ev.ToolCallEnded, events)[0].result
    assert (first.text, type(first.content[1])) == ("http://localhost:3000/\nready", Image)


def test_rows_that_nobody_knows_or_that_are_broken_are_counted_and_break_nothing(tmp_path):
    odd = [[], 7, None, {"type": "say"}, say("tool", "no json"), say("tool", {"tool": "dance"}), say("future_row", "x")]
    odd += [say("command_output", "of no command"), say("followup", '{"options": 3}'), say("user_feedback", images=3)]
    odd += [say("browser_action_result", "{}"), say("tool", {"tool": "readFile", "path": {"a": 1}})]
    folder = tmp_path / "tasks" / f"{STARTED}000"
    write(folder / "ui_messages.json", [say("task", "Go"), request(), *odd])
    _, events, ground = read("cline", folder)
    hold_the_laws(events)
    assert prompts(events)[0] == "Go"
    assert ground.lost["screen row outside the conversation"] >= 5


def test_the_to_do_list_of_the_file_is_used_where_the_screen_has_none(tmp_path):
    folder = tmp_path / "tasks" / f"{STARTED}000"
    write(folder / "ui_messages.json", [say("task", "Go"), request(), say("text", "I go.")])
    (folder / f"focus_chain_taskid_{STARTED}000.md").write_text("# Focus\n- [x] look\n- [ ] mend\n")
    _, events, _ = read("cline", folder)
    assert [todo.text for todo in of(ev.TodosChanged, events)[-1].todos] == ["look", "mend"]
