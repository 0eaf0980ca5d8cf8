"""`halo policy explain`: what would be decided about a command, and why. Nothing is run."""

import argparse
import json
import sys
from collections.abc import Callable

import msgspec

from halocline.controller.explain import Explanation, explainer
from halocline.protocol.errors import UsageError
from halocline.protocol.events import ApprovalMode, CommandPart, Mode
from halocline.surfaces.cli.run import workspace_of
from halocline.surfaces.cli.safe_text import reveal
from halocline.surfaces.cli.telling import folded
from halocline.surfaces.figures import EFFECTS

Explain = Callable[[str], Explanation]


def command(arguments: argparse.Namespace) -> int:
    chosen = arguments.approval_mode
    mode = Mode.PLAN if "plan" in (arguments.mode, chosen) else Mode.ACT
    approval = ApprovalMode(chosen) if chosen not in (None, "plan") else None
    explain = explainer(workspace_of(arguments.cwd), mode, approval)
    if arguments.words == ["-"]:
        return _lines(explain)
    if not arguments.words:
        raise UsageError("There is no command.", "Give one in quotes: halo policy explain 'ls -la', or - for lines.")
    explanation = explain(" ".join(arguments.words))
    print(_encode(explanation) if arguments.json else _said(explanation))
    return 0


def _lines(explain: Explain) -> int:
    """One answer for each line; a line that is none is answered too, so that they stay in step."""
    for line in sys.stdin:
        if line.strip():
            sys.stdout.write(_encode(_answer(explain, line)) + "\n")
    return 0


def _answer(explain: Explain, line: str) -> Explanation:
    try:
        given = json.loads(line)
    except ValueError:
        given = None
    if not isinstance(given, dict) or not isinstance(given.get("command"), str):
        return Explanation("ask", "not-analysed", 'the line is no JSON object like {"command": "ls"}')
    return explain(given["command"])


def _encode(explanation: Explanation) -> str:
    told = msgspec.to_builtins(explanation)
    order = CommandPart.__struct_fields__
    told["parts"] = [{name: getattr(part, name) for name in order} for part in explanation.parts]
    if not told["runs"]:
        del told["runs"]
    return json.dumps(told)


def _said(explanation: Explanation) -> str:
    lines = []
    for part in explanation.parts:
        lines.append(f"  {reveal(part.text)}")
        why = EFFECTS[part.effect] + (f": {part.reason}" if part.reason else "")
        lines.append(folded(reveal(why), "      ", sys.stdout))
        if part.targets:
            lines.append(folded(reveal(f"targets: {', '.join(part.targets)}"), "      ", sys.stdout))
    why = f"{explanation.reason} (rule {explanation.rule})"
    lines.append(folded(reveal(why), f"{explanation.decision}: ", sys.stdout))
    if explanation.runs:
        lines.append(folded(reveal(explanation.runs), "runs as: ", sys.stdout))
    return "\n".join(lines)
