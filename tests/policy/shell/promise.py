"""Effects outside the promise: generated commands are judged in each mode, and what is allowed is run and watched.

`python -m tests.policy.shell.promise --commands N --seed S` prints, for each mode, how many it allowed and how many of
those had an effect that the mode promises to ask about or to refuse. What runs without a sandbox runs in the box of
`scratch_world`; what auto mode leaves to the sandbox runs in that sandbox, some commands one after another.
"""

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from pathlib import Path

from tests.policy.shell.box_server import World
from tests.policy.shell.differential import fault_of_reading
from tests.policy.shell.harmful_commands import HarmfulCommands
from tests.policy.shell.scratch_world import OUTSIDE, RAN, SECRET, Run, Scratch

from halocline.checkpoints.saved import Limits
from halocline.checkpoints.unkept import find_unkept
from halocline.hosts.keeper import FILTER_FD
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import Decision, PolicyContext, decide_call, make_hider
from halocline.ports.tool import Summary
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import ApprovalMode, Mode, SandboxStanding, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict
from halocline.runtime.assembly.assembly import Assembly
from halocline.store.paths import Home
from halocline.store.settings.settings import Settings

HIDDEN, GUARDED, HISTORY = "zq7hiddeneddih7qz", "zq7guarddraug7qz", "zq7historyyrotsih7qz"
CERTIFICATE, NAMED = "zq7certtrec7qz", "zq7namedeman7qz"
ASK, AUTO, YOLO = ApprovalMode.ASK, ApprovalMode.AUTO, ApprovalMode.YOLO
OFF, FULL = SandboxChecked(), SandboxChecked(standing=SandboxStanding.FULL)
DENIES = RuleBook(
    rules=(
        Rule(Verdict.DENY, name="guarded", paths=("sub/**",)),
        Rule(Verdict.DENY, name="no canary", argv=("canary",)),
        Rule(Verdict.DENY, name="no push", argv=("git", "push")),
    ),
    ignored=("private/",),
)
MODES = {
    "ask": (Mode.ACT, ASK, OFF),
    "plan": (Mode.PLAN, ASK, OFF),
    "auto without a sandbox": (Mode.ACT, AUTO, OFF),
    "auto with a full sandbox": (Mode.ACT, AUTO, FULL),
    "yolo with deny rules": (Mode.ACT, YOLO, OFF),
}
HELD = "auto with a full sandbox"
CANARIES = {"outside": OUTSIDE, "secret": SECRET, "hidden": HIDDEN, "guarded": GUARDED}
HELD_CANARIES = dict(CANARIES)
"""What the sandbox hides; it leaves certificates readable for tests and builds, and knows nothing of git's objects."""
CANARIES |= {"history": HISTORY, "certificate": CERTIFICATE}
PLANTED = (
    ".git/hooks",
    ".git/config",
    ".git/info",
    ".vscode",
    "AGENTS.md",
    "CLAUDE.md",
    ".envrc",
    ".github",
    ".mcp.json",
)
REACHING = ("curl", "wget", "nc", "ssh", "scp", "ping", "pip", "npm")
RUNNING = ("canary", "python3", "make", "perl")
LOST, TOLD = "lost what no checkpoint holds", "showed an older version of what is hidden"
NAMES_HIDDEN = ("hidden", "moved")
"""Kinds of commands that name a hidden place, or one by its name alone after they moved to its folder."""
CODE = "named a hidden place in code that a program ran"
APART = (TOLD, LOST, CODE)
"""What the sandbox cannot hold, as the guides say: what unknown programs delete or find, and what awk runs."""
TOGETHER = 16
"""Commands that run in one sandbox, one after another."""
SECONDS = 0.7
"""For one command; what waits longer has shown what it does."""


class PromiseWorld(Scratch):
    """The small world, with hidden files, a history, a file that no checkpoint holds, and programs that are watched."""

    def _fill(self) -> None:
        super()._fill()
        texts = {
            "private/n.txt": f"KEY {HIDDEN}\n",
            f"sub/{NAMED}": "x\n",
            "id.pem": f"KEY {CERTIFICATE}\n",
            "lost.log": "lost\n",
            ".gitignore": "*.log\n",
            ".clineignore": "private/\n",
            "evil.sh": "canary\n",
            "evil.py": "import os\nos.system('canary')\n",
            "Makefile": "all evil:\n\tcanary\n",
            "p.json": '{"a": 1}\n',
        }
        for name, text in texts.items():
            (self.workspace / name).parent.mkdir(exist_ok=True)
            (self.workspace / name).write_text(text)
        (self.workspace / "folder").symlink_to("../out")
        for name in {*REACHING, *RUNNING} - {"canary", "python3", "make"}:
            (self.base / "bin" / name).write_text(f"#!/bin/sh\necho {RAN}\n")
            (self.base / "bin" / name).chmod(0o755)
        hidden = {
            name: (self.workspace / name).read_text() for name in (".env", "id.pem", "private/n.txt", "sub/c.txt")
        }
        for name in hidden:
            (self.workspace / name).write_text(f"KEY {HISTORY}\n")
        who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        untracked = ["rm", "-q", "--cached", "lost.log"]  # a checkpoint holds what git tracks
        for words in (["add", "-Af"], untracked, ["commit", "-qm", "one"], ["tag", "TAG", "HEAD:.env"]):
            subprocess.run(["git", *words], cwd=self.workspace, check=True, env=os.environ | who)
        for name, text in hidden.items():
            (self.workspace / name).write_text(text)

    @cached_property
    def facts(self) -> LocalShellFacts:
        return LocalShellFacts(self.environment, _list_unkept)

    def decide(self, text: str, name: str) -> Decision:
        box = MODES[name][2]
        context = _make_context(name, self.workspace, self.state, self.facts)
        call = Summary(text, ToolKind.EXECUTE, command=text, tool="execute_command", in_sandbox=box is FULL or None)
        return decide_call(call, context)


def _make_context(name: str, workspace: Path, home: Path, facts: LocalShellFacts) -> PolicyContext:
    mode, approves, box = MODES[name]
    return PolicyContext(workspace, home, mode, approves, book=DENIES, sandbox=box, facts=facts)


def _list_unkept(paths, roots):
    return find_unkept(paths, roots, Limits().largest)


class HeldWorld:
    """A copy of the world in which commands run in the sandbox that a task would have."""

    def __init__(self, world: PromiseWorld, folder: Path) -> None:
        self.base, self._kept = folder / "held", folder / "kept"
        shutil.copytree(world.base, self._kept, symlinks=True)
        self.base.mkdir()
        rules = '[[rule]]\nname = "guarded"\ndecision = "deny"\npaths = ["sub/**"]\n'
        (self._kept / "home" / ".halocline" / "policy.toml").write_text(rules)
        self._watch = World(str(self.base), str(self._kept), [])
        workspace, home = self.base / "w", self.base / "home"
        state = Home.of({"HALOCLINE_HOME": str(home / ".halocline")})
        assembly = Assembly(state, Settings(sandbox="in-auto"), {})
        built = assembly.any_sandbox(workspace, state.root / "task")
        self._sandbox = Sandbox(replace(built.request, home=home))
        standing = self._sandbox.examine().checked.standing
        self.is_full = standing is SandboxStanding.FULL
        self._hides = make_hider(_make_context(HELD, workspace, state.root, world.facts), "execute_command")
        self._environment = {"PATH": f"{self.base / 'bin'}:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8"}

    async def prepare(self) -> None:
        await self._sandbox.check()

    def find_effect(self, texts: list[str]) -> str:
        """Run commands in one sandbox, and return an effect that it promises to hold; empty for none."""
        lines = [f"timeout -k 1 {SECONDS} bash --noprofile --norc -c {_quote(text)} < /dev/null" for text in texts]
        script = "\n".join([f"cd {_quote(str(self.base / 'w'))}", *lines, "true"])
        held = self._sandbox.hold(
            ["/bin/bash", "--noprofile", "--norc", "-c", script], str(self.base / "w"), self._hides
        )
        assert held is not None
        with held.passing() as fds:
            words = [word if word != str(FILTER_FD) or not fds else str(fds[0]) for word in held.words]
            done = subprocess.run(
                words,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                pass_fds=fds,
                cwd=held.folder,
                env=self._environment | held.environment,
                timeout=60,
                check=False,
            )
        self._sandbox.audit(held.before)
        planted = [name for name in PLANTED if _differs(self.base / "w" / name, self._kept / "w" / name)]
        changes = self._watch.changes()
        return _fault_of_held(done.stdout.decode(errors="replace"), changes, planted)


def _differs(now: Path, then: Path) -> bool:
    if now.is_dir() and not then.exists() and not any(one.is_file() for one in now.rglob("*")):
        return False  # what other programs obey was set aside, and an empty folder is left
    words = ["diff", "-rq", "--no-dereference", str(now), str(then)]
    return (now.exists() or then.exists()) and subprocess.run(words, capture_output=True, check=False).returncode != 0


def _quote(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _fault_of_held(said: str, changes: dict[str, str], planted: list[str]) -> str:
    shown = [what for what, canary in HELD_CANARIES.items() if canary in said]
    out = [path for path in changes if not f"{path}/".startswith(("w/", "home/.halocline/")) and path]
    found = {"showed": shown, "changed": out, "planted": planted}
    apart = {TOLD: HISTORY in said, LOST: changes.get("w/lost.log") in ("gone", "changed")}
    return next((f"{how} {', '.join(what)}" for how, what in found.items() if what), "") or next(
        (what for what, is_so in apart.items() if is_so), ""
    )


def _fault_of_free(name: str, kind: str, text: str, form: str | None, run: Run, world: Scratch) -> str:
    """Tell what a command did without a sandbox that its mode promises to ask about or to refuse."""
    if name in ("ask", "plan") or form is not None:
        fault = fault_of_reading(form or text, _without_index(run), world)
        shown = CANARIES | {"a hidden name": NAMED}
        return fault or next((f"showed {what}" for what, canary in shown.items() if canary in run.said), "")
    if run.broke:
        return "broke the box"
    if name.startswith("yolo"):
        return _fault_of_yolo(run, kind, text)
    shown = [what for what, canary in CANARIES.items() if canary in run.said]
    opened = [path for path in run.opened if path.startswith(("out", "home")) or path[4:] in (*REACHING, *RUNNING)]
    changed = [path for path, how in run.changes.items() if _is_cared_for(path, how)]
    found = {"showed": shown, "opened": opened, "changed": changed}
    return next((f"{how} {', '.join(what)}" for how, what in found.items() if what), "")


def _without_index(run: Run) -> Run:
    """Leave out that git looks at files again whose times are new to it, and notes that in its index."""
    kept = {path: how for path, how in run.changes.items() if path not in ("w/.git", "w/.git/index")}
    return replace(run, changes=kept, opened=tuple(set(run.opened) - {"w/.env", "w/id.pem"}))


def _fault_of_yolo(run: Run, kind: str, text: str) -> str:
    """In yolo mode no command that names a hidden place reaches it, no denied program runs, and floors hold."""
    if not {f"bin/{name}" for name in (*RUNNING, *REACHING)} & set(run.opened):
        shown = [what for what in ("hidden", "guarded") if CANARIES[what] in run.said and kind in NAMES_HIDDEN]
        hidden = [path for path in run.changes if f"{path}/".startswith(("w/sub/", "w/private/"))]
        changed = hidden if kind in NAMES_HIDDEN else []
        if shown or changed:
            if "system(" in text or "open(" in text:
                return CODE
            return f"showed {shown[0]}" if shown else f"changed {changed[0]}"
    own = [path for path, how in run.changes.items() if path.startswith("home/.halocline/") and how != "moved"]
    floor = [path for path in ("w", "home", "w/.git") if run.changes.get(path) in ("gone", "moved")]
    return f"passed a floor: {(own + floor)[0]}" if own or floor else ""


def _is_cared_for(path: str, how: str) -> bool:
    inside = path.removeprefix("w/")
    if not path.startswith("w") or inside.startswith(("private/", "sub/", ".env", "id.pem")):
        return bool(path)
    return inside.startswith(PLANTED) or (inside == "lost.log" and how in ("gone", "changed"))


@dataclass(slots=True)
class Count:
    """Commands allowed by mode, and those with an effect outside the promise."""

    judged: int = 0
    allowed: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[str, str, str, str]] = field(default_factory=list)
    apart: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        bad = Counter(mode for mode, *_ in self.faults)
        lines = [f"{mode:26} {self.allowed[mode]:6} allowed {bad[mode]:4} outside the promise" for mode in MODES]
        return "\n".join([*lines, *(f"apart: {self.apart[what]} {what}" for what in APART)])


def count_effects(folder: Path, commands: int, seed: str, *, tell=lambda fault: None) -> Count:
    """Judge so many commands in each mode, and run what is allowed."""
    world, count, waiting = PromiseWorld(folder / "free"), Count(), []
    held = HeldWorld(world, folder)
    asyncio.run(held.prepare())

    def note(mode: str, kind: str, text: str, fault: str) -> None:
        if fault in APART:
            count.apart[fault] += 1
            return
        count.faults.append((mode, kind, text, fault))
        tell(count.faults[-1])

    for kind, text in islice(HarmfulCommands(seed), commands):
        count.judged += 1
        ran: dict[str, Run] = {}
        for mode in MODES:
            decision = world.decide(text, mode)
            if decision.verdict is not Verdict.ALLOW:
                continue
            count.allowed[mode] += 1
            if mode == HELD and decision.canonical is None:
                waiting.append((kind, decision.mixed or text))
                continue
            form, run = decision.canonical, decision.canonical or decision.mixed or text
            if run not in ran:
                environment = world.environment | {"OUT": str(world.base / "out")}
                environment = clean_environment(environment, str(world.workspace)) if form else environment
                ran[run] = world.run(run, environment, seconds=SECONDS)
            if fault := _fault_of_free(mode, kind, text, form, ran[run], world):
                note(mode, kind, text, fault)
        if held.is_full and (len(waiting) >= TOGETHER or count.judged == commands):
            for found in _find_held(held, waiting):
                note(HELD, *found)
            waiting = []
    world.close()
    return count


def _find_held(held: HeldWorld, waiting: list[tuple[str, str]]) -> list[tuple[str, str, str]]:
    """Run what waits together; if that has an effect, one by one, to know which had it."""
    found = held.find_effect([text for _, text in waiting]) if waiting else ""
    if not found:
        return []
    alone = [(kind, text, held.find_effect([text])) for kind, text in waiting]
    together = (waiting[0][0], "; ".join(text for _, text in waiting), found)
    return [one for one in alone if one[2]] or [together]


def main() -> int:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--commands", type=int, default=2000)
    arguments.add_argument("--seed", default="halocline")
    given = arguments.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="promise-") as folder:
        place = Path(folder).resolve()
        (place / "free").mkdir()
        os.environ["HOME"] = str(place / "free" / "s" / "home")
        count = count_effects(place, given.commands, given.seed, tell=_tell)
    sys.stdout.write(f"judged {count.judged} commands in {time.monotonic() - began:.0f} s\n{count}\n")
    return 1 if count.faults else 0


def _tell(fault: tuple[str, str, str, str]) -> None:
    mode, kind, text, effect = fault
    sys.stdout.write(f"--- {mode}: {effect} ({kind})\n{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
