"""What a page knows of a task, put together from the frames it got, as `static/js/state/task.js` does it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(slots=True)
class TaskCopy:
    """The rows, empty where it does not have them, and the facts."""

    view: str = ""
    revision: int = 0
    rows: list[dict[str, Any]] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    cut: dict[int, dict[str, Any]] = field(default_factory=dict)

    def known(self) -> dict[str, Any]:
        """What a watch says of it."""
        return {"view": self.view, "revision": self.revision} if self.view else {}

    def take(self, frame: Mapping[str, Any]) -> None:
        if frame["type"] == "grown":
            self._extend(frame)
            return
        if frame.get("is_new"):
            self.rows = []
        self.view, self.revision = frame["view"], frame["revision"]
        self.rows = [*self.rows[: frame["count"]], *({} for _ in range(frame["count"] - len(self.rows)))]
        for upsert in frame.get("rows", ()):
            self.rows[upsert["at"]] = upsert["row"]
            if "cut" in upsert:
                self.cut[upsert["at"]] = upsert
        for grown in frame.get("grown", ()):
            if row := self.rows[grown["at"]]:
                text = row.get(grown["field"], "") + grown["text"]
                self.rows[grown["at"]] = row | {grown["field"]: text[-grown.get("keep", 0) :]}
        self.facts |= frame.get("facts", {})
        for name, change in frame.get("lists", {}).items():
            self.facts[name] = [*self.facts.get(name, [])[: change["keep"]], *change["items"]]

    def _extend(self, frame: Mapping[str, Any]) -> None:
        assert (frame["view"], frame["revision"]) == (self.view, self.revision + 1)
        self.revision += 1
        self.rows[-1] = self.rows[-1] | {"text": self.rows[-1].get("text", "") + frame["text"]}

    @property
    def first(self) -> int:
        """The number of the first row that it has."""
        return next((number for number, row in enumerate(self.rows) if row), 0)

    def of(self, kind: str) -> list[dict[str, Any]]:
        """The rows of a kind."""
        return [row for row in self.rows if row.get("type") == kind]
