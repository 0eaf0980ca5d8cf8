import pytest
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol import commands as cmd, events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import Mode
from halocline.protocol.messages import AssistantMessage, Effort
from halocline.providers.scripted.model import Fault, Turn
from halocline.runtime.assembly.assembly import Assembly, Choices
from halocline.runtime.controller import Controller, TaskOptions
from halocline.store.settings.provider_settings import Price
from halocline.store.settings.sections import PlanSettings
from halocline.store.settings.settings import Settings

pytestmark = pytest.mark.process


def client_of(journey, **settings):
    return Client(Controller(Assembly(journey.home, Settings(**settings), {})), "test")


def speakers(journey):
    return [message.model for message in journey.state.messages if isinstance(message, AssistantMessage)]


async def test_plan_mode_asks_its_own_model_and_act_mode_the_other(journey, script):
    thinker, doer = script("thinker", "a plan", "another"), script("doer", "done", "done again")
    client = client_of(journey, model=doer, plan=PlanSettings(model=thinker))
    await journey.open(client, TaskOptions(mode=Mode.PLAN))
    await journey.prompt(client)
    client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
    await journey.prompt(client)
    await client.close()
    assert speakers(journey) == [thinker, doer]
    assert journey.logged[0].model == thinker
    changes = [event for event in journey.logged if isinstance(event, ev.ModelChanged | ev.ModeChanged)]
    assert [(type(event), getattr(event, "model", "")) for event in changes] == [
        (ev.ModelChanged, doer),
        (ev.ModeChanged, ""),
    ]


async def test_a_model_that_is_named_is_for_both_modes(journey, script):
    named, other = script("named", "one", "two"), script("other", "never")
    client = client_of(journey, model=other, plan=PlanSettings(model=other))
    await journey.open(client, TaskOptions(model=named, mode=Mode.PLAN))
    client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
    await journey.prompt(client)
    await client.close()
    assert speakers(journey) == [named]


async def test_a_resumed_task_switches_models_as_before(journey, script):
    thinker, doer = script("thinker", "a plan", "never"), script("doer", "never", "done")
    settings = {"model": doer, "plan": PlanSettings(model=thinker)}
    client = client_of(journey, **settings)
    await journey.open(client, TaskOptions(mode=Mode.PLAN))
    await journey.prompt(client)
    await client.close()
    client = client_of(journey, **settings)
    await journey.open(client, TaskOptions(mode=Mode.ACT), resume=journey.task)
    await journey.prompt(client)
    await client.close()
    assert speakers(journey) == [thinker, doer]


async def test_a_plan_model_that_cannot_be_used_is_named_before_anything_begins(journey, script):
    client = client_of(journey, model=script("doer", "hi"), plan=PlanSettings(model="anthropic/claude-opus-5-5"))
    with pytest.raises(UsageError, match="ANTHROPIC_API_KEY"):
        await journey.open(client, TaskOptions())
    await client.close()
    assert list(journey.home.tasks.glob("*")) == []


async def test_a_task_goes_on_with_the_fallback_model_and_says_so(journey, script):
    async with ModelServer([Turn(fault=Fault.AUTH)]) as server:
        other = script("other", "hi")
        address = server.url("openai")
        client = client_of(journey, model="openai/gpt-5.6", base_url=address, fallback_models=(other,))
        await journey.open(client, TaskOptions())
        await journey.prompt(client)
        await client.close()
    (retried,) = journey.of(ev.StepRetried)
    assert retried.model == other
    assert speakers(journey) == [other]


def test_a_profile_goes_over_the_settings_and_under_variables_and_flags(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    (home / "settings.toml").write_text(
        'model = "openai/a"\nmax_steps = 5\nmax_failures = 9\n[profiles.cheap]\nmodel = "openai/b"\nmax_steps = 6\n'
        '[profiles.cheap.plan]\nmodel = "openai/c"\n'
    )
    env = {"HALOCLINE_HOME": str(home), "HALOCLINE_MAX_STEPS": "7"}
    plain = Assembly.of(Choices(), env).settings
    cheap = Assembly.of(Choices(profile="cheap", max_steps=8), env).settings
    by_variable = Assembly.of(Choices(), env | {"HALOCLINE_PROFILE": "cheap"}).settings
    assert (plain.model, plain.max_steps) == ("openai/a", 7)
    assert (cheap.model, cheap.plan.model, cheap.max_steps, cheap.max_failures) == ("openai/b", "openai/c", 8, 9)
    assert (by_variable.model, by_variable.max_steps, by_variable.profile) == ("openai/b", 7, "cheap")


async def test_plan_mode_thinks_as_its_own_table_says(journey):
    async with ModelServer([Turn(text="a plan"), Turn(text="done")]) as server:
        settings = {"model": "openai/gpt-5.6", "base_url": server.url("openai"), "effort": Effort.LOW}
        client = client_of(journey, plan=PlanSettings(effort=Effort.HIGH), **settings)
        await journey.open(client, TaskOptions(mode=Mode.PLAN))
        await journey.prompt(client)
        client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
        await journey.prompt(client)
        await client.close()
    assert [request.body["reasoning_effort"] for request in server.requests] == ["high", "low"]


def test_an_effort_that_is_chosen_for_the_run_is_for_both_modes():
    settings = Settings(effort=Effort.LOW, plan=PlanSettings(model="openai/a", effort=Effort.HIGH))
    chosen = Choices(effort=Effort.MAX).over(settings)
    assert (chosen.effort, chosen.plan) == (Effort.MAX, PlanSettings(model="openai/a"))


async def test_the_window_of_a_model_is_known_before_its_first_reply(journey, script):
    thinker, doer, third = (script(name, "never") for name in ("thinker", "doer", "third"))
    windows = {thinker: 50_000, doer: 60_000, third: 70_000}
    prices = {name: Price(window=window) for name, window in windows.items()}
    client = client_of(journey, model=doer, plan=PlanSettings(model=thinker), prices=prices)
    await journey.open(client, TaskOptions(mode=Mode.PLAN))
    seen = [client.state(journey.task).model.window]
    client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
    seen.append(client.state(journey.task).model.window)
    await client.change_model(journey.task, third)
    seen.append(client.state(journey.task).model.window)
    await client.close()
    assert seen == [50_000, 60_000, 70_000]


async def test_a_window_that_was_given_is_not_that_of_the_other_mode(journey, script):
    thinker, doer = script("thinker", "never"), script("doer", "never")
    client = client_of(journey, model=doer, plan=PlanSettings(model=thinker), context_window=9_000)
    await journey.open(client, TaskOptions(mode=Mode.PLAN))
    seen = [client.state(journey.task).model.window]
    client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
    seen.append(client.state(journey.task).model.window)
    await client.close()
    assert seen == [None, 9_000]


async def test_a_model_that_is_picked_is_that_of_the_present_mode_and_the_other_keeps_its_own(journey, script):
    thinker, doer = script("thinker", "a plan"), script("doer", "never", "never", "done")
    picked = script("picked", "never", "a new plan", "never", "a newer one")
    client = client_of(journey, model=doer, plan=PlanSettings(model=thinker))
    await journey.open(client, TaskOptions(mode=Mode.PLAN))
    await journey.prompt(client)
    await client.change_model(journey.task, picked)
    await journey.prompt(client)
    client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
    await journey.prompt(client)
    client.send(cmd.SetMode(task=journey.task, mode=Mode.PLAN))
    await journey.prompt(client)
    await client.close()
    assert speakers(journey) == [thinker, picked, doer, picked]


async def test_what_was_picked_for_each_mode_is_so_after_a_resume(journey, script):
    thinker, doer, picked = script("thinker", "never"), script("doer", "never", "done"), script("picked", "a plan")
    client = client_of(journey, model=doer, plan=PlanSettings(model=thinker))
    await journey.open(client, TaskOptions(mode=Mode.PLAN))
    await client.change_model(journey.task, picked)
    await client.close()
    client = client_of(journey, model=doer)
    await journey.open(client, TaskOptions(), resume=journey.task)
    await journey.prompt(client)
    client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
    await journey.prompt(client)
    await client.close()
    assert speakers(journey) == [picked, doer]


async def test_where_both_modes_have_one_model_a_picked_one_is_for_both(journey, script):
    first, picked = script("first", "never"), script("picked", "one", "two")
    client = client_of(journey, model=first)
    await journey.open(client, TaskOptions(mode=Mode.PLAN))
    await client.change_model(journey.task, picked)
    client.send(cmd.SetMode(task=journey.task, mode=Mode.ACT))
    await journey.prompt(client)
    await client.close()
    assert speakers(journey) == [picked]
    assert not journey.state.model.by_mode
