"""The approval switches of one task for display: the state of each, and its effect now."""

from pathlib import Path

from msgspec.structs import replace

from halocline.policy.gate import decide_call
from halocline.policy.presets import switches_in, with_switches
from halocline.ports.shell_facts import ShellFacts
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalSwitch, ToolKind
from halocline.protocol.permission_rules import RuleBook, Verdict
from halocline.protocol.state.state import State
from halocline.protocol.values import Value
from halocline.task.calls.policy_input import make_policy_context

SWITCH_MEANINGS = {
    ApprovalSwitch.READ: ("read files here", "Read and search files in the folder; never secrets."),
    ApprovalSwitch.READ_OUTSIDE: ("read files elsewhere", "Read your files outside the folder; never secrets."),
    ApprovalSwitch.EDIT: (
        "edit files here",
        "Edit files in the folder, except those that other programs run or read as configuration.",
    ),
    ApprovalSwitch.EDIT_OUTSIDE: (
        "edit files elsewhere",
        "Edit files outside the folder. Checkpoints do not cover them.",
    ),
    ApprovalSwitch.SAFE_COMMANDS: ("safe commands", "Run commands recognized as read-only."),
    ApprovalSwitch.PROJECT_CODE: (
        "builds and tests",
        "Run programs without a sandbox. This trusts all code of the project, and all that the task wrote.",
    ),
    ApprovalSwitch.ALL_COMMANDS: (
        "all commands",
        "Run every command that is not denied, even one that reads secrets. Commands run as you.",
    ),
    ApprovalSwitch.WEB: ("web", "Fetch pages and search the web, at any address."),
    ApprovalSwitch.BROWSER: ("browser", "Open pages and act on them, at any address."),
    ApprovalSwitch.MCP: ("MCP tools", "Call tools that their server declares read-only."),
}
"""Title of each switch, and a hint on what it allows while it is on."""


GRID = {
    "read": Summary("Read", ToolKind.READ, ("a.txt",), tool="read_file"),
    "read_outside": Summary("Read", ToolKind.READ, ("/usr/share/a.txt",), tool="read_file"),
    "edit": Summary("Edit", ToolKind.EDIT, ("a.txt",), tool="write_to_file"),
    "edit_outside": Summary("Edit", ToolKind.EDIT, ("/usr/share/a.txt",), tool="write_to_file"),
    "safe_commands": Summary("ls", ToolKind.EXECUTE, command="ls", tool="execute_command", in_sandbox=True),
    "project_code": Summary("make", ToolKind.EXECUTE, command="make", tool="execute_command", in_sandbox=True),
    "all_commands": Summary("./a x", ToolKind.EXECUTE, command="./a x", tool="execute_command", in_sandbox=True),
    "web": Summary("Fetch", ToolKind.FETCH, url="https://example.com/", tool="web_fetch"),
    "browser": Summary("Click", ToolKind.EXECUTE, url="https://example.com/", on_page=True, tool="browser_action"),
    "mcp": Summary("Ask", ToolKind.OTHER, mcp="server/tool", read_only=True, definition="any", tool="server__tool"),
}
"""A sample act for each of the classic switches (`auto_approve`)."""


class SwitchStatus(Value, frozen=True, omit_defaults=False):
    """One switch: `on` (None: the approval mode decides), `set_here` if this task set it, and its verdict `now`."""

    switch: ApprovalSwitch
    title: str
    hint: str
    on: bool | None
    set_here: bool
    now: Verdict


def list_standings(state: State, book: RuleBook, home: Path, facts: ShellFacts) -> tuple[SwitchStatus, ...]:
    """Return all switches of a task; `book` has the rules in force, without the task's own switches."""
    stands = switches_in(with_switches(book, state.permissions.switches))
    ground = make_policy_context(replace(state, permissions=replace(state.permissions, rules=book)), home, facts)
    return tuple(
        SwitchStatus(
            switch,
            *SWITCH_MEANINGS[switch],
            stands[switch],
            switch in state.permissions.switches,
            decide_call(GRID[switch], ground).verdict,
        )
        for switch in ApprovalSwitch
    )


def summarize_switch(all: tuple[SwitchStatus, ...]) -> str:
    """Summarize in one line what is allowed without asking."""
    allowed = [one.title for one in all if one.now is Verdict.ALLOW]
    return f"Allowed without asking: {', '.join(allowed)}." if allowed else "Nothing is allowed without asking."
