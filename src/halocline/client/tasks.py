"""Opening, starting and following tasks."""

from typing import TYPE_CHECKING

from halocline.client.client import Client as Client, open_client as open_client
from halocline.lazy_modules import load_names_of

if TYPE_CHECKING:
    from halocline.runtime.event_batches import MOST_BATCHED as MOST_BATCHED, batch_events as batch_events
else:
    __getattr__ = load_names_of(__name__, dict.fromkeys(("MOST_BATCHED", "batch_events"), "runtime.event_batches"))
