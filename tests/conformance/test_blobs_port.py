from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from halocline.ports.blobs import Blobs
from halocline.store.blobs import DiskBlobs


@pytest.fixture
def blobs(tmp_path: Path) -> Blobs:
    return DiskBlobs(tmp_path / "blobs")


@given(st.binary())
def test_what_was_put_is_got(tmp_path_factory: pytest.TempPathFactory, data: bytes):
    blobs = DiskBlobs(tmp_path_factory.getbasetemp() / "property")
    assert blobs.get(blobs.put(data)) == data


def test_the_reference_is_the_hash(blobs: Blobs):
    assert blobs.put(b"abc") == f"sha256:{sha256(b'abc').hexdigest()}"


def test_the_same_bytes_are_kept_once(blobs: Blobs):
    assert blobs.put(b"abc") == blobs.put(b"abc")


@pytest.mark.parametrize("reference", [f"sha256:{'0' * 64}", "", "sha256:../../etc/passwd", f"md5:{'0' * 64}"])
def test_an_unknown_reference_is_a_key_error(blobs: Blobs, reference: str):
    with pytest.raises(KeyError):
        blobs.get(reference)
