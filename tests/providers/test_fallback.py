import pytest

from halocline.ports.model import Request
from halocline.protocol.errors import ModelError, ModelErrorKind
from halocline.protocol.events import AssistantMessageCompleted, StepRetried, TextDelta
from halocline.providers.scripted.model import Fault, Scripted, Turn
from halocline.providers.wrappers.fallback import REST, Fallback

HELLO = Request(model="scripted/first", system="", messages=())


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


def model(name, *turns):
    return Scripted(turns, name=f"scripted/{name}")


async def heard(model, request=HELLO):
    return [event async for event in model.stream(request)]


def texts(events):
    return "".join(event.text for event in events if isinstance(event, TextDelta))


@pytest.mark.parametrize("fault", [Fault.OVERLOADED, Fault.RATE_LIMIT, Fault.SERVER, Fault.AUTH])
async def test_the_next_model_answers_when_one_cannot(fault):
    asked = Fallback([model("first", Turn(fault=fault)), model("second", Turn(text="here"))])
    retried, *rest = await heard(asked)
    unbilled = fault is not Fault.SERVER  # it may have written a reply before
    assert retried == StepRetried(attempt=1, wait=0.0, cause=retried.cause, model="scripted/second", unbilled=unbilled)
    assert texts(rest) == "here"
    assert rest[-1].message.model == "scripted/second"


async def test_what_a_model_said_before_it_broke_off_is_void():
    asked = Fallback([model("first", Turn(text="half", fault=Fault.DISCONNECT)), model("second", Turn(text="whole"))])
    events = await heard(asked)
    after = events[next(at for at, event in enumerate(events) if isinstance(event, StepRetried)) :]
    assert texts(after) == "whole"


async def test_the_other_model_is_asked_under_its_own_name():
    names = []

    class Listening(Scripted):
        def stream(self, request):
            names.append(request.model)
            return super().stream(request)

    second = Listening([Turn(text="here")], name="scripted/second")
    await heard(Fallback([model("first", Turn(fault=Fault.OVERLOADED)), second]))
    assert names == ["scripted/second"]


async def test_a_conversation_that_is_too_long_is_nobody_elses_to_answer():
    asked = Fallback([model("first", Turn(fault=Fault.CONTEXT_EXCEEDED)), model("second", Turn(text="here"))])
    with pytest.raises(ModelError) as error:
        await heard(asked)
    assert error.value.kind is ModelErrorKind.CONTEXT_EXCEEDED


async def test_when_all_fail_the_last_failure_is_told():
    asked = Fallback([model("first", Turn(fault=Fault.OVERLOADED)), model("second", Turn(fault=Fault.AUTH))])
    with pytest.raises(ModelError) as error:
        await heard(asked)
    assert error.value.kind is ModelErrorKind.AUTH


async def test_a_model_that_failed_rests_and_is_asked_again_later():
    clock = Clock()
    first = model("first", Turn(fault=Fault.OVERLOADED), Turn(text="I am back"))
    asked = Fallback([first, model("second", Turn(text="here"))], clock=clock)
    await heard(asked)
    clock.now = REST - 1
    said, *rest = await heard(asked)
    assert isinstance(said, StepRetried)  # another price counts
    assert (said.model, said.unbilled, texts(rest)) == ("scripted/second", True, "here")
    clock.now = REST + 1
    assert texts(await heard(asked)) == "I am back"


async def test_its_name_is_the_first_models():
    asked = Fallback([model("first", Turn(text="hi")), model("second")])
    assert asked.name == "scripted/first"
    assert isinstance((await heard(asked))[-1], AssistantMessageCompleted)
    await asked.close()
