"""Whose rules a task follows: puts together where they lie, what is hidden and what a person switched off."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from halocline.context.instruction_places import Root, Roots
from halocline.context.live_instructions import LiveInstructions
from halocline.store.paths import Home
from halocline.store.settings import Settings

if TYPE_CHECKING:
    from halocline.context.instruction_files import Reader
    from halocline.ports.leave import Leave


def instructions_of(
    workspace: Path, home: Home, settings: Settings, env: Mapping[str, str], leave: "Callable[[Path], Leave]"
) -> LiveInstructions | None:
    """The rules of a task; None when the settings want none."""
    if not settings.rules:
        return None
    roots = roots_of(workspace, home, env)
    return LiveInstructions(roots, lambda: reader_of(roots, home, settings, leave))


def reader_of(roots: Roots, home: Home, settings: Settings, leave: "Callable[[Path], Leave]") -> "Reader":
    """Reads the files of rules of one folder."""
    from halocline.context.instruction_files import Reader
    from halocline.store.rule_switches import RuleSwitches

    of_workspace = leave(roots.workspace)
    switches = RuleSwitches(home.rule_switches)
    return Reader(
        roots,
        ignored=lambda: of_workspace.book().ignored,
        off=lambda: switches.off(roots.workspace),
        excluded=settings.rules_excluded,
    )


def roots_of(workspace: Path, home: Home, env: Mapping[str, str], managed: Path = Path(Root.MANAGED)) -> Roots:
    """The folders below which rules lie. An administrator's count only where root alone can write."""
    user = Path(env["HOME"]) if env.get("HOME") else None
    return Roots(workspace, home.root, user, managed if _is_roots(managed) else None)


def _is_roots(folder: Path) -> bool:
    try:
        found = folder.stat()
    except OSError:
        return False
    return found.st_uid == 0 and not found.st_mode & 0o022
