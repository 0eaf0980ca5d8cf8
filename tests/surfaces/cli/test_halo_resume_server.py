"""A task goes on at the server that it talked to, or not at all: its conversation is not for another one."""

import asyncio

from tests.servers.model_server import ModelServer, Turn
from tests.surfaces.cli.halo_process import Halo, asks
from tests.surfaces.cli.test_halo_terminal import COMPOSER, CTRL_D, Person

from halocline.protocol import events as ev

HELLO = Turn(text="Hello.")


async def test_without_the_address_that_was_given_a_task_is_not_resumed_elsewhere(halo: Halo) -> None:
    async with ModelServer([HELLO], key="k") as server:
        assert (await halo.run("-p", *asks(server), "first")).code == 0
        address = server.url("openai")
    done = await halo.run("-c", "-p", "again", env={"OPENAI_API_KEY": "k"})
    assert (done.code, done.out) == (2, "")
    assert f"This task used openai/x at {address}." in done.err
    assert f"halo -r {halo.tasks[0]} --base-url {address}" in done.err
    assert len([event for event in halo.log() if isinstance(event, ev.TurnStarted)]) == 1


async def test_with_an_address_or_a_model_a_task_goes_on_and_remembers_the_newest(halo: Halo) -> None:
    async with ModelServer([HELLO, HELLO], key="k") as server, ModelServer([HELLO], key="k") as other:
        assert (await halo.run("-p", *asks(server), "first")).code == 0
        moved = await halo.run("-c", "-p", "--base-url", other.url("openai"), "--api-key", "k", "again")
        assert (moved.code, halo.state().model.server) == (0, other.url("openai"))
        named = await halo.run("-c", "-p", *asks(server), "once more")
        assert (named.code, halo.state().model.server) == (0, server.url("openai"))


async def test_the_address_in_a_setting_or_variable_is_enough(halo: Halo) -> None:
    async with ModelServer([HELLO, HELLO], key="k") as server:
        by_variable = {"OPENAI_BASE_URL": server.url("openai"), "OPENAI_API_KEY": "k"}
        assert (await halo.run("-p", "-m", "openai/x", "first", env=by_variable)).code == 0
        assert (await halo.run("-c", "-p", "again", env=by_variable)).code == 0
    assert halo.state().model.server == server.url("openai")


async def test_a_password_in_an_address_is_not_logged(halo: Halo) -> None:
    async with ModelServer([HELLO]) as server:
        address = server.url("openai").replace("://", "://me:hunter2@")
        assert (await halo.run("-p", "-m", "openai/x", "--base-url", address, "first")).code == 0
    assert b"hunter2" not in (halo.home / "tasks" / halo.tasks[0] / "events.jsonl").read_bytes()
    assert halo.state().model.server == server.url("openai")


async def test_the_line_that_resumes_a_conversation_names_its_address(halo: Halo) -> None:
    def converse(words: tuple[str, ...], resumes: str) -> int:
        person = Person(halo, *words, "first").sees("Hello.", COMPOSER).types(CTRL_D)
        return person.sees(f"halo -r {halo.tasks[0]} {resumes}").is_gone_with()

    async with ModelServer([HELLO], key="k") as server:
        words = tuple(asks(server))
        assert await asyncio.to_thread(converse, words, f"--base-url {server.url('openai')}") == 0


async def test_so_does_the_line_of_a_terminal_that_joined_and_was_left_alone(halo: Halo) -> None:
    def converse(words: tuple[str, ...], resumes: str) -> int:
        first = Person(halo, *words, "first").sees("Hello.", COMPOSER)
        second = Person(halo, "-r", halo.tasks[0], *words).sees("Join it").types("y\r").sees(COMPOSER)
        assert first.types(CTRL_D).is_gone_with() == 0
        return second.types(CTRL_D).sees(f"halo -r {halo.tasks[0]} {resumes}").is_gone_with()

    async with ModelServer([HELLO], key="k") as server:
        words = tuple(asks(server))
        assert await asyncio.to_thread(converse, words, f"--base-url {server.url('openai')}") == 0
