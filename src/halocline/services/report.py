"""A bundle about one task for those who look into a problem: what can be replayed, and what this machine is like.

What must stay true: no key is in it, a person sees what is in it before it is written, and nothing is sent.
"""

import io
import platform
import sys
import tempfile
import zipfile
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import msgspec

from halocline._version import __version__
from halocline.protocol import json_output
from halocline.protocol.errors import UsageError
from halocline.protocol.events import DurableEvent
from halocline.protocol.values import Value
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.error_log import FILE_NAME
from halocline.services.doctor.doctor import run_checks
from halocline.services.settings import SettingsService

RECORDING = "task.recording.jsonl"
"""The part that `halo replay` takes, once it is out of the bundle."""
EXTRAS = ("mcp", "agent-client-protocol", "opentelemetry-sdk", "playwright", "pydantic-ai-slim")
_LONGEST_LOG = 200_000


class Part(Value, frozen=True):
    """One file of a bundle, and what it has."""

    name: str
    about: str
    data: bytes


async def collect_report(assembly: Assembly, task: Sequence[DurableEvent], workspace: Path) -> tuple[Part, ...]:
    """Collect the parts of a bundle, without keys. Paths of the home folder are shortened, but not in the recording."""
    redact = assembly.secrets.redact_thoroughly
    findings = [msgspec.to_builtins(one) for one in await run_checks(workspace, assembly.env)]
    texts = (
        Part("versions.json", "Halocline, Python, system and extras", _encode(_list_versions())),
        Part("doctor.json", "what halo doctor finds", _encode(findings)),
        Part("settings.json", "settings that are not the default, without keys", _encode(_list_settings(assembly))),
        Part("halocline.log", "the end of the program's own log", _read_end(assembly.home.logs / FILE_NAME)),
    )
    redacted = [Part(part.name, part.about, redact(part.data.decode(errors="replace")).encode()) for part in texts]
    recorded = Part(RECORDING, "the task as halo replay takes it: all that was said and read", _record(assembly, task))
    return tuple(part for part in (recorded, *redacted) if part.data.strip())


def write_report(parts: Sequence[Part], path: Path) -> None:
    """Write the bundle as a new file, private to the person. Raises UsageError."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bundle:
        for part in parts:
            bundle.writestr(part.name, part.data)
    try:
        path.touch(mode=0o600, exist_ok=False)
        path.write_bytes(packed.getvalue())
    except FileExistsError:
        raise UsageError(f"{path} already exists.", "Name another file with -o.") from None
    except OSError as error:
        raise UsageError(f"Cannot write {path}: {error.strerror}.", "Name another file with -o.") from error


def _record(assembly: Assembly, task: Sequence[DurableEvent]) -> bytes:
    with tempfile.TemporaryDirectory(prefix="halocline-report-") as folder:
        recorder = assembly.recorder(file := Path(folder) / RECORDING)
        for event in task:
            recorder.push(event)
        recorder.close()
        return file.read_bytes()


def _list_versions() -> dict[str, object]:
    return {
        "halocline": __version__,
        "python": platform.python_version(),
        "system": platform.platform(),
        "terminal": sys.stdout.isatty(),
        "extras": {name: version for name in EXTRAS if (version := _find_version(name))},
    }


def _find_version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def _list_settings(assembly: Assembly) -> list[dict[str, object]]:
    rows = SettingsService(assembly.home, assembly.env).listed()
    changed = [row for row in rows if row.value != row.default]
    return [{"name": row.name, "value": row.value, "source": row.source} for row in changed]


def _read_end(file: Path) -> bytes:
    try:
        return file.read_bytes()[-_LONGEST_LOG:]
    except OSError:
        return b""


def _encode(value: object) -> bytes:
    return msgspec.json.format(json_output.encode(value), indent=2) + b"\n"
