"""The command for an extra fits the installation that runs."""

import subprocess
import sys
from pathlib import Path

import pytest
from tests.architecture.sources import ROOT

from halocline import installation


def test_an_extra_is_installed_by_the_python_that_runs() -> None:
    assert installation.extra_command("mcp") == f"{sys.executable} -m pip install 'halocline[mcp]'"


@pytest.mark.process
def test_where_there_is_no_pip_uv_installs_an_extra_for_the_same_python(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", tmp_path / "my venv"], check=True)
    python = tmp_path / "my venv/bin/python"
    code = "from halocline.installation import extra_command; print(extra_command('acp'))"
    told = subprocess.run(
        [python, "-c", code], capture_output=True, text=True, env={"PYTHONPATH": str(ROOT / "src")}, check=True
    )
    assert told.stdout == f"uv pip install --python '{python}' 'halocline[acp]'\n"
