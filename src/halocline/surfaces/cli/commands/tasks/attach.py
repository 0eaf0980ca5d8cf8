"""`halo attach`: watch and drive a task that another process runs."""

import argparse

from halocline.client.options import Choices
from halocline.client.tasks import open_client
from halocline.surfaces import event_loop
from halocline.surfaces.cli import background, live, pickers
from halocline.surfaces.cli.plain.line_mode import LineMode
from halocline.surfaces.cli.plain.questions import can_draw, on_terminal, wants_words
from halocline.surfaces.cli.session.join import join_task
from halocline.surfaces.terminal.view import View


def command(arguments: argparse.Namespace) -> int:
    client = open_client(Choices())
    background.cut_short.report_cut_short(client)
    if arguments.id:
        task = client.find(arguments.id)
    else:
        task = pickers.task_picker.pick_running_task(client, plain=bool(arguments.plain))
    return event_loop.run_loop(join_task(client, task, _make_view(arguments)))


def _make_view(arguments: argparse.Namespace) -> View:
    attended = on_terminal() and not arguments.watch
    if attended and can_draw(plain=bool(arguments.plain)):
        return live.live_mode.LiveMode()
    return LineMode(attended=attended, aloud=wants_words(arguments.plain))
