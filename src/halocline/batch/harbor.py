"""Items from a folder of Harbor tasks: each a folder with `task.toml`, `instruction.md`, `environment/` and `tests/`.

A task works in a copy of its `environment/`. Its `tests/test.sh` accepts the result and learns the places from the
variables APP_DIR, TESTS_DIR and LOGS_DIR. A task whose tests need `/app`, so a container, is for Harbor itself.
"""

import shlex
import tomllib
from pathlib import Path
from typing import Any

from halocline.batch.items import Item, PlaceKind
from halocline.protocol.errors import UsageError

CONFIG, INSTRUCTION = "task.toml", "instruction.md"
ACCEPT = (
    'export APP_DIR="$PWD" TESTS_DIR={tests} LOGS_DIR="$(mktemp -d)"; bash "$TESTS_DIR/test.sh"; code=$?; '
    'reward="$LOGS_DIR/reward.txt"; if [ -f "$reward" ]; then [ "$(cat "$reward")" = 1 ]; else exit $code; fi'
)


def read_tasks(folder: Path) -> list[Item]:
    """Read the tasks in a folder, or the one that it is, by name. Raises UsageError for one that cannot be read."""
    folder = folder.absolute()
    if (folder / CONFIG).is_file():
        return [_read_task(folder)]
    return [_read_task(path.parent) for path in sorted(folder.glob(f"*/{CONFIG}"))]


def _read_task(folder: Path) -> Item:
    try:
        config = tomllib.loads((folder / CONFIG).read_text())
        prompt = (folder / INSTRUCTION).read_text()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The task {folder} cannot be read: {error}.", "Each has task.toml and instruction.md."
        ) from error
    tests = folder / "tests"
    if not (tests / "test.sh").is_file():
        raise UsageError(f"The task {folder} has no tests/test.sh.", "It decides whether a result is accepted.")
    return Item(
        id=folder.name,
        prompt=prompt,
        folder=str(folder / "environment"),
        place=PlaceKind.COPY,
        accept=ACCEPT.format(tests=shlex.quote(str(tests))),
        accept_seconds=_find_seconds(config, "verifier") or 600.0,
        time_limit=_find_seconds(config, "agent"),
    )


def _find_seconds(config: dict[str, Any], phase: str) -> float | None:
    found = config.get(phase, {})
    seconds = found.get("timeout_sec") if isinstance(found, dict) else None
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None
