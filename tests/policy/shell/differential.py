"""Random programs, judged and then run by real bash in a scratch folder: nothing may be touched that was not judged.

Run it for long: `python -m tests.policy.shell.differential COUNT [SEED]`. Everything runs in bubblewrap, where only the
scratch folder can be written and there is no network.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

from tests.policy.shell.random_programs import Programs

from halocline.hosts.clean_environment import clean
from halocline.hosts.shell_facts import LocalShellFacts
from halocline.policy.gate import Decision, Posture, decide
from halocline.ports.tool import Summary
from halocline.protocol.events import ApprovalMode, Mode, ToolKind

OUTSIDE, SECRET = "zq7outsiistuo7qz", "zq7secreterces7qz"
"""In files outside the workspace, and in those of it that hold secrets; the same from behind, for `rev`."""
BATCH = 200
_FLOOR = re.compile(
    r"/kept: (s|w|home)$|/kept/w: \.git$|/kept/w/\.git: HEAD$|/kept/home: \.halocline$|/kept/home/\.halocline"
)
"""Lines of `diff` that tell what no mode may delete: the workspace, the home, the history, Halocline's own files."""
MODES = (ApprovalMode.ASK, ApprovalMode.AUTO, ApprovalMode.YOLO)


@dataclass(frozen=True, slots=True)
class Fault:
    """A program that was allowed in a mode, and touched what was not in the judgement."""

    mode: ApprovalMode
    text: str
    run: str
    fault: str


@dataclass(slots=True)
class Outcome:
    """How many programs were judged, and run by mode; and those at fault."""

    judged: int = 0
    run: Counter[str] = field(default_factory=Counter)
    faults: list[Fault] = field(default_factory=list)


class Scratch:
    """`base` is bound over by a copy of what stands in it, and filled again behind each program that changed it."""

    def __init__(self, folder: Path) -> None:
        self.base, self._kept = folder / "s", folder / "kept"
        self.workspace, self.state = self.base / "w", self.base / "home" / ".halocline"
        self._out = folder / "out"
        self._out.mkdir()
        self._fill()
        shutil.copytree(self.base, self._kept, symlinks=True)
        environment = {"PATH": f"{self.base / 'bin'}:{os.environ['PATH']}", "HOME": str(self.base / "home")}
        self.environment = environment | {"HALOCLINE_HOME": str(self.state), "LANG": "C.UTF-8"}
        self._facts = LocalShellFacts(self.environment)

    def _fill(self) -> None:
        inside = {"a.txt": "a one\nKEY b\n", "b.txt": "x\na\n", "sub/c.txt": "c\n", "src/main.py": "pass\n"}
        secret = {".env": f"KEY={SECRET}\n", "id.pem": f"KEY {SECRET}\n"}
        outside = {"out/o.txt": "", "home/.ssh/id_rsa": "", "home/.halocline/credentials": ""}
        files = {f"w/{name}": text for name, text in (inside | secret).items()}
        files |= dict.fromkeys(outside, f"KEY {OUTSIDE}\n")
        files |= {"bin/canary": "#!/bin/sh\necho zq7ranar7qz\n"}
        for name, text in files.items():
            path = self.base / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.base / "bin" / "canary").chmod(0o755)
        (self.workspace / "link").symlink_to("../out/o.txt")
        subprocess.run(["git", "init", "-q", "--template=", str(self.workspace)], check=True)

    def places(self) -> dict[str, str]:
        return {"OUT": str(self.base / "out"), "HOME": str(self.base / "home"), "STATE": str(self.state)}

    def judge(self, text: str, mode: ApprovalMode) -> Decision:
        posture = Posture(self.workspace, self.state, Mode.ACT, mode, facts=self._facts)
        return decide(Summary(text, ToolKind.EXECUTE, command=text), posture)

    def run(
        self, texts: Sequence[str], environment: dict[str, str], *, each: bool = True
    ) -> list[tuple[str, list[str]]]:
        """What each prints, and which files are other than before; looked at behind `each`, or behind the last."""
        lines = [
            f"BASE={shlex.quote(str(self.base))} KEPT={shlex.quote(str(self._kept))} OUT={shlex.quote(str(self._out))}"
        ]
        for number, text in enumerate(texts):
            quoted = shlex.quote(text)
            refill = '{ /bin/rm -rf "$BASE"/* "$BASE"/.[!.]*; /bin/cp -a "$KEPT/." "$BASE/"; }'
            lines += [
                'cd "$BASE/w"',
                f'timeout -s KILL 3 bash --noprofile --norc -c {quoted} </dev/null >"$OUT/{number}.said" 2>&1',
                f'cd "$OUT"; : >{number}.changed',
            ]
            if each or number == len(texts) - 1:
                compare = 'diff -r --no-dereference -q "$KEPT" "$BASE"'
                lines.append(f'{compare} >"{number}.changed" 2>&1 || {refill}')
        box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--unshare-all"]
        mounts = ["--bind", str(self._out.parent), str(self._out.parent), "--ro-bind", str(self._kept), str(self._kept)]
        subprocess.run(
            ["nice", "-n", "10", *box, *mounts, "--die-with-parent", "bash", "--noprofile", "--norc"],
            input="\n".join(lines).encode(errors="surrogateescape"),
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        if all((self._out / f"{number}.said").exists() for number in range(len(texts))):
            return [self._result(number) for number in range(len(texts))]
        self._refill()
        if len(texts) == 1:
            return [("", ["Only in /kept: s"])]  # it took away even the record of what it did
        return [result for text in texts for result in self.run([text], environment)]

    def _refill(self) -> None:
        for folder in (self.base, self._out):
            shutil.rmtree(folder, ignore_errors=True)
        self._out.mkdir()
        shutil.copytree(self._kept, self.base, symlinks=True)

    def _result(self, number: int) -> tuple[str, list[str]]:
        said = (self._out / f"{number}.said").read_bytes()[: 1 << 20].decode(errors="replace")
        return said, (self._out / f"{number}.changed").read_text(errors="replace").splitlines()


def find_faults(scratch: Scratch, count: int, seed: str) -> Outcome:
    """Judge so many programs in every mode, and run those that are allowed."""
    outcome = Outcome()
    programs = islice(Programs(seed, scratch.places()), count)
    while texts := list(islice(programs, BATCH)):
        outcome.judged += len(texts)
        for mode in MODES:
            decisions = [(text, scratch.judge(text, mode)) for text in texts if "\0" not in text]
            allowed = [(text, one.canonical) for text, one in decisions if one.verdict == "allow"]
            outcome.run[mode] += len(allowed)
            outcome.faults += _run(scratch, mode, allowed)
    return outcome


def _run(scratch: Scratch, mode: ApprovalMode, allowed: list[tuple[str, str | None]]) -> Iterator[Fault]:
    as_judged = [(text, form) for text, form in allowed if form is not None]
    as_written = [(text, text) for text, form in allowed if form is None]
    where = str(scratch.workspace)
    for pairs, environment in ((as_judged, clean(scratch.environment, where)), (as_written, scratch.environment)):
        forms = [form for _, form in pairs]
        results = scratch.run(forms, environment, each=pairs is as_written)
        if pairs is as_judged and any(changed for _, changed in results):
            results = scratch.run(forms, environment, each=True)
        for (text, form), (said, changed) in zip(pairs, results, strict=True):
            if fault := _fault(mode, said, changed, reads=pairs is as_judged):
                yield Fault(mode, text, form, fault)


def _fault(mode: ApprovalMode, said: str, changed: list[str], *, reads: bool) -> str:
    if reads and changed:
        return f"changed {changed[0]}"
    if reads and "zq7ranar7qz" in said:
        return "ran a program"
    gone = [line for line in changed if line.startswith("Only in") and "/kept" in line.split(": ")[0]]
    if mode is ApprovalMode.YOLO:
        lost = [line for line in gone if _FLOOR.search(line)]
        return f"passed a floor: {lost[0]}" if lost else ""
    new = [line for line in changed if line.startswith("Only in") and line not in gone]
    if len(gone) > len(new):
        return f"deleted: {gone[0]}"
    return "printed a canary" if OUTSIDE in said or SECRET in said else ""


def main() -> int:
    count, seed = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else "halocline"
    with tempfile.TemporaryDirectory() as folder:
        scratch = Scratch(Path(folder).resolve())
        os.environ["HOME"] = scratch.environment["HOME"]
        outcome = find_faults(scratch, count, seed)
    run = ", ".join(f"{mode} {number}" for mode, number in outcome.run.items())
    sys.stdout.write(f"judged {outcome.judged}; allowed and run: {run}; faults {len(outcome.faults)}\n")
    for one in outcome.faults[:60]:
        sys.stdout.write(
            f"--- {one.mode}: {one.fault}\n{one.text}\n" + (f"=> {one.run}\n" if one.run != one.text else "")
        )
    return 1 if outcome.faults else 0


if __name__ == "__main__":
    raise SystemExit(main())
