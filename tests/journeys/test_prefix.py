"""Two hundred steps with edits, jobs, a changed mode and a file that others change: the cache holds all the way."""

from itertools import pairwise

import msgspec
from tests.journeys.conftest import LONGEST, NO_SERVERS
from tests.journeys.test_wire import CONVERSATIONS, KEYS, MODELS, unmarked
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.protocol.messages import StopReason
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.settings import Settings

STEPS = 200


def run(command: str, **more: object) -> Call:
    return Call("execute_command", {"command": command, "requires_approval": False, **more})


def step(number: int) -> Turn:
    match number % 10:
        case 0:
            lines = "".join(f"line {line} of step {number}\n" for line in range(20))
            return Turn(calls=(Call("write_to_file", {"path": f"made{number % 30}.txt", "content": lines}),))
        case 3:
            return Turn(
                calls=(Call("execute_command", {"command": f"echo step {number}", "requires_approval": False}),)
            )
        case 5 if number == 15:
            serve = {
                "command": "while :; do echo tick; sleep 0.2; done",
                "requires_approval": False,
                "background": True,
            }
            return Turn(calls=(Call("execute_command", serve),))
        case 7:
            return Turn(calls=(Call("update_todos", {"todos": [{"text": f"after step {number}"}]}),))
        case _:
            return Turn(text=f"step {number}", calls=(Call("read_file", {"path": f"f{number % 12}.txt"}),))


async def test_over_two_hundred_steps_each_request_begins_with_the_last_one(journey):
    for number in range(12):
        journey.write(f"f{number}.txt", f"{number}\n" * 60)
    journey.longest = 3 * LONGEST
    family = "openai"
    turns = [*(step(number) for number in range(STEPS)), Turn(text="Done.")]
    async with ModelServer(turns) as server:
        journey.settings = Settings(
            base_url=server.url(family), language_servers=NO_SERVERS, max_steps=500, checkpoints=False
        )
        client = Client(Controller(Assembly(journey.home, journey.settings, KEYS)), "test")
        await journey.open(client, TaskOptions(model=MODELS[family], approval_mode=ApprovalMode.YOLO))

        def now_and_then(event: ev.Event) -> cmd.AnyCommand | None:
            """The person switches modes, and edits a file that the model knows."""
            if isinstance(event, ev.StepStarted) and client.state(journey.task).budget.steps in (50, 60):
                if client.state(journey.task).budget.steps == 50:
                    journey.write("f2.txt", "changed by a person\n")
                    return cmd.SetMode(task=journey.task, mode=Mode.PLAN)
                return cmd.SetMode(task=journey.task, mode=Mode.ACT)
            return None

        await journey.prompt(client, answer=now_and_then)
        await client.close()
    assert journey.state.last_end.reason is StopReason.END_TURN
    bodies = [request.body for request in server.requests]
    assert len(bodies) == STEPS + 1
    sent = [[msgspec.json.encode(unmarked(message)) for message in body[CONVERSATIONS[family]]] for body in bodies]
    for one, following in pairwise(sent):
        assert following[: len(one)] == one
    tools = [msgspec.json.encode(body["tools"]) for body in bodies]
    assert sum(one != following for one, following in pairwise(tools)) == 1  # plan mode's own tool, then and for good
    kinds = {type(event) for event in journey.logged}
    assert {ev.FilesChangedOutside, ev.EnvironmentReported, ev.JobsReported, ev.TodosChanged} <= kinds
