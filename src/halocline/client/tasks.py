"""Opening, starting and following tasks."""

from halocline.client.client import Client as Client, open_client as open_client
from halocline.runtime.event_batches import MOST_BATCHED as MOST_BATCHED, batch_events as batch_events
