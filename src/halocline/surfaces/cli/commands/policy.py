"""`halo policy`: explain decisions, list, test and simulate rules, and audit tasks. Nothing is run."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from halocline import client
from halocline.client.policy import Explanation, PolicyService, ReviewedCall, explain_command, read_rule_file
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.permission_rules import CommandPart, Rule, Source, Verdict
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.args.task_options import workspace_of
from halocline.surfaces.cli.stderr import fold_text, print_raw
from halocline.surfaces.figures import EFFECTS, format_plural
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.terminal.drawing.rule_text import describe_conditions

Explain = Callable[[str], Explanation]


def command(arguments: argparse.Namespace) -> int:
    actions = {
        "explain": _explain_command,
        "rules": _list_rules,
        "forget": _forget_grants,
        "test": _test_rules,
        "simulate": _simulate_rules,
        "audit": _audit_tasks,
    }
    return actions[arguments.action](PolicyService.open(), arguments)


def _explain_command(desk: PolicyService, arguments: argparse.Namespace) -> int:
    chosen = arguments.approval_mode
    mode = Mode.PLAN if "plan" in (arguments.mode, chosen) else Mode.ACT
    approval = ApprovalMode(chosen) if chosen not in (None, "plan") else None
    posture = desk.policy_context(
        workspace_of(arguments.cwd), mode, approval, [Path(root).absolute() for root in arguments.roots]
    )

    if arguments.mcp:
        if arguments.words:
            raise UsageError("Use a command or --mcp, not both.", "For a tool: halo policy explain --mcp SERVER/TOOL")
        judged = desk.mcp_tools(posture).one(arguments.mcp)
        explanation = Explanation(judged.verdict.value, judged.rule, judged.reason)
        print_raw(_encode_explanation(explanation) if arguments.json else _describe_explanation(explanation))
        return 0

    def explain(text: str) -> Explanation:
        return explain_command(text, posture)

    if arguments.words == ["-"]:
        return _explain_lines(explain)
    if not arguments.words:
        raise UsageError("No command.", "Add one in quotes: halo policy explain 'ls -la', or - to read lines.")
    explanation = explain(" ".join(arguments.words))
    print_raw(_encode_explanation(explanation) if arguments.json else _describe_explanation(explanation))
    return 0


def _explain_lines(explain: Explain) -> int:
    """Print one answer per line, also for malformed lines, so that input and output stay in step."""
    for line in sys.stdin:
        if line.strip():
            print_raw(_encode_explanation(_answer_line(explain, line)))
    return 0


def _answer_line(explain: Explain, line: str) -> Explanation:
    try:
        given = json.loads(line)
    except ValueError:
        given = None
    if not isinstance(given, dict) or not isinstance(given.get("command"), str):
        return Explanation("ask", "not-analysed", 'the line is not a JSON object like {"command": "ls"}')
    return explain(given["command"])


def _encode_explanation(explanation: Explanation) -> str:
    fields = msgspec.to_builtins(explanation)
    order = CommandPart.__struct_fields__
    fields["parts"] = [{name: getattr(part, name) for name in order} for part in explanation.parts]
    for name in ("runs", "scripts"):
        if not fields[name]:
            del fields[name]
    return json.dumps(fields)


def _describe_explanation(explanation: Explanation) -> str:
    lines = []
    for part in explanation.parts:
        lines.append(f"  {reveal(part.text)}")
        why = EFFECTS[part.effect] + (f": {part.reason}" if part.reason else "")
        lines.append(fold_text(reveal(why), "      ", sys.stdout))
        if part.targets:
            lines.append(fold_text(reveal(f"targets: {', '.join(part.targets)}"), "      ", sys.stdout))
    why = f"{explanation.reason} (rule {explanation.rule})"
    lines.append(fold_text(reveal(why), f"{explanation.decision}: ", sys.stdout))
    if explanation.runs:
        lines.append(fold_text(reveal(explanation.runs), "runs as: ", sys.stdout))
    for script in explanation.scripts:
        name, _, fingerprint = script.rpartition("=")
        lines.append(fold_text(reveal(f"{name} as it is now ({fingerprint[:12]})"), "a grant covers: ", sys.stdout))
    return "\n".join(lines)


def _list_rules(desk: PolicyService, arguments: argparse.Namespace) -> int:
    book = desk.book(workspace_of(arguments.cwd))
    here = str(workspace_of(arguments.cwd))
    there = [rule for rule in book.rules if rule.source is Source.GRANT and rule.workspace not in ("", here)]
    for rule in (rule for rule in book.rules if rule not in there):
        print(
            fold_text(reveal(_describe_grant(rule)), f"{rule.decision:<6} {rule.source:<8} {rule.name}  ", sys.stdout)
        )
    if any(rule.source is Source.GRANT for rule in book.rules):
        print("To revoke a permanent permission: halo policy forget NAME")
    if there:
        print(f"{format_plural(len(there), 'permission')} for other folders: halo policy rules -C FOLDER")
    if left_out := desk.rules_left_out(workspace_of(arguments.cwd)):
        rules = format_plural(len(left_out), "rule")
        print(f"{rules} of the project without effect until you trust it: halo trust add")
        for rule in left_out:
            print(fold_text(reveal(describe_conditions(rule)), "  allow  ", sys.stdout))
    for source, given in book.permissions:
        bounds = json.dumps(msgspec.to_builtins(given))
        print(fold_text(reveal(bounds), f"bounds {source:<8} command_permissions  ", sys.stdout))
    if book.ignored:
        print(f"hidden from the model: {reveal(' '.join(book.ignored))}")
    if not (book.rules or book.permissions or book.ignored or book.problems):
        print("No rules apart from the approval mode.")
    for problem in book.problems:
        print(fold_text(reveal(problem), "error: ", sys.stdout))
    return 1 if book.problems else 0


def _forget_grants(desk: PolicyService, arguments: argparse.Namespace) -> int:
    """Find all rules before removing any, because removing one changes the names of later ones."""
    rules = {rule.name: rule for rule in desk.book(workspace_of(arguments.cwd)).rules}
    if unknown := [name for name in arguments.names if name not in rules]:
        raise UsageError(f"No rule {unknown[0]!r} here.", "To list their names: halo policy rules")
    for name in dict.fromkeys(arguments.names):
        if desk.take_out(rules[name]):
            print(fold_text(reveal(describe_conditions(rules[name])), f"revoked: {name}  ", sys.stdout))
    return 0


def _describe_grant(rule: Rule) -> str:
    """Describe a rule; for a permission, also when it was granted."""
    return (
        f"{describe_conditions(rule)} ({rule.reason})"
        if rule.source is Source.GRANT and rule.reason
        else describe_conditions(rule)
    )


def _test_rules(desk: PolicyService, arguments: argparse.Namespace) -> int:
    """Read the rule files, which also checks the examples in them."""
    if not arguments.files:
        book = desk.book(workspace_of(arguments.cwd))
        for problem in book.problems:
            print(fold_text(reveal(problem), "error: ", sys.stdout))
        if not book.problems:
            print(f"{format_plural(len(book.rules), 'rule')} in force, all examples pass.")
        return 1 if book.problems else 0
    for file in arguments.files:
        print(f"{file}: {format_plural(len(read_rule_file(Path(file))), 'rule')}, all examples pass.")
    return 0


def _simulate_rules(desk: PolicyService, arguments: argparse.Namespace) -> int:
    rows = desk.simulate(read_rule_file(Path(arguments.file)), arguments.tasks)
    if arguments.json:
        return _as_lines(rows)
    tasks = len({row.task for row in rows})
    calls, of_tasks = format_plural(len(rows), "call"), format_plural(tasks, "task")
    print(f"{calls} of {of_tasks}: {_count_verdicts([row.now for row in rows])}")
    print(f"originally: {_count_verdicts([row.then for row in rows])}")
    other = [row for row in rows if row.now is not row.then]
    for row in other:
        print(fold_text(reveal(f"{row.title} ({row.now_rule}, {row.task})"), f"  {row.then} → {row.now}  ", sys.stdout))
    print(f"{format_plural(len(other), 'decision')} would change." if other else "No decision would change.")
    return 0


def _count_verdicts(verdicts: Sequence[Verdict]) -> str:
    counted = Counter(verdicts)
    return ", ".join(f"{counted[verdict]} {verdict}" for verdict in Verdict)


def _audit_tasks(desk: PolicyService, arguments: argparse.Namespace) -> int:
    task = arguments.task or pickers.task_picker.choose_task(client.tasks.open_client(client.options.Choices()))
    rows = desk.audit(task)
    if arguments.json:
        return _as_lines(rows)
    for row in rows:
        why = row.rule or row.reason
        print(fold_text(reveal(f"{row.title}  ({why}{f'; {row.by}' if row.by else ''})"), f"{row.then:<6}", sys.stdout))
    if not rows:
        print("No calls of this task needed a decision.")
    return 0


def _as_lines(rows: Sequence[ReviewedCall]) -> int:
    for row in rows:
        print_raw(json_output.encode(row).decode())
    return 0
