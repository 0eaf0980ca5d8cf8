"""The administrator's settings: every setting can be one, and none is lifted by any place that a person writes to."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from halocline.protocol.errors import SettingsError, UsageError
from halocline.protocol.kinds import ApprovalMode, bound_mode
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.sdk.options import Options, read_choices
from halocline.services.settings import SettingsService
from halocline.store.paths import PROJECT_SETTINGS, Home
from halocline.store.settings.load import VARIABLES, check_settings, find_value
from halocline.store.settings.managed import ADDED, SELECTING, ManagedSettings, read_managed
from halocline.store.settings.project import RIGHTS, ProjectRight
from halocline.store.settings.provider_settings import Price
from halocline.store.settings.settings import Settings

VALUES = (
    *(True, False, 1, 2, 20, 0.5, 0.9, 20.5, 21.5, "ask", "auto", "low", "high", "x", "plain", "360x640", "640x480"),
    *(
        "127.0.0.1:9222",
        "localhost:9223",
        "bell",
        "json",
        "text",
        "off",
        "on",
        "allow",
        "warn",
        "refuse",
        "require",
        "block",
        "continue",
    ),
    *("full", "compact", "markdown", "emacs", "vi", "brave", "exa", [], ["x"], ["yolo"], ["auto"], ["new_task"]),
    *(
        {"a": "x"},
        {"a": "y"},
        {"a": {"base_url": "http://a"}},
        {"a": {"base_url": "http://b"}},
        {"a": {"input": 1, "output": 1}},
    ),
    *({"a": 1}, {"a": 2}),
    *(
        {"a": {"input": 2, "output": 2}},
        {"a": {"connect": 1}},
        {"a": {"connect": 2}},
        {"a.txt": "utf-8"},
        {"b.txt": "ascii"},
    ),
)
"""Two of these are valid values of each setting."""
ROWS = [name for name in RIGHTS if name not in SELECTING]
NAMED = {setting: variable for variable, setting in VARIABLES.items()}
SDK = {"system_prompt": "append_system_prompt"} | {
    name: name
    for name in Options.__annotations__
    if name in Choices.__struct_fields__ and name in Settings.__struct_fields__
}


class Machine:
    """A home, a project and an administrator's folder, whose files set one setting each."""

    def __init__(self, folder: Path) -> None:
        self.home = Home(folder / "home", folder / "etc")
        self.work = folder / "work"
        for place in (self.home.root, self.home.managed, self.work / ".halocline"):
            place.mkdir(parents=True, mode=0o755)
        self.home.tasks.mkdir()

    def read(self, choices: Choices, env: dict[str, str]) -> Settings:
        env = {"HALOCLINE_HOME": str(self.home.root), **env}
        return Assembly.of(choices, env, home=self.home).in_folder(self.work, trusted=True).settings


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def toml(name: str, value: Any, *, table: str = "") -> str:
    """Write one setting as TOML, in a table if one is named."""
    text = msgspec.json.encode(value).decode().replace('":', '"=')
    return (f"[{table}]\n" if table else "") + f"{name} = {text}\n"


def read_one(name: str, value: Any) -> Any:
    """Return a setting as it is read. Raises SettingsError."""
    table, _, key = name.rpartition(".")
    return find_value(check_settings({table: {key: value}} if table else {key: value}, ""), name)


def find_two(name: str) -> tuple[Any, Any]:
    """Return a value that an administrator may set, and another that lifts it: a higher one of limits."""
    found: dict[str, Any] = {}
    for value in VALUES:
        try:
            read = read_one(name, value)
        except SettingsError:
            continue
        if not isinstance(value, bool | int | float) or isinstance(read, type(value)):
            found.setdefault(repr(read), value)
    values = [*found.values()]
    if RIGHTS[name] is ProjectRight.LOWER:
        return min(values), max(values)
    return (values[1], values[0]) if values[0] == [] else (values[0], values[1])


def list_ways(machine: Machine, name: str, value: Any) -> Iterator[tuple[str, Choices, dict[str, str]]]:
    """Set the setting in one place after the other, and yield the options and variables to read them with."""
    own, project = machine.home.settings, machine.work / PROJECT_SETTINGS
    own.write_text(toml(name, value))
    yield "the person's file", Choices(), {}
    own.write_text(toml(name, value, table="profiles.other"))
    yield "a profile", Choices(profile="other"), {}
    own.unlink()
    project.write_text(toml(name, value))
    yield "a trusted project", Choices(), {}
    project.unlink()
    if variable := NAMED.get(name):
        yield "a variable", Choices(), {variable: str(value).lower() if isinstance(value, bool) else str(value)}
    typed = read_one(name, value)
    if name in Choices.__struct_fields__:
        yield "a flag", Choices(**{name: typed}), {}
    for option in (option for option, setting in SDK.items() if setting == name):
        yield "an option of a program", read_choices({option: typed}), {}


@pytest.mark.parametrize("name", ROWS)
def test_no_place_that_a_person_writes_to_lifts_a_setting(machine: Machine, name: str) -> None:
    theirs, other = find_two(name)
    machine.home.managed_settings.write_text(toml(name, theirs))
    managed = read_managed(machine.home.managed_settings)
    want = managed.rows[name]
    for way, choices, env in list_ways(machine, name, other):
        now = find_value(machine.read(choices, env), name)
        assert set(want) <= set(now) if name in ADDED else now == want, way
    service = SettingsService(machine.home, {})
    (row,) = service.find(name, exact=True)
    assert row.source == f"set by your administrator in {machine.home.managed_settings}"
    if name not in ADDED:
        with pytest.raises(UsageError, match="set by your administrator"):
            service.put(name, other)


@pytest.mark.parametrize("name", [name for name in ROWS if RIGHTS[name] is ProjectRight.LOWER])
def test_a_person_may_set_less_than_a_cap(machine: Machine, name: str) -> None:
    less, cap = find_two(name)
    machine.home.managed_settings.write_text(toml(name, cap))
    service = SettingsService(machine.home, {})
    service.put(name, less)
    (row,) = service.find(name, exact=True)
    assert (row.value, row.source) == (less, "settings.toml")
    assert find_value(machine.read(Choices(), {}), name) == less


def test_what_a_person_turned_off_stays_off_beside_the_administrators(machine: Machine) -> None:
    machine.home.managed_settings.write_text('tools_off = ["web_fetch"]\n')
    machine.home.settings.write_text('tools_off = ["remember"]\n')
    assert machine.read(Choices(), {}).tools_off == ("web_fetch", "remember")


def test_without_a_file_nothing_is_managed(machine: Machine) -> None:
    assert read_managed(machine.home.managed_settings) == ManagedSettings()
    assert read_managed(machine.home.managed / "none" / "settings.toml") == ManagedSettings()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("max_stepps = 1", "Unknown setting 'max_stepps'"),
        ('max_steps = "many"', "max_steps"),
        ('profile = "x"', "cannot set profile"),
    ],
)
def test_a_row_that_is_none_stops_halocline_with_an_error_that_names_it(machine: Machine, text: str, said: str) -> None:
    machine.home.managed_settings.write_text(text)
    with pytest.raises(SettingsError) as error:
        machine.read(Choices(), {})
    assert said in error.value.text
    assert str(machine.home.managed_settings) in error.value.text
    assert "administrator" in error.value.hint


def test_where_the_cost_is_limited_no_price_is_the_persons(machine: Machine) -> None:
    free = '[prices."openai/gpt-5"]\ninput = 0\noutput = 0\ncache_read = 0\nwindow = 9000\n'
    machine.home.settings.write_text(f'catalogue_url = "http://a"\n{free}')
    assert machine.read(Choices(), {}).prices["openai/gpt-5"].input == 0
    machine.home.managed_settings.write_text("max_cost = 5\n")
    now = machine.read(Choices(), {})
    assert (now.prices["openai/gpt-5"], now.catalogue_url) == (Price(window=9000), Settings().catalogue_url)
    terms = Assembly.of(Choices(), {"HALOCLINE_HOME": str(machine.home.root)}, home=machine.home)
    assert terms.find_terms("openai/gpt-5", 1).written > 0
    machine.home.managed_settings.write_text(f"max_cost = 5\n{free}")
    assert machine.read(Choices(), {}).prices["openai/gpt-5"].input == 0


@pytest.mark.parametrize(
    ("mode", "off", "left"),
    [
        ("yolo", (), "yolo"),
        ("yolo", ("yolo",), "auto"),
        ("yolo", ("yolo", "auto"), "accept-edits"),
        ("auto", ("auto", "accept-edits", "yolo"), "ask"),
        ("ask", ("ask", "accept-edits", "yolo"), "auto"),
    ],
)
def test_a_mode_that_is_off_gives_way_to_the_next_stricter_one(mode: str, off: tuple[str, ...], left: str) -> None:
    assert bound_mode(ApprovalMode(mode), tuple(map(ApprovalMode, off))) == left


def test_where_models_are_limited_no_name_leads_to_another_server(machine: Machine) -> None:
    machine.home.managed_settings.write_text('allowed_providers = ["openai"]\n')
    machine.home.settings.write_text('base_url = "http://a"\n[providers.openai]\nbase_url = "http://a"\n')
    env = {"HALOCLINE_HOME": str(machine.home.root), "OPENAI_BASE_URL": "http://a", "OPENAI_API_KEY": "sk-1"}
    assembly = Assembly.of(Choices(base_url="http://a"), env, home=machine.home)
    assert (assembly.settings.base_url, assembly.settings.providers) == ("", {})
    assert assembly.find_server("openai/gpt-5") == ""
    machine.home.managed_settings.unlink()
    assert Assembly.of(Choices(), env, home=machine.home).find_server("openai/gpt-5") == "http://a:80"


def test_one_setting_is_judged_whatever_else_the_administrator_set(machine: Machine) -> None:
    machine.home.managed_settings.write_text('max_cost = 5\nsandbox = "require"\n[mcp]\nsampling_tokens = 9\n')
    service = SettingsService(machine.home, {})
    service.put("language", "German")
    service.put("mcp.wait", 1)
    for name, value in (("sandbox", "off"), ("max_cost", 6.0), ("mcp.sampling_tokens", 10)):
        with pytest.raises(UsageError, match=f"{name} is set by your administrator"):
            service.put(name, value)
    service.put("sandbox", None)
