"""A safe view of a repository: a private git folder that shares its history but none of its settings.

A repository's settings name programs, and may change while git runs. So git is never started on the repository itself:
it gets a private folder with links to the objects, references and index, and a configuration that we write, which names
no program. Attributes may still choose filters and drivers, but none of them is defined.
"""

import asyncio
import os
import re
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from shutil import rmtree

from halocline.files.regular import read_beginning
from halocline.git.environment import bare_environment
from halocline.git.process import Answer, run_git
from halocline.git.repository import GitUnusable, Repository, Setting, check_ownership, find_repository
from halocline.protocol.child_environment import ChildEnvironment, declare_environment
from halocline.protocol.private_files import open_private

TIME_LIMIT = 30.0
LARGEST = 2_000_000
"""Bytes of output read."""
_SHARED = ("objects", "refs", "packed-refs", "reftable", "shallow")
_OWN = ("index", "logs")
_HEADS = ("HEAD", "ORIG_HEAD", "FETCH_HEAD", "MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD")
_LARGEST_HEAD = 1 << 16
_CARRIED = re.compile(
    r"core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode|checkstat|trustctime|sparsecheckout"
    r"|sparsecheckoutcone)|index\.sparse|branch\..*\.(remote|merge)|remote\..*\.fetch",
    re.DOTALL,
)
"""Settings about how to interpret files and names; copied to the view."""
_FORMAT = re.compile(r"extensions\.(objectformat|compatobjectformat|refstorage)")
_LISTS = {"core.excludesfile": "ignore", "core.attributesfile": "attributes"}
"""Settings that name the user's own lists, with the lists' default names."""
_FIXED = """[core]
	repositoryFormatVersion = 1
	bare = false
	logAllRefUpdates = false
	quotePath = false
	fsmonitor = false
	hooksPath = /dev/null
[diff]
	ignoreSubmodules = dirty
[log]
	showSignature = false
"""


class View:
    """Runs git on a repository's history and files, without its configuration."""

    def __init__(self, repository: Repository, workspace: Path, environment: ChildEnvironment) -> None:
        self.repository = repository
        self._workspace = workspace
        self._environment = environment

    async def run(self, *words: str, seconds: float = TIME_LIMIT, data: bytes = b"", most: int = LARGEST) -> Answer:
        """Run git in the workspace; at most `most` bytes are read. Raises GitUnusable when it takes longer."""
        return await run_git(self._workspace, self._environment, words, data=data, most=most, seconds=seconds)


@asynccontextmanager
async def open_view(workspace: Path, environment: Mapping[str, str] | None = None) -> AsyncIterator[View]:
    """Open a view of the repository that a folder is in; removed afterwards.

    Raises:
        GitUnusable, NoRepository
    """
    around = os.environ if environment is None else environment
    repository = await asyncio.to_thread(find_repository, workspace, around)
    check_ownership(repository)
    place = create_view_folder(repository, around)
    try:
        yield View(repository, workspace, _build_environment(repository, place, around))
    finally:
        rmtree(place, ignore_errors=True)


def create_view_folder(repository: Repository, environment: Mapping[str, str]) -> Path:
    """Create a git folder that shares a repository's history and none of its settings. Raises GitUnusable."""
    place = _new_folder(repository.top)
    try:
        _link_objects(repository, place)
        _write_file(
            place / "config", _build_configuration(repository.settings, environment).encode(errors="surrogateescape")
        )
    except OSError as error:
        rmtree(place, ignore_errors=True)
        raise GitUnusable(f"Cannot create a view of the repository: {error}.", "Check free disk space.") from error
    return place


def _new_folder(top: Path) -> Path:
    """Create a private folder, never where the commands of a task may write."""
    usual = Path(os.path.realpath(tempfile.gettempdir()))
    return Path(tempfile.mkdtemp(prefix="halocline-git-", dir="/tmp" if usual.is_relative_to(top) else usual))


def _link_objects(repository: Repository, place: Path) -> None:
    folder, common = repository.folder, repository.common
    links = {name: common / name for name in _SHARED} | {name: folder / name for name in _OWN}
    links |= {found.name: found for found in folder.glob("sharedindex.*")}
    links |= {f"info/{name}": common / "info" / name for name in ("exclude", "attributes")}
    links["info/sparse-checkout"] = folder / "info" / "sparse-checkout"
    (place / "info").mkdir(mode=0o700)
    for name, target in links.items():
        if target.is_dir() or target.is_file():
            (place / name).symlink_to(target)
    for name in _HEADS:
        with suppress(OSError):
            _write_file(place / name, _read_head(folder / name))


def _write_file(path: Path, data: bytes) -> None:
    with open(path, "wb", opener=open_private) as file:
        file.write(data)


def _read_head(path: Path) -> bytes:
    """Read a reference like HEAD; for a symbolic link, the name it points to. Raises OSError."""
    if path.is_symlink() and (target := os.readlink(path)).startswith("refs/"):
        return f"ref: {target}\n".encode()
    return read_beginning(path, _LARGEST_HEAD)


def _build_configuration(settings: Sequence[Setting], environment: Mapping[str, str]) -> str:
    kept = [(key, value) for _, key, value in settings if _CARRIED.fullmatch(key)]
    kept += [(key, value) for _, key, value in settings if _FORMAT.fullmatch(key) and value.isalnum()]
    # git ignores a remote without a URL; this URL is never used.
    remotes = {key.removesuffix(".fetch") for key, _ in kept if key.startswith("remote.")}
    kept += [(f"{remote}.url", "/dev/null") for remote in sorted(remotes)]
    kept += list_person_files(settings, environment)
    return _FIXED + "".join(format_setting(key, value) for key, value in kept)


def list_person_files(settings: Sequence[Setting], environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the settings that name the person's own lists of what git ignores, and of attributes."""
    home = environment.get("HOME") or os.path.expanduser("~")
    own = environment.get("XDG_CONFIG_HOME") or f"{home}/.config"
    for key, name in _LISTS.items():
        chosen = [setting.value for setting in settings if setting.key == key]
        path = chosen[-1] if chosen else f"{own}/git/{name}"
        path = f"{home}{path[1:]}" if path.startswith("~/") else path
        if os.path.isfile(path):
            yield key, path


def format_setting(key: str, value: str) -> str:
    """Return the lines of a file of settings that set one."""
    section, _, rest = key.partition(".")
    below, _, name = rest.rpartition(".")
    head = f'{section} "{_escape_value(below)}"' if below else section
    return f'[{head}]\n\t{name} = "{_escape_value(value)}"\n'.replace("\0", "")


def _escape_value(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _build_environment(repository: Repository, place: Path, environment: Mapping[str, str]) -> ChildEnvironment:
    own = {
        "GIT_DIR": os.fspath(place),
        "GIT_WORK_TREE": os.fspath(repository.top),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_NO_REPLACE_OBJECTS": "1",
        # git before 2.32 does not know GIT_CONFIG_GLOBAL and reads the home instead.
        "HOME": os.fspath(place),
        "XDG_CONFIG_HOME": os.fspath(place),
    }
    return declare_environment(bare_environment(environment, os.fspath(repository.top)), own)
