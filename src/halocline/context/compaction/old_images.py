"""Removes older images from what the model reads, many at once.

Vendors refuse requests with too many images, or accept only small ones beside many. What must stay true: as with
outdated copies of files, the messages alone decide, what is removed stays removed, and the cache is lost rarely.
"""

from collections.abc import Sequence
from typing import Any

from halocline.protocol.messages import Image, Message

MOST = 20
"""Images of a request. With more, Anthropic accepts none above 2,000 pixels."""
KEPT = 10
"""Images that stay once there are more than `MOST`: the newest."""


class OldImages:
    """Finds messages whose images are removed among those from `begin` on, incrementally."""

    def __init__(self, begin: int = 0) -> None:
        self.left_out: frozenset[int] = frozenset()
        self._at = begin
        self._shown: list[tuple[int, int]] = []
        """Index and number of images of each message that still shows its images, oldest first."""

    def take(self, messages: Sequence[Message]) -> None:
        """Process the new messages. The images of one message stay or go together, and the newest ones stay."""
        for at in range(self._at, len(messages)):
            if images := count_images(messages[at]):
                self._shown.append((at, images))
                if self._count_shown() > MOST:
                    self._remove_oldest()
        self._at = len(messages)

    def _count_shown(self) -> int:
        return sum(images for _, images in self._shown)

    def _remove_oldest(self) -> None:
        while len(self._shown) > 1 and self._count_shown() > KEPT:
            at, _ = self._shown.pop(0)
            self.left_out |= {at}


def count_images(message: Message) -> int:
    """Return the number of images of a message."""
    parts: Sequence[Any] = message.content
    return sum(isinstance(part, Image) for part in parts)
