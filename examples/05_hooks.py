"""Run functions at points of a task: refuse a call, tell the model something, keep a record."""

import asyncio
from typing import Any

import halocline
from halocline import HookAnswer, HookMatcher


def no_pushes(given: dict[str, Any]) -> HookAnswer | None:
    command = given["preToolUse"]["parameters"].get("command", "")
    return HookAnswer(block="People push here, not programs.") if "git push" in command else None


def house_style(given: dict[str, Any]) -> str:
    return "Write commit messages in the imperative."


async def record(given: dict[str, Any]) -> None:
    print("ran", given["postToolUse"]["toolName"])


async def main() -> None:
    done = await halocline.run(
        "Commit what is here and push it.",
        approval_mode="yolo",
        hooks={
            "PreToolUse": HookMatcher("execute_command", no_pushes),
            "UserPromptSubmit": house_style,
            "PostToolUse": record,
        },
    )
    print(done.text)


if __name__ == "__main__":
    asyncio.run(main())
