"""Every way of reading through the shell, by every name that may hold secrets, in every spelling and mode.

`python -m tests.policy.shell.every_reader [COUNT]` judges all lines, or COUNT of them, runs what is allowed unasked,
and prints how many were made, allowed and run, and those that printed a secret; it fails if there is one.
"""

import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import product
from pathlib import Path

from tests.policy.shell.canaries import Leak, Scratch

from halocline.policy.sensitive_names import SECRET_FILES, SECRET_FOLDERS, SECRET_PATHS, is_secret
from halocline.protocol.kinds import ApprovalMode

IGNORED = ("private/", "/hidden.txt")
HIDDEN = ("private/notes.txt", "sub/private/deep.txt", "hidden.txt")
"""Files that the lines of an ignore file hide."""
WHOLE = (
    *("grep -r KEY .", "grep -R KEY", "grep -rn --include='*' KEY .", "grep -rE 'KEY' sub .", "grep -d recurse KEY ."),
    *("rg KEY", "rg -uu KEY", "rg --hidden --no-ignore KEY .", "rg -uuu -a KEY sub .", "rg -g '*' -uu KEY"),
    *("rg -. ''", "rg --iglob '**' -uu KEY", "rg -g '!a.txt' --hidden KEY", "rg --files | xargs cat", "egrep -r KEY"),
    *("fgrep -r KEY .", "git grep KEY", "git grep --untracked KEY", "git grep --no-index KEY"),
    *("git grep --no-index --exclude-standard K", "git grep KEY HEAD~1", "git grep -e KEY HEAD -- sub ."),
    *("git grep --cached KEY", "cd sub && git grep KEY :/", "git log -p", "git log -p --all", "git log --stat -p"),
    *("git log -U1", "git log -u --reverse", "git log --cc", "git log -G KEY -p", "git log -S KEY -p --all"),
    *("git log -W", "git log --word-diff", "git log -p -- .", "git log -p --follow -- sub", "git log -p --graph"),
    *("git log -p -g", "git log --color-words", "git log -p -- '*'", "git show", "git show HEAD~1 --format=%H"),
    *("git show --stat -p", "git show HEAD HEAD~1", "git show stash@{0}", "git show HEAD:", "git show HEAD^{tree}"),
    *("git show -m stash", "git diff", "git diff HEAD~1", "git diff -U9 HEAD~1", "git diff HEAD~1 HEAD -W"),
    *("git diff HEAD~1: HEAD:", "git diff --cached HEAD~1", "git diff HEAD~1 .", "git diff -R", "git diff stash@{0}"),
    *("git diff HEAD~1...HEAD", "git diff --no-index sub .", "git diff -- '*'", "cd sub && git diff"),
    *("git stash show -p", "git stash show -p stash@{0}", "git stash show -u -p 0", "git whatchanged -p"),
    *("git reflog -p", "git diff-tree -p HEAD~1 HEAD", "git diff-index -p HEAD~1", "git diff-files -p"),
    *("git status -vv", "git status -v", "git range-diff HEAD~1..HEAD HEAD~1..stash", "git archive HEAD"),
    *("git format-patch --stdout HEAD~1", "git annotate .", "git fast-export HEAD"),
    *("git cat-file --batch-all-objects --batch", "git -C . log -p", "git -c a.b=c grep KEY", "git show BLOB"),
    *("git cat-file -p BLOB", "git cat-file blob BLOB", "git diff BLOB BLOB2", "git show BLOB^{}"),
    *("git show x-1-gBLOB", "git diff HEAD:a.txt BLOB", "git show HEAD BLOB", "git grep KEY BLOB"),
    *("git ls-files | xargs cat", "diff -r . sub", "diff -ruN sub .", "diff -r sub .docker"),
    *("find . -type f -exec cat {} +", "find . -type f | xargs cat", "find . -type f -exec grep KEY {} +"),
    *("find . -name '*' -print0 | xargs -0 head", "find . -exec cat {} ';'"),
    *("find . -type f -exec grep -h KEY {} ';'", "find . -path '*' -type f -exec head {} +", "cat *", "cat .*"),
    *("cat */*", "cat .*/*", "cat * .*", "head -n5 * .* */* .*/*", "tail *", "awk 1 *", "sed -n p .*", "paste * .*"),
    *("strings * .*", "cat $(git ls-files)", "cat $(find . -type f)", "tar cO .", 'for f in .* *; do cat "$f"; done'),
    *("cat ./{*,.*}", "touch a.txt && grep -r KEY .", "touch a.txt; rg -uu KEY", "true | git log -p"),
    *("timeout 9 grep -r KEY .", "sh -c 'grep -r KEY .'", "nohup rg -uu KEY", "LC_ALL=C grep -r KEY ."),
    *("X=1 grep -r KEY .", "env X=1 rg -uu KEY", "xargs grep -r KEY < a.txt", "( grep -r KEY . )"),
    *("{ git diff HEAD~1; }", "if true; then git log -p; fi", "cat hard.txt", "grep KEY hard.txt"),
    *("head -n1 < hard.txt", "git diff --no-index a.txt hard.txt", "cat h*.txt"),
)
BY_PATH = (
    *("cat PATH", "cat -- PATH", "head -n 3 PATH", "tail PATH", "tac PATH", "nl PATH", "cut -c1- PATH", "sort PATH"),
    *("uniq PATH", "fold PATH", "rev PATH", "expand PATH", "paste PATH", "diff a.txt PATH", "diff -u PATH b.txt"),
    *("comm a.txt PATH", "join PATH PATH", "strings PATH", "od -c PATH", "awk 1 PATH", "sed -n p PATH", "sed '' PATH"),
    *("grep KEY PATH", "grep -r KEY PATH", "grep -rn KEY sub PATH", "rg KEY PATH", "rg -uu KEY . PATH"),
    *("jq -R . PATH", "cat < PATH", "cat a.txt PATH", "wc PATH; cat PATH", "cat PATH | head"),
    *("git diff --no-index a.txt PATH", "git diff HEAD~1 -- PATH", "git diff PATH", "git log -p -- PATH"),
    *("git log -p PATH", "git log -p --follow PATH", "git show HEAD -- PATH", "git show HEAD:PATH", "git show :PATH"),
    *("git show HEAD:./PATH", "git cat-file -p HEAD:PATH", "git blame PATH", "git blame HEAD -- PATH"),
    *("git grep KEY -- PATH", "git grep --no-index KEY PATH", "less PATH", "git grep KEY HEAD -- PATH"),
    *("git log -L 1,1:PATH", "git log -L1,+1:PATH -1", "git stash show -p -- PATH", "git diff HEAD:PATH HEAD~1:PATH"),
    *("git diff HEAD:PATH b.txt", "git show stash@{0}:PATH", "git annotate PATH", "rg -g PATH -uu KEY"),
    *("rg --iglob PATH -uu KEY", "rg --glob=PATH KEY .", "rg -uug PATH KEY", "base64 PATH"),
    *("grep -r --include=PATH KEY .", "find . -name PATH -exec cat {} +", "find . -iname PATH | xargs cat"),
    *("xxd PATH", "find . -path PATH -exec grep -h KEY {} +", "touch a.txt && cat PATH", "sh -c 'cat PATH'"),
    *("echo PATH | xargs cat", "python3 -c 'print(open(0).read())' < PATH", "cp PATH c.txt", "ln PATH d.txt"),
    *("tar cO PATH", "cat PATH > e.txt"),
)
POSTURES = (
    (ApprovalMode.ASK, False),
    (ApprovalMode.ASK, True),
    (ApprovalMode.ACCEPT_EDITS, False),
    (ApprovalMode.AUTO, False),
)
"""Modes in which nothing secret is shown unasked; the second is plan mode."""


def secret_names() -> list[str]:
    """A file for each entry of the one list of names."""
    files = [name.replace("?", "_").replace("*", filling) for name in SECRET_FILES for filling in ("", "x")]
    folders = [f"{folder}/config" for folder in SECRET_FOLDERS]
    files = [name for name in dict.fromkeys(files) if is_secret(name) and name.strip(".")]
    return [*(f"s{at}/{name}" if at % 2 else name for at, name in enumerate(files)), *SECRET_PATHS, *folders]


def spellings(name: str) -> Iterator[str]:
    """Other words for the same file; patterns that match it, and pathspecs of git's."""
    folder, slash, last = name.rpartition("/")
    front = f"{folder}{slash}"
    yield from (name, f"./{name}", f"'{name}'", f'"{name}"', f"sub/../{name}", f"$PWD/{name}", f'"$PWD"/{name}')
    yield from (f"{front}{last[:2]}*", f"{front}{last[:-1]}?", f"{front}[{last[0]}]{last[1:]}", f"{front}?{last[1:]}")
    yield from (
        f"{front}*{last[-3:]}",
        f"'{front}{last[:3]}*'",
        f"'*{last[1:]}'",
        f"'**/{last}'",
        f"{front}{{{last},x}}",
    )
    yield from (name.upper(), f"'{name.title()}'", f"':(icase){name.upper()}'", f"':(top){name}'", f"':/{name}'")
    yield from (f"':(glob)**/{last}'", f"':(icase,glob)**/{last[:2].upper()}*'", f"':(literal){name}'", "':!a.txt'")
    yield from (f"$(echo {name})", f"{front}\\{last}", f"{name[:2]}''{name[2:]}", "lnk", "sub/lnk2", f"$'{name}'")


def make_lines(scratch: Scratch) -> list[str]:
    """Every way of reading, by every name in every spelling."""
    blobs = dict(zip(("BLOB2", "BLOB"), (scratch.blob(name) for name in ("id_rsa", ".env")), strict=True))
    whole = list(WHOLE)
    for mark, blob in blobs.items():
        whole = [line.replace(mark, blob) for line in whole]
    named = [
        line.replace("PATH", spelling)
        for name, line in product((*secret_names(), *HIDDEN), BY_PATH)
        for spelling in spellings(name)
    ]
    return list(dict.fromkeys((*whole, *named)))


def make_scratch(folder: Path, *, hides: bool) -> Scratch:
    """A repository with a file for every name, and links to some; with `hides`, an ignore file hides others."""
    hidden = HIDDEN if hides else ()
    scratch = Scratch(folder, (*secret_names(), *hidden, "id_rsa"), IGNORED if hides else ())
    (scratch.workspace / "lnk").symlink_to(".env")
    if hides:
        scratch.link("hard.txt", to="private/notes.txt")
    (scratch.workspace / "sub" / "lnk2").symlink_to("../private/notes.txt")
    return scratch


def run_lines(lines: list[str], scratch: Scratch) -> tuple[int, list[Leak]]:
    """How many lines are allowed unasked in some mode, and which print a secret in the form in which they are run."""
    runs: dict[str, str] = {}
    for line, (mode, plan) in product(lines, POSTURES):
        decision = scratch.judge(line, mode, plan=plan)
        if decision.verdict == "allow":
            runs.setdefault(decision.canonical or decision.mixed or line, f"{mode}{' plan' * plan}: {line}")
    leaks = scratch.leaks(list(runs), may_change=True)
    grave = ("printed a canary", "copied a secret")
    return len(runs), [Leak(runs[leak.form], leak.fault) for leak in leaks if leak.fault in grave]


def sample_lines(scratch: Scratch, count: int, seed: str) -> list[str]:
    """All ways of reading whole folders, and some lines of the others; the same for a seed."""
    lines = make_lines(scratch)
    return [*lines[: len(WHOLE)], *random.Random(seed).sample(lines[len(WHOLE) :], count)]


def main() -> int:
    leaked = 0
    for hides in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            scratch = make_scratch(Path(folder).resolve() / "s", hides=hides)
            lines = sample_lines(scratch, int(sys.argv[1]), "readers") if len(sys.argv) > 1 else make_lines(scratch)
            count, leaks = run_lines(lines, scratch)
        sys.stdout.write(f"with{'' if hides else 'out'} an ignore file: ")
        sys.stdout.write(f"made {len(lines)}, in {len(POSTURES)} modes; allowed and run {count}, leaks {len(leaks)}\n")
        sys.stdout.writelines(f"{leak.form}\n    {leak.fault}\n" for leak in leaks[:200])
        leaked += len(leaks)
    return 1 if leaked else 0


if __name__ == "__main__":
    raise SystemExit(main())
