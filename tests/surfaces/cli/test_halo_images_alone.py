import base64

import pytest
from tests.surfaces.cli.halo_process import Halo

from halocline.protocol.events import TurnStarted
from halocline.protocol.messages import Image, Note

pytestmark = [pytest.mark.process, pytest.mark.slow]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)


async def test_an_image_alone_is_a_prompt(halo: Halo) -> None:
    (halo.folder / "a.png").write_bytes(PNG)
    halo.home.mkdir()
    (halo.home / "settings.toml").write_text('image_models = ["scripted/*"]\n')
    model = halo.script({"text": "A dot."})
    done = await halo.run("run", "-m", model, "--image", "a.png")
    assert done.code == 0, done.err
    (started,) = [event for event in halo.log() if isinstance(event, TurnStarted)]
    assert [type(part) for part in started.content if not isinstance(part, Note)] == [Image]


async def test_without_an_image_or_words_there_is_no_prompt(halo: Halo) -> None:
    done = await halo.run("run", "-m", halo.script({"text": "?"}))
    assert (done.code, "No prompt." in done.err) == (2, True)
