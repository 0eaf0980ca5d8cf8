from pathlib import Path

import pytest
from tests.real_server.make_model import write_model
from tests.real_server.set_up import MISSING, is_there


@pytest.fixture(scope="session")
def nonsense(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's file; skips the test where there is no server to load it."""
    if not is_there():
        pytest.skip(MISSING)
    path = tmp_path_factory.mktemp("model") / "nonsense.gguf"
    write_model(path)
    return path
