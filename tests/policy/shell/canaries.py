"""A scratch repository with canaries: files whose content must never be printed, and a watch for those outside."""

import ctypes
import os
import shlex
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from halocline.hosts.shell.environment import clean_environment
from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import Decision, PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import RuleBook

OUTSIDE = "zq7outsiistuo7qz"
"""In files outside the workspace; the same from behind, so that `rev` prints it as well."""
SECRET = "zq7secreterces7qz"
"""In files of the workspace that hold secrets."""
_OPENED = 0x20
_BATCH = 150


@dataclass(frozen=True, slots=True)
class Leak:
    """A form that printed a canary, opened one outside, or changed a file."""

    form: str
    fault: str


class Scratch:
    """`workspace` is a repository with a history; `outside` and `home` stand beside it."""

    def __init__(self, folder: Path, secrets: Sequence[str], ignored: tuple[str, ...] = ()) -> None:
        self.folder, self.workspace = folder, folder / "w"
        self.outside, self.home, self.state = folder / "out", folder / "home", folder / "state"
        self.secrets = tuple(secrets)
        self._ignored = ignored
        self._kept: set[Path] = set()
        self._fill()
        self._facts = LocalShellFacts({"PATH": os.environ["PATH"], "HOME": str(self.home)})

    def _fill(self) -> None:
        for place in (self.outside, self.home / ".ssh", self.state, self.workspace / "sub"):
            place.mkdir(parents=True)
        text = "".join(f"KEY{n}={OUTSIDE}, {n} KEY\n" for n in range(3))
        for path in (self.outside / "o.txt", self.home / ".ssh" / "id_rsa", self.state / "credentials"):
            path.write_text(text, encoding="utf-8")
        plain = {"a.txt": "a one\nb two\nKEY\n", "b.txt": "x\na\n", "sub/c.txt": "c,1\n", "p.json": '{"KEY": 1}\n'}
        for name, content in plain.items():
            (self.workspace / name).write_text(content)
        self._write_secrets("one")
        (self.workspace / "link").symlink_to(self.outside / "o.txt")
        self._git("init", "-q")
        self._commit("one")
        self._write_secrets("two")
        (self.workspace / "a.txt").write_text("a one\nb 2\nKEY\n")
        self._commit("two")
        self._write_secrets("three")
        (self.workspace / "b.txt").write_text("x\nb\n")
        self._git("stash", "-q")
        self._write_secrets("four")
        (self.workspace / "a.txt").write_text("a\nKEY\n")

    def _write_secrets(self, when: str) -> None:
        for name in self.secrets:
            path = self.workspace / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"KEY={SECRET} {when}\n")

    def _commit(self, message: str) -> None:
        self._git("add", "-Af")
        self._git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", message)

    def _git(self, *words: str) -> None:
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.home), "GIT_CONFIG_NOSYSTEM": "1"}
        who = {f"GIT_{role}_{what}": "a@b" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["git", *words], cwd=self.workspace, env=environment | who, check=True)

    def link(self, name: str, to: str) -> None:
        """Give a file another name."""
        os.link(self.workspace / to, self.workspace / name)
        self._kept.add(self.workspace / name)

    def blob(self, name: str) -> str:
        """The name of the object of a file in the index."""
        words = ["git", "rev-parse", f":{name}"]
        return subprocess.run(words, cwd=self.workspace, check=True, capture_output=True, text=True).stdout.strip()

    def judge(self, line: str, mode: ApprovalMode = ApprovalMode.ASK, *, plan: bool = False) -> Decision:
        book = RuleBook(ignored=self._ignored)
        where = Mode.PLAN if plan else Mode.ACT
        posture = PolicyContext(self.workspace, self.state, where, mode, book=book, facts=self._facts)
        return decide_call(Summary(line, ToolKind.EXECUTE, command=line), posture)

    def leaks(self, forms: Sequence[str], *, may_change: bool = False) -> list[Leak]:
        """Run each form, many to a process, and name those that leak, or change a file where they may not."""
        found: list[Leak] = []
        for at in range(0, len(forms), _BATCH):
            found += self._leaks_of(forms[at : at + _BATCH], may_change=may_change)
        return found

    def _leaks_of(self, forms: Sequence[str], *, may_change: bool) -> list[Leak]:
        before = self._held()
        with _Watch([self.outside / "o.txt", self.home / ".ssh" / "id_rsa", self.state / "credentials"]) as watch:
            printed = self.run(forms)
            opened = watch.opened()
        copied = self._copies()
        for path in copied:
            path.unlink()
        leaks = [
            Leak(form, "printed a canary")
            for form, text in zip(forms, printed, strict=False)
            if OUTSIDE.encode() in text or SECRET.encode() in text
        ]
        changed = not may_change and self._held() != before
        if len(forms) > 1 and (opened or copied or changed or len(printed) < len(forms)):
            half = len(forms) // 2
            return [
                leak for some in (forms[:half], forms[half:]) for leak in self._leaks_of(some, may_change=may_change)
            ]
        if copied:
            return [*leaks, Leak(forms[0], "copied a secret")]
        if opened:
            return [*leaks, Leak(forms[0], "opened a file outside")]
        return [*leaks, Leak(forms[0], "changed a file")] if changed else leaks

    def run(self, forms: Iterable[str]) -> list[bytes]:
        """What each form prints, errors too."""
        mark = b"\0zq7\0"
        lines = "".join(
            f"(eval -- {shlex.quote(form)}) </dev/null >&3 2>&3; printf '\\0zq7\\0' >&3\n" for form in forms
        )
        out = self.folder / "printed"
        script = f"ulimit -f 40000; exec 3>{shlex.quote(str(out))}\n{lines}"
        environment = clean_environment({**os.environ, "HOME": str(self.home)}, str(self.workspace))
        subprocess.run(
            ["nice", "-n", "10", "timeout", "300", "bash", "--noprofile", "--norc"],
            input=script.encode(errors="surrogateescape"),
            cwd=self.workspace,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=False,
        )
        printed = out.read_bytes().split(mark)[:-1]
        out.unlink()
        return printed

    def _copies(self) -> list[Path]:
        """Files that hold a secret now, and did not in the beginning."""
        known = {self.workspace / name for name in self.secrets}
        found = (path for path in self.workspace.rglob("*") if path.is_file() and ".git" not in path.parts)
        others = (path for path in found if path.resolve() not in known and path not in self._kept)
        return [path for path in others if SECRET.encode() in path.read_bytes()]

    def _held(self) -> dict[str, tuple[int, int]]:
        files = (path for path in self.folder.rglob("*") if path.is_symlink() or not path.is_dir())
        return {str(path): (path.lstat().st_mtime_ns, path.lstat().st_size) for path in files}


class _Watch:
    """Tells whether one of some files was opened, by whatever process."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths
        self._libc = ctypes.CDLL(None, use_errno=True)

    def __enter__(self) -> "_Watch":
        self._handle = self._libc.inotify_init1(os.O_NONBLOCK)
        for path in self._paths:
            if self._libc.inotify_add_watch(self._handle, os.fsencode(path), _OPENED) < 0:
                raise OSError(ctypes.get_errno(), str(path))
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._handle)

    def opened(self) -> bool:
        """Whether one was opened since this was asked last."""
        try:
            return bool(os.read(self._handle, 1 << 16))
        except BlockingIOError:
            return False
