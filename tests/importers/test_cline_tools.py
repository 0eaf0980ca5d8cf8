import json

import pytest
from tests.importers import transcripts
from tests.importers.reading import calls, hold_the_laws, of, read, results
from tests.importers.transcripts import result, text, use

from halocline.protocol import events as ev
from halocline.protocol.messages import Text, Thinking


def session(tmp_path, *messages):
    """Write a session of Cline's newer core with these messages after a prompt, and read it."""
    file = transcripts.cline_session(tmp_path, "/p")
    rows = [{"role": "user", "content": [text("Go on")]}, *messages]
    file.write_text(json.dumps({"version": 1, "messages": rows}))
    _, events, ground = read("cline", file)
    hold_the_laws(events)
    return events, ground


def asked(tmp_path, tool, **given):
    events, _ = session(tmp_path, {"role": "assistant", "content": [use("c1", tool, **given)]})
    return calls(events)


def done(query, said, **more):
    return {"query": query, "result": said, "success": True, **more}


@pytest.mark.parametrize(
    ("tool", "given", "ours"),
    [
        ("read_files", {"files": [{"path": "/p/a.py", "start_line": 3, "end_line": None}]}, ["read_file"]),
        ("read_files", {"file_paths": ["/p/a.py", "/p/b.py"]}, ["read_file", "read_file"]),
        ("read_files", {"paths": "/p/a.py"}, ["read_file"]),
        ("run_commands", {"commands": ["ls", {"command": "git", "args": ["log", "a b"]}]}, ["execute_command"] * 2),
        ("run_commands", {"command": "git", "args": ["status"]}, ["execute_command"]),
        ("run_commands", {"cmd": "ls"}, ["execute_command"]),
        ("search_codebase", {"queries": ["def .*", "class"]}, ["search_files"] * 2),
        ("fetch_web_content", {"requests": [{"url": "https://a.test", "prompt": "sum"}]}, ["web_fetch"]),
        ("editor", {"path": "/p/a.py", "old_text": "1", "new_text": "2"}, ["replace_in_file"]),
        ("editor", {"path": "/p/a.py", "new_text": "2"}, ["write_to_file"]),
        ("editor", {"path": "/p/a.py", "new_text": "2", "insert_line": 3}, ["editor"]),
        ("apply_patch", {"input": "*** Begin Patch\n*** End Patch"}, ["apply_patch"]),
        ("skills", {"skill": "review"}, ["use_skill"]),
        ("ask_question", {"question": "Which?", "options": ["a", "b"]}, ["ask_followup_question"]),
        ("submit_and_exit", {"summary": "All is done.", "verified": True}, ["attempt_completion"]),
        ("read_files", {"files": [7]}, ["read_files"]),
        ("spawn_agent", {"task": "look"}, ["spawn_agent"]),
    ],
)
def test_tools_of_clines_newer_core_become_ours(tmp_path, tool, given, ours):
    assert [name for name, _ in asked(tmp_path, tool, **given)] == ours


def test_arguments_of_clines_newer_core_become_those_of_our_tools(tmp_path):
    assert asked(tmp_path, "read_files", files=[{"path": "a.py", "start_line": 3, "end_line": None}]) == [
        ("read_file", {"path": "a.py", "start_line": 3})
    ]
    assert asked(tmp_path, "run_commands", commands=[{"command": "git", "args": ["log", "a b"]}]) == [
        ("execute_command", {"command": "git log 'a b'"})
    ]


@pytest.mark.parametrize("form", [list, json.dumps, lambda rows: [text(json.dumps(rows))]])
def test_each_command_of_one_call_has_its_own_result(tmp_path, form):
    rows = [done("ls", "a.py"), {"query": "cat b", "result": "", "error": "no such file", "success": False}]
    events, ground = session(
        tmp_path,
        {"role": "assistant", "content": [use("c1", "run_commands", commands=["ls", "cat b"])]},
        {"role": "user", "content": [result("c1", form(rows))]},
    )
    assert results(events) == [("completed", "a.py"), ("failed", "no such file")]
    assert not ground.lost


def test_a_result_in_another_shape_stands_at_the_first_of_several_calls(tmp_path):
    events, _ = session(
        tmp_path,
        {"role": "assistant", "content": [use("c1", "run_commands", commands=["ls", "pwd"])]},
        {"role": "user", "content": [{**result("c1", "Timed out."), "is_error": True}]},
    )
    assert results(events) == [("failed", "Timed out."), ("failed", "(The result stands at the first of these calls.)")]


@pytest.mark.parametrize("tag", ["thinking", "think"])
def test_thinking_that_an_older_model_wrote_before_its_call_is_thinking(tmp_path, tag):
    said = f"<{tag}>\nThe file first.\n</{tag}>\n\nI look.\n\n<read_file>\n<path>a.py</path>\n</read_file>"
    events, _ = session(tmp_path, {"role": "assistant", "content": [text(said)]})
    thought, words, call = of(ev.AssistantMessageCompleted, events)[0].message.content
    assert (thought, words) == (Thinking("The file first."), Text("I look."))
    assert call.arguments == {"path": "a.py"}


def test_words_about_thinking_tags_stay_words(tmp_path):
    said = "Put your thoughts into `<thinking>x</thinking>` tags."
    events, _ = session(tmp_path, {"role": "assistant", "content": [text(said)]})
    assert of(ev.AssistantMessageCompleted, events)[0].message.content == (Text(said),)


def test_an_older_models_call_with_nothing_but_thinking_before_it_has_no_empty_text(tmp_path):
    said = "<thinking></thinking><list_files><path>.</path></list_files>"
    events, _ = session(tmp_path, {"role": "assistant", "content": [text(said)]})
    (call,) = of(ev.AssistantMessageCompleted, events)[0].message.content
    assert call.name == "list_files"


def test_the_older_name_of_a_plan_is_ours(tmp_path):
    assert asked(tmp_path, "plan_mode_response", response="First a.") == [
        ("plan_mode_respond", {"response": "First a."})
    ]
