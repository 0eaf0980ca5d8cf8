"""Small transcripts in the shapes of other programs, written from the public descriptions of their formats."""

import json
from pathlib import Path

STARTED = 1_760_000_000
MODEL = "claude-sonnet-4-5"
EXTENSION = ".config/Code/User/globalStorage/saoudrizwan.claude-dev"
PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def cline(home: Path, project: str, name: str = f"{STARTED}000") -> Path:
    """A task of the extension: one call in the text, one of the model's own, feedback after the end."""
    root = home / EXTENSION
    folder = root / "tasks" / name
    environment = text(
        f"<environment_details>\n# Current Working Directory ({project}) Files\na.py\n</environment_details>"
    )
    talk = [
        {"role": "user", "content": [text("<task>\nRepair the parser\n</task>"), image(), environment]},
        {"role": "assistant", "content": [text("I look.\n\n<read_file>\n<path>a.py</path>\n</read_file>")]},
        {"role": "user", "content": [text("[read_file for 'a.py'] Result:"), text("x = 1"), environment]},
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "It should be 2.", "signature": "c2lnbmF0dXJl"},
                text("I write."),
                use("toolu_1", "write_to_file", path="a.py", content="x = 2\n"),
            ],
        },
        {"role": "user", "content": [result("toolu_1", "The file was saved."), environment]},
        {"role": "assistant", "content": [use("toolu_2", "attempt_completion", result="It is repaired.")]},
        {"role": "user", "content": [result("toolu_2", [text("<feedback>\nNow test it\n</feedback>")]), environment]},
        {"role": "assistant", "content": [use("toolu_3", "use_mcp_tool", server_name="docs", tool_name="find")]},
    ]
    screen = [{"ts": STARTED * 1000, "type": "say", "say": "task", "text": "Repair the parser"}]
    screen += [_asked(number) for number in range(4)]
    screen.append(_row(9, "task_progress", "- [x] repair\n- [ ] test"))
    write(folder / "api_conversation_history.json", talk)
    write(folder / "ui_messages.json", screen)
    write(folder / "task_metadata.json", {"model_usage": [{"model_id": MODEL, "model_provider_id": "anthropic"}]})
    history = {"id": name, "ts": STARTED * 1000 + 9000, "task": "Repair the parser", "totalCost": 0.1}
    write(root / "state" / "taskHistory.json", [{**history, "cwdOnTaskInitialization": project}])
    return folder


def cline_session(home: Path, project: str) -> Path:
    """A session of Cline's newer core."""
    folder = home / ".cline/data/sessions/s-1"
    metrics = {"inputTokens": 50, "outputTokens": 5, "cacheReadTokens": 10, "cacheWriteTokens": 0, "cost": 0.25}
    told = {"modelInfo": {"id": MODEL, "provider": "anthropic"}, "metrics": metrics}
    messages = [
        {"id": "1", "role": "user", "content": [text("List the files")], "ts": STARTED * 1000},
        {"id": "2", "role": "assistant", "content": [use("c1", "run_commands", commands=["ls"])], **told},
        {"id": "3", "role": "user", "content": [result("c1", "a.py")]},
        {"id": "4", "role": "assistant", "content": [text("There is one.")], "ts": STARTED * 1000 + 3000, **told},
    ]
    file = folder / "s-1.messages.json"
    write(file, {"version": 1, "agent": "lead", "sessionId": "s-1", "messages": messages, "system_prompt": "S"})
    manifest = {"session_id": "s-1", "started_at": "2025-10-09T08:53:20Z", "prompt": "List the files"}
    write(folder / "s-1.json", {**manifest, "workspace_root": project, "provider": "anthropic", "model": MODEL})
    return file


def claude(home: Path, project: str) -> Path:
    """A session with a reply in two lines, two results, a prompt that was gone back on, and a sub-agent's line."""
    counted = {
        "input_tokens": 10,
        "output_tokens": 20,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 40,
    }
    read = use("toolu_a", "Read", file_path="/p/a.py", offset=3, limit=2)
    todo = use("toolu_b", "TodoWrite", todos=[{"content": "Look", "status": "in_progress", "activeForm": "Looking"}])
    lines = [
        {"type": "summary", "summary": "An older one", "leafUuid": "x"},
        _said("u1", None, "user", "What is wrong?", project),
        _said("u1b", "u1", "user", [text("<system-reminder>\nBe brief.\n</system-reminder>")], project, isMeta=True),
        _model("a1", "u1b", "msg_1", [{"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}, read], counted),
        _model("a2", "a1", "msg_1", [todo], counted),
        _said("r1", "a1", "user", [result("toolu_a", [text("x = 1")])], project),
        _said("r2", "a2", "user", [result("toolu_b", "ok", is_error=True)], project),
        _model("side", "a2", "msg_s", [text("I am a sub-agent.")], counted, isSidechain=True),
        _model("a3", "r2", "msg_2", [text("The number.")], counted),
        _said("u2", "a3", "user", "A wrong turn", project),
        _model("a4", "u2", "msg_3", [text("Lost words.")], counted),
        _said("u3", "a3", "user", "Mend it", project),
        _model("a5", "u3", "msg_4", [use("toolu_c", "Bash", command="make", description="Build")], counted),
    ]
    return write_lines(home / ".claude/projects/-p/0a1b2c.jsonl", lines)


def codex(home: Path, project: str) -> Path:
    """A rollout with the program's own words, a command, a plan, a patch and counts."""
    usage = {"input_tokens": 100, "cached_input_tokens": 40, "output_tokens": 9, "reasoning_output_tokens": 4}
    plan = json.dumps({"plan": [{"step": "Look", "status": "completed"}]})
    shell = json.dumps({"command": ["bash", "-lc", "ls -l"], "workdir": project})
    lines = [
        _line(0, "session_meta", id="0199-cafe", timestamp="2025-10-09T08:53:20Z", cwd=project, cli_version="0.60"),
        _item(0, type="message", role="developer", content=[{"type": "input_text", "text": "Rules."}]),
        _item(0, type="message", role="user", content=[_input("<environment_context>\n</environment_context>")]),
        _line(1, "turn_context", cwd=project, model="gpt-5-codex"),
        _item(1, type="message", role="user", content=[_input("Look around")]),
        _line(1, "event_msg", type="user_message", message="Look around"),
        _item(2, type="reasoning", summary=[{"type": "summary_text", "text": "I should look."}], encrypted_content="x"),
        _item(2, type="function_call", name="shell", arguments=shell, call_id="call_1"),
        _line(2, "event_msg", type="token_count", info={"last_token_usage": usage, "total_token_usage": usage}),
        _item(3, type="function_call_output", call_id="call_1", output='{"output":"a.py","metadata":{"exit_code":1}}'),
        _item(4, type="function_call", name="update_plan", arguments=plan, call_id="call_2"),
        _item(4, type="function_call_output", call_id="call_2", output="Plan updated"),
        _item(5, type="custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="call_3"),
        _item(5, type="custom_tool_call_output", call_id="call_3", output="Done"),
        _item(6, type="message", role="assistant", content=[{"type": "output_text", "text": "There is one file."}]),
    ]
    return write_lines(home / ".codex/sessions/2025/10/09/rollout-2025-10-09T08-53-20-0199-cafe.jsonl", lines)


def aider(folder: Path) -> Path:
    """A history with two chats."""
    file = folder / ".aider.chat.history.md"
    file.write_text(
        "\n# aider chat started at 2025-10-09 08:53:20\n\n> Aider v0.80\n> Model: gpt-4o with diff edit format\n\n"
        "#### add a test\n#### for a.py\n\nHere it is:\n\n```\ntest\n```\n\n> Applied edit to a.py\n"
        "\n#### thanks\n\nGladly.\n"
        "\n# aider chat started at 2025-10-10 08:00:00\n\n#### another\n\nYes.\n"
    )
    return file


def write(file: Path, value: object) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value))


def write_lines(file: Path, lines: list[dict[str, object]]) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return file


def text(words: str) -> dict[str, object]:
    return {"type": "text", "text": words}


def image() -> dict[str, object]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PIXEL}}


def use(name: str, tool: str, **given: object) -> dict[str, object]:
    return {"type": "tool_use", "id": name, "name": tool, "input": given}


def result(call: str, content: object, **more: object) -> dict[str, object]:
    return {"type": "tool_result", "tool_use_id": call, "content": content, **more}


def _row(second: int, say: str, words: str) -> dict[str, object]:
    return {"ts": (STARTED + second) * 1000, "type": "say", "say": say, "text": words}


def _asked(number: int) -> dict[str, object]:
    told = {"tokensIn": 100, "tokensOut": 20, "cacheReads": 5, "cacheWrites": 1, "cost": 0.01 * (number + 1)}
    row = _row(number + 1, "api_req_started", json.dumps(told))
    return {**row, "conversationHistoryIndex": 2 * number - 1}


def _said(name: str, parent: str | None, kind: str, content: object, project: str, **more: object) -> dict[str, object]:
    head = {"type": kind, "uuid": name, "parentUuid": parent, "sessionId": "0a1b2c", "cwd": project}
    return {**head, "timestamp": "2025-10-09T08:53:20.000Z", "message": {"role": kind, "content": content}, **more}


def _model(
    name: str, parent: str, reply: str, content: list[dict[str, object]], usage: dict[str, int], **more: object
) -> dict[str, object]:
    message = {"id": reply, "role": "assistant", "model": MODEL, "content": content, "usage": usage}
    return {**_said(name, parent, "assistant", "", "/p"), "message": message, **more}


def _line(second: int, kind: str, **payload: object) -> dict[str, object]:
    return {"timestamp": f"2025-10-09T08:53:{20 + second}Z", "type": kind, "payload": payload}


def _item(second: int, **payload: object) -> dict[str, object]:
    return _line(second, "response_item", **payload)


def _input(words: str) -> dict[str, object]:
    return {"type": "input_text", "text": words}
