"""Plug-ins as people administer them: installed, listed, trusted and turned off, without any of them running."""

import json
import os
import subprocess
import sys

import pytest

from halocline.protocol.errors import UsageError
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.plugins import PluginService
from halocline.store.paths import Home
from halocline.store.settings.load import load_settings

CODE = """
raise SystemExit("this ran")
import halocline
@halocline.tool(effect="reads")
def one(): "One."
@halocline.tool(name="deux", effect="network")
async def two(): "Two."
@halocline.tool
def three(): "Three."
hooks = {"PreToolUse": three, "Stop": [three]}
"""


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    return Home.of({"HALOCLINE_HOME": str(tmp_path / "home")})


@pytest.fixture
def service(home, tmp_path):
    (tmp_path / "project").mkdir()

    def build():
        return PluginService(Assembly(home, load_settings(home.settings, {}), {}), tmp_path / "project")

    return build


def put(top, **texts):
    for name, text in {"plugin.toml": 'name = "tidy"\npython = "code.py"\n', "code.py": CODE, **texts}.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top


async def install(service, source):
    async with service().fetch(str(source)) as found:
        return service().install(found, str(source))


def git(folder, *words):
    quiet = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull}
    named = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(("git", *named, *words), cwd=folder, check=True, capture_output=True, env=quiet)


async def test_a_plugin_is_installed_from_a_folder_and_off_until_it_is_trusted(service, home, tmp_path):
    found = await install(service, put(tmp_path / "source"))
    assert found.folder == str(home.plugins / "tidy")
    (listed,) = service().listed()
    assert [(item.name, item.does) for item in listed.items] == [
        ("one", "reads"),
        ("deux", "network"),
        ("three", "anything"),
        ("PreToolUse", ""),
        ("Stop", ""),
    ]
    assert (listed.problem, listed.runs_code) == ("it is not trusted: halo plugins trust tidy", True)
    service().decide(found, trusted=True)
    assert service().listed()[0].problem == ""
    with pytest.raises(UsageError, match="already"):
        await install(service, tmp_path / "source")


@pytest.mark.process
async def test_a_plugin_is_installed_from_a_bare_repository_and_brought_up_to_date(service, home, tmp_path):
    source = put(tmp_path / "source")
    git(source, "init", "-q")
    git(source, "add", ".")
    git(source, "commit", "-qm", "one")
    git(tmp_path, "clone", "-q", "--bare", str(source), str(tmp_path / "bare"))
    found = await install(service, tmp_path / "bare")
    service().decide(found, trusted=True)
    put(source, **{"new.md": "new"})
    git(source, "add", ".")
    git(source, "commit", "-qm", "two")
    git(source, "push", "-q", str(tmp_path / "bare"), "HEAD")
    async with service().fetch(service().source_of("tidy")) as again:
        service().install(again, service().source_of("tidy"), replaces=True)
    assert (home.plugins / "tidy/new.md").read_text() == "new"
    assert not (home.plugins / "tidy/.git").exists()
    assert service().listed()[0].problem == "it changed since you trusted it: halo plugins trust tidy"


@pytest.mark.process
@pytest.mark.parametrize("form", ["folder", "repository"])
async def test_a_name_is_looked_up_in_the_registry_that_the_person_set(service, home, tmp_path, form):
    registry = put(tmp_path / "registry/plugins/tidy").parents[1]
    entries = [
        {"name": "tidy", "source": "./plugins/tidy"},
        {"name": "up", "source": "../.."},
        {"name": "odd", "source": 7},
    ]
    (registry / ".claude-plugin").mkdir()
    (registry / ".claude-plugin/marketplace.json").write_text(json.dumps({"name": "m", "plugins": entries}))
    if form == "repository":
        git(registry, "init", "-q")
        git(registry, "add", ".")
        git(registry, "commit", "-qm", "one")
        git(tmp_path, "clone", "-q", "--bare", str(registry), str(tmp_path / "bare"))
        registry = tmp_path / "bare"
    with pytest.raises(UsageError, match="no registry is set"):
        await install(service, "tidy")
    home.settings.write_text(f'[plugins]\nregistry = "{registry}"\n')
    assert (await install(service, "tidy")).name == "tidy"
    for name, why in (("gone", "has no plug-in gone"), ("up", "leads out of it"), ("odd", "of no known kind")):
        with pytest.raises(UsageError, match=why):
            await install(service, name)


async def test_what_is_removed_is_trusted_no_more(service, home, tmp_path):
    found = await install(service, put(tmp_path / "source"))
    service().decide(found, trusted=True)
    service().remove("tidy")
    assert (service().listed(), (home.plugins / "tidy").exists()) == ([], False)
    await install(service, tmp_path / "source")
    assert "not trusted" in service().listed()[0].problem


async def test_a_part_is_turned_off_and_on_by_its_name(service, home, tmp_path):
    service().decide(await install(service, put(tmp_path / "source")), trusted=True)
    service().switch("tidy/tool/deux", on=False)
    assert [item.on for item in service().listed()[0].items if item.kind == "tool"] == [True, False, True]
    service().switch("tidy/tool/deux", on=True)
    assert "plugins" not in home.settings.read_text()
    service().switch("tidy", on=False)
    assert service().listed()[0].problem == "it is turned off: halo plugins enable tidy"
    for name, on in (("gone", False), ("tidy/tool/one", True)):
        with pytest.raises(UsageError):
            service().switch(name, on=on)


def test_a_package_is_a_plugin_by_its_entry_point_once_it_is_trusted(service, home, tmp_path, monkeypatch):
    site = tmp_path / "site"
    put(site / "tidypackage", **{"plugin.toml": 'python = "code.py"\n', "__init__.py": "raise SystemExit('this ran')"})
    info = site / "tidy_package-3.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tidy-package\nVersion: 3.1\n")
    (info / "entry_points.txt").write_text("[halocline.plugins]\ntidy = tidypackage\ndeep = tidypackage.inner\n")
    monkeypatch.syspath_prepend(str(site))
    found = {one.name: one for one in service().listed()}
    assert (found["tidy"].source, found["tidy"].version) == ("package", "3.1")
    assert found["deep"].problem == "'tidypackage.inner' is no top-level package"
    assert Assembly(home, load_settings(home.settings, {}), {}).list_plugins(tmp_path / "project") == ()
    service().decide(service().find("tidy").found, trusted=True)
    assembly = Assembly(home, load_settings(home.settings, {}), {})
    assert [plugin.name for plugin in assembly.list_plugins(tmp_path / "project")] == ["tidy"]
    assert "tidypackage" not in sys.modules
    (site / "tidypackage/code.py").write_text("")
    assert assembly.list_plugins(tmp_path / "project") == ()
