import pytest

from halocline.hosts.browser.discovery import find_browser


@pytest.fixture
def program(tmp_path):
    file = tmp_path / "chromium"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_the_program_of_the_settings_comes_first(program):
    assert find_browser(str(program)).program == str(program)


def test_one_that_is_no_program_is_named(tmp_path):
    found = find_browser(str(tmp_path / "gone"))
    assert (found.program, found.missing) == ("", f"{tmp_path}/gone is not an executable")
    assert "browser_executable" in found.hint


def test_the_usual_names_are_looked_for_on_the_path_and_in_the_usual_places(program, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find_browser("", places=()).program == str(program)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert find_browser("", places=(str(program),)).program == str(program)
    assert find_browser("", places=()).missing == "no Chromium was found"


def test_one_that_runs_already_needs_no_program(monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert find_browser("", places=(), remote="127.0.0.1:9222").program == "127.0.0.1:9222"
