"""The paths of a sandboxed command: which it may write, which it may not even read, and an audit of what it created.

Only existing paths are protected, because masking a missing one leaves an empty file behind. So a command can create a
new `.git` or `.vscode`; the audit afterwards sets it aside before another program obeys it.
"""

import os
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from halocline.files.regular import read_regular
from halocline.git.git_folder import list_linked
from halocline.hosts.sandbox.scan import GIT_OBEYS, Identity, Scan, identify_git_parts
from halocline.ports.shell_facts import Hides
from halocline.protocol.errors import ToolFailure
from halocline.protocol.patterns import compile_later
from halocline.protocol.private_files import make_private_folder

CREDENTIALS = (
    *(".ssh", ".aws", ".azure", ".gnupg", ".kube", ".docker", ".password-store", ".mozilla", ".terraform.d", ".oci"),
    *(".claude", ".codex", ".cline", ".gemini", ".claude.json", ".vault-token", ".netrc", ".git-credentials"),
    *(".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".m2/settings.xml", ".gradle/gradle.properties", ".gem/credentials"),
    *(".cargo/credentials", ".cargo/credentials.toml", ".composer/auth.json", ".local/share/keyrings", ".thunderbird"),
    *(".config/gcloud", ".config/gh", ".config/hub", ".config/op", ".config/rclone", ".config/git/credentials"),
    *(".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/doctl"),
    *(
        ".config/github-copilot",
        ".config/composer/auth.json",
        ".config/containers",
        ".local/share/containers/auth.json",
    ),
    *(".bash_history", ".zsh_history", ".python_history", ".psql_history", ".mysql_history", ".node_repl_history"),
)
"""Paths below your home. In the workspace, files are masked by name (`scan`)."""
SYSTEM_SECRETS = ("/etc/shadow", "/etc/gshadow", "/etc/shadow-", "/etc/gshadow-", "/etc/sudoers", "/etc/sudoers.d")
TOO_MANY = (
    "Nothing was run: an ignore file or a rule hides {count} files and folders here, more than the sandbox can hide. "
    "Ask the user to hide whole folders instead, or to let it run outside the sandbox."
)
_PLAIN_SETTING = compile_later(
    r"""\s*(\[(core|user|init|branch "[^"]*"|remote "[^"]*")\]|(repositoryformatversion|filemode|bare|name|email"""
    r"""|logallrefupdates|ignorecase|precomposeunicode|symlinks|defaultbranch|remote|merge|url|fetch)\s*=.*)?\s*""",
    re.IGNORECASE,
)
"""Lines of a repository's configuration that run nothing."""
_LARGEST_CONFIG = 100_000
MOST_MASKED = 400
"""Mounts that hide files; more slow each command down, and the system refuses too many."""


@dataclass(frozen=True, slots=True)
class SandboxRequest:
    """The sandbox to set up. Paths are absolute with links resolved; `state` is Halocline's own folder."""

    workspace: Path
    home: Path
    state: Path
    own: Path
    """The task's folder, with its private `/tmp` and the quarantine."""
    network: bool = False
    git_writes: bool = False
    writable: tuple[Path, ...] = ()
    processes: int | None = None
    file_size: float | None = None
    roots: tuple[Path, ...] = ()
    """The task's other folders."""

    @property
    def tmp(self) -> Path:
        return self.own / "tmp"

    @property
    def folders(self) -> tuple[Path, ...]:
        """The folders that the task works in, the workspace first."""
        return (self.workspace, *self.roots)

    @property
    def places(self) -> tuple[Path, ...]:
        """Folders that commands may write, besides their own `/tmp`."""
        return (*self.folders, *self.writable)

    @property
    def refusal(self) -> str:
        """The reason commands cannot be confined to these folders; empty if they can."""
        for folder in self.folders:
            name = "workspace" if folder == self.workspace else "folder"
            if self.home.is_relative_to(folder):
                return f"the {name} {folder} contains your whole home folder"
            if self.state.is_relative_to(folder):
                return f"the {name} {folder} contains Halocline's own folder"
        return ""


@dataclass(frozen=True, slots=True)
class Seen:
    """The paths to protect in the task's folders, those to hide, and git's own folders to open, wherever they are."""

    protected: dict[Path, Identity]
    masked: list[Path]
    git: tuple[Path, ...] = ()


def list_masked(
    request: SandboxRequest, scan: Scan, hides: Hides | None = None, *, shows_secrets: bool = False
) -> list[Path]:
    """Existing paths that must not be read; none below another one, none above the workspace.

    Raises:
        ToolFailure: they are more than can be masked.
    """
    names = [f"{request.home}/{name}" for name in CREDENTIALS]
    there = [Path(name).resolve() for name in (*names, *SYSTEM_SECRETS, str(request.state)) if os.path.exists(name)]
    masked = [*scan.find_masked(request.folders, hides, shows_secrets=shows_secrets)]
    if len(masked) > MOST_MASKED:
        person = f"not run: {len(masked)} hidden files and folders are more than the sandbox can hide"
        raise ToolFailure(TOO_MANY.format(count=len(masked)), person=person)
    kept: list[Path] = []
    for path in sorted({*there, *masked}):
        if any(folder.is_relative_to(path) for folder in request.folders) or any(
            path.is_relative_to(other) for other in kept
        ):
            continue
        kept.append(path)
    return kept


def audit_protected(request: SandboxRequest, before: dict[Path, Identity], scan: Scan) -> tuple[str, ...]:
    """Set aside new protected paths; returns a message for each. A repository that runs nothing may stay.

    What was there before in a git folder elsewhere was mounted, so another program put the new one there.
    """
    known = set(before.values())
    obeyed = identify_git_parts({path.parent for path in before if path.name in GIT_OBEYS})
    found = scan.find_protected(request.folders) | {
        path: identity
        for path, identity in obeyed.items()
        if path not in before or before[path][2] or any(path.is_relative_to(place) for place in request.places)
    }
    new = [path for path, identity in found.items() if identity not in known]
    made = {path for path in new if path.name == ".git"}
    stays = {path for path in made if request.git_writes and _is_plain_repository(path)}
    stays |= {path for path in new if path.name == "worktrees" and request.git_writes and _holds_work_trees(path)}
    return tuple(_put_aside(path, request) for path in new if path not in stays and path.parent not in made)


def _holds_work_trees(path: Path) -> bool:
    """Return True for a `worktrees` as `git worktree add` makes it, perhaps by a person: each tree names it back."""
    try:
        entries = [] if path.is_symlink() else list(path.iterdir())
    except OSError:
        return False
    is_plain = not any(one.is_symlink() or os.path.lexists(one / "config.worktree") for one in entries)
    return is_plain and 0 < len(entries) == len(list_linked(path.parent))


def _is_plain_repository(path: Path) -> bool:
    """Return True for a repository as `git init` and `git clone` make it: no setting or hook in it runs a program."""
    if path.is_symlink() or any((path / name).exists() for name in ("commondir", "config.worktree", "modules")):
        return False
    try:
        lines = read_regular(path / "config", _LARGEST_CONFIG).decode().splitlines()
        inside = [*(path / "info").glob("*"), *(path / "hooks").glob("*"), *(path / "worktrees").glob("*")]
    except (OSError, ValueError):
        return False
    return all(map(_PLAIN_SETTING.fullmatch, lines)) and all(
        one.name == "exclude" or one.name.endswith(".sample") for one in inside
    )


def _put_aside(path: Path, request: SandboxRequest) -> str:
    folder = request.own / "quarantine"
    make_private_folder(folder)
    shown = path.relative_to(request.workspace) if path.is_relative_to(request.workspace) else path
    target = folder / f"{len(os.listdir(folder)) + 1}-{path.name}"
    try:
        try:
            path.rename(target)
        except OSError:  # on another file system; a copy could be made to fail halfway, another name cannot
            target = path.with_name(f"{path.name}.put-aside-{time.time_ns()}")
            path.rename(target)
    except OSError as error:
        return f"{shown} is new, other programs run or obey it, and it could not be moved away: {error.strerror}"
    return f"{shown} was moved to {target}, because other programs run or obey its content"


def existing_paths(paths: Iterable[Path]) -> list[Path]:
    return [path for path in paths if os.path.lexists(path)]
