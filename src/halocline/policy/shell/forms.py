"""Put the forms of parts that read into a line that does more: so they leave out secrets and hidden names there, too.

What must stay true: a part is replaced only where its text stands once, as a command of the line itself.
"""

import re
from collections import Counter

from msgspec.structs import replace

from halocline.policy.shell.findings import MOST_SHOWN, Analysis, Finding, Rule, make_part
from halocline.policy.shell.guards import calls_guards
from halocline.policy.shell.programs.reading import may_read_folders
from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command

UNGUARDED = "it may show files that are hidden or hold secrets; run it on its own"


def mix_forms(command: str, analysis: Analysis) -> str:
    """Return the line with the forms of parts that read whole folders or a history; empty if there is none to replace.

    Such a part that stays as written gets the rule for that.
    """
    texts = Counter(finding.part.text for finding in analysis.findings)
    mixed = command
    for number, one in enumerate(analysis.findings):
        if not one.reads or not one.argv or not may_read_folders(one.argv):
            continue
        if one.top and texts[one.part.text] == 1 and (at := _find_command(mixed, one, texts)) is not None:
            mixed = f"{mixed[:at]}{one.canonical}{mixed[at + len(one.part.text) :]}"
        else:
            rule = Rule.HISTORY if one.argv[0] == "git" else Rule.READS
            shown = make_part(one.part.text, one.part.effect, UNGUARDED, one.part.targets)
            analysis.findings[number] = replace(one, part=shown, rule=rule, canonical=None)
    return mixed if mixed != command and _is_understood(mixed) else ""


def _find_command(text: str, one: Finding, texts: Counter[str]) -> int | None:
    """Return where the text of a part stands as a command; None if that is not sure, or its form cannot stand there."""
    source = one.part.text
    if len(source) >= MOST_SHOWN or calls_guards(str(one.canonical)):
        return None
    longer = sum(other.count(source) * times for other, times in texts.items() if other != source)
    places = [found.start() for found in re.finditer(rf"(?<![\w-]){re.escape(source)}(?=\s*(?:$|[;&|)}}]))", text)]
    return places[0] if len(places) == 1 and text.count(source) - longer == 1 else None


def _is_understood(text: str) -> bool:
    try:
        parse_command(text)
    except NotUnderstood:
        return False
    return True


def why_unguarded(analysis: Analysis) -> str:
    """Say why a line may show secrets that a part of it would leave out on its own; empty if it does not."""
    return next((f"{one.part.text}: {UNGUARDED}" for one in analysis.findings if one.part.reason == UNGUARDED), "")
