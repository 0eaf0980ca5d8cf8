"""Who gets nothing: other names and sites, half a session, too much, twice, and paths that lead out. By raw sockets."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress

import pytest
from tests.surfaces.cli.halo_process import Halo, line_with
from tests.surfaces.web.page import Server, live, page, serving
from websockets.exceptions import InvalidStatus

from halocline.surfaces.web.guard import PAGE_KEY, PROTOCOL
from halocline.surfaces.web.site import OPEN
from halocline.surfaces.web.static_files import read_version

OWN = f"/{read_version()}/static"
PROTECTED = ("/session", "/blob/sha256:00", "/export/x.md", "/upload", "/live", "/metrics", "/nothing")
LEADING_OUT = (
    f"{OWN}/../command.py",
    f"{OWN}/%2e%2e/command.py",
    f"{OWN}/..%2fcommand.py",
    f"{OWN}/%2e%2e%2f%2e%2e%2fcli/main.py",
    f"{OWN}//etc/passwd",
    f"{OWN}/%2fetc%2fpasswd",
    f"{OWN}/..%5ccommand.py",
    f"{OWN}/a%00.js",
    f"{OWN}/",
    "/blob/..%2f..%2fcredentials",
    f"/blob/{'0' * 64}",
    "/export/..%2f..%2fsettings.md",
)
UPGRADE = (
    "connection: Upgrade",
    "upgrade: websocket",
    "sec-websocket-version: 13",
    "sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==",
)


async def said(server: Server, head: str, *headers: str, body: bytes = b"", wait: bool = True) -> str:
    """The status line and headers that come back for exactly these bytes; empty when nothing does."""
    host, _, port = server.host.partition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    try:
        writer.write("\r\n".join([head, *headers, "", ""]).encode("latin-1") + body)
        async with asyncio.timeout(20):
            return (await reader.read(65536)).decode("latin-1")
    finally:
        writer.close()


def status(answer: str) -> int:
    return int(answer.split()[1])


@asynccontextmanager
async def known(halo: Halo) -> AsyncIterator[tuple[Server, tuple[str, ...]]]:
    """A server, and the headers of a good session, for a request and for a socket."""
    async with serving(halo) as server:
        yield server, lines(await server.session())


def lines(session: Mapping[str, str]) -> tuple[str, ...]:
    """The headers of a session, or of a part of one."""
    spoken = ", ".join([PROTOCOL, *([session[PAGE_KEY]] if PAGE_KEY in session else [])])
    return (*(f"{name}: {value}" for name, value in session.items()), f"sec-websocket-protocol: {spoken}")


async def test_every_route_and_the_socket_answer_to_both_parts_of_a_session_alone(halo: Halo) -> None:
    async with known(halo) as (server, _):
        mine, other = await server.session(), await server.session()
        held = {
            "nothing": {},
            "cookie": {"cookie": mine["cookie"]},
            "page key": {PAGE_KEY: mine[PAGE_KEY]},
            "another's page key": {"cookie": mine["cookie"], PAGE_KEY: other[PAGE_KEY]},
            "both": mine,
        }
        port = int(server.host.partition(":")[2])
        origins = (server.origin, f"http://127.0.0.1:{port + 1}", "http://evil.example", "null")
        let_in = set()
        for part, session in held.items():
            for origin in origins:
                given = (f"host: {server.host}", f"origin: {origin}", *lines(session))
                for path in PROTECTED:
                    for method in ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD"):
                        head = (f"{method} {path} HTTP/1.1", *given, "content-length: 0", "connection: close")
                        if status(await said(server, *head)) not in (401, 403):
                            let_in.add((part, origin))
                if status(await said(server, "GET /live HTTP/1.1", *given, *UPGRADE)) == 101:
                    let_in.add((part, origin, "live"))
    assert let_in == {("both", server.origin), ("both", server.origin, "live")}


def test_what_needs_no_session_is_the_page_itself_and_the_way_in() -> None:
    assert OPEN == ("/", "/worker.js", "/diagram", "/enter", "/favicon.ico")


async def test_a_host_that_is_not_ours_gets_nothing_with_a_good_session(halo: Halo) -> None:
    async with known(halo) as (server, session):
        port = server.host.partition(":")[2]
        for name in ("evil.example", "127.0.0.1", f"localhost.evil.example:{port}", "127.0.0.1:1", ""):
            page_ = await said(server, "GET / HTTP/1.1", f"host: {name}", *session, "connection: close")
            given = (f"host: {name}", *session, f"origin: {server.origin}")
            live = await said(server, "GET /live HTTP/1.1", *given, *UPGRADE)
            assert status(page_) in (400, 421), name
            assert status(live) in (400, 403), name


async def test_another_site_can_neither_post_nor_open_a_socket(halo: Halo) -> None:
    async with known(halo) as (server, session):
        port = server.host.partition(":")[2]
        evil = ("http://evil.example", f"http://evil.example:{port}", f"http://{server.host}.evil.example")
        for origin in (*evil, "null", "http://127.0.0.1", "http://127.0.0.1:1", ""):
            given = (f"host: {server.host}", f"origin: {origin}", *session)
            post = await said(server, "POST /upload?name=a HTTP/1.1", *given, "content-length: 1", body=b"a")
            live = await said(server, "GET /live HTTP/1.1", *given, *UPGRADE)
            assert (status(post), status(live)) == (403, 403), origin


async def test_a_post_or_a_socket_without_an_origin_is_refused(halo: Halo) -> None:
    async with known(halo) as (server, session):
        host = f"host: {server.host}"
        post = await said(server, "POST /upload?name=a HTTP/1.1", host, *session, "content-length: 1", body=b"a")
        live = await said(server, "GET /live HTTP/1.1", host, *session, *UPGRADE)
    assert (status(post), status(live)) == (403, 403)


async def test_another_port_of_this_machine_is_another_site_though_browsers_send_it_the_cookie(halo: Halo) -> None:
    async with known(halo) as (server, session):
        asked = (f"host: {server.host}", *session)
        site, own_site = "sec-fetch-site: same-site", "sec-fetch-site: same-origin"
        answer = await said(server, "GET /session HTTP/1.1", *asked, site, "connection: close")
        own = await said(server, "GET /session HTTP/1.1", *asked, own_site, "connection: close")
    assert (status(answer), status(own)) == (403, 204)


async def test_a_header_that_decides_is_not_taken_twice(halo: Halo) -> None:
    async with known(halo) as (server, session):
        given = (f"host: {server.host}", f"origin: {server.origin}", "content-length: 1", *session)
        for twice in ("host: evil.example", "origin: http://evil.example", "content-length: 5"):
            answer = await said(server, "POST /upload?name=a HTTP/1.1", *given, twice, body=b"a")
            assert status(answer) == 400, twice


async def test_no_path_leads_out_of_the_page_or_to_other_files_of_the_home(halo: Halo) -> None:
    async with known(halo) as (server, session):
        for path in LEADING_OUT:
            answer = await said(server, f"GET {path} HTTP/1.1", f"host: {server.host}", *session, "connection: close")
            assert status(answer) == 404, path


async def test_a_body_that_says_it_is_too_large_is_not_read(halo: Halo) -> None:
    async with known(halo) as (server, session):
        given = (f"host: {server.host}", f"origin: {server.origin}", *session)
        answer = await said(server, "POST /upload?name=a HTTP/1.1", *given, f"content-length: {33 * 2**20}")
        open_ = await said(server, "POST /enter HTTP/1.1", *given[:2], "content-length: 5000")
    assert (status(answer), status(open_)) == (413, 413)


async def test_a_body_that_does_not_say_how_large_it_is_is_cut_off(halo: Halo) -> None:
    async with known(halo) as (server, _):
        chunk = b"1000\r\n" + b"a" * 4096 + b"\r\n"
        given = (f"host: {server.host}", f"origin: {server.origin}", "transfer-encoding: chunked")
        answer = await said(server, "POST /enter HTTP/1.1", *given, body=chunk * 4 + b"0\r\n\r\n")
    assert status(answer) == 413


async def test_a_head_without_end_is_cut_off(halo: Halo) -> None:
    async with serving(halo) as server:
        host, _, port = server.host.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        with suppress(OSError):
            for _ in range(100):
                writer.write(b"GET / HTTP/1.1\r\nx: " + b"a" * 10_000)
                await writer.drain()
        async with asyncio.timeout(20):
            with suppress(OSError):
                assert b" 400 " in await reader.read(1000)
        writer.close()


async def test_a_wrong_key_waits_and_the_right_one_enters_afterwards(halo: Halo) -> None:
    async with serving(halo) as server, server.http(headers={"origin": server.origin}) as http:
        wrong = await http.post("/enter", content=server.key[:-1] + ("a" if server.key[-1] != "a" else "b"))
        empty = await http.post("/enter", content="")
        right = await http.post("/enter", content=server.key)
    assert (wrong.status_code, empty.status_code, right.status_code) == (403, 403, 200)
    assert wrong.elapsed.total_seconds() > 0.25
    cookie = right.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert "Domain" not in cookie


async def test_behind_an_encrypting_proxy_the_cookie_is_for_encrypted_requests_only(halo: Halo) -> None:
    told = {"host": "halo.example", "x-forwarded-proto": "https", "x-forwarded-host": "evil.example"}
    async with serving(halo, "--allow-host", "halo.example") as server, server.http() as http:
        encrypted = await http.post("/enter", content=server.key, headers=told | {"origin": "https://halo.example"})
        plain = await http.post("/enter", content=server.key, headers=told | {"origin": "http://halo.example"})
        foreign = await http.post("/enter", content=server.key, headers=told | {"origin": "https://evil.example"})
    assert "Secure" in encrypted.headers["set-cookie"]
    assert "Secure" not in plain.headers["set-cookie"]
    assert foreign.status_code == 403


async def test_a_session_ends_with_its_server(halo: Halo) -> None:
    async with serving(halo) as server:
        session = await server.session()
    async with serving(halo) as server, server.http(headers=session) as http:
        again = await http.get("/session")
        shell = await http.get("/nothing.js")
    assert (again.status_code, shell.status_code) == (401, 401)


async def test_every_answer_forbids_what_the_page_does_not_need(halo: Halo) -> None:
    async with serving(halo) as server, server.http() as http:
        answers = [await http.get(path) for path in (f"{OWN}/none.js", "/session", f"{OWN}/vendor/htm.js")]
    for answer in answers:
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        assert answer.headers["x-frame-options"] == "DENY"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers


async def test_two_servers_of_one_home_do_not_share_sessions(halo: Halo) -> None:
    async with serving(halo) as first, serving(halo) as second:
        mine, other = await first.session(), await second.session()
        both = f"{mine['cookie']}; {other['cookie']}"
        async with page(first, mine | {"cookie": both}) as one, page(second, other | {"cookie": both}) as two:
            assert await one.ask("tasks") == await two.ask("tasks") == []
        for session in (mine, mine | {"cookie": both}, other | {"cookie": mine["cookie"]}):
            with pytest.raises(InvalidStatus):
                await live(second, session)


async def test_another_machine_is_paired_by_a_code_that_few_wrong_tries_end(halo: Halo) -> None:
    async with serving(halo, "--host", "0.0.0.0") as server:
        line = await line_with(server.process, "To pair another machine")
        code = line.rpartition(": ")[2].strip()
        async with server.http(headers={"origin": server.origin}) as http:
            wrong = [await http.post("/enter", content=f"{number:06}") for number in other_than(code, 5)]
            stale = await http.post("/enter", content=code)
            new = (await line_with(server.process, "To pair another machine")).rpartition(": ")[2].strip()
            right = await http.post("/enter", content=new)
            again = await http.post("/enter", content=new)
    assert [answer.status_code for answer in wrong] == [403] * 5
    assert wrong[0].json() == {"entered": False, "pairs": True}
    assert (stale.status_code, right.status_code, again.status_code) == (403, 200, 403)


async def test_names_are_allowed_one_by_one(halo: Halo) -> None:
    async with serving(halo, "--allow-host", "halo.example") as server:
        got = [
            status(await said(server, "GET /session HTTP/1.1", f"host: {name}", "connection: close"))
            for name in ("halo.example", "other.example")
        ]
    assert got == [401, 421]


async def test_the_key_is_in_no_log_and_no_head(halo: Halo) -> None:
    async with serving(halo) as server, server.http(headers={"origin": server.origin}) as http:
        await http.post("/enter", content=server.key)
        assert server.key not in (await http.get("/")).text
    logs = "".join(path.read_text("utf-8", "replace") for path in halo.home.rglob("*") if path.is_file())
    assert server.key not in logs


def other_than(code: str, count: int) -> list[int]:
    return [number for number in range(count + 1) if f"{number:06}" != code.replace(" ", "")][:count]
