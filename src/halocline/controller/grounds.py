"""Parts of the machine that most tasks never use: they are imported when a task has them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.hosts.files import LocalFiles
from halocline.hosts.language_servers.servers import LanguageServers
from halocline.net.network import Network
from halocline.ports.diagnostics import Diagnostics, NoDiagnostics
from halocline.ports.host import Files
from halocline.store.settings import Settings

if TYPE_CHECKING:
    from halocline.hosts.sandbox.sandbox import Sandbox
    from halocline.ports.browser import Browser


def diagnostics(settings: Settings, workspace: Path, hidden: frozenset[str], env: Mapping[str, str]) -> Diagnostics:
    """Who says what an edit broke. Servers do not see the variables that are `hidden`."""
    chosen = settings.language_servers
    if not chosen.enabled:
        return NoDiagnostics()
    return LanguageServers(
        workspace, chosen.wait, project_programs=chosen.project_binaries, hidden=hidden, environment=env
    )


def looking() -> Files:
    """The files of this machine, for who only looks."""
    return LocalFiles()


def browser(program: str, settings: Settings, env: Mapping[str, str], way: Callable[[str], Network]) -> "Browser":
    """The browser of one task; it is started with the first page."""
    from halocline.controller.network_choice import ca_files
    from halocline.hosts.browser import BrowserSetup, LocalBrowser

    return LocalBrowser(BrowserSetup(program, settings.browser_remote, settings.viewport, ca_files(settings, env)), way)


def sandbox(settings: Settings, state: Path, workspace: Path, folder: Path) -> "Sandbox":
    """What holds the commands of a task; `state` is Halocline's own folder, and `folder` the task's in it."""
    from halocline.hosts.sandbox.ground import Wishes
    from halocline.hosts.sandbox.sandbox import Sandbox

    wishes = Wishes(
        workspace=workspace.resolve(),
        home=Path.home().resolve(),
        state=state.resolve(),
        own=folder.resolve(),
        network=settings.sandbox_network,
        git_writes=settings.sandbox_git_writes,
        writable=tuple(Path(place).expanduser().resolve() for place in settings.sandbox_writable),
        processes=settings.sandbox_processes,
        file_size=settings.sandbox_file_size,
    )
    return Sandbox(wishes, required=settings.sandbox == "require")
