from pathlib import Path

import pytest

from halocline.client.tasks import open_client
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.task_options import Choices


@pytest.mark.parametrize(("unattended", "watched"), [(True, False), (False, True), (None, True)])
def test_a_run_that_nobody_attends_is_not_watched(tmp_path: Path, unattended: bool | None, watched: bool) -> None:
    assembly = Assembly.of(Choices(unattended=unattended), {"HALOCLINE_HOME": str(tmp_path)})
    assert assembly.is_watched() is watched


def test_who_watches_is_asked_also_after_the_settings_were_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALOCLINE_HOME", str(tmp_path))
    client = open_client(Choices(), "web", lambda: False)
    client.reload(Choices())
    assert client._controller.assemblies.own.is_watched() is False
