"""Says which tasks the background process left when it was killed."""

from collections.abc import Sequence

from halocline.client.tasks import Client
from halocline.surfaces.cli.stderr import print_message


def report_cut_short(client: Client) -> None:
    """Name the tasks that ran when the background process was killed, once."""
    if cut := find_cut_short(client):
        print_message(*describe_cut_short(cut))


def find_cut_short(client: Client) -> list[str]:
    """Return these tasks, once; quick if there is no such process."""
    return client.background.take_cut_short() if client.may_have_background else []


def describe_cut_short(cut: Sequence[str]) -> tuple[str, str]:
    """Return what happened and what to do."""
    return (
        f"The background process was killed while it ran {', '.join(cut)}. All that was said is in the logs.",
        f"To continue: halo run --bg -r {cut[0]}, or here: halo -r {cut[0]}",
    )
