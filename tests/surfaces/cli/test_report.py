import asyncio
import json
import zipfile

import pytest
from tests.journeys.conftest import Journey

from halocline.providers.scripted.model import Call, Turn
from halocline.surfaces.cli.main import run_main

KEY = "sk-ant-api03-" + "Zq9" * 31


@pytest.fixture
async def task(tmp_path, monkeypatch):
    journey = Journey(tmp_path)
    journey.write("a.py", "A = 1\n")
    await journey.run(
        Turn(calls=(Call("read_file", {"path": "a.py"}),)),
        Turn(text="Done."),
        prompt=f"my key is {KEY}",
        hide_keys=False,
    )
    monkeypatch.setenv("HALOCLINE_HOME", str(journey.home.root))
    monkeypatch.chdir(tmp_path)
    (journey.home.root / "settings.toml").write_text('model = "openai/x"\nmax_steps = 7\n')
    return journey.task


async def report(*words):
    return await asyncio.to_thread(run_main, ["report", *words])


async def test_a_bundle_replays_and_has_no_key(task, tmp_path, capsys):
    assert await report(task, "-y", "-o", "r.zip") == 0
    shown = capsys.readouterr().out
    with zipfile.ZipFile("r.zip") as bundle:
        bundle.extractall("r")
        names = bundle.namelist()
    assert names[0] == "task.recording.jsonl"
    assert all(name in shown for name in names)
    assert not [name for name in names if KEY in (tmp_path / "r" / name).read_text()]
    assert await asyncio.to_thread(run_main, ["replay", "r/task.recording.jsonl"]) == 0
    assert "Identical" in capsys.readouterr().out


async def test_it_has_versions_the_doctors_findings_and_changed_settings(task, tmp_path):
    assert await report(task, "-y", "-o", "r.zip") == 0
    with zipfile.ZipFile("r.zip") as bundle:
        settings = {row["name"]: row["value"] for row in json.loads(bundle.read("settings.json"))}
        assert json.loads(bundle.read("versions.json"))["halocline"]
        assert any(finding["name"] == "Python" for finding in json.loads(bundle.read("doctor.json")))
    assert settings == {"model": "openai/x", "max_steps": 7}


async def test_without_a_yes_nothing_is_written(task, tmp_path, capsys):
    assert await report(task, "-o", "r.zip") == 2
    assert "task.recording.jsonl" in capsys.readouterr().out
    assert not (tmp_path / "r.zip").exists()
