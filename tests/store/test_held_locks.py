from pathlib import Path

import pytest
from tests.protocol.lock_holder import held_elsewhere

from halocline.protocol.errors import SecretsError
from halocline.protocol.file_locks import LockHeld
from halocline.protocol.permission_rules import Rule, Verdict
from halocline.protocol.secrets.secret import Secret
from halocline.store.blobs import DiskBlobs, drop_blob
from halocline.store.permissions.grants import keep_grant
from halocline.store.secrets.store import SecretStore


@pytest.mark.slow
def test_a_key_is_not_stored_while_another_process_never_gives_the_keys_back(tmp_path: Path) -> None:
    tmp_path.chmod(0o700)
    (tmp_path / "credentials.lock").touch()
    with held_elsewhere(tmp_path / "credentials.lock"), pytest.raises(SecretsError, match="changing the stored keys"):
        SecretStore(tmp_path / "credentials").put("name", Secret("value"))


@pytest.mark.slow
def test_contents_are_neither_kept_nor_removed_while_another_process_never_gives_their_folder_back(
    tmp_path: Path,
) -> None:
    blobs = DiskBlobs(tmp_path)
    blobs.put(b"content")
    (place,) = (path for path in tmp_path.rglob("*") if path.is_file())
    with held_elsewhere(place.parent):
        assert not drop_blob(place, before=2e10)
        with pytest.raises(LockHeld, match="contents of tasks"):
            blobs.put(b"content")
    assert place.exists()


@pytest.mark.slow
def test_leave_is_not_given_for_good_while_another_process_never_gives_its_folder_back(tmp_path: Path) -> None:
    with held_elsewhere(tmp_path), pytest.raises(LockHeld, match="is changing your permanent grants"):
        keep_grant(tmp_path / "grants.toml", Rule(decision=Verdict.ALLOW, command="make"))
