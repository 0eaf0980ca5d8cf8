"""Check what Halocline needs on this machine. Changes nothing unless asked, and never shows keys."""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Awaitable, Mapping
from pathlib import Path

import msgspec

from halocline.checkpoints.guards import check_workspace
from halocline.hosts.browser.discovery import find_browser
from halocline.hosts.language_servers.finding import Finder
from halocline.hosts.ripgrep import Ripgrep
from halocline.protocol.child_environment import is_passed, withheld_names
from halocline.protocol.errors import HaloclineError
from halocline.protocol.events import SandboxChecked
from halocline.protocol.kinds import SandboxStanding
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.litter import find_litter, remove_litter
from halocline.runtime.models.connection_test import ModelConnection
from halocline.services.doctor.finding import Finding
from halocline.services.doctor.log_checks import check_logs
from halocline.services.doctor.store_checks import check_stores
from halocline.services.models.service import ModelService
from halocline.services.plugins import PluginService
from halocline.services.themes import RESET, ThemeService
from halocline.store.paths import Home
from halocline.store.settings.managed import read_managed
from halocline.store.settings.settings import Settings
from halocline.store.themes import TERMINAL

NAMED = 3
"""Files to name; the rest are only counted."""

_STANDINGS = {
    SandboxStanding.FULL: "confines commands fully",
    SandboxStanding.PARTIAL: "confines commands with gaps",
    SandboxStanding.NONE: "commands run without a sandbox",
}


async def run_checks(workspace: Path, env: Mapping[str, str] = os.environ, *, fix: bool = False) -> list[Finding]:
    """Return all findings, in reading order. With `fix`, repair damage in the home first."""
    programs = [_check_git(), _check_ripgrep(), _language_servers(workspace, env)]
    return [
        _check_python(),
        _check_home(env),
        _check_settings(env),
        *_check_managed(env),
        *_check_rules(workspace, env),
        *_check_plugins(workspace, env),
        *_check_themes(workspace, env),
        *_check_variables(env),
        *_check_stored(env, fix=fix),
        *programs,
        _check_workspace(workspace),
        *_check_browser(env),
        *await _check_sandbox(workspace, env),
        await check_models(env),
    ]


def _check_python() -> Finding:
    version = ".".join(map(str, sys.version_info[:3]))
    return Finding("Python", sys.version_info >= (3, 11), version, "Install Python 3.11 or newer.")


def _check_home(env: Mapping[str, str]) -> Finding:
    try:
        home = Home.of(env)
    except HaloclineError as error:
        return Finding("home", False, error.text, error.hint)
    return Finding("home", True, f"{home.root}, {shutil.disk_usage(home.root).free / 1e9:.1f} GB free")


def _check_stored(env: Mapping[str, str], *, fix: bool) -> list[Finding]:
    """Check the data in the home; empty if there is no home."""
    try:
        home = Home.of(env)
    except HaloclineError:
        return []
    return [*check_logs(home, fix=fix), *check_stores(home, fix=fix), *check_litter(home, fix=fix)]


def _check_settings(env: Mapping[str, str]) -> Finding:
    try:
        path = Assembly.of(Choices(), env).home.settings
    except HaloclineError as error:
        return Finding("settings", False, error.text, error.hint)
    return Finding("settings", True, str(path) if path.exists() else "defaults")


def _check_managed(env: Mapping[str, str]) -> list[Finding]:
    """List what the administrator set; empty if that is nothing, or the file cannot be used, which `settings` says."""
    try:
        home = Home.of(env)
        managed = read_managed(home.managed_settings)
    except HaloclineError:
        return []
    rows = [f"{name} = {msgspec.json.encode(value).decode()}" for name, value in managed.rows.items()]
    found = [Finding("managed", True, f"{managed.source}: {', '.join(rows)}")] if rows else []
    others = [str(file) for file in (home.managed_rules, home.managed_mcp) if os.path.lexists(file)]
    return [*found, *([Finding("managed", True, f"your administrator's files: {', '.join(others)}")] if others else [])]


def _check_rules(workspace: Path, env: Mapping[str, str]) -> list[Finding]:
    """Check that rule files can be read; empty if the settings cannot."""
    try:
        book = Assembly.of(Choices(), env).in_folder(workspace).rule_files(workspace).book()
    except HaloclineError:
        return []
    hint = "Until the file can be read, every call needs approval. Correct it and check it with: halo policy test"
    text = "; ".join(book.problems) or f"{len(book.rules)} in force"
    return [Finding("rules", not book.problems, text, hint)]


def _check_plugins(workspace: Path, env: Mapping[str, str]) -> list[Finding]:
    """Load the plug-ins as a task would, and name those that fail; empty if there is no place for any."""
    try:
        parts = Assembly.of(Choices(), env).in_folder(workspace).load_plugins(workspace)
    except HaloclineError:
        return []
    if parts is None:
        return []
    text = " ".join(parts.remarks) or f"{len(parts.plugins)} in force"
    return [Finding("plug-ins", not parts.remarks, text, "See: halo plugins list", needed=False)]


def _check_themes(workspace: Path, env: Mapping[str, str]) -> list[Finding]:
    """Check the chosen theme and those of plug-ins; empty if the usual one is shown and none is broken."""
    try:
        assembly = Assembly.of(Choices(), env).in_folder(workspace)
    except HaloclineError:
        return []
    plugins = assembly.list_plugins(workspace)
    explain = PluginService(assembly, workspace).explain_absence
    themes = ThemeService(assembly.settings.terminal.theme, lambda: plugins, explain)
    is_missing, is_ok = bool(themes.choose()[1]), len(said := themes.describe()) == 1
    if is_ok and themes.chosen == TERMINAL.name:
        return []
    hint = RESET if is_missing else "See: halo plugins show NAME"
    return [Finding("themes", is_ok, " ".join(said), hint, needed=False)]


def _check_variables(env: Mapping[str, str]) -> list[Finding]:
    """List the variables hidden from commands and those passed to them; empty if the settings cannot be read."""
    try:
        assembly = Assembly.of(Choices(), env)
    except HaloclineError:
        return []
    hidden, passed = assembly.key_variables(), assembly.settings.pass_environment
    kept_back = withheld_names(env, hidden, passed)
    given = [name for name in withheld_names(env, hidden) if is_passed(name, hidden, passed)]
    text = (
        f"hidden from commands as secrets: {', '.join(kept_back)} (pass them with pass_environment)"
        if kept_back
        else ""
    )
    text += f"{'; ' if text else ''}passed to commands: {', '.join(given)}" if given else ""
    return [Finding("variables", True, text or "no variable looks like a secret", needed=False)]


def _check_git() -> Finding:
    git = shutil.which("git")
    return Finding("git", git is not None, git or "not found", "Install git: checkpoints need it.", needed=False)


def _check_ripgrep() -> Finding:
    try:
        return Finding("ripgrep", True, Ripgrep().program)
    except HaloclineError as error:
        return Finding("ripgrep", False, error.text, error.hint)


def _language_servers(workspace: Path, env: Mapping[str, str]) -> Finding:

    name = "servers"
    try:
        chosen = Assembly.of(Choices(), env).settings.language_servers
    except HaloclineError as error:
        return Finding(name, False, error.text, error.hint, needed=False)
    if not chosen.enabled:
        return Finding(name, True, "language servers are turned off")
    found = Finder(workspace, chosen.project_binaries, env.get("PATH", "")).all()
    started = [one for one in found if one.allowed]
    served = {ending for one in started for ending in one.row.languages}
    held = [one.program for one in found if not served.issuperset(one.row.languages)]
    text = ", ".join(f"{one.row.name} ({one.program})" for one in started) or "no language server found"
    if held:
        text += f"; not started, because they are programs of the project: {', '.join(held)}"
        hint = "To allow them, set project_binaries = true under [language_servers]."
        return Finding(name, False, text, hint, needed=False)
    hint = "Install one on PATH (pyright, gopls, …) and the agent sees at once what an edit broke."
    return Finding(name, bool(started), text, hint, needed=False)


def _check_workspace(workspace: Path) -> Finding:
    try:
        check_workspace(workspace, Path.home())
    except HaloclineError as error:
        return Finding("checkpoints", False, f"off: {error.text}", error.hint, needed=False)
    return Finding("checkpoints", True, f"on for {workspace}", needed=False)


def _check_browser(env: Mapping[str, str]) -> list[Finding]:
    """Check for a browser, and that the model is offered it; empty if the settings cannot be read."""
    try:
        settings = Assembly.of(Choices(), env).settings
    except HaloclineError:
        return []
    found = find_browser(settings.browser_executable, remote=settings.browser_remote)
    if not found.program:
        text = found.missing if settings.browser else f"{found.missing} (and the browser setting is off)"
        return [Finding("browser", False, text, found.hint, needed=False)]
    if not settings.browser:
        hint = "To offer it to the model, set browser = true in settings.toml, or HALOCLINE_BROWSER=true."
        return [Finding("browser", False, f"{found.program}, not used", hint, needed=False)]
    is_unsafe = os.geteuid() == 0 and not settings.browser_remote
    unsafe = "; runs without its own sandbox, because you are root" if is_unsafe else ""
    return [Finding("browser", True, f"{found.program}{unsafe}", needed=False)]


async def _check_sandbox(workspace: Path, env: Mapping[str, str]) -> list[Finding]:
    """Try the sandbox and report what it enforces; empty if the settings cannot be read."""
    try:
        assembly = Assembly.of(Choices(), env).in_folder(workspace)
    except HaloclineError:
        return []
    with tempfile.TemporaryDirectory(prefix="halocline-") as folder:
        found = await assembly.any_sandbox(workspace, Path(folder)).check()
    return [_describe_sandbox(found, assembly.settings)]


def _describe_sandbox(found: SandboxChecked, settings: Settings) -> Finding:
    wanted, is_full = settings.sandbox, found.standing is SandboxStanding.FULL
    holds = is_full and wanted != "off"
    held = "not used" if wanted == "off" else _STANDINGS[found.standing]
    held = "no command runs" if wanted == "require" and not is_full else held
    network = " but for the network" if settings.sandbox_network and wanted != "off" else ""
    missing = [place for place in settings.sandbox_writable if not Path(place).expanduser().is_dir()]
    said = [f"{lack[:1].upper()}{lack[1:]}" for lack in found.lacks]
    said += [f"In sandbox_writable, {place} is no folder" for place in missing]
    auto = [] if holds else ["Approval mode auto asks before programs that do more than read or edit files"]
    hint = "".join(f"{one}. " for one in (*said, *auto)).rstrip()
    text = f"{found.way or 'none'}, {held}{network}; setting: {wanted}"
    return Finding("sandbox", holds and not said, text, hint, needed=wanted == "require")


async def check_model(trial: Awaitable[ModelConnection]) -> Finding:
    """Report the result of a connection test."""
    try:
        found = await trial
    except HaloclineError as error:
        return Finding("connection", False, error.text, error.hint)
    if found.failure:
        return Finding("connection", False, f"{found.model}: {found.failure}", found.hint)
    steps = [f"{found.server} answers"]
    if found.key_source:
        steps.append(f"{'accepts' if found.accepted else 'does not reject'} the key ({found.key_source})")
    if found.known:
        steps.append("has the model")
    return Finding("connection", True, f"{found.model}: {', '.join(steps)}; {found.seconds:.1f} s")


def _list_keys(env: Mapping[str, str]) -> list[str]:
    """Return the source of each provider's key, with its last characters. Raises HaloclineError."""
    accounts = [one for one in ModelService(Assembly.of(Choices(), env)).accounts.all() if one.has_key]
    sources = [one.variable or f"halo login {one.provider}" for one in accounts]
    return [f"{source} ({one.tail})" if one.tail else source for source, one in zip(sources, accounts, strict=True)]


async def check_models(env: Mapping[str, str]) -> Finding:
    try:
        chosen = Assembly.of(Choices(), env)
        keys, model = _list_keys(env), await ModelService(chosen).find_usual()
    except HaloclineError as error:
        return Finding("models", False, error.text, error.hint)
    with_keys = f"; keys: {', '.join(keys)}" if keys else ""
    if model:
        return await _check_opening(model, chosen, with_keys)
    hint = "Run halo login, set a key such as ANTHROPIC_API_KEY, or start Ollama. halo demo works without a key."
    if keys:
        hint = "Choose one: halo models --all, then halo config set model PROVIDER/NAME. Or name it with -m."
    return Finding("models", False, f"no model for a new task{with_keys}", hint, needed=False)


async def _check_opening(model: str, chosen: Assembly, with_keys: str) -> Finding:
    """Check that the model of a new task can be asked: it may lack its key."""
    try:
        opened = await chosen.model(model)
    except HaloclineError as error:
        return Finding("models", False, error.text, error.hint, needed=False)
    await opened.close()
    return Finding("models", True, f"a new task uses {model}{with_keys}", needed=False)


def check_litter(home: Home, *, fix: bool = False) -> list[Finding]:
    """Find half-written files in the home and beside edited files; `fix` removes them."""
    found = sorted(find_litter(home, time.time()))
    if not found:
        return [Finding("leftovers", True, "none", needed=False)]
    gone = remove_litter(found) if fix else []
    left = [path for path in found if path not in gone]
    names = ", ".join(map(str, (left or gone)[:NAMED])) + (", …" if len(left or gone) > NAMED else "")
    if not left:
        return [Finding("leftovers", True, f"removed {len(gone)} from killed processes: {names}", needed=False)]
    hint = "They could not be removed; delete them by hand." if fix else "Run halo doctor --fix, or start a new task."
    return [Finding("leftovers", False, f"{len(left)} from killed processes: {names}", hint, needed=False)]
