"""A small world to run random programs in: a workspace with secrets, a home, what is outside, and programs.

It is judged where it stands and never changed; programs run in a box that has a copy of it in the same place, and are
held there by bubblewrap: nothing else can be written, and there is no network.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from halocline.hosts.shell.policy_facts import LocalShellFacts
from halocline.policy.gate import Decision, PolicyContext, decide_call
from halocline.ports.tool import Summary
from halocline.protocol.kinds import ApprovalMode, Mode, ToolKind
from halocline.protocol.permission_rules import Rule, RuleBook, Verdict

OUTSIDE, SECRET, RAN, GUARDED = "zq7outsiistuo7qz", "zq7secreterces7qz", "zq7ranar7qz", "zq7guarddraug7qz"
"""In files outside the workspace, in those of it that hold secrets, what an unknown program prints, and in what rules
guard."""
RULES = RuleBook((Rule(Verdict.DENY, "guarded", paths=("sub/**",)),))
DOERS = (
    *("rm", "touch", "mkdir", "cp", "mv", "tee", "rmdir", "unlink", "truncate", "ln", "chmod", "shred", "dd"),
    *("make", "python3"),
)
"""Programs that do more than read; the copies stand in front in the PATH, and are watched."""
WATCHED = ("", "bin", "out", "home", "home/.ssh", "home/.halocline", "w/.env", "w/id.pem")
SECONDS = 3.0
_PATH = "/usr/local/bin:/usr/bin:/bin"
_PATIENCE = 60
_SERVER = Path(__file__).with_name("box_server.py")


@dataclass(frozen=True, slots=True)
class Run:
    """What a program did: what it printed, the watched things it opened, what it changed and how, and its trace."""

    said: str = ""
    opened: tuple[str, ...] = ()
    changes: dict[str, str] = field(default_factory=dict)
    trace: str = ""
    broke: bool = False


class Scratch:
    """`base` is the world; close it to end its box."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.base = folder, folder / "s"
        self.workspace, self.state = self.base / "w", self.base / "home" / ".halocline"
        self._fill()
        environment = {"PATH": f"{self.base / 'bin'}:{_PATH}", "HOME": str(self.base / "home")}
        self.environment = environment | {"HALOCLINE_HOME": str(self.state), "LANG": "C.UTF-8"}
        self._facts = LocalShellFacts(self.environment)
        self._box: Box | None = None

    def _fill(self) -> None:
        inside = {"a.txt": "a one\nKEY b\n", "b.txt": "x\na\n", "sub/c.txt": f"c {GUARDED}\n", "src/main.py": "pass\n"}
        secret = {".env": f"KEY={SECRET}\n", "id.pem": f"KEY {SECRET}\n"}
        outside = {"out/o.txt": "", "home/.ssh/id_rsa": "", "home/.halocline/credentials": ""}
        files = {f"w/{name}": text for name, text in (inside | secret).items()}
        files |= dict.fromkeys(outside, f"KEY {OUTSIDE}\n")
        files |= {"bin/canary": f"#!/bin/sh\necho {RAN}\n"}
        files |= {f"bin/{name}": f'#!/bin/sh\nexec {_program(name)} "$@"\n' for name in DOERS}
        for name, text in files.items():
            path = self.base / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            path.chmod(0o755 if name.startswith("bin/") else 0o644)
        (self.workspace / "link").symlink_to("../out/o.txt")
        subprocess.run(["git", "init", "-q", "--template=", str(self.workspace)], check=True)

    def places(self) -> dict[str, str]:
        return {"OUT": str(self.base / "out"), "HOME": str(self.base / "home"), "STATE": str(self.state)}

    def judge(self, text: str, mode: ApprovalMode, *, guarded: bool = False) -> Decision:
        book = RULES if guarded else RuleBook()
        posture = PolicyContext(self.workspace, self.state, Mode.ACT, mode, book=book, facts=self._facts)
        return decide_call(Summary(text, ToolKind.EXECUTE, command=text), posture)

    def run(self, text: str, environment: dict[str, str], *, trace: bool = False, seconds: float = SECONDS) -> Run:
        """Run one program. One that breaks the box is run again in a new one, to know that it was this one."""
        request = {"text": text, "environment": environment, "trace": trace, "seconds": seconds}
        for _ in range(2):
            self._box = self._box or Box(self.folder)
            try:
                answer = self._box.ask(request)
            except (OSError, ValueError):
                self.close()
                continue
            return Run(answer["said"], tuple(answer["opened"]), answer["changes"], answer["trace"])
        return Run(broke=True)

    def close(self) -> None:
        if self._box:
            self._box.close()
            self._box = None


class Box:
    """A bubblewrap with a server in it that runs programs in a copy of the world."""

    def __init__(self, folder: Path) -> None:
        ours, theirs = socket.socketpair()
        ours.settimeout(_PATIENCE)
        kept = "/tmp/kept"
        python = os.path.realpath(sys.executable)
        mounts = ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/tmp", "--tmpfs", folder / "s"]
        mounts += ["--ro-bind", folder / "s", kept, "--ro-bind", _SERVER, "/tmp/box_server.py"]
        server = [python, "-I", "-S", "/tmp/box_server.py", folder / "s", kept, str(theirs.fileno()), *WATCHED]
        self._process = subprocess.Popen(
            ["bwrap", *mounts, "--unshare-all", "--die-with-parent", *server],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()
        self._wire = ours.makefile("rwb")
        self._line = ours

    def ask(self, request: dict[str, object]) -> dict[str, object]:
        """Raises OSError or ValueError when the server is gone."""
        self._wire.write(json.dumps(request).encode() + b"\n")
        self._wire.flush()
        return json.loads(self._wire.readline())

    def close(self) -> None:
        self._process.kill()
        self._process.wait()
        self._line.close()


def _program(name: str) -> str:
    return shutil.which(name, path=_PATH) or "/bin/false"
