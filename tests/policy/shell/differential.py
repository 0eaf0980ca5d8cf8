"""Random programs, judged and then run by real bash in a scratch world: nothing may be touched that was not judged.

Run it for long: `python -m tests.policy.shell.differential COUNT [SEED [WORKERS]]`. It prints what it found so far
behind each thousand programs, and each fault as it is found.
"""

import os
import re
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from multiprocessing import Pool
from pathlib import Path

from tests.policy.shell.random_programs import Programs
from tests.policy.shell.scratch_world import DOERS, GUARDED, OUTSIDE, RAN, SECRET, Run, Scratch

from halocline.hosts.shell.environment import clean_environment
from halocline.policy.gate import Decision
from halocline.protocol.kinds import ApprovalMode

MODES = (ApprovalMode.YOLO, ApprovalMode.AUTO, ApprovalMode.ASK)
"""From the freest: what one allows, all before it allow."""
JUDGED_IN_ALL = 10
"""Of so many programs one is judged in all modes, to see that this is so."""
GUARDED_BY_RULES = 4
"""Of so many programs one is judged with a rule that denies a folder."""
CHUNK = 100
"""Programs of one seed; a fault names it."""
TRACED = 8
"""Of so many forms that only read, one is run under `strace` as well."""
_FLOOR = re.compile(r"w|home|w/\.git(/HEAD)?|home/\.halocline(/.*)?")
"""What no mode may delete or change: the workspace, the home, the history, Halocline's own files."""
_CARED_FOR = re.compile(r"(out|home|bin)(/.*)?|w/(\.env|id\.pem|\.git/(config|hooks.*))")
"""What auto mode asks about before it is changed."""
_OPENED = re.compile(r"\bopen(?:at2?)?\(.*?(O_\w+[^)]*)\) = \d+<([^>]*)>")
_OF_ITS_OWN = re.compile(r"/tmp/(tac|sort|sh-thd)[\w.\-]+( \(deleted\))?")
"""Files that programs keep for themselves while they run."""
_EXECUTED = re.compile(r'\bexecve(?:at)?\((?:[^"]*)"([^"]*)", .* = 0$')
_BROKEN = (ArithmeticError, AssertionError, AttributeError, LookupError, OSError, RuntimeError, TypeError, ValueError)
"""What may be raised by a judge that has a fault, which is one of the program's."""
_FASTER = 1.0
"""Seconds for what runs as it was written in yolo mode, where reading all of the machine is allowed."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A program that was allowed in a mode, and touched what was not in the judgement."""

    mode: ApprovalMode
    text: str
    run: str
    fault: str

    def __str__(self) -> str:
        return f"--- {self.mode}: {self.fault}\n{self.text}\n" + (f"=> {self.run}\n" if self.run != self.text else "")


@dataclass(slots=True)
class Outcome:
    """How many programs were judged, allowed by mode, run (`traced`: under strace too), and those at fault."""

    judged: int = 0
    run: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)

    def add(self, other: "Outcome") -> None:
        self.judged += other.judged
        self.run += other.run
        self.faults += other.faults

    def __str__(self) -> str:
        run = ", ".join(f"{what} {number}" for what, number in self.run.items())
        return f"judged {self.judged}; allowed: {run}; faults {len(self.faults)}"


def find_faults(scratch: Scratch, count: int, seed: str) -> Outcome:
    """Judge so many programs in every mode, and run those that are allowed."""
    outcome = Outcome()
    for text in islice(Programs(seed, scratch.places()), count):
        outcome.judged += 1
        if "\0" in text:
            continue
        try:
            every, guarded = outcome.judged % JUDGED_IN_ALL == 0, outcome.judged % GUARDED_BY_RULES == 0
            allowed = _allowed(scratch, text, every=every, guarded=guarded)
        except _BROKEN as error:
            outcome.faults.append(Fault(ApprovalMode.ASK, text, text, f"the judge raised {error!r}"))
            continue
        stricter = [mode for mode, _ in allowed]
        if stricter != list(MODES[: len(stricter)]):
            outcome.faults.append(Fault(stricter[-1], text, text, "allowed, but not in a freer mode"))
        outcome.run.update(str(mode) for mode, _ in allowed)
        outcome.faults += _faults_of(scratch, text, allowed, outcome.run, guarded=guarded)
    return outcome


def _allowed(scratch: Scratch, text: str, *, every: bool, guarded: bool) -> list[tuple[ApprovalMode, Decision]]:
    """The modes that allow it, from the freest. A stricter one is asked only if that is so, or when `every` one is."""
    found: list[tuple[ApprovalMode, Decision]] = []
    for mode in MODES:
        decision = scratch.judge(text, mode, guarded=guarded)
        if decision.verdict == "allow":
            found.append((mode, decision))
        elif not every:
            break
    return found


def _faults_of(
    scratch: Scratch, text: str, allowed: list[tuple[ApprovalMode, Decision]], ran: Counter[str], *, guarded: bool
) -> Iterator[Fault]:
    """Those of one program. What runs in the same form in several modes is run once."""
    forms: dict[tuple[str | None, str], list[ApprovalMode]] = {}
    for mode, decision in allowed:
        forms.setdefault((decision.canonical, decision.mixed or text), []).append(mode)
    for (form, line), modes in forms.items():
        ran["runs"] += 1
        if form is not None:
            ran["read"] += 1
            trace = ran["read"] % TRACED == 0 and shutil.which("strace") is not None
            ran["traced"] += trace
            run = scratch.run(form, clean_environment(scratch.environment, str(scratch.workspace)), trace=trace)
            ran["guarded"] += guarded
            if fault := fault_of_reading(form, run, scratch) or (_fault_of_rules(run) if guarded else ""):
                yield Fault(modes[-1], text, form, fault)
            continue
        seconds = _FASTER if ApprovalMode.AUTO not in modes else 3.0
        run = scratch.run(line, scratch.environment, seconds=seconds)
        fault = _fault_of_auto(run) if ApprovalMode.AUTO in modes else ""
        if guarded and ApprovalMode.AUTO in modes:
            ran["guarded"] += 1
            fault = fault or _fault_of_rules(run)
        if fault := fault or _fault_of_any(run):
            yield Fault(modes[-1], text, line, fault)


def _fault_of_rules(run: Run) -> str:
    """Of what was allowed although a rule denies a folder: it neither shows nor changes what is in there."""
    changed = [path for path in run.changes if f"{path}/".startswith("w/sub/")]
    return "showed what a rule denies" if GUARDED in run.said else f"changed {changed[0]}" if changed else ""


def _fault_of_any(run: Run) -> str:
    if run.broke:
        return "broke the box"
    lost = [f"{path} {how}" for path, how in run.changes.items() if how != "new" and _is_floor(path, how)]
    new = [path for path in run.changes if path.startswith("home/.halocline/")]
    return next((f"passed a floor: {what}" for what in (*lost, *new)), "")


def _is_floor(path: str, how: str) -> bool:
    own = path.startswith("home/.halocline/")
    return own or (how in ("gone", "moved") and _FLOOR.fullmatch(path) is not None)


def _fault_of_auto(run: Run) -> str:
    gone = [path for path, how in run.changes.items() if how == "gone"]
    gone = gone if len(gone) > list(run.changes.values()).count("new") else []
    cared = [path for path in run.changes if _CARED_FOR.fullmatch(path)]
    works = {"bin/make", "bin/python3"} & set(run.opened)
    opened = [path for path in run.opened if not path.startswith("bin/") or path == "bin/canary"] if not works else []
    if gone or cared or opened:
        return f"deleted: {gone[0]}" if gone else f"changed: {cared[0]}" if cared else f"opened: {opened[0]}"
    return "printed a canary" if OUTSIDE in run.said or SECRET in run.said else ""


def fault_of_reading(form: str, run: Run, scratch: Scratch) -> str:
    """Of what was judged to only read, in the form that was made of it: it changes, opens and runs nothing else."""
    if run.broke:
        return "broke the box"
    if run.changes:
        return "changed: " + ", ".join(f"{path} ({how})" for path, how in run.changes.items())
    if run.opened:
        return f"opened: {', '.join(run.opened)}"
    if RAN in run.said or OUTSIDE in run.said or SECRET in run.said:
        return "printed a canary"
    return _fault_in_trace(form, run.trace, scratch)


def _fault_in_trace(form: str, trace: str, scratch: Scratch) -> str:
    base, workspace = str(scratch.base), str(scratch.workspace)
    for line in trace.splitlines():
        if found := _OPENED.search(line):
            flags, path = found.groups()
            writes = "O_WRONLY" in flags or "O_RDWR" in flags
            if writes and not path.startswith("/dev/") and not _OF_ITS_OWN.fullmatch(path):
                return f"opened for writing: {path}"
            if path.startswith(base) and not f"{path}/".startswith(f"{workspace}/"):
                return f"opened: {path}"
            if os.path.basename(path) in (".env", "id.pem", "id_rsa", "credentials"):
                return f"opened: {path}"
        if found := _EXECUTED.search(line):
            name = os.path.basename(found[1])
            if found[1].startswith(base) or name in DOERS or (name not in form and name != "bash"):
                return f"ran: {found[1]}"
    return ""


_scratch: list[Scratch] = []


def _start_worker() -> None:
    scratch = Scratch(Path(tempfile.mkdtemp(prefix="differential-")).resolve())
    os.environ["HOME"] = scratch.environment["HOME"]
    _scratch.append(scratch)


def _work(seed: str) -> tuple[str, Outcome]:
    return seed, find_faults(_scratch[0], CHUNK, seed)


def main() -> int:
    count, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "halocline"
    workers = int(sys.argv[3]) if len(sys.argv) > 3 else os.cpu_count() or 1
    sys.stdout.reconfigure(errors="backslashreplace")
    whole, began, written = Outcome(), time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        tempfile.tempdir = folder
        seeds = [f"{seed}-{number}" for number in range(-(-count // CHUNK))]
        with Pool(workers, _start_worker) as pool:
            for one, outcome in pool.imap_unordered(_work, seeds):
                whole.add(outcome)
                for fault in outcome.faults:
                    sys.stdout.write(f"seed {one}\n{fault}")
                if whole.judged - written >= 1000 or whole.judged >= count:
                    written = whole.judged
                    rate = whole.judged / (time.monotonic() - began)
                    sys.stdout.write(f"{whole}; {rate:.1f} a second\n")
                sys.stdout.flush()
    return 1 if whole.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
