"""`halo demo`: the real agent on a small project with a failing test. Only the model is scripted, and it says so."""

import argparse
import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from halocline.client import open_client
from halocline.protocol.events import ApprovalMode
from halocline.runtime.assembly.assembly import Choices
from halocline.runtime.controller import TaskOptions
from halocline.surfaces import event_loop
from halocline.surfaces.cli.commands.run import on_terminal
from halocline.surfaces.cli.output.line_mode import LineMode
from halocline.surfaces.cli.session.conversation import Conversation, close_client

PROMPT = "The tests of this project fail. Find out why, repair it, and show that they pass."
OPENING = """\
This is the real agent: real files, real commands, real checkpoints, in a copy at
  {place}
Only the model is scripted, so that it needs no key and no network.
"""
OFF_SCRIPT = """
The script knows only one way through, so it could not follow yours. A real model would go on from your answer."""
CLOSING = """
The project and its history stay for you to look at:
  halo checkpoints list -C {place}
  halo tasks show {task}
With a real model, in a project of your own:
  halo login   (or export ANTHROPIC_API_KEY=… and the like, or start Ollama)
  cd your/project && halo "what to do"
"""


def command(arguments: argparse.Namespace) -> int:
    return event_loop.run_loop(_run_demo(yolo=arguments.yolo))


async def _run_demo(*, yolo: bool) -> int:
    with as_file(files("halocline.surfaces.cli").joinpath("demo_project")) as bundled:
        place = Path(tempfile.mkdtemp(prefix="halo-demo-")) / "intervals"
        shutil.copytree(bundled / "project", place, ignore=shutil.ignore_patterns("__pycache__"))
        script = bundled / "script.toml"
        attended = on_terminal() and not yolo
        options = TaskOptions(
            model=f"scripted/{script}",
            approval_mode=ApprovalMode.YOLO if yolo else ApprovalMode.ASK,
            attended=attended,
        )
        print(OPENING.format(place=place))
        sys.stdout.flush()
        return await _play_task(place, options)


async def _play_task(place: Path, options: TaskOptions) -> int:
    client = open_client(Choices())
    try:
        task = await client.start(place, options)
        async with LineMode(attended=options.attended) as view:
            code = await Conversation(client, task, view, stays=False).run(PROMPT, after=0)
    finally:
        await close_client(client)
    if code and options.attended:
        print(OFF_SCRIPT)
    print(CLOSING.format(place=place, task=task))
    return code
