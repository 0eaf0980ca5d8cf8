"""Other programs' tools, argument by argument: each means here what it meant there, is refused, or changes nothing."""

import pytest
from msgspec.structs import replace
from tests.tables import for_each

from halocline.context.other_tools import BY_HABIT
from halocline.ports.tool import FOLDERS
from halocline.protocol.errors import ToolFailure
from halocline.protocol.events.mcp import McpServer, McpTool
from halocline.protocol.messages import ToolCall
from halocline.protocol.state.state import State
from halocline.tools.toolset import Tools, every_tool

AT = State(workspace="/w")
SHELLS = (
    *("shell", "exec_command", "shell_command", "container.exec", "local_shell"),
    *("Bash", "bash", "run_command", "run_shell_command", "run_terminal_cmd"),
)
SHELL = {
    "cmd": {"command": "ls"},
    "timeout_ms": {"timeout": 0.5},
    "timeout": {"timeout": 500},
    "run_in_background": {"background": True},
    "is_background": {"background": True},
    "isBackground": {"background": True},
    "tty": {"tty": True},
    "with_escalated_permissions": {"requires_approval": True},
    "dangerouslyDisableSandbox": {"requires_approval": True},
    "require_user_approval": {"requires_approval": True},
    **{name: {"folder": "sub"} for name in FOLDERS},
}
"""What each argument of a tool for commands becomes, beside the command."""
SAMPLES = {"timeout_ms": 500, "timeout": 500, "cmd": "ls", **dict.fromkeys(FOLDERS, "sub")}
HARMLESS = {
    "Bash": ("description",),
    "run_shell_command": ("description",),
    "run_terminal_cmd": ("explanation",),
    "shell": ("justification",),
    "exec_command": ("justification", "yield_time_ms", "max_output_tokens", "login", "prefix_rule"),
    "LS": ("ignore",),
    "Grep": ("-n", "head_limit", "offset", "multiline"),
    "grep_search": ("explanation", "maxResults"),
    "WebFetch": ("prompt",),
    "Skill": ("args",),
    "update_plan": ("explanation",),
    "glob": ("respect_git_ignore",),
    "str_replace_editor": ("security_risk",),
}
"""Arguments that say why, or how much to show: without them the same is done."""
VIEW = {"command": "view", "path": "a"}
NEEDED = {
    "TodoWrite": {"todos": []},
    "update_plan": {"plan": []},
    "str_replace_editor": VIEW,
    "str_replace_based_edit_tool": VIEW,
    "text_editor": VIEW,
    "act_mode_respond": {"response": "x"},
    "AskUserQuestion": {"questions": [{"question": "Which?"}]},
}
OTHERS = [
    ("Read", {"file_path": "a", "offset": 5, "limit": 10}, {"path": "a", "start_line": 5, "end_line": 14}),
    ("view", {"path": "a", "view_range": [3, -1]}, {"path": "a", "start_line": 3}),
    ("read_files", {"file_paths": ["a", "b"]}, {"paths": ["a", "b"]}),
    ("Grep", {"pattern": "x", "output_mode": "files_with_matches"}, {"regex": "x", "show": "files"}),
    (
        "Grep",
        {"pattern": "x", "output_mode": "count", "glob": "*.py"},
        {"regex": "x", "show": "counts", "file_pattern": "*.py"},
    ),
    ("Grep", {"pattern": "x", "-i": True, "-A": 3, "-B": 2}, {"regex": "(?i)x", "context": 3}),
    (
        "grep_search",
        {"query": "a.b", "isRegexp": False, "includePattern": "src/**"},
        {"regex": r"a\.b", "file_pattern": "src/**"},
    ),
    ("grep_search", {"query": "x", "case_sensitive": False}, {"regex": "(?i)x"}),
    ("Glob", {"pattern": "**/*.py"}, {"path": ".", "pattern": "**/*.py"}),
    ("Glob", {"pattern": "src/**/*.py"}, {"path": "src", "pattern": "**/*.py"}),
    ("Glob", {"pattern": "/etc/*.conf"}, {"path": "/etc", "pattern": "*.conf"}),
    ("Glob", {"pattern": "/*"}, {"path": "/", "recursive": True}),
    ("Glob", {"pattern": "../other/*.py", "path": "src"}, {"path": "src/../other", "pattern": "*.py"}),
    ("Glob", {"pattern": "src/{a,b}/c.py"}, {"path": "src", "pattern": "{a,b}/c.py"}),
    ("Glob", {"pattern": "**", "path": "docs"}, {"path": "docs", "recursive": True}),
    ("list_directory", {"dir_path": "src"}, {"path": "src"}),
    ("str_replace_editor", {"command": "create", "path": "a", "file_text": "x"}, {"path": "a", "content": "x"}),
    ("str_replace_editor", {"command": "str_replace", "path": "a", "old_str": "x"}, {"path": "a", "old_text": "x"}),
    ("editor", {"path": "a", "new_text": "x"}, {"path": "a", "old_text": "", "new_text": "x"}),
    (
        "editor",
        {"path": "a", "old_text": "o", "new_text": "x", "insert_line": None},
        {"path": "a", "old_text": "o", "new_text": "x"},
    ),
    (
        "AskUserQuestion",
        {"questions": [{"question": "Which?", "options": [{"label": "A", "description": "first"}, {"label": "B"}]}]},
        {"question": "Which?", "options": ["A: first", "B"]},
    ),
]


def translate(name, arguments, state=AT):
    found = Tools().translate(ToolCall("c", name, arguments), state)
    assert found is not None
    return found


@for_each("name, argument", [(name, argument) for name in SHELLS for argument in SHELL])
def test_each_argument_of_a_tool_for_commands_means_the_same_here(name, argument):
    given = {argument: SAMPLES.get(argument, True)} | ({} if argument == "cmd" else {"command": "ls"})
    found = translate(name, given)
    assert (found.name, found.arguments) == ("execute_command", {"command": "ls"} | SHELL[argument])


@for_each("name, given, expected", OTHERS)
def test_each_argument_of_another_tool_means_the_same_here(name, given, expected):
    assert translate(name, given).arguments == expected


@for_each("name", [name for name, theirs in BY_HABIT.items() if Tools().find(theirs.name, AT)])
def test_an_argument_that_no_translation_knows_is_refused_and_not_lost(name):
    with pytest.raises(ToolFailure, match="has no argument never_heard_of"):
        translate(name, NEEDED.get(name, {}) | {"never_heard_of": "x"})


@for_each("name, argument", [(name, argument) for name, some in HARMLESS.items() for argument in some])
def test_an_argument_that_changes_nothing_here_is_left_out(name, argument):
    needed = NEEDED.get(name, {})
    assert translate(name, needed | {argument: "x"}).arguments == translate(name, needed).arguments


@for_each("name", SHELLS)
def test_two_folders_that_differ_are_refused(name):
    with pytest.raises(ToolFailure, match="with another value"):
        translate(name, {"command": "ls", "workdir": "a", "cwd": "b"})


@for_each(
    "words, line",
    [
        (["bash", "-lc", "ls | wc"], "ls | wc"),
        (["/bin/sh", "-c", "ls; ls"], "ls; ls"),
        (["./push.sh", "-c", "x"], "./push.sh -c x"),
        (["tosh", "-c", "x y"], "tosh -c 'x y'"),
        (["./bash", "-c", "x"], "./bash -c x"),
        (["bash", "-x", "a"], "bash -x a"),
        (["git", "log", "a b"], "git log 'a b'"),
    ],
)
def test_only_a_shell_of_the_system_is_unwrapped(words, line):
    assert translate("shell", {"command": words}).arguments == {"command": line}


@for_each("milliseconds, seconds", [(30, 30), (999, 999), (1000, 1.0), (120_000, 120.0)])
def test_a_time_limit_below_a_second_is_meant_in_seconds(milliseconds, seconds):
    assert translate("Bash", {"command": "ls", "timeout": milliseconds}).arguments["timeout"] == seconds


@for_each("shell, kept", [("/bin/zsh", True), ("bash", True), ("python", False), ("/w/bash", False)])
def test_another_interpreter_is_refused(shell, kept):
    if kept:
        assert translate("exec_command", {"cmd": "ls", "shell": shell}).arguments == {"command": "ls"}
        return
    with pytest.raises(ToolFailure, match="has no argument shell"):
        translate("exec_command", {"cmd": "ls", "shell": shell})


@for_each(
    "name, given, before_line",
    [
        ("insert_content", {"line": 3, "content": "x"}, 3),
        ("insert_content", {"line": 0, "content": "x"}, 0),
        ("insert_line", {"line": 3, "content": "x"}, 3),
        ("insert_line", {"line_number": "3", "text": "x"}, 3),
        ("insert_line", {"insert_line": 3, "new_str": "x"}, 4),
        ("insert_line", {"insert_line": 0, "insert_text": "x"}, 1),
        ("str_replace_based_edit_tool", {"command": "insert", "insert_line": 3, "insert_text": "x"}, 4),
        ("str_replace_based_edit_tool", {"command": "insert", "insert_line": 0, "insert_text": "x"}, 1),
        ("str_replace_editor", {"command": "insert", "insert_line": "0", "new_str": "x"}, 1),
        ("text_editor", {"command": "insert", "insert_line": 1, "new_str": "x"}, 2),
        ("editor", {"insert_line": 1, "new_text": "x"}, 1),
        ("editor", {"insert_line": 4, "new_text": "x"}, 4),
    ],
)
def test_lines_are_inserted_where_each_program_puts_them(name, given, before_line):
    found = translate(name, given | {"path": "a"})
    assert (found.name, found.arguments) == (
        "replace_in_file",
        {"path": "a", "before_line": before_line, "new_text": "x"},
    )


@for_each(
    "name, given",
    [
        ("insert_line", {"line": 0, "content": "x"}),
        ("insert_content", {"line": -1, "content": "x"}),
        ("insert_line", {"insert_line": -1, "content": "x"}),
        ("editor", {"insert_line": 0, "new_text": "x"}),
        ("editor", {"insert_line": "0", "new_text": "x"}),
        ("str_replace_editor", {"command": "undo_edit"}),
        ("str_replace_editor", {"command": ["view"]}),
        ("AskUserQuestion", {"questions": [{"question": "a"}, {"question": "b"}]}),
    ],
)
def test_what_means_nothing_here_is_refused(name, given):
    with pytest.raises(ToolFailure, match=r"Nothing was|lines count from 1"):
        translate(name, given | {"path": "a"})


@for_each(
    "folder, cwd, expected",
    [
        ("/w", "", None),
        (".", "", None),
        ("/w/", "", None),
        ("sub", "", "sub"),
        ("/etc", "", "/etc"),
        ("sub", "/w/deep", "/w/sub"),
        (".", "/w/deep", "/w"),
        ("/etc", "/w/deep", "/etc"),
    ],
)
def test_a_folder_counts_from_the_workspace_wherever_the_shell_is(folder, cwd, expected):
    state = replace(AT, host=replace(AT.host, shell=replace(AT.host.shell, cwd=cwd)))
    assert translate("exec_command", {"cmd": "ls", "workdir": folder}, state).arguments.get("folder") == expected


@for_each(
    "command, folder, line",
    [
        ("ls", "sub", "(cd sub && ls)"),
        ("make test && git diff | head > out", "a b", "(cd 'a b' && make test && git diff | head > out)"),
        ("a || b", "sub", "(cd sub && {\na || b\n})"),
        ("a; b", "sub", "(cd sub && {\na; b\n})"),
        ("a & b", "sub", "(cd sub && {\na & b\n})"),
        ("ls # all", "sub", "(cd sub && {\nls # all\n})"),
        ("cat <<E\nx\nE", "sub", "(cd sub && {\ncat <<E\nx\nE\n})"),
        ("ls", "~/a b", "(cd ~/'a b' && ls)"),
        ("ls", "~", "(cd ~ && ls)"),
        ("ls", "-", "(cd ./- && ls)"),
        ("ls", "$(touch x)", "(cd '$(touch x)' && ls)"),
    ],
)
def test_a_folder_becomes_a_part_of_the_command(command, folder, line):
    tool = Tools().find("execute_command")
    assert tool is not None
    assert tool.instead is not None
    meant = tool.instead(tool.input(command=command, folder=folder, timeout=5.0), "")
    assert meant == ("execute_command", {"command": line, "timeout": 5.0})


def test_every_other_name_leads_to_a_tool_and_is_none_of_ours():
    ours = {tool.name for tool in every_tool()}
    assert {theirs.name for theirs in BY_HABIT.values()} <= ours
    assert ours.isdisjoint(BY_HABIT)


@for_each("name", [tool.name for tool in every_tool()])
def test_a_call_of_ours_that_is_not_offered_reaches_no_tool_of_that_name_at_a_server(name):
    there = McpServer("there", (McpTool(f"there__{name}", "there", name),))
    state = replace(AT, mcp=replace(AT.mcp, servers=(there,)))
    assert Tools().translate(ToolCall("c", name, {}), state) is None
    assert Tools().translate(ToolCall("c", f"there.{name}", {}), state) == ToolCall("c", f"there__{name}", {})
