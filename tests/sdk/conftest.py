import pytest

from halocline.testing import fixtures

halocline_home, halocline_workspace = fixtures.halocline_home, fixtures.halocline_workspace
halocline_model = fixtures.halocline_model


@pytest.fixture
def workspace(halocline_workspace):
    return halocline_workspace


@pytest.fixture
def scripted(halocline_model):
    return halocline_model


@pytest.fixture(autouse=True)
def plain_settings(halocline_home):
    """Nothing that this machine has decides how a task runs."""
    halocline_home.mkdir()
    (halocline_home / "settings.toml").write_text('sandbox = "off"\n[language_servers]\nenabled = false\n')
