"""A fleet whose hosts are in this process, and whose nodes can be cut, without Ray."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.batch.conftest import PASSES

from halocline.batch.fleet import messages
from halocline.batch.fleet.fleet import Fleet
from halocline.batch.fleet.host import AgentHost
from halocline.batch.fleet.log_pieces import LogCopy
from halocline.batch.fleet.messages import NodeGone, Orders, Terms
from halocline.batch.fleet.movable import check_movable, mark_paths
from halocline.batch.items import Item, PlaceKind
from halocline.batch.purse import Purse
from halocline.batch.queue import Ending, Queue, Standing
from halocline.batch.run import Batch
from halocline.batch.work import Manner
from halocline.client.options import Choices, TaskOptions
from halocline.client.tasks import open_client
from halocline.protocol import codec
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import ApprovalMode

pytestmark = pytest.mark.process
YOLO = Manner(Choices(unattended=True), TaskOptions(approval_mode=ApprovalMode.YOLO))


class Node:
    """A node that may be cut: what it says then comes when it is joined again, if any one still waits for it."""

    def __init__(self, terms: bytes, folder: Path) -> None:
        self._host = AgentHost(terms, {"XDG_CACHE_HOME": str(folder), "PATH": "/usr/bin:/bin", "HOME": str(folder)})
        self._is_joined = asyncio.Event()
        self._is_joined.set()
        self.close = self._host.close

    def cut(self) -> None:
        self._is_joined.clear()

    def join(self) -> None:
        self._is_joined.set()

    async def hello(self) -> bytes:
        await self._is_joined.wait()
        return await self._host.hello()

    async def exchange(self, orders: bytes) -> bytes:
        answer = await self._host.exchange(orders) if self._is_joined.is_set() else b""
        await self._is_joined.wait()
        if not answer:
            raise NodeGone("it was cut")
        return answer


class Nodes:
    def __init__(self, *nodes: Node) -> None:
        self.nodes = nodes
        self._new = [*nodes]

    async def find_new(self) -> list[Node]:
        new, self._new = self._new, []
        return new

    async def close(self) -> None:
        for node in self.nodes:
            node.join()
            await node.close()


class Cluster:
    """Batches on hosts below a folder; `patience` is the driver's, of which hosts have two fifths."""

    def __init__(self, folder: Path, patience: float = 60.0) -> None:
        self.folder = folder
        self.patience = patience
        self.client = open_client(Choices(unattended=True))
        self.records = self.client.home.batches / "b"

    def write_script(self, name: str, *commands: str) -> str:
        form = '[[turn]]\ncall = [{tool = "execute_command", arguments = {command = %s}}]\n'
        turns = [form % json.dumps(one) for one in commands]
        edit = '[[turn]]\ncall = [{tool = "write_to_file", arguments = {path = "b.txt", content = "right\\n"}}]\n'
        path = self.folder / f"{name}.toml"
        path.write_text("".join([*turns, edit, '[[turn]]\ntext = "done"\n' * 3]))
        return f"scripted/{path}"

    def make_nodes(self, count: int, items: list[Item], key: str = "k") -> Nodes:
        terms = messages.encode(Terms("b", key, YOLO, self.patience / 2.5, marks=mark_paths(items)))
        return Nodes(*(Node(terms, self.folder / f"n{number}") for number in range(count)))

    async def open(self, queue: Queue, nodes: Nodes, at_once: int = 4, most: float | None = None) -> Batch:
        fleet = Fleet(queue, nodes, self.client, Purse(most), self.patience, at_once)
        await fleet.open()
        return Batch(queue, fleet, at_once=at_once)

    async def run(self, *items: Item, nodes: Nodes | None = None, **more) -> dict[str, Standing]:
        nodes = nodes or self.make_nodes(2, [*items])
        with Queue(self.records) as queue:
            await queue.add(items)
            batch = await self.open(queue, nodes, **more)
            await batch.run()
            return dict(queue.items)


@pytest.fixture
def cluster(tmp_path: Path, halocline_home: Path) -> Cluster:
    return Cluster(tmp_path)


@pytest.fixture
def make_items(cluster: Cluster, repository: Path):
    def make(count: int, *commands: str) -> list[Item]:
        model = cluster.write_script("model", *commands)
        ids = [f"i{number}" for number in range(count)]
        return [Item(id, "mend it", git=str(repository), accept=PASSES, model=model) for id in ids]

    return make


@pytest.mark.slow
async def test_items_end_here_with_their_logs_and_patches_and_do_not_run_again(cluster, make_items) -> None:
    items = make_items(6)
    done = await cluster.run(*items)
    assert [one.outcome.ending for one in done.values()] == [Ending.PASSED] * 6
    assert len({one.node for one in done.values()}) == 2
    for one in done.values():
        assert b"+right" in Path(one.outcome.result).read_bytes()
        assert cluster.client.past(one.task)[-1].seq > 5
    again = await cluster.run(*items)
    assert again == done


@pytest.mark.slow
async def test_what_comes_late_from_a_node_that_was_lost_does_not_count(cluster, make_items, tmp_path) -> None:
    cluster.patience = 6.0
    items = make_items(1, f"echo $PWD >> {tmp_path}/trace; sleep 0.5")
    nodes = cluster.make_nodes(2, items)
    with Queue(cluster.records) as queue:
        await queue.add(items)
        batch = await cluster.open(queue, nodes, at_once=2)
        running = asyncio.create_task(batch.run())
        while not (tmp_path / "trace").exists():
            await asyncio.sleep(0.02)
        first = int((tmp_path / "trace").read_text().partition("/halocline/fleet")[0][-1])
        nodes.nodes[first].cut()
        while not queue.items["i0"].lost:
            await asyncio.sleep(0.05)
        nodes.nodes[first].join()
        await running
        one = queue.items["i0"]
    assert (one.attempt, one.outcome.ending, len(one.lost)) == (2, Ending.PASSED, 1)
    assert '"ended"' in next((tmp_path / f"n{first}").rglob("queue.jsonl")).read_text()
    entries = [json.loads(line) for line in (cluster.records / "queue.jsonl").read_text().splitlines()]
    assert [entry["type"] for entry in entries] == ["added", "begun", "lost", "begun", "ended"]


@pytest.mark.slow
async def test_what_is_stopped_continues_in_its_slot_without_doing_anything_twice(
    cluster, make_items, tmp_path
) -> None:
    items = make_items(2, f"echo x >> {tmp_path}/trace; sleep 60")
    with Queue(cluster.records) as queue:
        await queue.add(items)
        batch = await cluster.open(queue, cluster.make_nodes(1, items))
        running = asyncio.create_task(batch.run())
        while not (tmp_path / "trace").exists() or len((tmp_path / "trace").read_text()) < 4:
            await asyncio.sleep(0.05)
        batch.stop()
        assert await running
        before = dict(queue.items)
    assert [(one.outcome, bool(one.task)) for one in before.values()] == [(None, True)] * 2
    done = await cluster.run(*items, nodes=cluster.make_nodes(1, items))
    assert [(one.outcome.ending, one.task) for one in done.values()] == [
        (Ending.PASSED, one.task) for one in before.values()
    ]
    assert (tmp_path / "trace").read_text() == "x\nx\n"


@pytest.mark.slow
async def test_an_item_whose_slot_does_not_come_back_begins_again(cluster, make_items) -> None:
    cluster.patience = 10.0  # a host stops after two fifths of it, which a busy machine takes for one answer
    items = make_items(1)
    with Queue(cluster.records) as queue:
        await queue.add(items)
        await queue.begin("i0", "its-task", "nowhere")
    done = (await cluster.run(*items))["i0"]
    assert (done.outcome.ending, done.attempt, done.lost) == (Ending.PASSED, 2, ("its-task",))


class Unheard(Node):
    """A node that hears all and, once it is cut, is not heard."""

    async def hello(self) -> bytes:
        return await self._answer(self._host.hello())

    async def exchange(self, orders: bytes) -> bytes:
        return await self._answer(self._host.exchange(orders))

    async def _answer(self, answering) -> bytes:
        answer = await answering
        if not self._is_joined.is_set():
            raise NodeGone("nothing is heard of it")
        return answer


@pytest.mark.slow
async def test_a_host_that_is_not_heard_has_stopped_before_its_item_begins_elsewhere(
    cluster, make_items, tmp_path
) -> None:
    cluster.patience = 8.0
    trace = tmp_path / "trace"
    items = make_items(1, f"for n in $(seq 60); do echo $PWD >> {trace}; sleep 0.1; done")
    terms = messages.encode(Terms("b", "k", YOLO, cluster.patience / 2.5, marks=mark_paths(items)))
    nodes = Nodes(*(Unheard(terms, tmp_path / f"n{number}") for number in range(2)))
    with Queue(cluster.records) as queue:
        await queue.add(items)
        batch = await cluster.open(queue, nodes, at_once=2)
        running = asyncio.create_task(batch.run())
        while not trace.exists():
            await asyncio.sleep(0.02)
        nodes.nodes["/n1/" in trace.read_text()].cut()
        await running
        one = queue.items["i0"]
    assert (one.attempt, one.outcome.ending) == (2, Ending.PASSED)
    places = trace.read_text().split()
    assert len(set(places)) == 2
    assert places == sorted(places, key=places.index), "what was lost acted beside what came after it"


@pytest.mark.slow
async def test_contents_that_cannot_be_kept_for_a_moment_are_asked_for_again(cluster, make_items) -> None:
    items = make_items(2)
    blobs = cluster.client.home.blobs
    blobs.parent.mkdir(parents=True, exist_ok=True)
    blobs.rename(blobs.with_name("aside")) if blobs.exists() else None
    blobs.write_text("")  # as a disk without room, it takes no content
    asyncio.get_running_loop().call_later(1.5, blobs.unlink)
    done = await cluster.run(*items)
    assert [one.outcome.ending for one in done.values()] == [Ending.PASSED] * 2


@pytest.mark.slow
async def test_a_cluster_that_does_not_answer_for_a_while_loses_its_silent_nodes_all_the_same(
    cluster, make_items, tmp_path
) -> None:
    class Away(Nodes):
        async def find_new(self) -> list[Node]:
            if not self._new:
                raise UsageError("The cluster does not answer.", "")
            return await super().find_new()

    cluster.patience = 5.0
    items = make_items(1, f"echo $PWD >> {tmp_path}/trace; sleep 0.5")
    nodes = Away(*cluster.make_nodes(2, items).nodes)
    with Queue(cluster.records) as queue:
        await queue.add(items)
        running = asyncio.create_task((await cluster.open(queue, nodes, at_once=2)).run())
        while not (tmp_path / "trace").exists():
            await asyncio.sleep(0.02)
        nodes.nodes["/n1/" in (tmp_path / "trace").read_text()].cut()
        await running
        assert (queue.items["i0"].attempt, queue.items["i0"].outcome.ending) == (2, Ending.PASSED)


@pytest.mark.slow
async def test_an_item_waits_for_a_node_that_is_coming_if_none_that_is_there_sees_its_folder(
    cluster, make_items, tmp_path
) -> None:
    class Late(Node):
        async def hello(self) -> bytes:
            await asyncio.sleep(1.0)
            return await super().hello()

    (item,) = make_items(1)
    blind = messages.encode(Terms("b", "k", YOLO, 30.0, marks={item.git: (1, 1)}))
    seeing = messages.encode(Terms("b", "k", YOLO, 30.0, marks=mark_paths([item])))
    nodes = Nodes(Node(blind, tmp_path / "n0"), Late(seeing, tmp_path / "n1"))
    assert (await cluster.run(item, nodes=nodes))["i0"].outcome.ending is Ending.PASSED


async def test_an_item_of_a_folder_that_no_node_sees_is_refused(cluster, make_items) -> None:
    (item,) = make_items(1)
    terms = messages.encode(Terms("b", "k", YOLO, 30.0, marks={item.git: (1, 1)}))
    nodes = Nodes(Node(terms, cluster.folder / "n0"))
    done = (await cluster.run(item, nodes=nodes))["i0"]
    assert (done.outcome.ending, "No node sees" in done.outcome.text) == (Ending.PLACE, True)


@pytest.mark.parametrize("place", [PlaceKind.FOLDER, PlaceKind.WORKTREE, PlaceKind.SSH])
def test_a_place_of_one_machine_is_refused_before_anything_runs(place) -> None:
    with pytest.raises(UsageError, match="cannot be made on a node"):
        check_movable([Item("a", "p", folder="/x", place=place)])


async def test_orders_of_an_earlier_session_or_overtaken_ones_are_void(cluster, make_items) -> None:
    (item,) = make_items(1)
    node = cluster.make_nodes(1, [item]).nodes[0]
    hello = messages.decode(await node.hello(), messages.Hello)
    lease = messages.Lease("i0", "260101-000000-abcd", item=item)
    for orders in (Orders("other", 1, (lease,)), Orders(hello.session, 0, (lease,))):
        answer = messages.decode(await node.exchange(messages.encode(orders)), messages.Answer)
        assert (answer.session, answer.known) == (hello.session, ())
    answer = messages.decode(await node.exchange(messages.encode(Orders(hello.session, 1, (lease,)))), messages.Answer)
    assert answer.known == ("i0",)
    await node.close()


async def test_a_copy_of_a_log_takes_each_line_once_and_forgets_one_that_was_cut_short(cluster) -> None:
    copy = LogCopy(cluster.client.home, "260101-000000-abcd")
    for offset, lines in ((0, b"a\nb\n"), (0, b"a\nb\n"), (2, b"b\nc\n"), (9, b"x\n")):
        copy.add(messages.Piece("i0", offset, lines))
    copy.close()
    log = cluster.client.home.task("260101-000000-abcd") / codec.LOG_NAME
    assert log.read_bytes() == b"a\nb\nc\n"
    log.write_bytes(b"a\nb")
    copy = LogCopy(cluster.client.home, "260101-000000-abcd")
    assert copy.size == 2
    copy.close()
