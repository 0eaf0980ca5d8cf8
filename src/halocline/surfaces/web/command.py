"""`halo web`: serve the page until stopped. The first Ctrl-C lets turns write their ends."""

import argparse
import asyncio
import ipaddress
import os
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.types import ASGIApp
from uvicorn import Config, Server

from halocline.client.options import Choices
from halocline.client.storage import Browsers
from halocline.client.tasks import open_client
from halocline.protocol.errors import UsageError
from halocline.protocol.waiting import wait_at_most
from halocline.surfaces import event_loop
from halocline.surfaces.figures import format_plural
from halocline.surfaces.page_opener import open_page
from halocline.surfaces.sanitize import reveal
from halocline.surfaces.web import static_files, user_service
from halocline.surfaces.web.auth import Keys
from halocline.surfaces.web.bundle import SCRIPT
from halocline.surfaces.web.certificate import Certificate, check_certificate, keep_certificate
from halocline.surfaces.web.handlers.metrics import read_token
from halocline.surfaces.web.open_tasks import OpenTasks
from halocline.surfaces.web.site import LONGEST_FRAME, build_site
from halocline.surfaces.web.timeouts import PatientConnection

CLOSING_TIME = 5.0
"""Seconds for tasks to write their ends when the server stops."""
MOST_TRIES = 20
"""Ports to try from the default one, if none was given."""
USUAL_PORT = 4180
MOST_CONNECTIONS = 500
LARGEST_HEAD = 32 * 2**10
"""Bytes of a request's head, which is read before authentication."""
LEFT = 130
"""Exit code after a second Ctrl-C."""


def command(arguments: argparse.Namespace) -> int:
    if arguments.browsers or arguments.sign_out:
        return _manage_browsers(arguments.sign_out)
    if arguments.uninstall:
        print(f"Removed the service {user_service.remove_service(os.environ)}.")
        return 0
    workspaces = tuple(Path(folder).expanduser().resolve() for folder in arguments.folders or ["."])
    for folder in workspaces:
        if not folder.is_dir():
            raise UsageError(f"Folder {folder} does not exist.", "Name an existing folder.")
    if arguments.install:
        return _install_service(workspaces, arguments)
    listening = _bind_socket(arguments.host, arguments.port)
    return event_loop.run_loop(_serve_page(listening, workspaces, arguments))


def _install_service(workspaces: tuple[Path, ...], arguments: argparse.Namespace) -> int:
    """Install `halo web` with these arguments as a service of the user."""
    port = arguments.port if arguments.port is not None else USUAL_PORT
    hosts = [word for name in arguments.allow_host for word in ("--allow-host", name)]
    tls = ["--tls"] if arguments.tls else []
    for option, file in (("--tls-cert", arguments.tls_cert), ("--tls-key", arguments.tls_key)):
        tls += [option, str(Path(file).expanduser().absolute())] if file else []
    words = ["--host", arguments.host, "--port", str(port), *hosts, *tls, *map(str, workspaces)]
    file = user_service.install_service(words, workspaces[0], os.environ)
    print(f"Installed and started {file}.")
    print(f"Its address, with the key: journalctl --user -u {user_service.NAME} -n 20")
    print("It stops when you log out, unless you run: loginctl enable-linger. Remove it with: halo web --uninstall")
    return 0


def _manage_browsers(sign_out: str) -> int:
    """List signed-in browsers, after signing out one or all."""
    browsers = Browsers(open_client(Choices(), "web").home.browsers)
    out = [one.id for one in browsers.all() if sign_out in (one.id, "all")]
    if sign_out and not out:
        raise UsageError(f"No signed-in browser {sign_out}.", "List them with: halo web --browsers")
    for id in out:
        browsers.remove(id)
    for one in browsers.all():
        added, seen = (time.strftime("%Y-%m-%d %H:%M", time.localtime(at)) for at in (one.added_at, one.seen_at))
        print(f"{one.id}  {reveal(one.name)}  signed in {added}, last seen {seen}")
    if out:
        print(f"Signed out: {format_plural(len(out), 'browser')}.")
    elif not browsers.all():
        print("No signed-in browsers.")
    return 0


async def _serve_page(listening: socket.socket, workspaces: tuple[Path, ...], arguments: argparse.Namespace) -> int:
    host, port = listening.getsockname()[:2]
    is_open = not _is_loopback(host)
    watchers: Counter[str] = Counter()
    client = open_client(Choices(), "web", lambda: watchers.total() > 0)
    tasks = OpenTasks(client, workspaces, watchers=watchers)
    keys = Keys(_show_code if is_open else None, browsers=Browsers(client.home.browsers))
    hosts = _allowed_hosts(host, port, arguments.allow_host)
    certificate = await asyncio.to_thread(_find_certificate, client.home.certificates, host, arguments)
    server = _build_server(
        build_site(tasks, keys, hosts, port, own_address=is_open, token=read_token(arguments.metrics_token)),
        certificate,
    )
    origin = f"{'https' if certificate else 'http'}://{_own_address(host)}:{port}"
    bundling = asyncio.create_task(asyncio.to_thread(static_files.read_file, SCRIPT))  # while the browser starts
    _print_address(origin, port, keys, certificate, is_open=is_open)
    if arguments.open and _has_display():
        await asyncio.to_thread(open_page, f"{origin}/#{keys.short_lived()}")
    with _stopped_by_signals(server):
        try:
            await server.serve([listening])
        finally:
            await bundling
            await tasks.close()
            if not await wait_at_most(CLOSING_TIME, client.close()):
                print("Some turns did not end in time. Continue them with: halo --resume", file=sys.stderr)
    return 0


class QuietServer(Server):
    """Leaves signals to us, as uvicorn would raise them again after its end."""

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        yield


def _find_certificate(folder: Path, host: str, arguments: argparse.Namespace) -> Certificate | None:
    """Return the certificate to encrypt with, if any. Raises UsageError."""
    if arguments.tls_cert:
        return check_certificate(arguments.tls_cert, arguments.tls_key)
    if not arguments.tls:
        return None
    own = {"localhost", "127.0.0.1", "::1", socket.gethostname(), *arguments.allow_host}
    return keep_certificate(folder, own | ({host} - {"0.0.0.0", "::"}))


def _build_server(application: ASGIApp, certificate: Certificate | None) -> Server:
    config = Config(
        application,
        http=PatientConnection,
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=LARGEST_HEAD,
        limit_concurrency=MOST_CONNECTIONS,
        ws="websockets-sansio",
        ws_max_size=LONGEST_FRAME,
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=1,
        ssl_certfile=certificate.chain if certificate else None,
        ssl_keyfile=certificate.key if certificate else None,
    )
    return QuietServer(config)


@contextmanager
def _stopped_by_signals(server: Server) -> Iterator[None]:
    loop = asyncio.get_running_loop()

    def stop() -> None:
        if server.should_exit:
            os._exit(LEFT)
        server.should_exit = True
        print("Stopping; saving running turns. Press Ctrl-C again to quit now.", file=sys.stderr)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    try:
        yield
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def _print_address(origin: str, port: int, keys: Keys, certificate: Certificate | None, *, is_open: bool) -> None:
    print(f"Halocline is at {origin}/#{keys.key}")
    print("Anyone with this address can work here as you. Press Ctrl-C to stop.")
    if is_open:
        print(f"Other machines connect to port {port} with a pairing code.")
        if not certificate:
            print("Traffic is not encrypted: use this only on a trusted network, or encrypt it with --tls.")
        keys.invite()
    if certificate and certificate.fingerprint:
        print(f"A browser warns once of the certificate. Its SHA-256 must be:\n{certificate.fingerprint}")
    sys.stdout.flush()


def _show_code(code: str) -> None:
    if code:
        print(f"To pair another machine, enter there: {code[:3]} {code[3:]}", flush=True)
    else:
        print("Too many wrong codes: pairing is off. Restart halo web to pair a machine.", flush=True)


def _allowed_hosts(host: str, port: int, allowed: list[str]) -> tuple[str, ...]:
    """Return the accepted Host names: this machine's with the port, and the allowed ones."""
    shown = f"[{host}]" if ":" in host else host
    names = {"127.0.0.1", "localhost", "[::1]", shown}
    ours = [f"{name}:{port}" for name in names] + ([*names] if port == 80 else [])
    return (*ours, *allowed, *(f"{name}:{port}" for name in allowed if ":" not in name))


def _own_address(host: str) -> str:
    """Return the address by which this machine reaches itself."""
    if host in ("0.0.0.0", "::"):
        return "127.0.0.1" if host == "0.0.0.0" else "[::1]"
    return f"[{host}]" if ":" in host else host


def _is_loopback(host: str) -> bool:
    return ipaddress.ip_address(host.partition("%")[0]).is_loopback


def _has_display() -> bool:
    """True if a graphical browser can open; one in the terminal would take it over."""
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _bind_socket(host: str, port: int | None) -> socket.socket:
    """Bind a socket to the port, or to the first free one from the default. Raises UsageError."""
    problem = ""
    for candidate in [port] if port is not None else range(USUAL_PORT, USUAL_PORT + MOST_TRIES):
        try:
            family = socket.AF_INET6 if ":" in host else socket.AF_INET
            listening = socket.create_server((host, candidate), family=family)
            # asyncio sets this only if the protocol is named; without it each response waits 40 ms for an ACK.
            listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return listening
        except OSError as error:
            number = error.errno or 0  # its message repeats the address; name errors have no number
            problem = os.strerror(number) if number > 0 else error.strerror or str(error)
    where = port if port is not None else f"{USUAL_PORT} to {USUAL_PORT + MOST_TRIES - 1}"
    raise UsageError(
        f"Cannot listen on {host}, port {where}: {problem}.", "Choose another port; --port 0 picks a free one."
    )
