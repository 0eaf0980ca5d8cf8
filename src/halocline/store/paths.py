"""Paths of Halocline's files. `HALOCLINE_HOME` moves them all."""

import os
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path

from halocline.protocol.codec import LOG_NAME
from halocline.protocol.config_locations import OTHERS_MCP, PLUGIN_COPIES, PROJECT_MCP
from halocline.protocol.errors import TaskNotFound, UsageError
from halocline.protocol.values import Value

_OTHERS = 0o077
PROJECT_RULES = ".halocline/policy.toml"
"""Permission rules of a project."""
PROJECT_PLUGINS = ".halocline/plugins"
"""The folder of a project's plug-ins."""
PROJECT_SETTINGS = ".halocline/settings.toml"
"""Settings of a project."""


MANAGED = Path("/etc/halocline")
"""The administrator's folder: rules, settings and servers. What others than root can write to does not count."""


def mcp_files(home: "Home", workspace: Path, user: str, roots: Sequence[str | Path] = ()) -> list[Path]:
    """Return all files that may define MCP servers. `user` is the user's home folder; empty skips Cline's."""
    others = [Path(user, name) for name in OTHERS_MCP] if user else []
    projects = [Path(folder, name) for folder in (workspace, *roots) for name in PROJECT_MCP]
    return [home.managed_mcp, home.mcp, *projects, *others]


def is_task_id(name: str) -> bool:
    """True if a task may have this id: it is the name of a folder, and no path that leads elsewhere."""
    return name not in ("", ".", "..") and "/" not in name and "\0" not in name


def home_folder(env: Mapping[str, str]) -> Path:
    """Return the path of Halocline's home, which may not exist yet. Raises UsageError for a user without any home."""
    # Asked here for all: wherever Halocline's own home is, the user's holds other programs' settings, and secrets.
    if os.path.expanduser("~") == "~":
        raise UsageError(
            "There is no home folder: HOME is not set, and the system knows none for this user.",
            "Set HOME to a folder that you can write to.",
        )
    return Path(env.get("HALOCLINE_HOME") or Path.home() / ".halocline").expanduser().absolute()


def _close_to_others(folder: Path) -> None:
    """Make an existing home and everything directly in it private to its owner.

    Leave folders alone that are not only Halocline's: another user's, the user's home folder, or a sticky one like
    /tmp.
    """
    found = folder.stat()
    is_ours = found.st_uid == os.geteuid() and not found.st_mode & stat.S_ISVTX and folder != Path.home()
    if is_ours and found.st_mode & _OTHERS:
        for path in (folder, *folder.iterdir()):
            if not path.is_symlink():
                path.chmod(stat.S_IMODE(path.stat().st_mode) & ~_OTHERS)


class _Entry:
    """A file or folder of the home, by its name."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, home: "Home", kind: type["Home"]) -> Path:
        return home.root / self._name


class Home(Value, frozen=True):
    """The folder for everything that outlives a task, private to the user; `managed` is the administrator's."""

    root: Path
    managed: Path = MANAGED

    @classmethod
    def of(cls, env: Mapping[str, str]) -> "Home":
        """Return the home named by the environment; create it if needed. Raises UsageError if that or reading fails."""
        root = home_folder(env)
        home = cls(root)
        try:
            # With `parents`, mkdir ignores `mode` for the parents; the home itself must be private.
            if not root.exists():
                root.parent.mkdir(parents=True, exist_ok=True)
                root.mkdir(exist_ok=True, mode=0o700)
            if home.is_writable:
                _close_to_others(root)
            home.tasks.mkdir(exist_ok=True, mode=0o700)
        except OSError as error:
            raise UsageError(
                f"Cannot use {root} as Halocline's home: {error.strerror or error}.",
                "Set HALOCLINE_HOME to a folder that you can write to.",
            ) from error
        if not os.access(home.tasks, os.R_OK | os.X_OK):
            raise UsageError(
                f"Cannot read Halocline's home {root}.", "Fix its permissions, or set HALOCLINE_HOME to another folder."
            )
        return home

    @property
    def is_writable(self) -> bool:
        """True if the home can be written to; a file system may be mounted read-only."""
        return os.access(self.root, os.W_OK | os.X_OK)

    @property
    def managed_settings(self) -> Path:
        """The administrator's settings."""
        return self.managed / "settings.toml"

    @property
    def managed_rules(self) -> Path:
        """The administrator's permission rules, which the user's own cannot override."""
        return self.managed / "policy.toml"

    @property
    def managed_mcp(self) -> Path:
        """The administrator's MCP servers, and limits on all others."""
        return self.managed / "mcp.json"

    tasks = _Entry("tasks")
    history = _Entry("history.db")
    """Index of the tasks."""
    trash = _Entry("trash")
    """Recently deleted tasks."""
    agents = _Entry("agents")
    """The user's agents for all folders."""
    batches = _Entry("batches")
    """The queues of batches, and their results."""
    background = _Entry("background")
    """The lock and the socket of the process that runs tasks without a terminal."""
    blobs = _Entry("blobs")
    checkpoints = _Entry("checkpoints")
    edits = _Entry("edits")
    """Journals of running changes to several files."""
    importing = _Entry("importing")
    """Logs of running imports."""
    logs = _Entry("logs")
    schedules = _Entry("schedules")
    """Runs at set times, a file for each."""
    settings = _Entry("settings.toml")
    keys = _Entry("keys.toml")
    """The user's own keys for conversations in a terminal."""
    policy = _Entry("policy.toml")
    """The user's permission rules."""
    grants = _Entry("grants.toml")
    """The user's permanent grants; written by Halocline."""
    catalogue = _Entry("catalogue.gz")
    habits = _Entry("model-habits.json")
    credentials = _Entry("credentials")
    salt = _Entry("redaction.salt")
    """Salt for the numbers of marks in redacted text."""
    prompt_history = _Entry("prompt_history")
    prompts = _Entry("prompts")
    """The user's own sections of the system prompt."""
    trust = _Entry("trust.json")
    """Trusted folders, which may run their own code."""
    certificates = _Entry("web_certificates")
    """The folder of the certificates that `halo web --tls` made."""
    browsers = _Entry("browsers.json")
    """Browsers signed in to `halo web`."""
    mcp = _Entry("mcp.json")
    """The user's MCP servers."""
    mcp_bundles = _Entry("mcp")
    """Unpacked bundles of MCP servers, a folder for each."""
    mcp_cache = _Entry("cache/mcp")
    """The last known offers of MCP servers, and the tool definitions that the user approved."""
    page_cache = _Entry("cache/page")
    """The page's files for editors, a folder for each version of them."""
    plugins = _Entry("plugins")
    """The user's plug-ins, a folder for each."""
    plugin_copies = _Entry(PLUGIN_COPIES)
    """What tasks have of plug-ins: for each trusted state a folder, which tasks may read."""
    hooks = _Entry("hooks")
    rules = _Entry("rules")
    """The user's own rule files."""
    rule_switches = _Entry("rules.json")
    """Rule files that are switched off."""
    memory = _Entry("memory")
    """The user's notes, a file for each workspace."""

    def task(self, task: str) -> Path:
        """Return the folder of a task, which may not exist. Raises TaskNotFound if no task can have that id."""
        if not is_task_id(task):
            raise TaskNotFound(f"There is no task {task!r}.", "See them with: halo tasks list")
        return self.tasks / task

    def log(self, task: str) -> Path:
        """Return the log of a task, which may not exist. Raises TaskNotFound if no task can have that id."""
        return self.task(task) / LOG_NAME
