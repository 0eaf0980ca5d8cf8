"""Nodes of a Ray cluster: one actor a node, placed by a resource. The only module that knows Ray.

Ray places the hosts, starts them again and brings nodes; it keeps nothing, and tries no call again.
"""

import asyncio
import os
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from halocline.batch.fleet.host import AgentHost
from halocline.batch.fleet.messages import Channel, NodeGone
from halocline.protocol.errors import UsageError

if TYPE_CHECKING:
    from ray.actor import ActorHandle

RESOURCE = "halocline"
"""A node that may have a host offers one of these."""
START = f"""ray start --head --resources='{{"{RESOURCE}": 1}}'"""
_AT_ONCE = 64
"""Calls of a host that run at a time; two are in use."""


class RayNodes:
    """Nodes of the cluster at an address of Ray's; `most` hosts, or one for each node that offers the resource."""

    def __init__(self, address: str, terms: bytes, most: int | None) -> None:
        self._address = address
        self._terms = terms
        self._most = most
        self._hosts = list["ActorHandle"]()
        self._ray: Any = None

    async def find_new(self) -> list[Channel]:
        """Return hosts that were started now. Raises UsageError if there is no Ray, or no cluster."""
        if self._ray is None:
            self._ray = await asyncio.to_thread(_connect, self._address)
        wanted = self._most
        if wanted is None:
            try:
                offered = await asyncio.to_thread(self._ray.cluster_resources)
            except (self._ray.exceptions.RayError, OSError, RuntimeError) as error:
                raise UsageError(f"The cluster does not answer: {error}", "Look at it: ray status") from error
            wanted = int(offered.get(RESOURCE, 0))
        if not wanted and not self._hosts:
            raise UsageError(
                f"No node of the cluster offers the resource {RESOURCE}.",
                f"Start nodes with it: {START}; or say how many Ray is to bring: --nodes N",
            )
        new = [self._start_host() for _ in range(len(self._hosts), wanted)]
        self._hosts += new
        return [_RayChannel(host, self._ray.exceptions.RayError) for host in new]

    async def close(self) -> None:
        if self._ray:
            for host in self._hosts:
                self._ray.kill(host)
            await asyncio.to_thread(self._ray.shutdown)

    def _start_host(self) -> "ActorHandle":
        kind = self._ray.remote(
            num_cpus=0,
            resources={RESOURCE: 1},
            max_restarts=-1,
            max_task_retries=0,
            max_concurrency=_AT_ONCE,
        )(AgentHost)
        return kind.remote(self._terms)


class _RayChannel:
    def __init__(self, host: "ActorHandle", gone: type[Exception]) -> None:
        self._host = host
        self._gone = gone

    async def hello(self) -> bytes:
        return await self._await(self._host.hello.remote())

    async def exchange(self, orders: bytes) -> bytes:
        return await self._await(self._host.exchange.remote(orders))

    async def _await(self, called: Awaitable[bytes]) -> bytes:
        try:
            return await called
        except self._gone as error:
            raise NodeGone(type(error).__name__) from error


async def check_cluster(address: str) -> None:
    """Raise UsageError if there is no Ray, or no cluster at an address."""
    await asyncio.to_thread(_connect, address)


def _connect(address: str) -> Any:
    """Return Ray, connected to a cluster. Raises UsageError. Blocks."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray
        import ray._private.worker
        import ray.exceptions
    except ImportError:
        raise UsageError("Ray is not installed.", "Install the extra: halocline[fleet]") from None
    try:
        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, logging_level="ERROR", ignore_reinit_error=True)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UsageError(f"No Ray cluster can be reached: {error}", f"Start one: {START}") from error
    ray._private.worker._worker_logs_enabled = False  # it prints what it logs among the report
    return ray
