"""Ctrl-C in scripts and in notebooks: it ends the task's turn, gives the prompt back, and the task can be resumed."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import halocline

PROGRAM = """
    import asyncio, signal, sys
    import halocline
    from halocline.testing import Call, Scripted, Turn

    @halocline.tool(effect="reads")
    async def hang() -> None:
        '''Hang.'''
        print("hangs", flush=True)
        await asyncio.sleep(600)

    def run():
        halocline.run_sync("go", model=Scripted([Turn(calls=(Call("hang"),))]), tools=[hang])

    async def main():
        run()

    def notebook():  # a kernel's loop runs for ever, cells run within it, and Ctrl-C is Python's own
        signal.signal(signal.SIGINT, signal.default_int_handler)
        loop = asyncio.new_event_loop()

        def cell():
            try:
                run()
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            print("the prompt is back", flush=True)
            loop.call_soon(loop.stop)

        loop.call_soon(cell)
        loop.run_forever()

    {"script": run, "loop": lambda: asyncio.run(main()), "notebook": notebook}[sys.argv[1]]()
"""


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(
    ("place", "code", "printed"),
    [
        ("script", -signal.SIGINT, ""),
        ("loop", -signal.SIGINT, ""),
        ("notebook", 0, "interrupted\nthe prompt is back\n"),
    ],
)
async def test_ctrl_c_interrupts_the_task_and_gives_the_prompt_back(
    place, code, printed, scripted, workspace, halocline_home, tmp_path
):
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(PROGRAM))
    words = [sys.executable, program, place]
    started = subprocess.Popen(words, cwd=workspace, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert started.stdout.readline() == "hangs\n", started.communicate()[1]
    os.kill(started.pid, signal.SIGINT)
    out, error = started.communicate(timeout=200)
    assert (started.returncode, out) == (code, printed), error
    (folder,) = (halocline_home / "tasks").iterdir()
    async with halocline.open(resume=folder.name, model=scripted("", "again")) as task:
        assert task.state.turn is None
        assert task.state.last_end.reason is halocline.StopReason.CANCELLED
        assert (await task.run("go on")).text == "again"
