"""Find the directory entries that a command can change, if its words name all of them. Pure.

Checkpoints use this to tell a command's changes from those that a person made at the same time. A file that is missing
here counts as the person's and is kept, so only programs are listed that change nothing but the files they name. Links
count twice, as some programs change the link and others what it leads to. The content of a file with several hard
links changes under all its names, which are unknown.
"""

from collections.abc import Iterator, Sequence

from halocline.policy.commands import Finding, Touch, Use
from halocline.policy.shell.findings import MOST_TARGETS
from halocline.protocol.patterns import compile_later
from halocline.protocol.permission_rules import Effect

_EXACT = compile_later(
    "cat|chmod|cp|date|echo|grep|head|ln|ls|mkdir|mv|printf|rm|rmdir|sed|sort|tail|tee|touch|tr|truncate|unlink|uniq|wc"
)
_WRITING = (Effect.READ_ONLY, Effect.WRITES_INSIDE, Effect.DESTRUCTIVE)
_OPEN = "*?[{$`"


def list_named_changes(findings: Sequence[Finding]) -> tuple[str, ...] | None:
    """Return the absolute paths of all entries that a command can change; None if it may change others too."""
    if not findings or not all(map(_is_exact, findings)):
        return None
    changed = [touch for one in findings for touch in _list_changed(one)]
    if any(touch.path.linked and touch.use is Use.CHANGE for touch in changed):
        return None
    return tuple(dict.fromkeys(name for touch in changed for name in touch.path.names))


def _is_exact(finding: Finding) -> bool:
    part, changes = finding.part, any(_list_changed(finding))
    if part.effect is Effect.READ_ONLY and not changes:
        return True
    program = part.text.split(maxsplit=1)[0] if part.text.strip() else ""
    is_named = not any(mark in target for target in part.targets for mark in _OPEN)
    is_whole = 0 < len(part.targets) < MOST_TARGETS and changes
    return part.effect in _WRITING and bool(_EXACT.fullmatch(program)) and is_named and is_whole


def _list_changed(finding: Finding) -> Iterator[Touch]:
    """List what a part changes. Its effect may be that of something graver, such as reading a file elsewhere."""
    yield from (touch for touch in finding.touches if touch.use in (Use.CHANGE, Use.DELETE))
