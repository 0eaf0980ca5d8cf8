"""The package `keyring` is played by one of the same shape on PYTHONPATH; ours runs it in a process of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

REAL = "keyring.backends.SecretService"
PLAIN = "keyrings.alt.file"

PACKAGE = """
import json, os, time
from pathlib import Path

FILE = Path(os.environ["KEPT"])

class Backend:
    def get_password(self, service, name):
        if (wait := os.environ.get("WAIT")): time.sleep(float(wait))
        return self._all().get(f"{service}|{name}")
    def set_password(self, service, name, password):
        if os.environ.get("BROKEN"): raise RuntimeError(f"the collection is locked, not kept: {password}")
        FILE.write_text(json.dumps(self._all() | {f"{service}|{name}": password}))
    def delete_password(self, service, name):
        kept = self._all(); del kept[f"{service}|{name}"]
        FILE.write_text(json.dumps(kept))
    def _all(self):
        return json.loads(FILE.read_text()) if FILE.exists() else {}

def made(module):
    return type("Keyring", (Backend,), {"__module__": module})()

def get_keyring():
    first, *others = os.environ["BACKENDS"].split()
    chosen = made(first)
    chosen.backends = [made(one) for one in others]
    return chosen
"""

DEED = """
import sys
from pathlib import Path
from halocline.protocol.errors import SecretsError
from halocline.protocol.secrets.secret import Secret
from halocline.store.secrets.store import SecretStore
store = SecretStore(Path(sys.argv[1]), float(sys.argv[4]) if len(sys.argv) > 4 else 30.0)
try:
    match sys.argv[2]:
        case "put": print(store.put(sys.argv[3], Secret("sk-1234567890abcdef")).value)
        case "get": print((store.get(sys.argv[3]) or Secret("nothing")).reveal())
        case "remove": print(store.remove(sys.argv[3]))
        case "places": print(sorted(store.places()))
except SecretsError as error:
    print(f"{error.text} {error.hint}")
assert "keyring" not in sys.modules
"""


class Machine:
    """One with the package installed, and these backends."""

    def __init__(self, root: Path, backends: str) -> None:
        self.kept = root / "kept.json"
        self.path = root / "home" / "credentials"
        self.path.parent.mkdir(mode=0o700)
        (root / "packages" / "keyring").mkdir(parents=True)
        (root / "packages" / "keyring" / "__init__.py").write_text(PACKAGE)
        self.folder = root / "folder"
        self.folder.mkdir()
        self.env = {**os.environ, "PYTHONPATH": str(root / "packages"), "BACKENDS": backends, "KEPT": str(self.kept)}

    def does(self, *words: str, **env: str) -> str:
        ran = subprocess.run(
            [sys.executable, "-P", "-c", DEED, self.path, *words],
            env=self.env | env,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return ran.stdout.strip()


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path, REAL)


def test_a_real_keyring_keeps_the_key_and_the_file_only_its_name(machine: Machine) -> None:
    assert machine.does("put", "openai") == "keyring"
    assert "sk-1234567890abcdef" not in machine.path.read_text()
    assert machine.does("places", "") == "['openai']"
    assert machine.does("get", "openai") == "sk-1234567890abcdef"
    assert machine.does("remove", "openai") == "True"
    assert json.loads(machine.kept.read_text()) == {}
    assert not machine.path.exists()


@pytest.mark.parametrize(
    ("backends", "place"),
    [
        (REAL, "keyring"),
        ("keyring.backends.kwallet", "keyring"),
        ("keyring.backends.macOS", "keyring"),
        ("keyring.backends.Windows", "keyring"),
        (f"keyring.backends.chainer {PLAIN} {REAL}", "keyring"),
        (f"keyring.backends.chainer {PLAIN}", "file"),
        (PLAIN, "file"),
        ("keyring.backends.fail", "file"),
        ("keyring.backends.null", "file"),
        ("keyring.backends.SecretServiceLookalike", "file"),
    ],
)
def test_only_a_keyring_of_the_system_is_taken(tmp_path: Path, backends: str, place: str) -> None:
    machine = Machine(tmp_path, backends)
    assert machine.does("put", "openai") == place
    assert machine.kept.exists() == (place == "keyring")
    assert machine.does("get", "openai") == "sk-1234567890abcdef"


def test_a_keyring_that_fails_is_quoted_without_the_key(machine: Machine) -> None:
    said = machine.does("put", "openai", BROKEN="1")
    assert "The system's keyring failed: the collection is locked, not kept: [key]." in said
    assert "sk-1234567890abcdef" not in said
    assert not machine.path.exists()


def test_a_keyring_that_nobody_unlocks_is_not_waited_for_without_end(machine: Machine) -> None:
    machine.does("put", "openai")
    assert "did not answer within 0.5 s" in machine.does("get", "openai", "0.5", WAIT="60")


def test_a_key_in_a_keyring_that_is_out_of_reach_says_where_it_is(machine: Machine) -> None:
    machine.does("put", "openai")
    for env in ({"BACKENDS": "keyring.backends.fail"}, {"PYTHONPATH": ""}):
        said = machine.does("get", "openai", **env)
        assert "is in the system's keyring, which is not available here" in said
        assert "halocline[keyring]" in said


def test_a_key_that_was_deleted_in_the_keyring_itself_can_be_stored_again(machine: Machine) -> None:
    machine.does("put", "openai")
    machine.kept.write_text("{}")
    assert "halo login openai" in machine.does("get", "openai")
    assert machine.does("remove", "openai") == "True"


def test_a_file_of_that_name_in_the_current_folder_is_not_run(machine: Machine) -> None:
    (machine.folder / "keyring.py").write_text("raise SystemExit('ran the wrong one')")
    assert machine.does("put", "openai") == "keyring"
