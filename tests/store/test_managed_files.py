"""The administrator's files: each counts only if it is root's alone; otherwise all that it bounds is closed."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from halocline.files.root_owned import only_root_writes
from halocline.protocol.errors import SettingsError
from halocline.protocol.permission_rules import Verdict
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.store.mcp.servers import McpPlaces, read_servers
from halocline.store.paths import Home
from halocline.store.permissions.rule_files import RuleFiles

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make such files")
CONTENTS = {
    "settings.toml": "max_steps = 1\n",
    "policy.toml": '[[rule]]\ndecision = "allow"\n',
    "mcp.json": json.dumps({"mcpServers": {"theirs": {"command": "x"}}}),
}
NOBODY = 4242
NOT_ROOTS = "Users other than root can write to {}, or replace it"


class Machine:
    """A home with one server, and an administrator's folder."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.persons = Home(folder / "home", folder / "etc"), folder / "work", folder / "person"
        for place in (self.home.root, self.home.managed, self.work, self.persons):
            place.mkdir(mode=0o755)
        os.chown(self.persons, NOBODY, NOBODY)
        self.home.tasks.mkdir()
        self.home.mcp.write_text(json.dumps({"mcpServers": {"mine": {"command": "x"}}}))

    def start(self) -> None:
        Assembly.of(Choices(), {"HALOCLINE_HOME": str(self.home.root)}, home=self.home)

    def book(self):
        return RuleFiles(self.home.policy, self.home.grants, self.work, managed=self.home.managed_rules).book()

    def servers(self):
        return read_servers(McpPlaces(self.home.mcp, self.work, managed=self.home.managed_mcp))


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def dangling(file: Path, machine: Machine) -> None:
    file.symlink_to("nowhere")


def in_a_dangling_folder(file: Path, machine: Machine) -> None:
    file.parent.rmdir()
    file.parent.symlink_to("nowhere")


def of_another_user(file: Path, machine: Machine) -> None:
    file.write_text(CONTENTS[file.name])
    os.chown(file, NOBODY, NOBODY)


def writable(file: Path, machine: Machine) -> None:
    file.write_text(CONTENTS[file.name])
    file.chmod(0o666)


def in_a_writable_folder(file: Path, machine: Machine) -> None:
    file.write_text(CONTENTS[file.name])
    file.parent.chmod(0o777)


def below_another_users_folder(file: Path, machine: Machine) -> None:
    file.write_text(CONTENTS[file.name])
    os.chown(file.parent.parent, NOBODY, NOBODY)


def linked_to_a_persons_folder(file: Path, machine: Machine) -> None:
    (machine.persons / "theirs").write_text(CONTENTS[file.name])
    file.symlink_to(machine.persons / "theirs")


def linked_by_a_persons_link(file: Path, machine: Machine) -> None:
    (machine.work / "ours").write_text(CONTENTS[file.name])
    (machine.persons / "link").symlink_to(machine.work / "ours")
    file.symlink_to(machine.persons / "link")


def a_folder(file: Path, machine: Machine) -> None:
    file.mkdir()


def of_bad_content(file: Path, machine: Machine) -> None:
    file.write_text("{[")


FAULTS = {
    dangling: "Cannot read {}",
    in_a_dangling_folder: "Cannot read ",
    of_another_user: NOT_ROOTS,
    writable: NOT_ROOTS,
    in_a_writable_folder: NOT_ROOTS,
    below_another_users_folder: NOT_ROOTS,
    linked_to_a_persons_folder: NOT_ROOTS,
    linked_by_a_persons_link: NOT_ROOTS,
    a_folder: "Cannot read {}",
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", CONTENTS)
def test_nothing_starts_beside_a_file_that_cannot_be_trusted(machine: Machine, name: str, fault: Callable) -> None:
    file = machine.home.managed / name
    fault(file, machine)
    with pytest.raises(SettingsError) as error:
        machine.start()
    assert FAULTS[fault].format(file) in error.value.text
    assert "administrator" in error.value.hint


@pytest.mark.parametrize("fault", [*FAULTS, of_bad_content])
def test_rules_that_cannot_be_used_forbid_everything(machine: Machine, fault: Callable) -> None:
    fault(machine.home.managed_rules, machine)
    book = machine.book()
    (rule,) = book.rules
    assert rule.decision is Verdict.DENY
    assert str(machine.home.managed_rules) in rule.reason
    assert FAULTS.get(fault, "Cannot read {}").format(machine.home.managed_rules) in book.problems[0]


@pytest.mark.parametrize("fault", [*FAULTS, of_bad_content])
def test_a_list_of_servers_that_cannot_be_used_lets_none_run(machine: Machine, fault: Callable) -> None:
    fault(machine.home.managed_mcp, machine)
    found = machine.servers()
    assert {server.name: "administrator" in server.problem for server in found.servers} == {"mine": True}
    assert str(machine.home.managed_mcp) in found.problems[0]


def test_files_that_are_missing_or_roots_count_also_behind_a_link_of_roots(machine: Machine) -> None:
    machine.start()
    assert (machine.book().rules, [server.problem for server in machine.servers().servers]) == ((), [""])
    kept = machine.home.root.parent / "kept"
    kept.mkdir(mode=0o755)
    for name, text in CONTENTS.items():
        (kept / name).write_text(text)
        (machine.home.managed / name).symlink_to(Path("..") / "kept" / name)
    machine.start()
    assert [rule.decision for rule in machine.book().rules] == [Verdict.ALLOW]
    assert {server.name for server in machine.servers().servers} == {"mine", "theirs"}


def test_a_link_that_leads_to_itself_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("a")
    with pytest.raises(OSError, match="Too many"):
        only_root_writes(tmp_path / "a")
