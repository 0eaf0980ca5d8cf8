"""No checkpoints, because the settings turn them off."""

from collections.abc import Sequence

from halocline.ports.checkpoints import Emit


class Off:
    """Implements `ports.checkpoints.Checkpoints` by doing nothing."""

    def begin(self, emit: Emit) -> None:
        return None

    def take(self, label: str, paths: Sequence[str] | None = None) -> None:
        return None

    def wrote(self, path: str, before: bytes | None, after: bytes | None) -> None:
        return None

    async def barrier(self, paths: Sequence[str] | None = None, *, ran: bool = True) -> None:
        return None

    async def settle(self) -> None:
        return None

    async def close(self) -> None:
        return None
