import json
import subprocess

import pytest
from tests.checkpoints.bench import git

from halocline.batch.predictions import format_prediction


@pytest.mark.process
def test_git_applies_the_patch_of_a_prediction(tmp_path):
    git(tmp_path, "init", "--quiet")
    file = tmp_path / "ä.txt"
    file.write_text("one\n", encoding="utf-8")
    git(tmp_path, "add", ".")
    git(tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    file.write_text("zwei\u2028\n", encoding="utf-8")
    patch = subprocess.run(["git", "diff", "--binary"], cwd=tmp_path, capture_output=True, check=True).stdout
    git(tmp_path, "checkout", "--quiet", ".")
    line = format_prediction("a__b-1", "openai/x", patch.rstrip())
    assert line.count("\n") == 1
    told = json.loads(line)
    assert [*told] == ["instance_id", "model_name_or_path", "model_patch"]
    subprocess.run(["git", "apply", "-"], cwd=tmp_path, input=told["model_patch"].encode(), check=True)
    assert file.read_text(encoding="utf-8") == "zwei\u2028\n"


def test_an_instance_without_a_change_has_an_empty_patch():
    assert json.loads(format_prediction("a", "m", b""))["model_patch"] == ""
