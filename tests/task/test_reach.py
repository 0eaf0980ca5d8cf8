from pathlib import Path

import pytest

from halocline.policy.gate import PolicyContext
from halocline.ports.host import WebAnswer
from halocline.ports.tool import Summary
from halocline.protocol.errors import ToolFailure
from halocline.protocol.kinds import ApprovalMode, Grant, Mode, ToolKind
from halocline.task.calls.network_access import Reach

PUBLIC = "93.184.215.14"


class Names:
    """A web in which names lead where the test says, each time somewhere else."""

    def __init__(self, **names: list[tuple[str, ...]]) -> None:
        self.names = {name.replace("_", "."): answers for name, answers in names.items()}
        self.asked: list[str] = []

    async def lookup(self, hostname: str) -> tuple[str, ...]:
        self.asked.append(hostname)
        return self.names[hostname].pop(0)

    async def get(self, url: str, addresses: tuple[str, ...]) -> WebAnswer:
        raise AssertionError("nothing is fetched here")


def reach(url, web, mode=ApprovalMode.ASK, *grants, private=False):
    posture = PolicyContext(Path("/w"), Path("/h"), Mode.ACT, mode, frozenset(grants))
    return Reach(Summary("fetch", ToolKind.FETCH, url=url, private=private), lambda: posture, web)


async def test_the_call_s_own_host_is_reached_at_the_addresses_of_its_name():
    to = reach("https://a.example/x", Names(a_example=[(PUBLIC,)]))
    assert await to("https://a.example/x") == (PUBLIC,)


async def test_a_redirect_within_the_host_needs_no_leave():
    to = reach("http://a.example/x", Names(a_example=[(PUBLIC,)]))
    assert await to("https://a.example/y") == (PUBLIC,)


async def test_a_redirect_to_another_host_that_would_be_asked_about_is_not_followed_and_not_looked_up():
    web = Names()
    with pytest.raises(ToolFailure, match=r"https://b.example/ was not opened: it needs its own call"):
        await reach("https://a.example/x", web)("https://b.example/")
    assert web.asked == []


async def test_a_redirect_to_another_host_is_followed_where_that_host_is_allowed():
    granted = Grant(ToolKind.FETCH, "b.example")
    to = reach("https://a.example/x", Names(b_example=[(PUBLIC,)]), ApprovalMode.ASK, granted)
    assert await to("https://b.example/") == (PUBLIC,)
    to = reach("https://a.example/x", Names(b_example=[(PUBLIC,)]), ApprovalMode.AUTO)
    assert await to("https://b.example/") == (PUBLIC,)


@pytest.mark.parametrize(
    "inside", ["http://127.0.0.1/", "http://localhost/", "http://169.254.169.254/", "http://[::1]/"]
)
async def test_a_redirect_to_a_private_address_is_not_followed_in_auto_mode(inside):
    with pytest.raises(ToolFailure, match="needs its own call"):
        await reach("https://a.example/x", Names(), ApprovalMode.AUTO)(inside)


async def test_a_public_name_that_leads_inside_is_refused_although_its_host_was_allowed():
    to = reach("https://a.example/x", Names(a_example=[(PUBLIC, "10.0.0.5")]), ApprovalMode.AUTO)
    with pytest.raises(ToolFailure, match=r"a.example resolves to 10.0.0.5.*private_network=true"):
        await to("https://a.example/x")


async def test_the_second_answer_of_a_name_server_is_judged_like_the_first():
    to = reach("https://a.example/x", Names(a_example=[(PUBLIC,), ("127.0.0.1",)]))
    assert await to("https://a.example/x") == (PUBLIC,)
    with pytest.raises(ToolFailure, match=r"resolves to 127.0.0.1"):
        await to("https://a.example/y")


async def test_leave_for_a_private_network_covers_the_name_and_the_port_that_were_shown():
    to = reach("https://a.example/x", Names(a_example=[("10.0.0.5",)] * 2), private=True)
    assert await to("https://a.example/x") == ("10.0.0.5",)
    with pytest.raises(ToolFailure, match="needs its own call"):
        await to("https://a.example:8443/x")


async def test_a_name_never_leads_to_where_machines_get_their_keys():
    names = Names(metadata_google_internal=[("169.254.169.254",)])
    to = reach("http://metadata.google.internal/", names, ApprovalMode.YOLO)
    with pytest.raises(ToolFailure, match="cloud credentials"):
        await to("http://metadata.google.internal/")


async def test_yolo_reaches_private_networks():
    to = reach("https://a.example/x", Names(a_example=[("10.0.0.5",)]), ApprovalMode.YOLO)
    assert await to("https://a.example/x") == ("10.0.0.5",)


async def test_a_part_of_a_page_may_come_from_any_public_host():
    to = reach("https://a.example/x", Names(cdn_example=[(PUBLIC,)]))
    assert await to("https://cdn.example/style.css", part=True) == (PUBLIC,)


@pytest.mark.parametrize("inside", ["10.0.0.7", "127.0.0.1", "169.254.169.254"])
async def test_a_part_of_a_page_does_not_come_from_inside(inside):
    to = reach("https://a.example/x", Names(cdn_example=[(inside,)]))
    with pytest.raises(ToolFailure, match=f"resolves to {inside}"):
        await to("https://cdn.example/x", part=True)
    with pytest.raises(ToolFailure, match="needs its own call"):
        await to(f"http://{inside}/x", part=True)


async def test_a_part_of_a_page_does_not_come_from_a_host_that_the_person_refused():
    refused = frozenset({Grant(ToolKind.FETCH, "cdn.example")})
    posture = PolicyContext(Path("/w"), Path("/h"), Mode.ACT, ApprovalMode.ASK, refusals=refused)
    to = Reach(Summary("fetch", ToolKind.FETCH, url="https://a.example/x"), lambda: posture, Names())
    with pytest.raises(ToolFailure, match="denied for the rest"):
        await to("https://cdn.example/x", part=True)


async def test_parts_of_a_public_page_stay_out_of_our_network_even_when_everything_is_allowed():
    to = reach("https://a.example/x", Names(cdn_example=[("10.0.0.7",)]), ApprovalMode.YOLO)
    with pytest.raises(ToolFailure, match=r"resolves to 10\.0\.0\.7"):
        await to("https://cdn.example/x", part=True)
    with pytest.raises(ToolFailure, match="needs its own call"):
        await to("http://10.0.0.7/x", part=True)
    of_a_page_inside = reach("http://localhost:3000/", Names(), ApprovalMode.YOLO)
    assert await of_a_page_inside("http://127.0.0.1:8000/", part=True) == ("127.0.0.1",)
