"""The first and the last line of an opened task: what it is and does, and its facts."""

from halocline.surfaces.cli.live.activity import Fragments, cut_line
from halocline.surfaces.cli.live.status_bar import context_left, fit_facts, status_facts
from halocline.surfaces.figures import format_money
from halocline.surfaces.sanitize import clean
from halocline.surfaces.tui.task_entry import NARROW
from halocline.surfaces.tui.task_feed import TaskFeed


def draw_head(feed: TaskFeed, width: int) -> Fragments:
    """The title, and whether it runs or waits; on narrow screens also context and cost."""
    name = " ".join(clean(feed.state.title).split()) or feed.task
    doing = _describe_work(feed)
    use = _describe_use(feed) if width < NARROW else ""
    known = f" · {use}" if use else ""
    title = cut_line(name, max(8, width - len(doing) - len(known) - 3))
    return [("class:accent", "◆ "), ("class:title", title), ("class:warn", doing), ("class:quiet", known)]


def _describe_work(feed: TaskFeed) -> str:
    if not feed.is_read:
        return " · reading"
    if not feed.is_open:
        return " · not running"
    if feed.state.turn_is_over:
        return ""
    return " · needs you" if feed.state.is_asking else " · running"


def _describe_use(feed: TaskFeed) -> str:
    """Context and cost, for which the status line of a narrow screen has no room."""
    left, cost = context_left(feed.state), feed.state.budget.cost
    return " · ".join(filter(None, ["" if left is None else f"{left}% left", format_money(cost) if cost else ""]))


def draw_status(feed: TaskFeed, branch: str, width: int) -> Fragments:
    if not feed.is_read:
        return [("", "")]
    jobs = [job for job in feed.client.jobs(feed.task) if job.state != "ended"] if feed.is_open else []
    return fit_facts(status_facts(feed.state, branch=branch, jobs=len(jobs)), width - 1)
