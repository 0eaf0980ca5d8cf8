"""Where Halocline keeps things. `HALOCLINE_HOME` moves all of it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from halocline.protocol.codec import LOG_NAME
from halocline.protocol.config_locations import PROJECT_MCP
from halocline.protocol.errors import UsageError
from halocline.protocol.values import Value

_OTHERS = 0o077
PROJECT_RULES = ".halocline/policy.toml"
"""Where a project has rules."""
OTHERS_MCP = (
    ".cline/data/settings/cline_mcp_settings.json",
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ".vscode-server/data/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
)
"""Where Cline keeps the MCP servers of a person, below their home folder."""


MANAGED_MCP = Path("/etc/halocline/mcp.json")
"""Servers of an administrator, and which others may run. Only root may be able to write the file."""


def mcp_files(home: "Home", workspace: Path, user: str) -> list[Path]:
    """Every file that may name MCP servers. `user` is the person's home folder; empty leaves out Cline's."""
    others = [Path(user, name) for name in OTHERS_MCP] if user else []
    return [MANAGED_MCP, home.mcp, *(workspace / name for name in PROJECT_MCP), *others]


def home_folder(env: Mapping[str, str]) -> Path:
    """Where the home is, or would be."""
    return Path(env.get("HALOCLINE_HOME") or Path.home() / ".halocline").expanduser().absolute()


def _close_to_others(folder: Path) -> None:
    """Make a home that was made beforehand its owner's alone, and with it all that is in it.

    Not where it is more than Halocline's: somebody else's folder, a person's own, or one for everybody.
    """
    found = folder.stat()
    is_ours = found.st_uid == os.geteuid() and not found.st_mode & stat.S_ISVTX and folder != Path.home()
    if is_ours and found.st_mode & _OTHERS:
        for path in (folder, *folder.iterdir()):
            if not path.is_symlink():
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


class Home(Value, frozen=True):
    """The folder for everything that outlives a task; private to the user."""

    root: Path

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "Home":
        """The home that the environment names, made if need be. Raises UsageError when it cannot be made or read."""
        root = home_folder(env)
        home = cls(root)
        try:
            # Of parents that it makes, mkdir leaves the mode to the umask: the home itself is made by name.
            if not root.exists():
                root.parent.mkdir(parents=True, exist_ok=True)
                root.mkdir(exist_ok=True, mode=0o700)
            if home.is_writable:
                _close_to_others(root)
            home.tasks.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise UsageError(
                f"Cannot use {root} as Halocline's home: {error.strerror or error}.",
                "Set HALOCLINE_HOME to a folder that you can write.",
            ) from error
        if not os.access(home.tasks, os.R_OK | os.X_OK):
            raise UsageError(f"Halocline's home {root} cannot be read.", "Set HALOCLINE_HOME to another folder.")
        return home

    @property
    def is_writable(self) -> bool:
        """Tell whether something can be kept in it; a file system may be mounted to be read only."""
        return os.access(self.root, os.W_OK | os.X_OK)

    @property
    def tasks(self) -> Path:
        return self.root / "tasks"

    @property
    def history(self) -> Path:
        """The index of the tasks."""
        return self.root / "history.db"

    @property
    def trash(self) -> Path:
        """Tasks that were deleted lately."""
        return self.root / "trash"

    @property
    def agents(self) -> Path:
        """Agents that the person described for every folder."""
        return self.root / "agents"

    @property
    def blobs(self) -> Path:
        return self.root / "blobs"

    @property
    def checkpoints(self) -> Path:
        return self.root / "checkpoints"

    @property
    def approvals(self) -> Path:
        """Folders through which other programs of the person answer what runs ask."""
        return self.root / "approvals"

    @property
    def edits(self) -> Path:
        """Journals of changes of several files that are being made."""
        return self.root / "edits"

    @property
    def importing(self) -> Path:
        """Logs that are being made from other programs' transcripts."""
        return self.root / "importing"

    @property
    def logs(self) -> Path:
        return self.root / "logs"

    @property
    def settings(self) -> Path:
        return self.root / "settings.toml"

    @property
    def policy(self) -> Path:
        """The person's rules."""
        return self.root / "policy.toml"

    @property
    def grants(self) -> Path:
        """Leave that the person gave for good; written by Halocline."""
        return self.root / "grants.toml"

    @property
    def catalogue(self) -> Path:
        return self.root / "catalogue.gz"

    @property
    def credentials(self) -> Path:
        return self.root / "credentials"

    @property
    def salt(self) -> Path:
        """What makes the numbers of marks in redacted texts this home's own."""
        return self.root / "redaction.salt"

    @property
    def prompt_history(self) -> Path:
        return self.root / "prompt_history"

    @property
    def prompts(self) -> Path:
        """Sections of the system prompt that the person wrote."""
        return self.root / "prompts"

    @property
    def trust(self) -> Path:
        """Which folders may run code of their own."""
        return self.root / "trust.json"

    @property
    def browsers(self) -> Path:
        """The browsers that are signed in to `halo web`."""
        return self.root / "browsers.json"

    @property
    def mcp(self) -> Path:
        """The person's MCP servers."""
        return self.root / "mcp.json"

    @property
    def mcp_bundles(self) -> Path:
        """What bundles of MCP servers were unpacked to, a folder for each."""
        return self.root / "mcp"

    @property
    def mcp_cache(self) -> Path:
        """What MCP servers offered when they last ran, and which definitions of tools a person approved."""
        return self.root / "cache" / "mcp"

    @property
    def hooks(self) -> Path:
        return self.root / "hooks"

    @property
    def rules(self) -> Path:
        """The person's own files of rules."""
        return self.root / "rules"

    @property
    def rule_switches(self) -> Path:
        """Which files of rules are switched off."""
        return self.root / "rules.json"

    @property
    def memory(self) -> Path:
        """A person's notes, a file for each workspace."""
        return self.root / "memory"

    def task(self, task: str) -> Path:
        return self.tasks / task

    def log(self, task: str) -> Path:
        return self.tasks / task / LOG_NAME
