"""`halo login` and `halo logout`: keys of providers, read without echo. At most a key's last four are printed."""

import argparse
import asyncio
import sys
from collections.abc import Sequence
from contextlib import suppress

from halocline.client.models import Account, Accounts, check_address
from halocline.client.tasks import Client, open_client
from halocline.client.themes import Theme
from halocline.protocol.errors import UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.surfaces import event_loop
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.args.task_options import choices_of
from halocline.surfaces.cli.plain.questions import can_draw, on_terminal, pick_option
from halocline.surfaces.cli.stderr import print_folded
from halocline.surfaces.entered_keys import describe_server, forget_keys, keep_key, keep_server, sort_accounts
from halocline.surfaces.page_opener import open_page
from halocline.surfaces.terminal import application

NAMED = 5
"""Models of a server that are named."""
LONGEST = 65_536
"""Bytes that are read of a key."""


def command(arguments: argparse.Namespace) -> int:
    client = open_client(choices_of(arguments))
    accounts = client.models.accounts
    if arguments.command == "logout":
        return _log_out(accounts, arguments)
    if arguments.list:
        _list_accounts(accounts.all())
        return 0
    provider = arguments.provider or _choose_provider(accounts.all(), client.own_theme)
    account = accounts.of(provider)
    if account.needs_address:
        accounts = _connect_server(client, account, arguments)
    else:
        _log_in(accounts, account, arguments)
    if not (account.searches or arguments.no_test or (arguments.base_url and not account.needs_address)):
        _choose_model(client, account, event_loop.run_loop(accounts.list_models(provider)))
    return 0


def _log_in(accounts: Accounts, account: Account, arguments: argparse.Namespace) -> None:
    key = _read_key(accounts, account, arguments)
    _print_lines(event_loop.run_loop(keep_key(accounts, account, key, tested=not arguments.no_test)))


def _connect_server(client: Client, account: Account, arguments: argparse.Namespace) -> Accounts:
    """Connect a server that has no usual address: the address, then the key. Return the accounts at that address."""
    address = arguments.base_url or _read_address(account)
    base_url = check_address(address)
    typed = typed_key(account) if _is_attended() else piped_key(account, needed=False)
    if arguments.no_test:
        accounts = client.models.accounts.at(base_url)
        kept = accounts.keep(account.provider, accounts.checked(account.provider, typed)) if typed.strip() else None
        said = describe_server(client.settings, account, base_url, kept, needs_key=kept is not None)
    else:
        keeping = keep_server(client.models.accounts, client.settings, account, base_url, typed)
        accounts, said = event_loop.run_loop(keeping)
    _print_lines(said)
    return accounts


def _read_address(account: Account) -> str:
    """Ask for the address of a server. Raises UsageError without a terminal, and when the input ends."""
    missing = UsageError(f"{account.title} needs an address.", f"Use: halo login {account.provider} --base-url URL")
    if not _is_attended():
        raise missing
    try:
        return input("Address of the server (for example http://127.0.0.1:8000/v1): ")
    except EOFError:
        print()
        raise missing from None


def _choose_model(client: Client, account: Account, names: Sequence[str]) -> None:
    """Let the person choose the model of new tasks from the server's own list, and say what comes next."""
    provider, now = account.provider, client.settings.find("model")[0].value
    picked = names[0] if len(names) == 1 and not now and account.needs_address else ""
    if names and on_terminal() and can_draw():
        rows = [application.choice_list.PickerEntry(f"{provider}/{name}", name) for name in names]
        kept = [application.choice_list.PickerEntry(now, now, "as now")] if now else []
        with suppress(KeyboardInterrupt):  # no choice is a choice
            title = "Which model do new tasks use?"
            chosen = pickers.list_picker.pick_entry(title, [*kept, *rows], client.own_theme)
            picked = chosen.removeprefix(f"{provider}/") if chosen != now else ""
    if picked:
        client.settings.put("model", f"{provider}/{picked}")
        _print_text(f"New tasks use {provider}/{picked}.")
    elif names and account.needs_address and not now:
        more = ", …" if len(names) > NAMED else ""
        _print_text(f"It has {', '.join(names[:NAMED])}{more}. To use one: halo -m {provider}/{names[0]}")
        return
    elif not names and account.needs_address:
        _print_text(f"It does not list its models. To use one: halo -m {provider}/MODEL")
        return
    _print_text("To begin, type: halo")


def _read_key(accounts: Accounts, account: Account, arguments: argparse.Namespace) -> Secret:
    """Get the key from the browser, the terminal or a pipe. Raises UsageError and ModelError.

    No event loop runs while a person types, as it would catch Ctrl-C.
    """
    attended = _is_attended()
    may_choose = attended and account.signs_in and not arguments.with_key
    if arguments.no_browser or (may_choose and _prefers_browser(account)):
        return event_loop.run_loop(_from_browser(accounts, account, opens=not arguments.no_browser))
    return accounts.checked(account.provider, typed_key(account) if attended else piped_key(account))


def _is_attended() -> bool:
    return sys.stdin is not None and sys.stdin.isatty()


def _prefers_browser(account: Account) -> bool:
    return pick_option(f"Sign in to {account.title}:", {"b": "in the browser", "k": "paste a key"}) == "b"


async def _from_browser(accounts: Accounts, account: Account, *, opens: bool) -> Secret:
    async with accounts.signing_in(account.provider) as sign_in:
        opened = opens and await asyncio.to_thread(open_page, sign_in.url)
        _print_text("Sign in in your browser. If no page opened, open:" if opened else "Open this page and sign in:")
        print(f"\n{sign_in.url}\n")  # not wrapped, so that it can be copied
        _print_text(
            "If the browser is on another machine, its last page will not load: paste that page's address here."
        )
        sys.stdout.flush()
        return await sign_in.key(next_line)


def _choose_provider(all_of_them: list[Account], theme: Theme) -> str:
    """Ask for a provider: in a list with keys where the terminal can draw one. Raises UsageError without a terminal."""
    all_of_them = sort_accounts(all_of_them)
    names = [account.provider for account in all_of_them]
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("No provider was named.", f"Use: halo login PROVIDER, with one of: {', '.join(names)}")
    if on_terminal() and can_draw():
        rows = [
            application.choice_list.PickerEntry(one.provider, one.provider, _describe_account(one))
            for one in all_of_them
        ]
        return pickers.list_picker.pick_entry("Which provider?", rows, theme)
    options = {str(number): _account_row(account) for number, account in enumerate(all_of_them, start=1)}
    key = pick_option("Which provider?", options, names=names)
    return names[int(key) - 1] if key.isdecimal() else key


def _list_accounts(all_of_them: list[Account]) -> None:
    have = [account for account in all_of_them if account.has_key or account.elsewhere]
    for account in have:
        print(_account_row(account))
        if account.variable and account.stored:
            print(f"{'':<14}{_describe_place(account.stored)}, but overridden by the variable")
        for server in account.elsewhere:
            print(f"{'':<14}stored for {server}")
    if not have:
        print("No keys. To store one: halo login")


def _account_row(account: Account) -> str:
    """One line: a provider and the source of its key."""
    source = _describe_source(account)
    what = "  (web search)" if account.searches else ""
    return f"{account.provider:<14}{source:<22}{account.tail if source else ''}".rstrip() + what


def _describe_account(account: Account) -> str:
    """The title of a provider, what it is for, and the source of its key."""
    key = f"{_describe_source(account)} {account.tail}" if account.has_key else ""
    return " · ".join(filter(None, [account.title, "web search" if account.searches else "", key]))


def _describe_source(account: Account) -> str:
    return account.variable or (_describe_place(account.stored) if account.stored else "")


def _describe_place(place: str) -> str:
    return "stored in the keyring" if place == "keyring" else "stored in a file"


def _log_out(accounts: Accounts, arguments: argparse.Namespace) -> int:
    if bool(arguments.provider) == arguments.all:
        raise UsageError("No provider was named.", "Use: halo logout PROVIDER, or --all. See: halo login --list")
    chosen = accounts.all() if arguments.all else [accounts.of(arguments.provider)]
    _print_lines(forget_keys(accounts, chosen))
    return 0


def _print_text(text: str) -> None:
    print_folded(text)


def _print_lines(lines: Sequence[str]) -> None:
    for line in lines:
        _print_text(line)


def typed_key(account: Account) -> str:
    """Ask for a key. Raises UsageError when the input ends."""
    from getpass import getpass

    if account.keys_page:
        print(f"Create a key for {account.title} at {account.keys_page}")
    may_lack = "; only Enter if it needs none" if account.needs_address else ""
    try:
        return getpass(f"Key for {account.title} (hidden as you paste it{may_lack}): ")
    except EOFError:
        print()
        raise UsageError("No key was entered.", "Nothing was stored.") from None


def piped_key(account: Account, *, needed: bool = True) -> str:
    """Read the key from standard input. Raises UsageError when it is empty and `needed`."""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(LONGEST)
    if needed and not data.strip():
        hint = f"Pipe it in: halo login {account.provider} < FILE, or run this on a terminal."
        raise UsageError("No key on standard input.", hint)
    return data.decode("utf-8", "replace")


async def next_line() -> str | None:
    """Return the next line of standard input without blocking the loop; None at its end."""
    if sys.stdin is None:
        return None
    loop = asyncio.get_running_loop()
    arrived = asyncio.Event()
    try:
        loop.add_reader(sys.stdin.fileno(), arrived.set)
    except OSError:  # a file or the null device cannot be waited for, and nobody types into it
        return None
    try:
        await arrived.wait()
    finally:
        loop.remove_reader(sys.stdin.fileno())
    return sys.stdin.readline() or None
