import pytest
from tests.journeys.conftest import Journey


@pytest.fixture
def journey(tmp_path):
    return Journey(tmp_path)


@pytest.fixture
def script(tmp_path):
    """Writes a script of plain replies and gives the name of the model that plays it."""

    def write(name, *texts):
        path = tmp_path / f"{name}.toml"
        path.write_text("".join(f'[[turn]]\ntext = "{text}"\n' for text in texts))
        return f"scripted/{path}"

    return write
