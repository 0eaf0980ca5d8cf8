import os
import subprocess
import sys
from pathlib import Path

import pytest

from halocline.files.durable import write_whole
from halocline.store.mcp import servers as mcp_files
from halocline.store.permissions.instruction_switches import RuleSwitches
from halocline.store.secrets.store import SecretStore

KEEPS = """
import sys
from pathlib import Path
from halocline.protocol.secrets.secret import Secret
from halocline.store.mcp import servers as mcp_files
from halocline.store.permissions.instruction_switches import RuleSwitches
from halocline.store.secrets.store import SecretStore
from halocline.files.durable import write_whole
from tests.crashes.disk import Disk

home, place = map(Path, sys.argv[1:])
disk = Disk(home)
disk.install()
for turn in (b"old", b"new"):
    write_whole(home / "plain", turn)
    SecretStore(home / "credentials").put("openai", Secret(turn.decode()))
    RuleSwitches(home / "switches").switch(turn.decode(), None, on=False)
    mcp_files.write_server(home / "mcp.json", turn.decode(), {"command": "true"})
disk.cut(place)
"""


@pytest.fixture(scope="module")
def left(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a home holds after the power was lost right after its files were written."""
    folder = tmp_path_factory.mktemp("power")
    (folder / "home").mkdir(mode=0o700)
    words = [sys.executable, "-c", KEEPS, str(folder / "home"), str(folder / "left")]
    subprocess.run(words, check=True, env={**os.environ, "PYTHON_KEYRING_BACKEND": "keyring.backends.null.Keyring"})
    (folder / "left").chmod(0o700)
    return folder / "left"


@pytest.mark.process
def test_a_file_that_was_written_whole_survives_a_loss_of_power(left: Path):
    assert (left / "plain").read_bytes() == b"new"


def test_a_key_survives_a_loss_of_power(left: Path):
    (left / "credentials").chmod(0o600)
    key = SecretStore(left / "credentials").get("openai")
    assert key is not None
    assert key.reveal() == "new"


def test_servers_and_switches_survive_a_loss_of_power(left: Path):
    assert RuleSwitches(left / "switches").off(Path("/anywhere")) == {"old", "new"}
    assert [*mcp_files.read_raw(left / "mcp.json")[mcp_files.KEY]] == ["old", "new"]


def test_a_file_that_cannot_be_written_is_as_before_and_leaves_nothing(tmp_path: Path):
    write_whole(tmp_path / "file", b"old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="directory"):
        write_whole(tmp_path / "folder", b"new")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]
