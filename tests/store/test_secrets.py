import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from halocline.protocol.errors import SecretsError
from halocline.protocol.secrets.secret import Secret
from halocline.store.paths import Home
from halocline.store.secrets.store import Place, SecretStore

KEY = Secret("sk-1234567890abcdef")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return Home.of({"HALOCLINE_HOME": str(tmp_path / "home")}).credentials


@pytest.fixture
def store(path: Path) -> SecretStore:
    return SecretStore(path)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_stored_is_there_for_the_next_process(path: Path, store: SecretStore) -> None:
    assert store.put("openai", KEY) is Place.FILE
    assert SecretStore(path).get("openai") == KEY
    assert SecretStore(path).places() == {"openai": Place.FILE}


def test_an_empty_store_has_nothing_and_makes_no_file(path: Path, store: SecretStore) -> None:
    assert (store.get("openai"), store.places(), store.remove("openai")) == (None, {}, False)
    assert not path.exists()


def test_the_file_and_its_folder_are_their_owners_alone(path: Path, store: SecretStore) -> None:
    path.parent.chmod(0o755)
    before = os.umask(0)
    try:
        store.put("openai", KEY)
    finally:
        os.umask(before)
    assert (mode(path), mode(path.parent)) == (0o600, 0o700)


def test_a_new_home_is_private_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        home = Home.of({"HALOCLINE_HOME": str(tmp_path / "deep" / "home")})
    finally:
        os.umask(before)
    assert (mode(home.root), mode(home.tasks)) == (0o700, 0o700)


def test_forgetting_the_last_one_leaves_no_file(path: Path, store: SecretStore) -> None:
    store.put("openai", KEY)
    store.put("groq", KEY)
    assert store.remove("openai")
    assert store.places() == {"groq": Place.FILE}
    assert store.remove("groq")
    assert not path.exists()


@pytest.mark.parametrize("bits", [0o640, 0o604, 0o620, 0o660])
def test_a_file_that_others_can_get_at_is_not_believed_and_not_written(
    path: Path, store: SecretStore, bits: int
) -> None:
    store.put("openai", KEY)
    path.chmod(bits)
    for use in (store.places, lambda: store.get("openai"), lambda: store.put("groq", KEY)):
        with pytest.raises(SecretsError) as error:
            use()
        assert f"Other users can access {path}" in error.value.text
        assert f"chmod 600 {path}" in error.value.hint
    assert mode(path) == bits


def test_a_folder_that_others_can_change_is_not_used(path: Path, store: SecretStore) -> None:
    path.parent.chmod(0o777)
    with pytest.raises(SecretsError, match="Other users can change files"):
        store.put("openai", KEY)
    assert not path.exists()
    path.parent.chmod(0o700)
    store.put("openai", KEY)
    path.parent.chmod(0o770)
    with pytest.raises(SecretsError, match="Other users can change files"):
        store.get("openai")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_a_file_of_another_user_is_not_believed(path: Path, store: SecretStore) -> None:
    store.put("openai", KEY)
    os.chown(path, 12345, 12345)
    with pytest.raises(SecretsError, match="belongs to another user"):
        store.get("openai")


def test_a_link_is_not_followed(path: Path, store: SecretStore, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_text('{"openai": {"value": "planted"}}')
    elsewhere.chmod(0o600)
    path.symlink_to(elsewhere)
    with pytest.raises(SecretsError, match="is a link"):
        store.get("openai")
    with pytest.raises(SecretsError, match="is a link"):
        store.put("openai", KEY)
    assert "planted" in elsewhere.read_text()


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused_at_once(path: Path, store: SecretStore, make) -> None:
    make(path)
    with pytest.raises(SecretsError):
        store.get("openai")


@pytest.mark.parametrize("content", ["{", '{"openai": {"value": 5}}', '["sk-1234567890abcdef"]', "\xff\xfe"])
def test_a_damaged_file_is_named_and_not_quoted(path: Path, store: SecretStore, content: str) -> None:
    path.write_bytes(content.encode("latin-1"))
    path.chmod(0o600)
    with pytest.raises(SecretsError) as error:
        store.get("openai")
    assert str(path) in error.value.text
    assert error.value.__cause__ is None
    assert KEY.reveal() not in f"{error.value.text}{error.value.hint}"


@pytest.mark.process
def test_a_disk_that_takes_nothing_loses_nothing(path: Path, store: SecretStore) -> None:
    store.put("openai", KEY)
    script = (
        "import resource, signal, sys; from pathlib import Path\n"
        "from halocline.protocol.secrets.secret import Secret; from halocline.store.secrets.store import SecretStore\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))\n"
        "SecretStore(Path(sys.argv[1])).put('groq', Secret('gsk_1234567890abcdef'))\n"
    )
    ran = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=False)
    assert "SecretsError" in ran.stderr
    assert "gsk_" not in ran.stderr.splitlines()[-1]
    assert store.places() == {"openai": Place.FILE}
    assert sorted(one.name for one in path.parent.iterdir()) == ["credentials", "credentials.lock", "tasks"]


@pytest.mark.process
def test_processes_that_write_at_once_lose_nothing(path: Path) -> None:
    script = (
        "import sys; from pathlib import Path\n"
        "from halocline.protocol.secrets.secret import Secret; from halocline.store.secrets.store import SecretStore\n"
        "for n in range(20): SecretStore(Path(sys.argv[1])).put(f'{sys.argv[2]}-{n}', Secret('k'))\n"
    )
    writers = [subprocess.Popen([sys.executable, "-c", script, path, str(name)]) for name in range(4)]
    assert [writer.wait() for writer in writers] == [0] * 4
    assert len(SecretStore(path).places()) == 80
