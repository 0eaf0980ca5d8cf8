"""Put the forms of parts that read into a line that does more: so they leave out secrets and hidden names there, too.

What must stay true: a part is replaced only where each place of its text is a command of the line with the same form.
"""

import os
import re
from contextlib import suppress

from msgspec.structs import replace

from halocline.policy.shell.findings import MOST_SHOWN, Analysis, Finding, Rule, make_part
from halocline.policy.shell.guards import calls_guards
from halocline.policy.shell.programs.mutating import GIT_SHOWS_NOTHING
from halocline.policy.shell.programs.reading import may_read_folders
from halocline.policy.shell.spellings import is_unknown
from halocline.policy.shell.syntax.parse import NotUnderstood, parse_command
from halocline.protocol.permission_rules import Effect

UNGUARDED = "may show files that are hidden or hold secrets; run it on its own"


def mix_forms(command: str, analysis: Analysis, *, names: bool) -> str:
    """Return the line with the forms of parts that read whole folders or a history, or list `names`; empty if none do.

    What stays as written is named in `analysis.unguarded`; git gets a finding for it, as no sandbox hides its objects.
    """
    mixed, replaced = command, set[str]()
    for number, one in enumerate(analysis.findings):
        if one.form_alone is None or one.argv is None or not may_read_folders(one.argv, names=names):
            continue
        places = _find_commands(mixed, one, analysis.findings) if one.words not in replaced else []
        for at in reversed(places):
            mixed = f"{mixed[:at]}{one.form_alone}{mixed[at + len(one.words) :]}"
            replaced.add(one.words)
        if one.words in replaced and one.rule is Rule.HISTORY and one.as_written is Rule.HISTORY:
            analysis.findings[number] = replace(one, rule=Rule.READS)
    done = {one.argv for one in analysis.findings if one.words in replaced}
    not_done = {one.argv for one in analysis.findings if one.words not in replaced}
    mixed = mixed if mixed != command and _is_understood(mixed) else ""
    for words in analysis.words:
        if _may_show(words) and not (mixed and words in done - not_done):
            analysis.unguarded = analysis.unguarded or f"{' '.join(words)[:MOST_SHOWN]} {UNGUARDED}"
            if os.path.basename(words[0]) == "git":
                shown = make_part(" ".join(words), Effect.READ_ONLY, analysis.unguarded)
                analysis.findings.append(Finding(shown, Rule.HISTORY, argv=words))
    return mixed


def _may_show(words: tuple[str, ...]) -> bool:
    """Return True if a command as written shows whole folders, or git shows what it gets by name only when it runs."""
    sub = next((word for word in words[1:] if not word.startswith("-")), "")
    fed = os.path.basename(words[0]) == "git" and any(map(is_unknown, words[1:])) if words else False
    return may_read_folders(words) or (fed and sub not in GIT_SHOWS_NOTHING)


def _find_commands(text: str, one: Finding, findings: list[Finding]) -> list[int]:
    """Return where the text of a part stands as a command; none if that is not sure, or its form cannot stand there."""
    source, same = one.words, [other for other in findings if other.words == one.words]
    alike = all(other.top and other.form_alone == one.form_alone for other in same)
    if len(one.part.text) >= MOST_SHOWN or not source or not alike or calls_guards(str(one.form_alone)):
        return []
    longer = sum(other.part.text.count(source) for other in findings if other.words != source)
    ends = rf"(?<![\w-]){re.escape(source)}(?=\s*(?:$|[;&|)}}]|\d?[<>]))"
    places = [found.start() for found in re.finditer(ends, text)]
    return places if len(places) == len(same) == text.count(source) - longer else []


def _is_understood(text: str) -> bool:
    with suppress(NotUnderstood):
        return parse_command(text) is not None
    return False
