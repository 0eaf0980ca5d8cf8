"""Put the forms of parts that read into a line that does more: so they leave out secrets and hidden names there, too.

What must stay true: a part is replaced only where its text stands once, as a command of the line itself.
"""

import os
import re
from collections import Counter

from msgspec.structs import replace

from halocline.policy.shell.findings import MOST_SHOWN, Analysis, Finding, Rule, make_part
from halocline.policy.shell.guards import calls_guards
from halocline.policy.shell.programs.mutating import GIT_SHOWS_NOTHING
from halocline.policy.shell.programs.reading import may_read_folders
from halocline.policy.shell.spellings import is_unknown
from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command
from halocline.protocol.permission_rules import Effect

UNGUARDED = "may show files that are hidden or hold secrets; run it on its own"


def mix_forms(command: str, analysis: Analysis) -> str:
    """Return the line with the forms of parts that read whole folders or a history; empty if there is none to replace.

    What stays as written is named in `analysis.unguarded`; git gets a finding for it, as no sandbox hides its objects.
    """
    texts = Counter(finding.part.text for finding in analysis.findings)
    mixed, guarded = command, set[tuple[str, ...]]()
    for number, one in enumerate(analysis.findings):
        reads = one.form_alone is not None and one.argv is not None and may_read_folders(one.argv)
        if reads and one.top and texts[one.part.text] == 1 and (at := _find_command(mixed, one, texts)) is not None:
            mixed = f"{mixed[:at]}{one.form_alone}{mixed[at + len(one.words) :]}"
            guarded.add(one.argv or ())
            if one.rule is Rule.HISTORY and one.as_written is Rule.HISTORY:
                analysis.findings[number] = replace(one, rule=Rule.READS)
    mixed = mixed if mixed != command and _is_understood(mixed) else ""
    for words in analysis.words:
        if _may_show(words) and not (mixed and words in guarded):
            text = " ".join(words)
            analysis.unguarded = analysis.unguarded or f"{text[:MOST_SHOWN]} {UNGUARDED}"
            if os.path.basename(words[0]) == "git":
                analysis.findings.append(
                    Finding(make_part(text, Effect.READ_ONLY, analysis.unguarded), Rule.HISTORY, argv=words)
                )
    return mixed


def _may_show(words: tuple[str, ...]) -> bool:
    """Return True if a command as written shows whole folders, or git shows what it gets by name only when it runs."""
    sub = next((word for word in words[1:] if not word.startswith("-")), "")
    fed = os.path.basename(words[0]) == "git" and any(map(is_unknown, words[1:])) if words else False
    return may_read_folders(words) or (fed and sub not in GIT_SHOWS_NOTHING)


def _find_command(text: str, one: Finding, texts: Counter[str]) -> int | None:
    """Return where the text of a part stands as a command; None if that is not sure, or its form cannot stand there."""
    source = one.words
    if len(one.part.text) >= MOST_SHOWN or not source or calls_guards(str(one.form_alone)):
        return None
    longer = sum(other.count(source) * times for other, times in texts.items() if other != one.part.text)
    ends = rf"(?<![\w-]){re.escape(source)}(?=\s*(?:$|[;&|)}}]|\d?[<>]))"
    places = [found.start() for found in re.finditer(ends, text)]
    return places[0] if len(places) == 1 and text.count(source) - longer == 1 else None


def _is_understood(text: str) -> bool:
    try:
        parse_command(text)
    except NotUnderstood:
        return False
    return True
