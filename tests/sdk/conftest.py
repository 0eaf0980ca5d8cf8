import pytest

from halocline.testing import fixtures

halocline_home, workspace, scripted = fixtures.halocline_home, fixtures.workspace, fixtures.scripted


@pytest.fixture(autouse=True)
def plain_settings(halocline_home):
    """Nothing that this machine has decides how a task runs."""
    halocline_home.mkdir()
    (halocline_home / "settings.toml").write_text('sandbox = "off"\n[language_servers]\nenabled = false\n')
