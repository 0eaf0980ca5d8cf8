"""Places in which items work: made once, found again after a kill, and removed when a person does not keep them."""

import asyncio
import os
import shlex
import shutil
import stat
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from msgspec.structs import replace

from halocline.batch.folders import find_store
from halocline.batch.items import Item, PlaceKind
from halocline.batch.queue import Standing
from halocline.batch.shells import ProgramFiles, ProgramShell, run_program
from halocline.batch.tree_changes import TreeChanges
from halocline.files.durable import write_whole
from halocline.git.clone import clone_mirror, mirror_repository, update_mirror
from halocline.git.git_folder import find_git_folder
from halocline.git.repository import GitUnusable, find_repository
from halocline.git.view import open_view
from halocline.git.worktree_list import find_worktree_at
from halocline.git.worktrees import open_worktree, remove_worktree
from halocline.ports.own import Host
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.values import Value

ENGINES = ("docker", "podman")
_LONGEST_NAME = 64
_CLOSED = "the settings let no command use the network, and that does not reach another machine."
_OTHER_PLACES = "Choose another place. Who says so: halo config list --explain web, or sandbox."
_SSH = ("ssh", "-oBatchMode=yes", "-oControlMaster=auto", "-oControlPath=~/.ssh/halocline-%C", "-oControlPersist=60")
"""One connection serves all commands of a machine, and a minute longer."""


class Place(Value, frozen=True):
    """An open place.

    Attributes:
        folder: to work in; of another machine, the folder there.
        host: the task's files and commands, where they are not this machine's.
        changes: finds what the task changed; None where the folder is the person's own.
        repository: the one that a branch with the result can go to, and the `commit` that it starts from.
        container: the words that remove it afterwards.
        is_worktree: it is a worktree of the repository.
        is_shared: other items may work in the same folder, so one after another.
    """

    folder: Path
    host: Host | None = None
    changes: TreeChanges | None = None
    repository: Path | None = None
    commit: str = ""
    container: tuple[str, ...] = ()
    is_worktree: bool = False
    is_shared: bool = False


class Places(Protocol):
    """Opens and removes the places of items. A test's, or a cluster's, may be others."""

    async def open(self, standing: Standing) -> Place:
        """Make the place of an item, or find it again. Raises HaloclineError."""

    async def release(self, place: Place) -> None:
        """End what runs for a place; its files stay. Raises HaloclineError."""

    async def remove(self, standing: Standing, place: Place) -> None:
        """Remove what was made. Raises HaloclineError."""


class LocalPlaces:
    """Places on this machine, below the folder of the batch, and machines that ssh knows."""

    def __init__(
        self, folder: Path, records: Path, environment: Mapping[str, str], closes_network: Callable[[Item], bool]
    ) -> None:
        """`folder` holds the places, and `records` what no task may change: what each place began with.

        `closes_network` is true of items whose commands the settings let use no network: no place lifts that.
        """
        self._folder = folder
        self._records = records
        self._environment = environment
        self._closes_network = closes_network
        self._mirroring = asyncio.Lock()

    async def open(self, standing: Standing) -> Place:
        try:
            return await self._open(standing, await asyncio.to_thread(choose_kind, standing.item))
        except GitUnusable as error:
            raise HaloclineError(error.text, error.hint) from error
        except OSError as error:
            raise HaloclineError(f"The place of {standing.name} could not be made: {error}.", "Look at it.") from error

    async def release(self, place: Place) -> None:
        if place.container:
            await run_program(*place.container)

    async def remove(self, standing: Standing, place: Place) -> None:
        if place.is_worktree and (worktree := await asyncio.to_thread(find_worktree_at, place.folder)):
            await remove_worktree(worktree)
        for kept in (self._work(standing), self._store(standing)):
            await asyncio.to_thread(shutil.rmtree, kept, ignore_errors=True)

    async def _open(self, standing: Standing, kind: PlaceKind) -> Place:
        item = standing.item
        match kind:
            case PlaceKind.FOLDER:
                return Place(await asyncio.to_thread(_find_folder, item), is_shared=True)
            case PlaceKind.WORKTREE:
                return await self._open_worktree(standing)
            case PlaceKind.CLONE:
                return await self._open_clone(standing)
            case PlaceKind.COPY:
                return await self._open_copy(standing)
            case PlaceKind.CONTAINER:
                return await self._open_container(standing)
            case PlaceKind.SSH:
                if self._closes_network(item):
                    raise HaloclineError(f"{standing.name} cannot work on {item.machine}: {_CLOSED}", _OTHER_PLACES)
                key = sha256(f"{self._records}/{standing.name}".encode()).hexdigest()[:12]
                shell = ProgramShell((*_SSH, item.machine, "--"), stays=True, key=key)
                await shell.end_left()
                code, _, errors = await shell.give(f"cd {shlex.quote(item.folder)}")
                if code:
                    raise HaloclineError(f"{item.machine}: {errors}", "Try it by hand: ssh, then cd.")
                return Place(Path(item.folder), Host(ProgramFiles(shell), shell), is_shared=True)

    def _work(self, standing: Standing) -> Path:
        return self._folder / "places" / standing.name

    def _store(self, standing: Standing) -> Path:
        return find_store(self._records, standing)

    async def _open_worktree(self, standing: Standing) -> Place:
        folder, store = await asyncio.to_thread(_find_folder, standing.item), self._store(standing)
        opened = await open_worktree(folder, name_worktree(self._folder.name, standing.name), from_here=True)
        around = await asyncio.to_thread(find_repository, folder, self._environment)
        top = await asyncio.to_thread(find_repository, opened.folder, self._environment)
        commit = await _note_commit(store, top.top)
        changes = TreeChanges(top.top, store, around.common / "objects")
        await changes.note_first(commit, around)
        return Place(opened.folder, None, changes, around.top, commit, is_worktree=True)

    async def _open_clone(self, standing: Standing) -> Place:
        item, folder, store = standing.item, self._work(standing), self._store(standing)
        address = item.git or item.folder
        if await asyncio.to_thread(os.path.isdir, address):
            address = str((await asyncio.to_thread(find_repository, Path(address), self._environment)).top)
        mirror = await self._find_mirror(address)

        async def fill(half: Path) -> None:
            borrows = item.place is not PlaceKind.CONTAINER  # in one, the mirror is not there
            try:
                await clone_mirror(mirror, item.revision, half, self._environment, borrows=borrows)
            except UsageError:
                await asyncio.to_thread(shutil.rmtree, half, ignore_errors=True)
                await update_mirror(mirror, self._environment)  # it may be newer than the mirror
                await clone_mirror(mirror, item.revision, half, self._environment, borrows=borrows)

        await _make_once(folder, fill)
        commit = await _note_commit(store, folder)
        changes = TreeChanges(folder, store, mirror / "objects")
        await changes.note_first(commit)
        source, inside = await asyncio.to_thread(_find_source, item.git or item.folder)
        return Place(folder / inside, None, changes, source, commit)

    async def _find_mirror(self, address: str) -> Path:
        """Return the mirror of a repository, from which all clones of the batch borrow their objects."""
        mirror = self._folder / "mirrors" / sha256(address.encode()).hexdigest()[:16]
        async with self._mirroring:
            await _make_once(mirror, lambda half: mirror_repository(address, half, self._environment))
        return mirror

    async def _open_copy(self, standing: Standing) -> Place:
        folder = self._work(standing)
        if folder.is_relative_to(await asyncio.to_thread(_find_folder, standing.item)):
            raise HaloclineError(f"The copy would be within {standing.item.folder}.", "Choose another place.")

        async def fill(half: Path) -> None:
            await asyncio.to_thread(shutil.copytree, standing.item.folder, half, symlinks=True, ignore=_list_special)

        await _make_once(folder, fill)
        changes = TreeChanges(folder, self._store(standing))
        await changes.note_first()
        return Place(folder, None, changes)

    async def _open_container(self, standing: Standing) -> Place:
        image, is_closed = standing.item.image, self._closes_network(standing.item)
        place = await (self._open_clone(standing) if standing.item.git else self._open_copy(standing))
        if await asyncio.to_thread(os.path.isdir, image):
            words = _list_bwrap_words(image, place.folder, is_closed=is_closed)
            return _with_shell(place, ProgramShell(words, stays=False))
        key = sha256(f"{self._records}/{standing.name}".encode()).hexdigest()[:12]
        engine, name = await _find_engine(), f"halocline-{key}"
        await _start_container(engine, name, image, place.folder, is_closed=is_closed)
        return _with_shell(
            place, ProgramShell((engine, "exec", "-i", name, "sh", "-c"), stays=True), (engine, "rm", "-f", name)
        )


def choose_kind(item: Item) -> PlaceKind:
    """Return where an item works. Raises UsageError if its folder is not there."""
    if item.place:
        kind = item.place
    else:
        kind = PlaceKind.CLONE if item.git else PlaceKind.FOLDER
        if item.folder and find_git_folder(Path(item.folder)):
            kind = PlaceKind.WORKTREE
    if kind is not PlaceKind.SSH and not item.git and not os.path.isdir(item.folder or "."):
        raise UsageError(f"The folder {item.folder} does not exist.", "Make it, or name another.")
    return kind


def _find_source(address: str) -> tuple[Path | None, str]:
    """Return the work tree that a clone was made from, for branches, and the folder in it; None for one elsewhere."""
    if not os.path.isdir(address):
        return None, ""
    found = find_repository(Path(address), os.environ)
    return found.top, found.prefix


def _list_special(folder: str, names: list[str]) -> list[str]:
    """Return the entries of a folder that no copy can have: pipes, sockets, devices."""
    kinds = {name: os.lstat(os.path.join(folder, name)).st_mode for name in names}
    plain = (stat.S_ISREG, stat.S_ISDIR, stat.S_ISLNK)
    return [name for name, mode in kinds.items() if not any(is_plain(mode) for is_plain in plain)]


def _find_folder(item: Item) -> Path:
    return Path(os.path.realpath(item.folder))


def name_worktree(batch: str, item: str) -> str:
    """Return the name of an item's worktree, as `halo worktrees` lists it: at most 64 characters, unlike any other."""
    name = f"{batch}-{item}"
    return name if len(name) <= _LONGEST_NAME else f"{name[:47]}-{sha256(name.encode()).hexdigest()[:16]}"


async def _make_once(folder: Path, fill: Callable[[Path], Awaitable[None]]) -> None:
    """Make a folder unless it is there; one that is half made, because the process was killed, is made again."""
    if await asyncio.to_thread(folder.exists):
        return
    half = folder.with_name(f".{folder.name}.half")
    await asyncio.to_thread(shutil.rmtree, half, ignore_errors=True)
    await asyncio.to_thread(folder.parent.mkdir, parents=True, exist_ok=True, mode=0o700)
    await fill(half)
    half.rename(folder)


async def _note_commit(store: Path, folder: Path) -> str:
    """Return the commit that a place began with: the task may have made others since."""
    note = store / "first-commit"
    if await asyncio.to_thread(note.exists):
        return note.read_text()
    async with open_view(folder) as view:
        commit = (await view.run("rev-parse", "--verify", "HEAD^{commit}")).text.strip()
    await asyncio.to_thread(store.mkdir, parents=True, exist_ok=True, mode=0o700)
    await asyncio.to_thread(write_whole, note, commit.encode())
    return commit


def _with_shell(place: Place, shell: ProgramShell, container: tuple[str, ...] = ()) -> Place:
    """Return the place with a host whose files are the container's too: no link in it leads to this machine."""
    return replace(place, host=Host(ProgramFiles(shell), shell), container=container)


def _list_bwrap_words(root: str, folder: Path, *, is_closed: bool) -> tuple[str, ...]:
    """Return what runs a command with another root folder, in which only the place can be changed.

    What the root has under the first name of the place's path is not there: the place is mounted in an empty folder.
    """
    own: dict[str, tuple[str, ...]] = {"proc": ("--proc", "/proc"), "dev": ("--dev", "/dev")}
    sockets = ("run",) if is_closed else ()  # those of services, which may have a network
    own |= {name: ("--tmpfs", f"/{name}") for name in ("tmp", folder.parts[1], *sockets)}
    with os.scandir(root) as entries:
        for entry in entries:
            link = ("--symlink", os.readlink(entry.path)) if entry.is_symlink() else ("--ro-bind", entry.path)
            own.setdefault(entry.name, (*link, f"/{entry.name}"))
    shown = [word for words in own.values() for word in words]
    place = ("--bind", str(folder), str(folder))  # behind the rest, which is above it
    apart = ("--unshare-pid", "--unshare-ipc", *(("--unshare-net",) if is_closed else ()))
    return ("bwrap", *shown, *place, *apart, "--die-with-parent", "sh", "-c")


async def _find_engine() -> str:
    """Return the first engine that answers: a docker whose service does not run is in no podman's way."""
    installed = [engine for engine in ENGINES if shutil.which(engine)]
    for engine in installed:
        code, _, errors = await run_program(engine, "version")
        if not code:
            return engine
    if installed:
        raise HaloclineError(
            f"{engine} does not answer: {_last_line(errors)}", "Start it, or name a root folder as image."
        )
    raise HaloclineError(
        "There is no docker and no podman on the PATH.", "Install one, or name a root folder as image."
    )


async def _start_container(engine: str, name: str, image: str, folder: Path, *, is_closed: bool) -> None:
    """Start a container that waits for commands. One that was left goes, with all that runs in it."""
    await run_program(engine, "rm", "-f", name)
    mount = ("-v", f"{folder}:{folder}", "-w", str(folder), "--entrypoint", "sh")
    ends = ("--stop-signal", "KILL")  # podman's `rm -f` else waits ten seconds for a shell that no signal ends
    network = ("--network", "none") if is_closed else ()
    code, _, errors = await run_program(
        engine, "run", "-d", "--name", name, *ends, *network, *mount, image, "-c", "while :; do sleep 3600; done"
    )
    if code:
        await run_program(engine, "rm", "-f", name)
        raise HaloclineError(f"{engine} could not start {image}: {_last_line(errors)}", "Try it by hand.")


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2]
