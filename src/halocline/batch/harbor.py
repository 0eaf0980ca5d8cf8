"""Items from a folder of Harbor tasks: each a folder with `task.toml`, `instruction.md`, `environment/` and `tests/`.

A task works in a copy of its `environment/`. Its `tests/test.sh` accepts the result and learns the places from the
variables APP_DIR, TESTS_DIR and LOGS_DIR. A task whose tests need `/app`, so a container, is for Harbor itself.
"""

import re
import shlex
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from halocline.batch.items import Item, PlaceKind, make_id
from halocline.protocol.errors import UsageError

CONFIG, INSTRUCTION = "task.toml", "instruction.md"
UNREAD = "The tests left no reward that can be read"
ONE_REWARD = f"""
{{ sub(/\r$/, "") }}
NF {{ lines += 1; words = NF; value = $1 }}
END {{
    if (lines == 1 && words == 1 && value ~ /^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][-+]?[0-9]+)?$/) {{
        print "reward:", value
        exit value < 1
    }}
    print "{UNREAD}: reward.txt" | "cat >&2"; exit 1
}}
"""
MANY_REWARDS = f"""
import json, math, sys

try:
    found = json.load(open(sys.argv[1]))
    if not all(math.isfinite(value) for value in found.values()):
        raise ValueError("a reward is a number")
except (OSError, ValueError, TypeError, AttributeError) as error:
    sys.exit(f"{UNREAD}: {{error}}")
print("rewards:", json.dumps(found))
sys.exit(found.get("reward", min(found.values(), default=0)) < 1)
"""
"""Exits with 0 if the rewards, read as Harbor does, are 1 or more: that named `reward`, or without it all of them."""
ACCEPT = (
    'export APP_DIR="$PWD" TESTS_DIR={tests} LOGS_DIR="$(mktemp -d)"; {variables}bash "$TESTS_DIR/test.sh"; '
    'if [ -e "$LOGS_DIR/reward.json" ]; then python3 -I -c {many} "$LOGS_DIR/reward.json"; '
    'else touch "$LOGS_DIR/reward.txt"; awk {one} "$LOGS_DIR/reward.txt"; fi; code=$?; rm -rf "$LOGS_DIR"; exit $code'
)
"""The same wherever it runs: in a container there is awk, and Python only where tests leave several rewards."""
_FROM_OUTSIDE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-(.*))?\}")
_NETWORK = {"network_mode": "public", "allowed_hosts": None}
_SIZES = ("cpus", "memory", "memory_mb", "storage", "storage_mb", "gpu_types", "tpu")
_PARTS = ("docker_image", "env", "mcp_servers", "skills_dir", "healthcheck")
_CONTAINER = dict.fromkeys((*_PARTS, *_SIZES)) | {"gpus": 0, "workdir": "/app", "allow_internet": True}
UNUSED: Mapping[str, Mapping[str, Any]] = {
    "environment": _CONTAINER | _NETWORK,
    "agent": {"user": None} | _NETWORK,
    "verifier": {"user": None, "environment": None, "collect": [], "environment_mode": "shared"} | _NETWORK,
}
"""Fields that need Harbor's containers or its runner, by their section, with the value that says no more than usual."""


def read_tasks(folder: Path) -> list[Item]:
    """Read the tasks in a folder, or the one that it is, by name. Raises UsageError for one that cannot be read."""
    return [_read_task(path) for path in _list_tasks(folder)]


def list_unused(folder: Path) -> dict[str, int]:
    """Return what tasks ask for and only Harbor itself can give, and how many do. Raises UsageError."""
    found = dict[str, int]()
    for name in (name for path in _list_tasks(folder) for name in _find_unused(path)):
        found[name] = found.get(name, 0) + 1
    return found


def _list_tasks(folder: Path) -> list[Path]:
    folder = folder.absolute()
    return [folder] if (folder / CONFIG).is_file() else [path.parent for path in sorted(folder.glob(f"*/{CONFIG}"))]


def _find_unused(folder: Path) -> Iterator[str]:
    config = _read_config(folder)
    for section, fields in UNUSED.items():
        given = _section(config, section)
        for name, usual in fields.items():
            if given.get(name, usual) not in (usual, [], {}):
                yield f"{section}.{name}"
    if config.get("artifacts"):
        yield "artifacts"
    yield from (name for name in ("environment/docker-compose.yaml", "trajectory.json") if (folder / name).is_file())


def _read_config(folder: Path) -> dict[str, Any]:
    try:
        return tomllib.loads((folder / CONFIG).read_text())
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The task {folder} cannot be read: {error}.", "Each has task.toml and instruction.md."
        ) from error


def _read_task(folder: Path) -> Item:
    config = _read_config(folder)
    if config.get("steps") or str(_section(config, "environment").get("os", "linux")).lower() != "linux":
        what = "several steps" if config.get("steps") else "Windows"
        raise UsageError(f"The task {folder} needs {what}.", "Run it with Harbor: the guide's page evaluate.md.")
    try:
        prompt = (folder / INSTRUCTION).read_text()
    except (OSError, ValueError) as error:
        raise UsageError(
            f"The task {folder} cannot be read: {error}.", "Each has task.toml and instruction.md."
        ) from error
    tests = folder / "tests"
    if not (tests / "test.sh").is_file():
        raise UsageError(f"The task {folder} has no tests/test.sh.", "It decides whether a result is accepted.")
    return Item(
        id=make_id(folder.name),
        prompt=prompt,
        folder=str(folder / "environment"),
        place=PlaceKind.COPY,
        accept=_build_acceptance(tests, _section(config, "verifier").get("env", {})),
        accept_seconds=_find_seconds(config, "verifier") or 600.0,
        time_limit=_find_seconds(config, "agent"),
    )


def _build_acceptance(tests: Path, variables: Mapping[str, str]) -> str:
    """Return the command that runs the tests, with their own variables, and judges by the reward that they leave."""
    return ACCEPT.format(
        tests=shlex.quote(str(tests)),
        variables="".join(f"{name}={_fill_in(str(value))}; export {name}; " for name, value in variables.items()),
        one=shlex.quote(ONE_REWARD),
        many=shlex.quote(MANY_REWARDS),
    )


def _fill_in(value: str) -> str:
    """Return a value of a variable for the shell; one such as `${NAME:-default}` comes from outside."""
    if not (named := _FROM_OUTSIDE.fullmatch(value)):
        return shlex.quote(value)
    return f"${{{named[1]}?}}" if named[2] is None else f"${{{named[1]}-{shlex.quote(named[2])}}}"


def _find_seconds(config: Mapping[str, Any], phase: str) -> float | None:
    seconds = _section(config, phase).get("timeout_sec")
    return float(seconds) if isinstance(seconds, int | float) and seconds > 0 else None


def _section(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = config.get(name, {})
    return found if isinstance(found, dict) else {}
