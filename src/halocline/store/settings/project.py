"""Settings of a project, `.halocline/settings.toml`: what a folder may set, and in which direction.

What must stay true: without trust a folder only tightens what the person set; a table says for each setting what that
is. A row that may not be set, or that is not valid, is left out with a reason, and the others stay in force.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any

from halocline.protocol.errors import SettingsError
from halocline.protocol.values import Value
from halocline.store.paths import PROJECT_SETTINGS
from halocline.store.settings.load import ProjectLayer, check_settings, find_value, finish_settings, read_settings
from halocline.store.settings.settings import Settings


class ProjectRight(StrEnum):
    """Right of a folder over a setting."""

    LOWER = "a lower value"
    OFF = "only false"
    ON = "only true"
    STRICTER = "a stricter value"
    FEWER = "fewer entries"
    TRUSTED = "any, if trusted"
    NEVER = "nothing: it is yours alone"


_L, _OFF, _T, _N = ProjectRight.LOWER, ProjectRight.OFF, ProjectRight.TRUSTED, ProjectRight.NEVER
_STRICT, _FEWER, _ON = ProjectRight.STRICTER, ProjectRight.FEWER, ProjectRight.ON
RIGHTS: Mapping[str, ProjectRight] = {
    **dict.fromkeys(("model", "plan.model", "plan.effort", "plan.thinking_budget", "fallback_models"), _T),
    **dict.fromkeys(("effort", "thinking_budget", "text_tools", "image_models", "prompt", "language"), _T),
    **dict.fromkeys(("rules_excluded", "compaction.automatic", "compaction.at", "compaction.summary"), _T),
    **dict.fromkeys(("mcp.wait", "mcp.share", "todo_reminder", "language_servers.wait", "browser_viewport"), _T),
    **dict.fromkeys(("extra_tools", "words_off", "double_check", "require_completion", "encodings"), _T),
    "worktree_setup": _T,
    **dict.fromkeys(("max_tokens", "context_window", "max_steps", "max_cost", "time_limit", "max_failures"), _L),
    **dict.fromkeys(("token_limit", "max_reply", "subagent_steps", "subagent_seconds", "sandbox_processes"), _L),
    **dict.fromkeys(("subagent_depth", "subagents_at_once"), _L),
    **dict.fromkeys(("sandbox_file_size", "mcp.sampling_requests", "mcp.sampling_tokens"), _L),
    **dict.fromkeys(("auto_approve.read", "auto_approve.read_outside", "auto_approve.edit"), _OFF),
    **dict.fromkeys(("auto_approve.edit_outside", "auto_approve.safe_commands", "auto_approve.all_commands"), _OFF),
    **dict.fromkeys(("auto_approve.web", "auto_approve.browser", "auto_approve.mcp"), _OFF),
    "auto_approve.project_code": _OFF,
    **dict.fromkeys(("memory", "mcp.enabled", "mcp.others", "partial_edits", "browser", "web"), _OFF),
    **dict.fromkeys(("language_servers.enabled", "language_servers.project_binaries"), _OFF),
    **dict.fromkeys(("sandbox_network", "sandbox_git_writes"), _OFF),
    **dict.fromkeys(("hide_keys", "checkpoints"), _ON),
    **dict.fromkeys(("approval_mode", "subagents", "mcp.sampling", "syntax_errors"), _STRICT),
    **dict.fromkeys(("sandbox", "hook_failures"), _STRICT),
    **dict.fromkeys(("pass_environment", "sandbox_writable"), _FEWER),
    # Servers, keys and prices: where text and money go is the person's choice alone.
    **dict.fromkeys(("base_url", "providers", "prices", "catalogue_url", "model_aliases", "proxy", "ca_file"), _N),
    **dict.fromkeys(("extra_body", "traces", "trace_contents", "log_format"), _N),
    **dict.fromkeys(("allowed_models", "allowed_providers", "tools_off", "modes_off"), _N),
    # Who gives approvals in the person's place, and by which rule.
    **dict.fromkeys(("judge.model", "judge.rule", "judge.most"), _N),
    **dict.fromkeys(("web_search.engine", "web_search.url", "mcp.registry", "profile", "profiles"), _N),
    **dict.fromkeys(("connect_timeout", "first_byte_timeout", "stall_timeout", "quiet_timeout", "timeouts"), _N),
    "requests_per_minute": _N,
    # Hooks may guard the person, formatters and the browser are programs, and a prompt's text may name any file.
    **dict.fromkeys(("hooks", "hook_folders", "hook_timeout", "rules", "formatters", "browser_executable"), _N),
    **dict.fromkeys(("browser_remote", "system_prompt_file", "append_system_prompt", "add_dirs"), _N),
    **dict.fromkeys(("outage_patience", "checkpoints_patience", "checkpoints_quota", "keep_deleted"), _N),
    **dict.fromkeys(("mcp.display", "mcp.collapse", "terminal.title", "terminal.progress", "terminal.notify"), _N),
    # A plug-in's hooks may guard the person, and names in a registry stand for programs.
    **dict.fromkeys(("terminal.theme", "terminal.keys", "terminal.status_line", "plugins.off", "plugins.registry"), _N),
    # They are programs.
    **dict.fromkeys(("terminal.notify_command", "terminal.editor"), _N),
}
"""Every setting and every key of a table of settings, with what a folder may do."""
ORDERS: Mapping[str, tuple[str, ...]] = {
    "approval_mode": ("yolo", "auto", "accept-edits", "ask"),
    "subagents": ("on", "auto", "off"),
    "mcp.sampling": ("allow", "ask", "off"),
    "syntax_errors": ("off", "warn", "refuse"),
    "sandbox": ("in-auto", "auto", "require"),
    "hook_failures": ("continue", "block"),
}
"""Values from loose to strict. In approval mode auto a sandbox asks less, so no folder turns one on."""


MOST, LONGEST = 20, 400
"""Maximum reasons that are shown, and characters of each."""


class ProjectSettings(Value, frozen=True):
    """Content of a folder's file: the value of each row, by dotted name, and what of it cannot be used."""

    file: str
    rows: dict[str, Any] = {}
    problems: tuple[str, ...] = ()

    @property
    def wants_trust(self) -> tuple[str, ...]:
        """The rows that take effect only in a trusted folder."""
        return tuple(name for name in self.rows if RIGHTS[name] is ProjectRight.TRUSTED)


class Overlay(Value, frozen=True):
    """The person's raw settings with those of a folder; `taken` names the rows in force, `refused` has the reasons."""

    raw: dict[str, Any]
    taken: frozenset[str] = frozenset()
    refused: tuple[str, ...] = ()


class LoadedSettings(Value, frozen=True):
    """The effective settings; `taken` names those of a folder, `refused` says why others of it are not in force."""

    settings: Settings
    taken: frozenset[str] = frozenset()
    refused: tuple[str, ...] = ()


def read_project(file: Path) -> ProjectSettings:
    """Read a folder's settings. Never raises: a repository must not be able to stop a task."""
    try:
        given = read_settings(file)
    except SettingsError as error:
        return ProjectSettings(str(file), problems=(f"{error.text} No setting of it is in force.",))
    rows: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in list_rows(given):
        try:
            check_settings(_nest(name, value), PROJECT_SETTINGS)
        except SettingsError as error:
            problems.append(error.text)
            continue
        rows[name] = value
    return ProjectSettings(str(file), rows, tuple(problems))


def overlay(raw: dict[str, Any], project: ProjectSettings, *, trusted: bool, further: bool = False) -> Overlay:
    """Return raw settings, which are valid, with what the folder may set; a `further` one of a task only tightens."""
    file = project.file if further else PROJECT_SETTINGS
    now = check_settings(raw, "")
    taken: list[str] = []
    refused: list[str] = list(project.problems)
    for name, value in project.rows.items():
        own, wanted = find_value(now, name), find_value(check_settings(_nest(name, value), ""), name)
        if own == wanted:
            continue
        if problem := _find_problem(name, own, wanted, trusted=trusted, further=further):
            refused.append(f"{name} in {file} is not in force: {problem}.")
            continue
        raw = _put(raw, name, value)
        taken.append(name)
    if "effort" in taken and "thinking_budget" not in taken:
        raw = {key: value for key, value in raw.items() if key != "thinking_budget"}
    return Overlay(raw, frozenset(taken), tuple(text[:LONGEST] for text in refused[:MOST]))


def apply_project(own: dict[str, Any], layers: Sequence[ProjectLayer], env: Mapping[str, str]) -> LoadedSettings:
    """Return the person's raw settings with those of the folders, and then those of variables.

    Raises SettingsError.
    """
    raw, taken, refused = own, frozenset[str](), tuple[str, ...]()
    for layer in layers:
        over = overlay(raw, read_project(layer.file), trusted=layer.trusted, further=layer.further)
        raw, taken, refused = over.raw, taken | over.taken, refused + over.refused
    return LoadedSettings(finish_settings(raw, ", ".join(str(layer.file) for layer in layers), env), taken, refused)


def list_rows(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the settings of raw ones, each of a table of settings by its dotted name."""
    for name, value in given.items():
        if isinstance(value, dict) and name not in RIGHTS and any(row.startswith(f"{name}.") for row in RIGHTS):
            yield from ((f"{name}.{inner}", one) for inner, one in value.items())
        else:
            yield name, value


def _nest(name: str, value: Any) -> dict[str, Any]:
    table, _, key = name.rpartition(".")
    return {table: {key: value}} if table else {name: value}


def _put(raw: dict[str, Any], name: str, value: Any) -> dict[str, Any]:
    table, _, key = name.rpartition(".")
    return raw | {table: {**raw.get(table, {}), key: value}} if table else raw | {name: value}


def _find_problem(name: str, own: Any, wanted: Any, *, trusted: bool, further: bool) -> str:
    """Return why a folder may not set this value; empty if it may."""
    right = RIGHTS[name]
    if right is ProjectRight.TRUSTED:
        if further:
            return "only the first folder of a task may set it"
        return "" if trusted else "the folder is not trusted (halo trust add)"
    if right is ProjectRight.NEVER:
        return "only your own settings may set it"
    return "" if _IS_TIGHTER[right](name, own, wanted) else f"a folder may set {_WORDS[right]}"


def _is_stricter(name: str, own: Any, wanted: Any) -> bool:
    order: Sequence[str] = ORDERS[name]
    return own in order and order.index(wanted) > order.index(own) if wanted in order else False


_IS_TIGHTER: Mapping[ProjectRight, Callable[[str, Any, Any], bool]] = {
    ProjectRight.LOWER: lambda name, own, wanted: wanted is not None and (own is None or wanted < own),
    ProjectRight.OFF: lambda name, own, wanted: wanted is False,
    ProjectRight.ON: lambda name, own, wanted: wanted is True,
    ProjectRight.FEWER: lambda name, own, wanted: set(wanted) < set(own),
    ProjectRight.STRICTER: _is_stricter,
}
_WORDS = {
    ProjectRight.LOWER: "only a lower limit",
    ProjectRight.OFF: "only false",
    ProjectRight.ON: "only true",
    ProjectRight.FEWER: "only fewer entries",
    ProjectRight.STRICTER: "only a stricter value",
}
