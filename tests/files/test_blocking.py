import os
import threading

from halocline.files.blocking import GIT_LISTS, find_blocking_below, watch_program


def never() -> bool:
    return False


def test_the_nearest_pipe_of_a_name_that_is_read_is_found(tmp_path):
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / ".gitignore").write_text("x")
    os.mkfifo(tmp_path / "a/b/.gitignore")
    os.mkfifo(tmp_path / "a/.gitattributes")
    os.mkfifo(tmp_path / "other")
    assert find_blocking_below(str(tmp_path), GIT_LISTS, never) == str(tmp_path / "a/.gitattributes")


def test_a_look_ends_with_what_it_is_for(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    assert find_blocking_below(str(tmp_path), GIT_LISTS, lambda: True) == ""


def test_what_waits_is_ended_and_the_file_is_named(tmp_path):
    os.mkfifo(tmp_path / ".gitignore")
    ended = threading.Event()
    with watch_program(lambda is_over: find_blocking_below(str(tmp_path), GIT_LISTS, is_over), ended.set) as watch:
        ended.wait(20)
    assert watch.found == f"{tmp_path}/.gitignore is a named pipe, not a regular file; move it away or delete it"


def test_what_is_slow_for_another_reason_goes_on(tmp_path):
    ended, looked = threading.Event(), threading.Event()

    def look(is_over):
        looked.set()
        return find_blocking_below(str(tmp_path), GIT_LISTS, is_over)

    with watch_program(look, ended.set) as watch:
        looked.wait(20)
    assert (ended.is_set(), watch.found) == (False, "")
