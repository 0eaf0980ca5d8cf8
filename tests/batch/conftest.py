"""A batch in this process: its items, a scripted model for each kind of ending, and a repository to work on."""

import subprocess
from functools import partial
from pathlib import Path

import pytest

from halocline.batch.items import Item
from halocline.batch.places import LocalPlaces
from halocline.batch.purse import Purse
from halocline.batch.queue import Outcome, Queue
from halocline.batch.run import Batch
from halocline.batch.work import Clients, Manner, Worker
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.protocol.kinds import ApprovalMode
from halocline.testing import Call, Scripted, Turn

EDIT = Turn(calls=(Call("write_to_file", {"path": "b.txt", "content": "right\n"}),))
PASSES = "test -f b.txt"
WHO = ("-c", "user.name=a", "-c", "user.email=a@b")


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *WHO, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.txt").write_text("wrong\n")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "first")
    return folder


def play(*turns: Turn | str, name: str = "one") -> Scripted:
    return Scripted(turns, f"scripted/{name}")


class Bench:
    """Runs batches below a folder; `models` are scripted ones by name, the first is for items that name none."""

    def __init__(self, folder: Path, **models: Scripted) -> None:
        self.folder = folder
        self.models = models
        self.records = folder / "batches" / "b"
        self.places = folder / "cache" / "b"

    def _open(self, choices, name, is_watched, folder):
        client = open_client(choices, name, is_watched, folder)
        for model in self.models.values():
            client.attach_model(model)
        return client

    def build(
        self, queue: Queue, at_once: int = 2, manner: Manner | None = None, places=None, max_total_cost=None, **more
    ) -> Batch:
        first = next(iter(self.models.values())).name
        options = TaskOptions(model=first, approval_mode=ApprovalMode.ACCEPT_EDITS)
        manner = manner or Manner(Choices(unattended=True), options)
        clients = Clients(manner, self.folder, make=self._open)
        places = places or LocalPlaces(self.places, self.records, {}, clients.closes_network)
        note, publish = more.get("note", lambda id: None), more.pop("publish", None)
        worker = Worker(queue, places, clients, manner, Purse(max_total_cost), note, publish=publish)
        return Batch(queue, worker, at_once=at_once, **more)

    async def run(self, *items: Item, **more) -> dict[str, Outcome | None]:
        with Queue(self.records) as queue:
            await queue.add(items)
            batch = self.build(queue, **more)
            await batch.run()
            return {id: one.outcome for id, one in queue.items.items()}


@pytest.fixture
def bench(tmp_path: Path, halocline_home: Path):
    """Return what makes a bench: `bench(model=Scripted(…))`; without one, a model that makes the change."""
    return lambda **models: Bench(tmp_path, **(models or {"model": play(EDIT, "done")}))


@pytest.fixture
def item(repository: Path):
    return partial(Item, id="one", prompt="mend it", folder=str(repository))
