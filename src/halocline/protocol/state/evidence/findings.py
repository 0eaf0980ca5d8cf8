"""Judges the facts of a log at the end of a turn, not by the model's words. Pure.

What must stay true: a claim is only called unconfirmed if the log contradicts it. Where a command, a tool or a hook may
have tested, and where an exit code may be another command's, nothing is said.
"""

from collections.abc import Iterator, Sequence

from halocline.protocol.file_names import make_printable
from halocline.protocol.messages import StopReason
from halocline.protocol.patterns import compile_later
from halocline.protocol.state.evidence.claims import Claim, find_claims
from halocline.protocol.state.evidence.commands import Check, Checked
from halocline.protocol.state.evidence.facts import RUNNING, EvidenceState, Found, Ran
from halocline.protocol.state.file_knowledge import list_names
from halocline.protocol.values import Value

FEW = 2
"""Files and commands that a line names."""
_SETS = compile_later(r"^(?:[A-Za-z_]\w*=(?:'[^']*'|\"[^\"]*\"|\S)* )+")
LONGEST = 40
HOW = ("changed", "new", "deleted")
_GOOD = ("exit 0", "")
_NOUNS = {Check.TEST: "test", Check.BUILD: "build"}


class ChangedPath(Value, frozen=True, omit_defaults=False):
    """A file that the turn changed, and how: `new`, `changed` or `deleted`."""

    path: str
    how: str


class RanCommand(Value, frozen=True, omit_defaults=False):
    """A command after the last edit. `end` is `exit N`, a signal, `timed out`, `interrupted`, `not run`, `stopped` or
    `still running`; empty if unknown. `own`: you ran it; `job`: it ran in the background. `tests`: it runs tests;
    `looks`: it is known to check nothing, as `ls` and `git diff`.
    """

    command: str
    end: str = ""
    tests: bool = False
    looks: bool = False
    own: bool = False
    job: str = ""


class Evidence(Value, frozen=True, omit_defaults=False):
    """Everything that the log proves at the end of a turn.

    `changed` are the turn's files, `later` those that no test reads, edited after all checks, `commands` those that
    started after the last edit, `tests` what they name of tests, and `failed_tests` what their outputs call failed.
    `new_errors` and `gone_errors` are those that language servers reported. `not_checked` says what no command covered,
    `not_confirmed` which claims the log contradicts, and why.
    """

    changed: tuple[ChangedPath, ...] = ()
    later: tuple[str, ...] = ()
    commands: tuple[RanCommand, ...] = ()
    tests: tuple[str, ...] = ()
    failed_tests: tuple[str, ...] = ()
    new_errors: tuple[str, ...] = ()
    gone_errors: tuple[str, ...] = ()
    not_checked: tuple[str, ...] = ()
    not_confirmed: tuple[str, ...] = ()

    @property
    def lines(self) -> tuple[str, ...]:
        """The evidence in at most two short lines: the facts, and what is missing."""
        facts = "; ".join(self._facts()) if self.changed else ""
        return tuple(filter(None, (facts, self.doubt)))

    @property
    def doubt(self) -> str:
        """The claims that are not confirmed or, without any, the work that is not checked."""
        if self.not_confirmed:
            return f"not confirmed: {'; '.join(self.not_confirmed)}"
        return f"not checked: {'; '.join(self.not_checked)}" if self.not_checked else ""

    @property
    def text(self) -> str:
        """The evidence for a commit or a pull request: what ran after the last edit, and what is missing."""
        but = f" but that of {list_names(self.later, FEW)}" if self.later else ""
        ran = [f"After the last edit{but}: {self._list_checks()}."] if self._checks else []
        return "\n".join((*ran, *([f"{self.doubt[0].upper()}{self.doubt[1:]}."] if self.doubt else [])))

    @property
    def _checks(self) -> Sequence["RanCommand"]:
        return [one for one in self.commands if not one.looks]

    def _list_checks(self) -> str:
        more = len(self._checks) - FEW
        before = f"{more} other command{'s' * (more > 1)}, " if more > 0 else ""
        return before + ", ".join(map(_describe, self._checks[-FEW:]))

    def _facts(self) -> Iterator[str]:
        before = [one for one in self.changed if one.path not in self.later]
        after = [one for one in self.changed if one.path in self.later]
        checks = [self._list_checks()] if self._checks else []
        yield "; then ".join(filter(None, (_list_changed(before), *checks, _list_changed(after))))
        if self.failed_tests:
            yield f"failed: {list_names(self.failed_tests, FEW)}"
        if self.new_errors:
            yield f"{len(self.new_errors)} new error{'s' * (len(self.new_errors) > 1)}: {self.new_errors[0]}"
        if self.gone_errors:
            yield f"{len(self.gone_errors)} error{'s' * (len(self.gone_errors) > 1)} gone"


def find_evidence(facts: EvidenceState, *, whole: bool = False) -> Evidence:
    """Say what the facts prove for the newest turn; with `whole`, for the task up to now."""
    ran = [(one, one.checked) for one in facts.ran]
    shown = [pair for pair in ran if whole or facts.last_edit > facts.since or pair[0].seq > facts.since]
    changed = tuple(ChangedPath(path, _how(*content)) for path, content in facts.files.items() if _differs(*content))
    newest = max((one.seq for one, checked in shown if not _looks(checked)), default=None)
    is_edited = facts.last_edit > (0 if whole else facts.since)
    return Evidence(
        changed=changed,
        later=tuple(one.path for one in changed if newest is not None and facts.prose.get(one.path, 0) > newest),
        commands=tuple(_show_command(one, checked) for one, checked in shown),
        tests=tuple(dict.fromkeys(name for _, checked in shown for name in checked.named)),
        failed_tests=_newest_failures(ran),
        new_errors=tuple(_describe_error(one) for one in facts.errors if whole or one.seq > facts.since),
        gone_errors=tuple(map(_describe_error, facts.gone)),
        not_checked=tuple(_list_unchecked(facts, ran)) if is_edited else (),
        not_confirmed=tuple(_list_unconfirmed(facts, ran)),
    )


Pairs = Sequence[tuple[Ran, Checked]]


def _show_command(one: Ran, checked: Checked) -> RanCommand:
    return RanCommand(one.command, one.end, Check.TEST in checked.checks, _looks(checked), one.own, one.job)


def _looks(checked: Checked) -> bool:
    return not (checked.checks or checked.may_check)


def _list_unchecked(facts: EvidenceState, ran: Pairs) -> Iterator[str]:
    if not ran:
        names = list_names(facts.unseen or (facts.last_path,), FEW)
        yield (
            f"{names} changed after the last command" if facts.has_run else f"no command ran after the edit of {names}"
        )
    elif not _may_have(Check.TEST, facts, ran):
        yield "no test ran after the last edit"
    for one, checked in ran:
        if one.end == RUNNING:
            yield f"{_quote(one)} still runs"
        elif Check.TEST in checked.checks and one.end in _GOOD and Check.TEST not in checked.decides:
            yield f"the exit code of {_quote(one)} is not that of its tests"


def _list_unconfirmed(facts: EvidenceState, ran: Pairs) -> Iterator[str]:
    """Yield why the log contradicts what the model claimed at the end of a turn here."""
    if facts.end is not StopReason.END_TURN or facts.foreign:
        return
    for claim in find_claims(facts.last_words):
        if why := _contradict(claim, facts, ran):
            yield why


def _contradict(claim: Claim, facts: EvidenceState, ran: Pairs) -> str:
    """Return why the log contradicts a claim; empty if it does not, or might not."""
    kind = claim.check
    if not _may_have(kind, facts, ran):
        return f"no {_NOUNS[kind]} ran after the last edit" if facts.last_edit else ""
    newest = next((at for at in reversed(range(len(ran))) if kind in ran[at][1].checks), -1)
    if newest < 0:
        return ""
    one, checked = ran[newest]
    may_pass = any(later.end in _GOOD and also.may_check for later, also in ran[newest + 1 :])
    has_passed = any(kind in also.decides and other.end == "exit 0" for other, also in ran)
    if may_pass or facts.checked > one.seq or (claim.narrow and has_passed):
        return ""
    if one.end == RUNNING:
        return f"{_quote(one)} still runs"
    is_exit = one.end.startswith("exit ")
    if one.end in _GOOD or one.end in ("failed", "not run", "stopped") or (is_exit and kind not in checked.fails):
        return ""
    return f"{_quote(one)} ended with {one.end}" if is_exit else f"{_quote(one)}: {one.end}"


def _may_have(kind: Check, facts: EvidenceState, ran: Pairs) -> bool:
    """True if something after the last edit tested, or may have. Tests build, too."""
    kinds = {kind, Check.TEST}
    return facts.checked > facts.last_edit or any(checked.may_check or checked.checks & kinds for _, checked in ran)


def _newest_failures(ran: Pairs) -> tuple[str, ...]:
    """Return the tests that the newest run of tests called failed."""
    return next((one.failures for one, checked in reversed(ran) if Check.TEST in checked.checks), ())


def _differs(before: str | None, after: str | None) -> bool:
    return before != after or before == ""


def _how(before: str | None, after: str | None) -> str:
    return "new" if before is None else "deleted" if after is None else "changed"


def _list_changed(changed: Sequence[ChangedPath]) -> str:
    if len(changed) > FEW:
        return f"{len(changed)} files changed"
    names = {how: [make_printable(one.path) for one in changed if one.how == how] for how in HOW}
    return ", ".join(f"{' and '.join(paths)} {how}" for how, paths in names.items() if paths)


def _describe(one: RanCommand) -> str:
    return f"{_quote(one)}{f' ({one.end})' if one.end else ''}"


def _quote(one: Ran | RanCommand) -> str:
    line = make_printable(_SETS.sub("", " ".join(one.command.split())))  # a variable may hold a key
    return f"`{line if len(line) <= LONGEST else line[: LONGEST - 1] + '…'}`"


def _describe_error(one: Found) -> str:
    return f"{make_printable(one.path)}:{one.line}: {make_printable(one.message)}"
