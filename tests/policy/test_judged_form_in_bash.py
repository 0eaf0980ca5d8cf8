import os
import random
import re
import shlex
import subprocess

import pytest

from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind

pytestmark = pytest.mark.slow

INPUTS = int(os.environ.get("JUDGED_FORMS", "2000"))
"""How many allowed commands are run both as they were written and as they were judged."""
BATCH = 200
NAMES = tuple(
    r"""ls; ls -a; cat; echo; echo -n; printf '%s\n'; head -n 2; tail -1; wc -l; grep -n; grep -c; sort;
    sort -r; uniq; cut -c1-3; tr a b; basename; dirname; find; rev; nl; sed -n; sed; test -f; stat -c
    %n; seq; true; false; cd; pwd; tac; awk; xargs; bash -c; find . -name '*.txt' | xargs grep; touch;
    rm; comm; diff; paste; od -c; tree; du -a; file""".replace("\n", " ").split("; ")
)
WORDS = tuple(
    r"""a.txt b.txt sub sub/c.txt 'a.txt' "a.txt" a'.'txt a"."txt a\.txt ./a.txt *.txt ?.txt [ab].txt sub/*
    {a,b}.txt -n -l -- x 'x_y' "x_y" x\_y "a\nb" "\$x" '$x' $x "$x" $(touch_z) `touch_z` ~ 1p '1,2p'
    s/a/b/ '{print_$1}' 3 . .. a foo$ '*' "*" \* #c a#c ! = a=b é 'é' $'a' $? "$?" -e - '-x' \ ' " 2>&1
    2>/dev/null >/dev/null >_z >>z <a.txt <_sub/c.txt <<<x 'ls_|_wc_-l' [ ] {} %s \; ( ) ^ x*y "x{a,b}"
    x{a,b} [!a].txt [^a]* "a"*.txt '*'.txt a.t[x]t""".replace("_", "\0").split()
)
JOINTS = (
    " | ",
    " && ",
    " || ",
    "; ",
    ";",
    "\n",
    "\n\n",
    " & ",
    "|",
    " |& ",
    "\\\n",
    " \\\n ",
    "\n\\",
    " # x\n",
    "  ",
    "\t",
    ";;",
)

LEFT_OUT = b"/dev/null/left out: outside the workspace, gone, or a secret"


def texts(seed):
    chance = random.Random(seed)
    while True:
        commands = []
        for _ in range(chance.choice((1, 1, 2, 3))):
            words = [chance.choice(NAMES), *chance.choices(WORDS, k=chance.choice((0, 1, 1, 2, 2, 3)))]
            commands += [" ".join(words).replace("\0", " "), chance.choice(JOINTS)]
        text = "".join(commands[:-1])
        if chance.random() < 0.1:
            at = chance.randrange(len(text) + 1)
            text = text[:at] + chance.choice("\\\n'\"$`{}()|&;<># ") + text[at:]
        yield text


def allowed(workspace, count):
    posture = PolicyContext(workspace, workspace.parent / "home", Mode.ACT, ApprovalMode.ASK, facts=LocalShellFacts({}))
    seen = {}
    for text in texts(os.environ.get("JUDGED_SEED", "halocline")):
        if text not in seen and "sleep" not in text:
            decision = decide_call(Summary(text, ToolKind.EXECUTE, command=text), posture)
            if decision.verdict == "allow":
                seen[text] = decision.canonical
            if len(seen) == count:
                return list(seen.items())
    raise AssertionError


@pytest.fixture
def workspace(tmp_path):
    folder = tmp_path / "w"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("a one\nb two\nfoo$\n")
    (folder / "b.txt").write_text("x y\nb\na\nx\n")
    (folder / "sub" / "c.txt").write_text("c\n*\n")
    (tmp_path / "home").mkdir()
    return folder


def outputs(forms, workspace):
    """What each form prints and how it ends, each in a subshell of its own."""
    script = "".join(f"(eval -- {shlex.quote(form)}) </dev/null 2>/dev/null; printf '\\0%s\\0' $?\n" for form in forms)
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc"],
        input=script.encode(),
        cwd=workspace,
        env=clean_environment(os.environ, str(workspace)),
        capture_output=True,
        check=False,
        timeout=120,
    )
    fields = re.sub(rb"bash: line \d+: ", b"bash: ", ran.stdout).split(b"\0")
    return list(zip(fields[0::2], fields[1::2], strict=False))


def snapshot(folder):
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"") for path in folder.rglob("*")
    }


def is_same(judged, raw):
    """Tell whether output and exit code are the same, but for what is said of a name that the form kept back."""
    (said, code), (raw_said, raw_code) = judged, raw
    return judged == raw or (LEFT_OUT in said and code == raw_code and bool(raw_said))


def test_what_is_allowed_as_reading_changes_nothing_and_prints_what_the_text_would(workspace):
    before = snapshot(workspace.parent)
    pairs = allowed(workspace, INPUTS)
    different = []
    for at in range(0, len(pairs), BATCH):
        batch = pairs[at : at + BATCH]
        judged = outputs([form for _, form in batch], workspace)
        assert len(judged) == len(batch)
        assert snapshot(workspace.parent) == before
        raw = outputs([text for text, _ in batch], workspace)
        assert snapshot(workspace.parent) == before
        different += [
            (*pair, one, two) for pair, one, two in zip(batch, judged, raw, strict=False) if not is_same(one, two)
        ]
    assert different == []
