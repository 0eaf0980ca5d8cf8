from pathlib import Path

from tests.journeys.conftest import Journey

from halocline.protocol import events as ev
from halocline.protocol.messages import Text
from halocline.protocol.secrets.secret import Secret
from halocline.store.secrets.store import SecretStore
from halocline.surfaces.export.task import Form, export_task

KEY = "quite-an-ordinary-word-7"
"""A key that only its value gives away."""
PAST = tuple(ev.SteeringReceived((Text(text),), seq=seq) for seq, text in enumerate((f"It is {KEY}.", KEY, KEY), 1))


async def test_an_export_hides_a_key_that_was_stored_while_the_client_was_open(tmp_path: Path) -> None:
    journey = Journey(tmp_path)
    client = journey.client(())
    assert export_task(PAST, Form.JSONL, client.build_redactor()).count(KEY) == 3
    SecretStore(journey.home.credentials).put("openai", Secret(KEY))
    exported = export_task(PAST, Form.JSONL, client.build_redactor())
    assert (exported.count(KEY), exported.count("[redacted stored key]")) == (0, 3)
    await client.close()
