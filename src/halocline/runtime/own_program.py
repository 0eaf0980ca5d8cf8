"""Refuse Halocline's own command line to processes that a task started: a model must not control its own gate."""

import os
from collections.abc import Mapping, Sequence

from halocline.hosts.shell.ancestry import MARK, Unknown, find_task_above
from halocline.protocol.errors import UsageError
from halocline.protocol.own_program import is_steering
from halocline.store.paths import home_folder


def refuse_from_task(words: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raise UsageError if these words control Halocline and a task of the same home started this process."""
    if not is_steering(words):
        return
    try:
        task = find_task_above(os.getpid(), home_folder(environment), environment)
    except Unknown:  # a system that shows no processes
        task = 0 if MARK in environment else None
    if task is not None:
        where = f" (process {task})" if task else ""
        shown = " ".join(["halo", *words])[:80]
        raise UsageError(
            f"A Halocline task started this command{where}, and a task cannot control Halocline. Not run: {shown}",
            "Run it in your own terminal.",
        )
