"""Says which tasks the background process left when it was killed."""

from halocline.client.tasks import Client
from halocline.surfaces.cli.stderr import print_message


def report_cut_short(client: Client) -> None:
    """Name the tasks that ran when the background process was killed, once."""
    if client.may_have_background and (cut := client.background.take_cut_short()):
        print_message(
            f"The background process was killed while it ran {', '.join(cut)}. All that was said is in the logs.",
            f"To continue: halo run --bg -r {cut[0]}, or here: halo -r {cut[0]}",
        )
