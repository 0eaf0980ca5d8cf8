"""Says which tasks the background process left when it was killed."""

from halocline.client.tasks import Client
from halocline.surfaces.cli.stderr import print_message


def report_cut_short(client: Client) -> None:
    """Name the tasks that ran when the background process was killed, once."""
    if text := describe_cut_short(client):
        print_message(*text)


def describe_cut_short(client: Client) -> tuple[str, str] | None:
    """Return what happened and what to do; None if nothing was cut short, or if it was said before."""
    if not client.may_have_background or not (cut := client.background.take_cut_short()):
        return None
    return (
        f"The background process was killed while it ran {', '.join(cut)}. All that was said is in the logs.",
        f"To continue: halo run --bg -r {cut[0]}, or here: halo -r {cut[0]}",
    )
