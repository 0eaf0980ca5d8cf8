"""A repository that has git run programs in every way we know of; each leaves a canary of its own name.

`VECTORS` says what each one writes, and a command of plain git by which it runs: a test shows that all of them do.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HOOKS = {
    "pre-commit": "git commit --allow-empty -m x",
    "prepare-commit-msg": "git commit --allow-empty -m x",
    "commit-msg": "git commit --allow-empty -m x",
    "post-commit": "git commit --allow-empty -m x",
    "reference-transaction": "git commit --allow-empty -m x",
    "post-index-change": "touch merge.txt; git update-index --refresh; git add -A .gitattributes",
    "post-checkout": "git checkout -q -f HEAD",
    "post-rewrite": "git commit --allow-empty --amend -m x",
    "pre-rebase": "git stash -q; git rebase side",
    "pre-merge-commit": "git checkout -q -f; git merge -m x plain",
    "post-merge": "git checkout -q -f; git merge -m x plain",
    "pre-push": "git push . HEAD:refs/heads/pushed",
    "pre-receive": "git push . HEAD:refs/heads/pushed",
    "update": "git push . HEAD:refs/heads/pushed",
    "post-receive": "git push . HEAD:refs/heads/pushed",
    "post-update": "git push . HEAD:refs/heads/pushed",
    "applypatch-msg": "git checkout -q -f; git format-patch -1 plain --stdout | git am -q",
    "pre-applypatch": "git checkout -q -f; git format-patch -1 plain --stdout | git am -q",
    "post-applypatch": "git checkout -q -f; git format-patch -1 plain --stdout | git am -q",
}
_SIGNED = """tree {tree}
parent {parent}
author A <a@example.org> 1700000000 +0000
committer A <a@example.org> 1700000000 +0000
gpgsig -----BEGIN {kind}-----
 AAAA
 -----END {kind}-----

{kind}
"""


@dataclass(frozen=True, slots=True)
class Vector:
    """`config` is added to `.git/config`, `attribute` names a driver of the file `NAME.txt`.

    `{run}` is the command line of the canary. `more` writes what is needed beside it. `fires`: by plain git, in bash.
    """

    fires: str
    config: str = ""
    attribute: str = ""
    more: "Callable[[Repository, str], None] | None" = None
    alone: bool = False
    """Others would not run beside it."""
    within: str = ""
    """The folder from which it is met, when not the root."""


@dataclass(slots=True)
class Repository:
    """Where one is built. Programs and canaries are outside, so that it can be copied."""

    root: Path
    folder: Path
    env: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        home = self.root / "person"
        home.mkdir(parents=True, exist_ok=True)
        (self.root / "canaries").mkdir(exist_ok=True)
        (self.root / "programs").mkdir(exist_ok=True)
        (home / ".gitconfig").write_text(
            "[user]\n\tname = A\n\temail = a@example.org\n[init]\n\tdefaultBranch = main\n"
            "[protocol]\n\tallow = always\n[advice]\n\tdetachedHead = false\n"
        )
        self.env = {"PATH": os.environ["PATH"], "HOME": str(home), "GIT_TERMINAL_PROMPT": "0", "TERM": "xterm"}

    def git(self, *words: str, folder: Path | None = None, data: str = "") -> str:
        """Without what is hostile already."""
        safe = ("-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false")
        done = subprocess.run(
            ["git", *safe, *words],
            cwd=folder or self.folder,
            env=self.env,
            input=data,
            check=True,
            capture_output=True,
            text=True,
        )
        return done.stdout.strip()

    def canary(self, name: str) -> str:
        """A program that leaves a canary and gives back what it reads."""
        program = self.root / "programs" / name
        program.write_text(f"#!/bin/sh\nenv >'{self.root}/canaries/{name}'\n[ -t 0 ] || timeout 1 cat\nexit 0\n")
        program.chmod(0o755)
        return str(program)

    @property
    def canaries(self) -> list[str]:
        return sorted(os.listdir(self.root / "canaries"))

    def clear(self) -> None:
        for name in self.canaries:
            (self.root / "canaries" / name).unlink()

    def append(self, name: str, text: str) -> None:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with open(path, "ab") as file:
            file.write(text.encode())


def _write(name: str, text: str) -> Callable[[Repository, str], None]:
    def write(place: Repository, run: str) -> None:
        place.append(name, text.replace("{run}", run))

    return write


def _hook(name: str) -> Vector:
    def install(place: Repository, run: str) -> None:
        hook = place.folder / ".git/hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\nexec {run} </dev/null\n")
        hook.chmod(0o755)

    return Vector(HOOKS[name], more=install)


def _hooks_elsewhere(place: Repository, run: str) -> None:
    (place.folder / "their").mkdir()
    (place.folder / "their/pre-commit").write_text(f"#!/bin/sh\nexec {run} </dev/null\n")
    (place.folder / "their/pre-commit").chmod(0o755)


def _within(folder: str, config: str) -> Callable[[Repository, str], None]:
    def write(place: Repository, run: str) -> None:
        place.append(f"{folder}/.git/config", config.replace("{run}", run))

    return write


def _nested(place: Repository, run: str) -> None:
    """A repository of which the outer one knows nothing."""
    inside = place.folder / "nested"
    inside.mkdir()
    place.git("init", "-q", folder=inside)
    (inside / "n.txt").write_text("n\n")
    place.append("nested/.git/config", f'[core]\n\tfsmonitor = {run}\n[filter "n"]\n\tclean = {run}\n')


def _bare(place: Repository, run: str) -> None:
    """Files of the project that git takes for a repository."""
    inside = place.folder / "bare"
    place.git("init", "-q", "--bare", str(inside))
    (inside / "config").write_text(
        f"[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n\tfsmonitor = {run}\n"
    )


def _by_file(place: Repository, run: str) -> None:
    """A `.git` that is a file and leads to a folder with another name."""
    (place.folder / "linked").mkdir()
    place.git("init", "-q", "--separate-git-dir", str(place.folder / "elsewhere"), folder=place.folder / "linked")
    place.append("elsewhere/config", f"[core]\n\tfsmonitor = {run}\n")
    (place.folder / "linked/.git").write_text("gitdir: ../elsewhere\n")


def _promised(place: Repository, run: str) -> None:
    """A commit whose file is not there; git would fetch it."""
    blob = place.git("rev-parse", "HEAD:merge.txt")
    found = place.folder / ".git/objects" / blob[:2] / blob[2:]
    found.chmod(0o600)
    found.unlink()
    (place.folder / "merge.txt").unlink()
    place.append(
        ".git/config",
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tpartialClone = lazy\n"
        f'[remote "lazy"]\n\turl = {place.folder}/.git\n\tpromisor = true\n\tuploadpack = {run}\n',
    )


def _signed(kind: str) -> Callable[[Repository, str], None]:
    def add(place: Repository, run: str) -> None:
        head = place.git("rev-parse", "HEAD")
        tree = place.git("rev-parse", "HEAD^{tree}")
        text = _SIGNED.format(tree=tree, parent=head, kind=kind)
        place.git("update-ref", "HEAD", place.git("hash-object", "-t", "commit", "-w", "--stdin", data=text))

    return add


def _ssh_signed(place: Repository, run: str) -> None:
    (place.folder / ".git/signers").write_text("a@example.org ssh-ed25519 AAAA\n")
    _signed("SSH SIGNATURE")(place, run)


def _path_git(place: Repository, run: str) -> None:
    (place.folder / "bin").mkdir()
    shutil.copy(run, place.folder / "bin/git")


_FILTER = '[filter "NAME"]\n\tclean = {run}\n'
_TRICKS = {
    "backslashes": f"[a]\n\tx = a\\\\\n{_FILTER}",
    "comment": f"# note \\\n{_FILTER}",
    "semicolon": f"; note \\\n{_FILTER}",
    "form_feed": f"[a]\n\tq = a\f[core]\n{_FILTER}",
    "vertical_tab": f"[a]\n\tq = a\v[core]\n{_FILTER}",
    "carriage_return": f"[a]\n\tq = a\r[core]\n{_FILTER}",
    "line_separator": f"[a]\n\tq = a\u2028[core]\n{_FILTER}",
    "next_line": f"[a]\n\tq = a\x85[core]\n{_FILTER}",
    "same_line": '[filter "NAME"] clean = {run}\n',
    "oldform": "[filter.NAME]\n\tclean = {run}\n",
    "broken_value": '[filter "NAME"]\n\tclean = \\\n{run}\n',
    "quoted": '[filter "NAME"]\n\tclean = "{run}"\n',
}
_CREDENTIAL = "printf 'protocol=https\\nhost=127.0.0.1\\n\\n' | git credential fill"
_DIRTY = "git status; git diff; git add -A"

VECTORS: dict[str, Vector] = {
    **{f"hook-{name}": _hook(name) for name in HOOKS},
    **{f"trick-{name}": Vector(_DIRTY, text, "filter=NAME") for name, text in _TRICKS.items()},
    "clean": Vector(_DIRTY, _FILTER, "filter=NAME"),
    "required": Vector(_DIRTY, f"{_FILTER}\trequired = true\n", "filter=NAME"),
    "process": Vector(_DIRTY, '[filter "NAME"]\n\tprocess = {run}\n', "filter=NAME"),
    "smudge": Vector("git checkout -f -- smudge.txt", '[filter "NAME"]\n\tsmudge = {run}\n', "filter=NAME"),
    "textconv": Vector("git diff; git log -p", '[diff "NAME"]\n\ttextconv = {run}\n', "diff=NAME"),
    "cached_textconv": Vector(
        "git diff; git log -p", '[diff "NAME"]\n\ttextconv = {run}\n\tcachetextconv = true\n', "diff=NAME"
    ),
    "diff_command": Vector("git diff", '[diff "NAME"]\n\tcommand = {run}\n', "diff=NAME"),
    "diff_external": Vector("git diff", "[diff]\n\texternal = {run}\n", alone=True),
    "merge_driver": Vector(
        "git checkout -q -f; git merge side",
        '[merge "NAME"]\n\tdriver = {run} %A\n',
        more=_write(".git/info/attributes", "merge.txt merge=merge_driver\n"),
    ),
    "fsmonitor": Vector("git status", "[core]\n\tfsmonitor = {run}\n"),
    "hooks_path": Vector(
        "git commit --allow-empty -m x", "[core]\n\thooksPath = their\n", more=_hooks_elsewhere, alone=True
    ),
    "ssh_command": Vector("git ls-remote ssh://127.0.0.1/x", "[core]\n\tsshCommand = {run}\n"),
    "git_proxy": Vector("git ls-remote git://127.0.0.1/x", "[core]\n\tgitProxy = {run}\n"),
    "ask_pass": Vector(_CREDENTIAL, "[core]\n\taskPass = {run}\n"),
    "credential": Vector(_CREDENTIAL, "[credential]\n\thelper = {run}\n"),
    "credential_of_host": Vector(_CREDENTIAL, '[credential "https://127.0.0.1"]\n\thelper = {run}\n'),
    "pager": Vector("script -qec 'git log' /dev/null", "[core]\n\tpager = {run}\n"),
    "pager_of_status": Vector("script -qec 'git status' /dev/null", "[pager]\n\tstatus = {run}\n"),
    "pager_of_diff": Vector("script -qec 'git diff' /dev/null", "[pager]\n\tdiff = {run}\n"),
    "editor": Vector("git commit --amend --allow-empty", "[core]\n\teditor = {run}\n"),
    "sequence_editor": Vector("git stash -q; git rebase -i HEAD~1", "[sequence]\n\teditor = {run}\n"),
    "gpg": Vector(
        "git log", "[gpg]\n\tprogram = {run}\n[log]\n\tshowSignature = true\n", more=_signed("PGP SIGNATURE")
    ),
    "gpg_x509": Vector("git log --show-signature", '[gpg "x509"]\n\tprogram = {run}\n', more=_signed("SIGNED MESSAGE")),
    "gpg_ssh": Vector(
        "git log --show-signature",
        '[gpg "ssh"]\n\tprogram = {run}\n\tallowedSignersFile = .git/signers\n',
        more=_ssh_signed,
    ),
    "gpg_key_command": Vector(
        "git -c gpg.format=ssh commit -S --allow-empty -m x", '[gpg "ssh"]\n\tdefaultKeyCommand = {run}\n'
    ),
    "alias": Vector("git st", "[alias]\n\tst = !{run}\n\tlog = !{run}\n\tstatus = !{run}\n"),
    "diff_filter": Vector(
        "script -qec 'echo q | git add -p merge.txt' /dev/null", "[interactive]\n\tdiffFilter = {run}\n"
    ),
    "upload_pack": Vector("git fetch up", '[remote "up"]\n\turl = .\n\tuploadpack = {run}\n'),
    "receive_pack": Vector("git push re HEAD:refs/heads/p", '[remote "re"]\n\turl = .\n\treceivepack = {run}\n'),
    "ext_url": Vector("git fetch ex", '[remote "ex"]\n\turl = ext::{run}\n[protocol "ext"]\n\tallow = always\n'),
    "instead_of": Vector(
        "git ls-remote https://127.0.0.1/x",
        '[url "ext::{run} "]\n\tinsteadOf = https://127.0.0.1/\n[protocol "ext"]\n\tallow = always\n',
    ),
    "promised": Vector("git log -p", more=_promised, alone=True),
    "included": Vector(
        _DIRTY, "[include]\n\tpath = more\n", "filter=NAME", _write(".git/more", _FILTER.replace("NAME", "included"))
    ),
    "included_from_project": Vector(
        _DIRTY,
        "[include]\n\tpath = ../team\n",
        "filter=NAME",
        _write("team", _FILTER.replace("NAME", "included_from_project")),
    ),
    "included_if": Vector(
        _DIRTY,
        '[includeIf "gitdir:/"]\n\tpath = if\n',
        "filter=NAME",
        _write(".git/if", _FILTER.replace("NAME", "included_if")),
    ),
    "config_worktree": Vector(
        _DIRTY,
        "[core]\n\trepositoryformatversion = 1\n[extensions]\n\tworktreeConfig = true\n",
        "filter=NAME",
        _write(".git/config.worktree", _FILTER.replace("NAME", "config_worktree")),
    ),
    "info_attributes": Vector(
        _DIRTY, _FILTER, more=_write(".git/info/attributes", "info_attributes.txt filter=info_attributes\n")
    ),
    "attributes_file": Vector(
        _DIRTY,
        f"[core]\n\tattributesFile = .git/named\n{_FILTER}",
        more=_write(".git/named", "attributes_file.txt filter=attributes_file\n"),
    ),
    "like_lfs": Vector(_DIRTY, '[filter "lfs"]\n\tclean = "git-lfs clean -- %f; {run}"\n', "filter=lfs"),
    "like_lfs_twice": Vector(
        _DIRTY, '[filter "lfs"]\n\tclean = git-lfs clean -- %f\n\tclean = {run}\n', "filter=lfs", alone=True
    ),
    "gitlink_fsmonitor": Vector("git status", more=_within("sub", "[core]\n\tfsmonitor = {run}\n")),
    "gitlink_filter": Vector("git status", more=_within("sub", '[filter "s"]\n\tclean = {run}\n')),
    "gitlink_external": Vector("git diff --submodule=diff", more=_within("sub", "[diff]\n\texternal = {run}\n")),
    "gitlink_within": Vector("git status", more=_within("sub/deep", "[core]\n\tfsmonitor = {run}\n")),
    "submodule_update": Vector(
        "git -C sub commit --allow-empty -qm x; git submodule update",
        '[submodule "sub"]\n\turl = ./sub\n\tupdate = !{run}\n',
    ),
    "nested": Vector("git -C nested status", more=_nested, within="nested"),
    "bare": Vector("cd bare; git status", more=_bare, within="bare"),
    "by_file": Vector("git -C linked status", more=_by_file, within="linked"),
    "trailer_command": Vector(
        "echo x | git interpret-trailers --trailer tc=1", '[trailer "tc"]\n\tkey = tc\n\tcommand = {run}\n'
    ),
    "trailer_cmd": Vector(
        "echo x | git interpret-trailers --trailer tm=1", '[trailer "tm"]\n\tkey = tm\n\tcmd = {run}\n'
    ),
    "difftool": Vector("git difftool -y -t dt HEAD", '[difftool "dt"]\n\tcmd = {run}\n'),
    "browser": Vector("git web--browse -b wb x", '[browser "wb"]\n\tcmd = {run}\n'),
    "archive": Vector("git archive --format=at HEAD", '[tar "at"]\n\tcommand = {run}\n'),
    "path_git": Vector('PATH="$PWD/bin:$PATH"; git status', more=_path_git),
}


def base(place: Repository) -> None:
    """Two commits of a file for each vector, branches, and repositories within; then every file is changed."""
    place.folder.mkdir(parents=True)
    place.git("init", "-q")
    names = [f"{name}.txt" for name in VECTORS]
    attributes = [
        f"{name}.txt {vector.attribute.replace('NAME', name)}" for name, vector in VECTORS.items() if vector.attribute
    ]
    (place.folder / ".gitattributes").write_text("\n".join(attributes) + "\n")
    for text in ("one\n", "two\n"):
        for name in (*names, "merge.txt"):
            (place.folder / name).write_text(text)
        place.git("add", "-A")
        place.git("commit", "-q", "-m", text.strip())
    for branch, name in (("side", "merge.txt"), ("plain", "plain.txt")):
        place.git("checkout", "-q", "-b", branch, "HEAD~1" if branch == "side" else "HEAD")
        (place.folder / name).write_text(f"{branch}\n")
        place.git("add", "-A")
        place.git("commit", "-q", "-m", branch)
        place.git("checkout", "-q", "main")
    (place.folder / "main.txt").write_text("main\n")
    place.git("add", "-A")
    place.git("commit", "-q", "-m", "main")
    for folder in ("sub", "sub/deep"):
        (place.folder / folder).mkdir()
        place.git("init", "-q", folder=place.folder / folder)
    for folder in ("sub/deep", "sub"):
        inside = place.folder / folder
        (inside / ".gitattributes").write_text("*.txt filter=s\n")
        (inside / "s.txt").write_text("s\n")
        place.git("add", "-A", folder=inside)
        place.git("commit", "-q", "-m", "s", folder=inside)
        (inside / "s.txt").write_text("t\n")
    (place.folder / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n')
    place.git("add", "sub", ".gitmodules")
    place.git("commit", "-q", "-m", "sub")
    for name in (*names, "merge.txt"):
        (place.folder / name).write_text("changed since\n")


def install(place: Repository, *names: str) -> None:
    """Make a repository hostile in these ways."""
    for name in names:
        vector, run = VECTORS[name], place.canary(name)
        if vector.more:
            vector.more(place, run)
        if vector.config:
            place.append(".git/config", vector.config.replace("NAME", name).replace("{run}", run))


def fire(place: Repository, name: str) -> None:
    """What plain git does, by which a vector runs."""
    subprocess.run(
        ["bash", "-c", VECTORS[name].fires],
        cwd=place.folder,
        env=place.env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=60,
        check=False,
    )


def together() -> list[str]:
    return [name for name, vector in VECTORS.items() if not vector.alone]
