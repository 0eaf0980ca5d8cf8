"""`halo demo`: the real agent on a small project with a failing test. Only the model is scripted."""

import argparse
import shutil
import sys
import tempfile
from importlib.resources import as_file, files
from pathlib import Path

from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.protocol.kinds import ApprovalMode
from halocline.surfaces import event_loop
from halocline.surfaces.cli.plain.line_mode import LineMode
from halocline.surfaces.cli.plain.questions import on_terminal
from halocline.surfaces.cli.session.closing import close_client
from halocline.surfaces.cli.session.conversation import Conversation
from halocline.surfaces.cli.stderr import print_folded

PROMPT = "The tests of this project fail. Find the cause, fix it, and show that they pass."
OPENING = """\
This is the real agent with real files, commands and checkpoints, in a copy at
  {place}
Only the model is scripted, so it needs no key and no network.
"""
OFF_SCRIPT = """
The script has only one path, so it could not follow your choice. A real model would continue from it."""
CLOSING = """
The project and its history are kept, so you can look around:
  halo checkpoints list -C {place}
  halo tasks show {task}
To use a real model in your own project:
  halo login   (or set ANTHROPIC_API_KEY or another provider's variable, or start Ollama)
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
            model=f"scripted/{script}", approval_mode=ApprovalMode.YOLO if yolo else ApprovalMode.ASK, attended=attended
        )
        print_folded(OPENING.format(place=place))
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
        print_folded(OFF_SCRIPT)
    print_folded(CLOSING.format(place=place, task=task))
    return code
