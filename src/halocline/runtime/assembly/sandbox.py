"""The sandbox for a task's commands; loaded only if the settings turn it on."""

from collections.abc import Sequence
from pathlib import Path

from halocline.hosts.sandbox.mounts import SandboxRequest
from halocline.hosts.sandbox.sandbox import Sandbox
from halocline.store.settings.settings import Settings


def build_sandbox(settings: Settings, state: Path, workspace: Path, roots: Sequence[str], folder: Path) -> Sandbox:
    """Build the sandbox for a task's commands; `state` is Halocline's own folder, `folder` the task's in it."""
    request = SandboxRequest(
        workspace=workspace.resolve(),
        home=Path.home().resolve(),
        state=state.resolve(),
        own=folder.resolve(),
        network=settings.sandbox_network,
        git_writes=settings.sandbox_git_writes,
        writable=tuple(Path(place).expanduser().resolve() for place in settings.sandbox_writable),
        processes=settings.sandbox_processes,
        file_size=settings.sandbox_file_size,
        roots=tuple(map(Path, roots)),
    )
    return Sandbox(request, required=settings.sandbox == "require")
