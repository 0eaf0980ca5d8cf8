"""Say when the model of a task does not see the images that came with a message.

They stay in the log for models that do, and are left out of the requests of this one.
"""

from collections.abc import Callable, Iterator
from itertools import takewhile

from halocline.protocol.events import Noticed
from halocline.protocol.messages import AssistantMessage, Image, UserMessage
from halocline.protocol.state.state import State

BLIND = "This model does not accept images: it gets only their names. Choose another one, or add it to image_models."


def report_unseen_images(state: State, takes_images: Callable[[str], bool]) -> Iterator[Noticed]:
    """Yield a notice if a message since the newest reply has images that the model does not see."""
    new = takewhile(lambda message: not isinstance(message, AssistantMessage), reversed(state.messages))
    sent = (part for message in new if isinstance(message, UserMessage) for part in message.content)
    if any(isinstance(part, Image) for part in sent) and not takes_images(state.model.name):
        yield Noticed(BLIND)
