"""Lists of tasks: their rows, filters and order."""

from enum import StrEnum

from halocline.protocol.values import Value


class TaskInfo(Value, frozen=True):
    """One task. `status` is the last stop reason, `unfinished`, or one of the two below.

    `cost` is in US dollars, None if unknown. `changed_at` is its last activity. `size` is that of its folder in bytes.
    In search results, `snippet` shows the match between `MARKS`. `roots` are its additional folders. `parent` is the
    task whose sub-agent it is. `folder_mark` is as in `TaskStarted`. `former` is where the folder was, if it was
    renamed to `workspace` since. `end` is the event of the last turn's end, and `stood` the status that it gave.
    """

    task: str
    title: str
    workspace: str
    model: str
    started_at: float
    changed_at: float
    status: str
    size: int
    name: str = ""
    tags: tuple[str, ...] = ()
    favourite: bool = False
    cost: float | None = 0.0
    tokens: int = 0
    steps: int = 0
    snippet: str = ""
    roots: tuple[str, ...] = ()
    parent: str = ""
    folder_mark: str = ""
    former: str = ""
    end: int = 0
    stood: str = ""

    @property
    def known_cost(self) -> float | None:
        """The cost to show: unknown, too, where requests were made and none was counted."""
        return self.cost if self.cost or self.tokens or not self.steps else None


PARTLY, REWOUND = "partly", "rewound"
"""Status of a task whose last turn ended by itself although its last edit or command failed, and of one of which the
end of the last turn was rewound.
"""
MARKS = ("\x02", "\x03")
"""Start and end marker of a match in a snippet."""


class Order(StrEnum):
    """Sort order, descending: newest, most expensive, largest or best match first."""

    TIME = "time"
    COST = "cost"
    TOKENS = "tokens"
    SIZE = "size"
    RELEVANCE = "relevance"


class TaskQuery(Value, frozen=True):
    """Filters and order of a task list. Empty fields do not filter; `since` is in Unix seconds.

    Sub-agents' tasks are found by their `parent`, or all of them, wherever they work, `with_agents`.
    """

    words: str = ""
    workspace: str = ""
    model: str = ""
    status: frozenset[str] = frozenset()
    tags: frozenset[str] = frozenset()
    favourite: bool = False
    since: float = 0.0
    order: Order | None = None
    limit: int | None = None
    parent: str = ""
    with_agents: bool = False


def fits_query(info: TaskInfo, query: TaskQuery) -> bool:
    """True if a task matches the query, not counting its `words`."""
    if info.parent and query.with_agents:
        return True
    return (
        info.parent == query.parent
        and (not query.workspace or info.workspace == query.workspace)
        and query.model.lower() in info.model.lower()
        and (not query.status or info.status in query.status)
        and query.tags <= frozenset(info.tags)
        and (info.favourite or not query.favourite)
        and info.changed_at >= query.since
    )


def order_tasks(found: list[TaskInfo], query: TaskQuery) -> list[TaskInfo]:
    """Sort and limit the tasks; `found` comes with the best match first."""
    order = query.order or (Order.RELEVANCE if query.words else Order.TIME)
    if order is not Order.RELEVANCE:
        found = sorted(found, key=_KEYS[order], reverse=True)
    return found[: query.limit]


_KEYS = {
    Order.TIME: lambda info: info.changed_at,
    Order.COST: lambda info: info.cost or 0.0,
    Order.TOKENS: lambda info: info.tokens,
    Order.SIZE: lambda info: info.size,
}
