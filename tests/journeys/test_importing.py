import json

import pytest

from halocline.controller.importing import Importer, Standing
from halocline.controller.replay import replay
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.providers.scripted import Call, Turn
from halocline.store.recording import Recording

CALL = {"type": "tool_use", "id": "k", "name": "browse", "input": {"x": 1}}
TALK = [
    {"role": "user", "content": "<task>Tidy up</task>", "ts": 1_790_000_000_000},
    {"role": "assistant", "content": [CALL]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "k", "content": "x"}]},
]


async def test_an_imported_task_goes_on_with_a_model_and_a_system_prompt_of_today(journey):
    folder = journey.workspace / "1790000000000"
    folder.mkdir()
    (folder / "api_conversation_history.json").write_text(json.dumps(TALK))
    importer = Importer(journey.home)
    (there,) = importer.found("cline", str(folder))
    task = importer.take(there, str(journey.workspace), dry=False).task
    journey.write("a.txt", "here")
    then, look = Turn("said elsewhere"), Turn(calls=(Call("read_file", {"path": "a.txt"}),))
    await journey.run(then, look, Turn("All tidy."), prompt="Go on", resume=task)
    (adopted,) = (event for event in journey.logged if isinstance(event, ev.TaskAdopted))
    assert journey.state.system_prompt == adopted.system_prompt != ""
    assert (journey.state.model, journey.state.last_end.reason) == (adopted.model, "end_turn")
    assert journey.results[-1].startswith("1 | here")
    assert importer.standing(there) is Standing.GOES_ON
    with pytest.raises(UsageError, match="imported"):
        await replay(Recording(tuple(journey.logged)), None, strict=True)
    journey.task = ""  # what happened elsewhere cannot happen again
