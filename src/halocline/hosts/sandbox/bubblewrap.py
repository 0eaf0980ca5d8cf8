"""Arguments that run a command in bubblewrap's sandbox; built from what is on disk, without creating anything.

Order matters, because a later mount covers an earlier one: the whole system read-only, private places, writable places,
protected paths within those, and last masked paths.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

from halocline.hosts.keeper import FILTER_FD
from halocline.hosts.sandbox.mounts import SandboxRequest, Seen, existing_paths
from halocline.policy.sensitive_names import is_secret

_HELD = ("--unshare-user", "--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try")
_NO_PRIVILEGE = ("--disable-userns", "--cap-drop", "ALL", "--die-with-parent")
_TMP = Path("/tmp")
_KERNEL = ("/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/fs", "/proc/acpi", "/proc/scsi")
"""Root can write these without any capability, and bubblewrap covers only some of them by itself."""
_RESOLVER = Path("/etc/resolv.conf")


MOST_KEPT = 150
"""Protected paths that are mounted read-only, those nearest to the root first: 400 take bubblewrap half a second."""


def build_arguments(request: SandboxRequest, folder: str, seen: Seen, shown: Iterable[Path]) -> list[str]:
    """bubblewrap's arguments, up to the command itself. Paths in `shown` are readable wherever they are."""
    inside = request.places
    words = [*_HELD, *(() if request.network else ("--unshare-net",)), *_NO_PRIVILEGE]
    words += ["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--tmpfs", "/run"]
    for path in existing_paths(map(Path, _KERNEL)):
        words += _bind_path("--ro-bind", path)
    if request.workspace != _TMP:
        words += _bind_path("--bind", request.tmp, _TMP)
    words += _name_files(request)
    for path in shown:
        words += _bind_path("--ro-bind", path) if path.is_relative_to(_TMP) else []
    for path in existing_paths(inside):
        words += _bind_path("--bind", path)
    for path in _list_above(seen.masked, inside):
        words += _bind_path("--bind", path)
    for path in _list_kept(seen):
        words += _bind_path("--bind", path) if path in seen.git else _keep_path(path, request, seen.git)
    for path in seen.masked:
        if not path.is_relative_to(_TMP) or any(path.is_relative_to(place) for place in inside):
            words += _mask_path(path)
    return [*words, "--seccomp", str(FILTER_FD), "--chdir", folder, "--"]


def _list_above(masked: Iterable[Path], places: Iterable[Path]) -> list[Path]:
    """Return the folders above what is hidden by its place, parents first: a mount point cannot be renamed.

    Under another name it would not be hidden from the next command. A secret is one by its own name.
    """
    places = set(places)
    hidden = [path for path in masked if not is_secret(path.name)]
    found = {above for path in hidden for above in path.parents if not places.isdisjoint(above.parents)}
    return sorted(found, key=lambda path: len(path.parts))


def _list_kept(seen: Seen) -> list[Path]:
    """Return the protected paths and git's own folders, parents first: what git obeys in those is among them."""
    nearest = sorted(seen.protected, key=_count_parts)[:MOST_KEPT]
    obeyed = (path for path in seen.protected if path.parent in seen.git)
    return sorted({*nearest, *obeyed, *seen.git}, key=_count_parts)


def _count_parts(path: Path) -> int:
    return len(path.parts)


def _keep_path(path: Path, request: SandboxRequest, git: tuple[Path, ...]) -> Iterator[str]:
    """Mount a path read-only; as a mount point it cannot be replaced either."""
    target = path.resolve()
    if target in git or not target.exists() or not any(map(target.is_relative_to, (*request.places, *git))):
        return
    if path.parent.name == ".github":  # or the folder around it could be renamed
        yield from (*_bind_path("--bind", target.parent), *_bind_path("--ro-bind", target))
    elif path.name == ".git" and request.git_writes and target.is_dir() and not path.is_symlink():
        yield from _bind_path("--bind", target)  # its parts that git obeys are protected as well
    else:
        yield from _bind_path("--ro-bind", target)


def _name_files(request: SandboxRequest) -> list[str]:
    """With a network, mount the resolver configuration; it is often a file below `/run`."""
    target = _RESOLVER.resolve()
    if request.network and target.is_file() and target.parts[1] == "run":
        return _bind_path("--ro-bind", target)
    return []


def _mask_path(path: Path) -> list[str]:
    """Mask a path: a folder appears empty, a file cannot be opened."""
    if path.is_dir():
        return ["--tmpfs", str(path), "--remount-ro", str(path)]
    return _bind_path("--ro-bind", Path("/dev/null"), path)


def _bind_path(how: str, source: Path, target: Path | None = None) -> list[str]:
    return [how, str(source), str(target or source)]
