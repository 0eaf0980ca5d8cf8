"""What the menu offers, of a real task."""

import asyncio

import pytest
from tests.journeys.conftest import Journey

from halocline.protocol.kinds import ApprovalMode
from halocline.protocol.permission_rules import Rule, Source, Verdict
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.controller import TaskOptions
from halocline.services.models.model_list import OfferedModel
from halocline.store.permissions.grants import keep_grant
from halocline.surfaces.slash.models import describe_model
from halocline.surfaces.terminal.composing.completion import Choice
from halocline.surfaces.terminal.composing.slash_menu import Menu, rank_names

pytestmark = pytest.mark.process

ATTENDED = TaskOptions(approval_mode=ApprovalMode.YOLO, attended=True)
WRITE = Turn(calls=(Call("write_to_file", {"path": "a.txt", "content": "a\n"}, id="c1"),))
SERVE = Turn(calls=(Call("execute_command", {"command": "echo started; sleep 60", "background": True}, id="c2"),))
DONE = Turn(text="done")


@pytest.fixture
async def client(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    monkeypatch.setenv("COLUMNS", "80")
    journey = Journey(tmp_path)
    journey.write(".claude/commands/fe/new.md", "---\ndescription: A \x1b[31mnew\n  one\nargument-hint: [name]\n---\n")
    journey.write(".clinerules/workflows/deploy.md", "Ship it.")
    journey.write(".claude/agents/finder.md", "---\nname: finder\ndescription: Finds \x1b[31mthings\n---\nFind.")
    monkeypatch.setenv("HALOCLINE_HOME", str(journey.home.root))
    journey.home.root.mkdir(exist_ok=True)
    journey.home.mcp.write_text('{"mcpServers": {"files": {"command": "halo-no-such-program"}}}')
    keep_grant(journey.home.grants, Rule(decision=Verdict.ALLOW, command="make *", source=Source.GRANT))
    client = journey.client([WRITE, SERVE, DONE])
    await journey.open(client, ATTENDED)
    await journey.prompt(client)
    client.task = journey.task
    yield client
    await client.close()


@pytest.fixture
async def menu(client):
    return Menu(client, client.task)


def texts(offers):
    return [offer.text for offer in offers]


@pytest.mark.parametrize(
    "text", ["", "hello", "hello /", "/cost ", "/nobody x", "/init something", "a\n/co", "a/co", "see /etc/ho"]
)
async def test_nothing_is_offered_where_nothing_fits(menu, text):
    assert await menu.offers(text) == []


async def test_a_slash_offers_every_word_by_sections(menu):
    offers = await menu.offers("/")
    names = [offer.shown for offer in offers]
    ordered = ["/init", "/clear", "/undo", "/model", "/help", "/deploy", "/fe:new"]
    assert [name for name in names if name in ordered] == ordered
    assert offers[0] == Choice("/init ", 1, "/init", "write or improve AGENTS.md, the project's guide for agents")


async def test_what_a_file_says_of_itself_is_shown_without_its_escapes(menu):
    (offer,) = await menu.offers("/fe:n")
    assert "\x1b" not in offer.meaning + offer.shown
    assert (offer.text, offer.replaces) == ("/fe:new ", 5)
    assert offer.meaning.endswith("(.claude/commands/fe/new.md)")


async def test_words_that_begin_so_come_before_those_that_only_have_the_letters(menu):
    assert texts(await menu.offers("/co"))[:2] == ["/compact ", "/config "]
    assert texts(await menu.offers("/dpl"))[0] in ("/deploy", "/deep-planning ")


async def test_in_a_sentence_only_what_the_model_answers_is_offered(menu):
    assert texts(await menu.offers("now /de")) == ["/deep-planning ", "/deploy"]
    assert texts(await menu.offers("now /cos")) == []


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("/mode ", ["plan", "act"]),
        ("/mode p", ["plan"]),
        ("/approvals yo", ["yolo"]),
        ("/checkpoint ", ["list", "diff ", "restore "]),
        ("/checkpoint restore ", ["2", "1"]),
        ("/jobs stop ", ["job-1"]),
        ("/compact ", ["undo"]),
        ("/resume ", []),
        ("/config approval", ["approval_mode ", "auto_approve.all_commands "]),
        ("/config approval_mode ", ["ask", "accept-edits", "auto", "yolo", "default"]),
        ("/config memory ", ["true", "false", "default"]),
        ("/settings memory t", ["true", "default"]),
        ("/agents ", ["finder"]),
        ("/mcp ", ["files "]),
        ("/mcp files ", ["tools", "on", "off"]),
        ("/permissions ", ["forget 1"]),
        ("/permissions forget ", ["1"]),
    ],
)
async def test_what_may_follow_a_word_is_offered(menu, typed, expected):
    assert texts(await menu.offers(typed)) == expected


async def test_files_that_are_made_later_are_offered_for_the_next_prompt(menu, client, tmp_path):
    await menu.offers("/")
    (tmp_path / "project/.clinerules/workflows/later.md").write_text("x")
    assert texts(await menu.offers("/later")) == []
    menu.begin()
    assert texts(await menu.offers("/later")) == ["/later"]


async def test_it_is_asked_from_a_thread(menu):
    assert texts(await asyncio.to_thread(menu, "/mode ")) == ["plan", "act"]


@pytest.mark.parametrize(("columns", "shown"), [("120", "/fe:new [name]"), ("50", "/fe:new")])
async def test_how_much_is_shown_depends_on_the_columns(menu, monkeypatch, columns, shown):
    monkeypatch.setenv("COLUMNS", columns)
    (offer,) = await menu.offers("/fe:n")
    assert (offer.shown, offer.meaning.startswith("A new")) == (shown, True)


def test_names_are_ranked_by_beginning_then_part_then_letters():
    names = ["explain", "plan", "p-l-a", "cost", "Plant"]
    assert rank_names("pla", names) == ["plan", "Plant", "explain", "p-l-a"]
    assert rank_names("", names) == names


async def test_what_a_value_means_is_shown_beside_it_without_escapes(menu):
    meanings = {
        offer.text: offer.meaning
        for line in ("/agents ", "/permissions ", "/mcp ")
        for offer in await menu.offers(line)
    }
    assert "Finds" in meanings["finder"]
    assert "\x1b" not in str(meanings)
    assert "make *" in meanings["forget 1"]
    (now, *_others, reset) = await menu.offers("/config approval_mode ")
    assert (now.meaning, reset.meaning) == ("in use", "reset it to ask")


@pytest.mark.parametrize(
    ("known", "shown"),
    [
        (
            {"title": "Big", "window": 200_000, "input": 3.0, "output": 15.0},
            "Big · 200.0k context · $3.00 in, $15.00 out",
        ),
        ({"input": 3.0}, ""),
    ],
)
def test_a_model_is_described_by_what_is_known_of_it(known, shown):
    assert describe_model(OfferedModel("vendor/big", usable=True, **known)) == shown
