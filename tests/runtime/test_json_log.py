import asyncio
import json
import subprocess
import sys

import pytest

from halocline.runtime.error_log import FILE_NAME, LOGGER, ProgramLog

KEY = "sk-ant-api03-" + "Zq9" * 31


@pytest.fixture
def log(tmp_path):
    log = ProgramLog(tmp_path, as_json=True)
    log.attach()
    yield lambda: [json.loads(line) for line in (tmp_path / FILE_NAME).read_text().splitlines()]
    log.close()


async def test_an_entry_is_a_line_with_its_task_and_its_error(log):
    async def serve():
        try:
            raise ValueError("a bug\nof two lines")
        except ValueError:
            LOGGER.exception("it broke: %s", KEY)

    await asyncio.create_task(serve(), name="task 20261130-abc")
    (entry,) = log()
    assert (entry["level"], entry["logger"], entry["task"]) == ("error", "halocline", "20261130-abc")
    assert "ValueError: a bug" in entry["error"]
    assert KEY not in str(entry)


def test_an_entry_outside_of_a_task_has_none(log):
    LOGGER.warning("the disk is slow")
    (entry,) = log()
    assert entry["message"] == "the disk is slow"
    assert "task" not in entry


@pytest.mark.process
def test_printed_entries_are_lines_of_json_also_those_of_libraries():
    words = "from halocline.runtime.error_log import print_json_log; import logging; print_json_log();"
    words += "logging.getLogger('uvicorn').error('it ended');"
    words += "logging.getLogger('halocline').info('well', extra={'task': 't'})"
    done = subprocess.run([sys.executable, "-c", words], capture_output=True, text=True, check=True)
    entries = [json.loads(line) for line in done.stderr.splitlines()]
    assert [(entry["logger"], entry.get("task")) for entry in entries] == [("uvicorn", None), ("halocline", "t")]
