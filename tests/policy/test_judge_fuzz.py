import os
import random
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.samples import choose

from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import Decision, PolicyContext, decide_call
from halocline.policy.shell.programs.git.read_only import LOOKS
from halocline.policy.shell.programs.mutating import ACTORS
from halocline.policy.shell.programs.specs import Spec, read_long_flags
from halocline.policy.shell.programs.tables import READERS
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

LINES = int(os.environ.get("FUZZED_LINES", choose(500, 200)))
"""How many made-up command lines are judged."""
RUN = int(os.environ.get("FUZZED_RUNS", choose(300, 100)))
"""How many of those that are judged to only read are run."""
BATCH = 100
SPECS: dict[str, Spec] = {**READERS, **{f"git {name}": spec for name, spec in LOOKS.items()}}
NAMES = tuple(name for name in SPECS if name.split()[0] not in ("sleep", "tail", "npm", "pip", "pip3"))
"""Without those that wait, or take a second to begin."""
OTHERS = (
    *ACTORS,
    *("python", "node", "ssh", "vim", "gdb", "tee", "dd", "watch", "script", "env", "exec", "eval", "source"),
)
WRAPPERS = (
    "env",
    "timeout 5",
    "nice",
    "xargs",
    "bash -c",
    "sh -c",
    "sudo",
    "command",
    "nohup",
    "time",
    "builtin",
    "\\",
)
OPERANDS = tuple(
    r"""a.txt b.txt sub sub/c.txt . .. ./a.txt *.txt sub/* {a,b}.txt x -- - ~ ~/.ssh/id_rsa .env .git/config z 'a_b'
    /etc/hosts "$HOME" $x $(touch_z) `touch_z` ${x:-z} ${x:=z} $((1+1)) <(cat) 1p '1,2p' s/a/b/w_z 'w_z' e
    's/a/touch_z/e' 'BEGIN{system("touch_z")}' '{print_>"z"}' {print} '"touch_z"|getline' 3 HEAD HEAD~1 main HEAD:a.txt
    -n -l -o -oz --output=z --output -w -i -i.bak --in-place -delete -exec_touch_z_; -ok -fprint_z -fls --pre=touch
    --files0-from=a.txt -T --compress-program=touch --ext-diff --textconv -c -C -e -f --open-files-in-pager=touch -O
    --exec=touch --to-command=touch --checkpoint-action=exec=touch -I -u --set -s --help --version 0 -1 -x +1 é
    ''""".replace("_", "\0").split()
)
JOINTS = (" | ", " && ", " || ", "; ", "\n", " & ", " |& ", " > ", " >> ", " < ", " 2>&1 | ", " <<< ", " >& ", " 2> ")
SIGNS = "\\\n'\"$`{}()|&;<>#!~*?[]=- \t\0é\u202e\r"


def lines(seed: str) -> Iterator[str]:
    """Command lines that look like what models write, and like what somebody writes who wants to get through."""
    chance = random.Random(seed)
    while True:
        line = "".join(_simple(chance) + chance.choice(JOINTS) for _ in range(chance.choice((1, 1, 1, 2, 3))))
        line = line[: -len(chance.choice(JOINTS))] if chance.random() < 0.1 else line.rstrip(" |&;<>\n2")
        if chance.random() < 0.1:
            line = f"{chance.choice(WRAPPERS)} {shlex.quote(line) if chance.random() < 0.5 else line}"
        if chance.random() < 0.05:
            line = chance.choice(
                ("for f in *; do {}; done", "if {}; then {}; fi", "( {} )", "f() { {}; }; f", "{ {}; }")
            ).replace("{}", line)
        while chance.random() < 0.15:
            at = chance.randrange(len(line) + 1)
            line = line[:at] + chance.choice(SIGNS) + line[at:]
        yield line


def _simple(chance: random.Random) -> str:
    name = chance.choice(NAMES if chance.random() < 0.85 else OTHERS)
    spec = SPECS.get(name, Spec("abc"))
    words = [name]
    for _ in range(chance.choice((0, 0, 1, 1, 2, 3))):
        words.append(_flag(chance, spec))
    if name.startswith("find"):
        words[1:1] = [chance.choice((".", "sub"))]
    words += (chance.choice(OPERANDS).replace("\0", " ") for _ in range(chance.choice((0, 1, 1, 2, 3))))
    return " ".join(words)


def _flag(chance: random.Random, spec: Spec) -> str:
    kind = chance.random()
    if kind < 0.5 and spec.flags:
        return "-" + "".join(chance.choices(spec.flags, k=chance.choice((1, 1, 2))))
    if kind < 0.65 and spec.valued:
        return f"-{chance.choice(spec.valued)}{chance.choice(('', ' '))}{chance.choice(('1', 'z', 'a.txt', 'sub'))}"
    if kind < 0.9 and (long := list(read_long_flags(spec.words).items())):
        flag, role = chance.choice(long)
        dashes = "-" if spec.single else "--"
        return f"{dashes}{flag}" + (f"={chance.choice(('1', 'z', 'a.txt', 'always'))}" if role else "")
    return chance.choice(OPERANDS).replace("\0", " ")


class Ground:
    """A repository as the workspace, with a home beside it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.workspace, self.home = folder, folder / "w", folder / "home"
        (self.workspace / "sub").mkdir(parents=True)
        (self.home / ".ssh").mkdir(parents=True)
        (self.home / ".ssh" / "id_rsa").write_text("secret\n")
        for name, text in (("a.txt", "a one\nb two\n"), ("b.txt", "x\na\n"), ("sub/c.txt", "c\n"), (".env", "K=1\n")):
            (self.workspace / name).write_text(text)
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        who = ("-c", "user.name=a", "-c", "user.email=a@b")
        for words in (["init", "-q"], ["add", "."], [*who, "commit", "-qm", "one"], [*who, "tag", "v1"]):
            subprocess.run(["git", *words], cwd=self.workspace, env=environment, check=True)
        self.policy_context = PolicyContext(
            self.workspace, folder / "state", Mode.ACT, ApprovalMode.ASK, facts=LocalShellFacts({})
        )

    def judged(self, line: str) -> Decision:
        return decide_call(Summary(line, ToolKind.EXECUTE, command=line), self.policy_context)

    def held(self) -> dict[str, tuple[int, bytes]]:
        files = (path for path in self.root.rglob("*") if path.is_symlink() or not path.is_dir())
        return {str(path): (path.stat().st_mtime_ns, path.read_bytes()) for path in files}

    def run(self, forms: list[str]) -> None:
        """Run each, where nothing but this ground can be written, and nobody be reached."""
        each = (
            f"timeout 1 bash --noprofile --norc -c {shlex.quote(form)} </dev/null >/dev/null 2>&1" for form in forms
        )
        box = ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--unshare-all", "--die-with-parent"]
        subprocess.run(
            [*box, "--bind", str(self.root), str(self.root), "bash", "--noprofile", "--norc"],
            input="\n".join(each).encode(errors="surrogateescape"),
            cwd=self.workspace,
            env=clean_environment({**os.environ, "HOME": str(self.home)}, str(self.workspace)),
            check=False,
            timeout=600,
        )


@pytest.fixture
def ground(tmp_path: Path) -> Ground:
    return Ground(tmp_path)


@pytest.mark.slow
def test_no_line_breaks_the_judge(ground: Ground):
    made = lines(os.environ.get("FUZZED_SEED", "halocline"))
    verdicts = {ground.judged(next(made)).verdict.value for _ in range(LINES)}
    assert {"allow", "ask"} <= verdicts


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("bwrap") is None, reason="what is run is held by bubblewrap")
def test_nothing_that_is_judged_to_only_read_writes_when_it_is_run(ground: Ground):
    forms: list[str] = []
    for line in lines(os.environ.get("FUZZED_SEED", "halocline")):
        decision = ground.judged(line)
        if decision.verdict == "allow":
            assert decision.canonical is not None
            forms.append(decision.canonical)
        if len(forms) == RUN:
            break
    before = ground.held()
    for at in range(0, RUN, BATCH):
        ground.run(forms[at : at + BATCH])
        if ground.held() != before:
            pytest.fail(f"one of these writes: {_culprits(ground, forms[at : at + BATCH])}")


def _culprits(ground: Ground, forms: list[str]) -> list[str]:
    found = []
    for form in forms:
        before = ground.held()
        ground.run([form])
        if ground.held() != before:
            found.append(form)
    return found
