import json
import subprocess

import pytest
from tests.checkpoints.bench import git

from halocline.batch.evaluation import repeat_items
from halocline.batch.items import Item
from halocline.batch.predictions import format_prediction, list_predictions
from halocline.batch.queue import Ending, Outcome, Queue


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


async def test_each_item_that_ended_has_a_line(tmp_path):
    file = tmp_path / "predictions.jsonl"
    with Queue(tmp_path) as queue:
        await queue.add([Item("a", "p"), Item("b", "p"), Item("c", "p")])
        await queue.end("a", Outcome(Ending.PASSED, model="m"))
        await queue.end("b", Outcome(Ending.REJECTED))
        (tmp_path / "results").mkdir()
        (tmp_path / "results" / "a.patch").write_bytes(b"diff --git a/x b/x\n")
        written = list_predictions(queue, ["a", "b", "c"], file)
    first, second = written.pop(file).splitlines()
    assert (first, written) == (
        '{"instance_id":"a","model_name_or_path":"m","model_patch":"diff --git a/x b/x\\n"}',
        {},
    )
    assert '"model_patch":""' in second


async def test_no_file_has_an_instance_twice_and_each_run_of_an_evaluation_has_its_own(tmp_path):
    long = "x" * 80
    items = repeat_items([Item("a", "p"), Item("b.c", "p"), Item(long, "p")], ["openai/m", "openai/n"], 2)
    with Queue(tmp_path) as queue:
        await queue.add(items)
        for item in items:
            await queue.end(item.id, Outcome(Ending.PASSED, model=item.model or ""))
        written = list_predictions(queue, [item.id for item in items], tmp_path / "p.jsonl")
        one = list_predictions(queue, [item.id for item in items if item.id.endswith(".m.2")], tmp_path / "p.jsonl")
    assert [*one] == [tmp_path / "p.jsonl"]
    assert sorted(path.name for path in written) == [f"p.{run}.jsonl" for run in ("m.1", "m.2", "n.1", "n.2")]
    for text in written.values():
        lines = [json.loads(line) for line in text.splitlines()]
        assert [line["instance_id"] for line in lines] == ["a", "b.c", long]
        assert len({line["model_name_or_path"] for line in lines}) == 1
