"""What holds the promises of `docs/durability.md`, taken out one by one: a test of the tests.

Each changes one place in a copy of the sources, and the tests that must see it run there.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from halocline.protocol.values import Value

ROOT = Path(__file__).parents[2]
POWER, WHOLE = "tests/crashes/test_power_loss.py", "tests/files/test_whole_files.py"
FORK = "tests/runtime/test_fork_durability.py"
SAFE = "tests/journeys/test_safe_changes.py"
RESTORE = "tests/checkpoints/test_together.py::test_after_a_loss_of_power_"


class Mutant(Value, frozen=True):
    """One change: `old` stands once in `file`, and `new` takes its place; one of `tests` must fail then."""

    file: str
    old: str
    new: str
    tests: Sequence[str] = (POWER,)


MUTANTS: Mapping[str, Mutant] = {
    "contents of blobs": Mutant("store/blobs.py", "for path in (*paths, *folders):", "for path in folders:"),
    "names of blobs": Mutant("store/blobs.py", "for path in (*paths, *folders):", "for path in paths:"),
    "folders of blobs": Mutant("store/blobs.py", "            sync_path(self._folder)\n", ""),
    "the folder of all blobs": Mutant("store/blobs.py", "            sync_path(self._folder.parent)\n", ""),
    "contents before the log": Mutant(
        "task/log.py",
        "        self._sync_first()\n        os.fdatasync(self._file)\n",
        "        os.fdatasync(self._file)\n        self._sync_first()\n",
    ),
    "contents before a fork": Mutant(
        "runtime/history/forks.py", "        sync_below(home.blobs)\n", "        pass\n", (FORK,)
    ),
    "the log": Mutant("task/log.py", "        os.fdatasync(self._file)\n", ""),
    "the log's name": Mutant("task/log.py", "                sync_path(folder)\n", "                pass\n"),
    "the log at an approval or a question": Mutant(
        "task/calls/ask_person.py", "            await self._log.sync()\n", "            pass\n"
    ),
    "the log before a change": Mutant("task/calls/tool_calls.py", "gather(self._log.sync(), ", "gather("),
    "the checkpoint before a change": Mutant(
        "task/calls/tool_calls.py",
        "gather(self._log.sync(), present)",
        "gather(self._log.sync(), asyncio.to_thread(present.close))",
        (SAFE,),
    ),
    "the log at the end of a turn": Mutant("task/task.py", "        await self.log.sync()\n", ""),
    "a checkpoint before its reference": Mutant(
        "checkpoints/repository/repository.py",
        '        sync_store(self.path)\n        write_ref(self.path, f"{self._refs}/{n}", sha)\n',
        '        write_ref(self.path, f"{self._refs}/{n}", sha)\n',
    ),
    "objects of a checkpoint": Mutant("checkpoints/store/syncing.py", "yield from _list_files(place, since)", "pass"),
    "names of objects": Mutant("checkpoints/store/syncing.py", "    yield from folders\n", ""),
    "a new store's name": Mutant(
        "checkpoints/store/syncing.py", "*changed, store.parent, store.parent.parent", "*changed"
    ),
    "a checkpoint's reference": Mutant("checkpoints/store/objects.py", '    sync_path(f"{path}.lock")\n', ""),
    "the name of a reference": Mutant(
        "checkpoints/store/objects.py", "if is_first else [folder])", "if is_first else [])"
    ),
    "the names of a task's first reference": Mutant(
        "checkpoints/store/objects.py", "for above in Path(ref).parents] if", "for above in ()] if"
    ),
    "a file that is written whole": Mutant("files/durable.py", "            os.fsync(fd)\n", "", (WHOLE,)),
    "the name of a file that is written whole": Mutant(
        "files/durable.py", '    sync_path(folder or ".")\n', "", (WHOLE,)
    ),
    "the order of several folders' journals": Mutant(
        "checkpoints/recovery/journal.py", "    sync_path(store)  #", "    #", (RESTORE,)
    ),
}


def is_seen(mutant: Mutant) -> bool:
    """Return True if a test fails with the mutant in place."""
    with TemporaryDirectory() as place:
        source = Path(place, "src")
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        _change(source / "halocline" / mutant.file, mutant)
        path = os.pathsep.join((str(source), str(ROOT)))
        words = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *_select(mutant.tests)]
        found = subprocess.run(words, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True)
    if found.returncode not in (0, 1):
        raise RuntimeError(found.stdout + found.stderr)
    return found.returncode == 1


def _select(tests: Sequence[str]) -> list[str]:
    """Turn the beginning of a test's name into what pytest takes."""
    words: list[str] = []
    for test in tests:
        file, _, name = test.partition("::")
        words += [file, *(["-k", name] if name else [])]
    return words


def _change(file: Path, mutant: Mutant) -> None:
    text = file.read_text(encoding="utf-8")
    if mutant.old not in text:
        raise LookupError(f"{mutant.file} has no {mutant.old!r}")
    file.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
