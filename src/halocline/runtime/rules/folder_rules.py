"""The rules of one folder, once a rule file was seen there: read from files, without those that a person turned off."""

from collections.abc import Callable
from pathlib import Path

from halocline.context.instructions.active import FolderInstructions
from halocline.context.instructions.files import Reader
from halocline.context.instructions.places import Roots
from halocline.ports.permissions import Permissions
from halocline.store.paths import Home
from halocline.store.permissions.instruction_switches import RuleSwitches
from halocline.store.settings.settings import Settings


def build_instructions(
    roots: Roots, home: Home, settings: Settings, permissions: Callable[[Path], Permissions]
) -> FolderInstructions:
    """Build the rules of a folder."""
    return FolderInstructions(build_reader(roots, home, settings, permissions))


def build_reader(roots: Roots, home: Home, settings: Settings, permissions: Callable[[Path], Permissions]) -> Reader:
    """Return a reader for the rule files of one folder."""
    of_workspace = permissions(roots.workspace)
    switches = RuleSwitches(home.rule_switches)
    return Reader(
        roots,
        ignored=lambda: of_workspace.book().ignored,
        off=lambda: switches.off(roots.workspace),
        excluded=settings.rules_excluded,
    )
