"""`halo login` and `halo logout`: keys of providers, read without echo. At most a key's last four are printed."""

import argparse
import asyncio
import sys

from halocline.client import Account, Accounts, ModelConnection, StoredKey, open_client
from halocline.protocol.errors import HaloclineError, UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.surfaces import event_loop
from halocline.surfaces.cli import pickers
from halocline.surfaces.cli.args.task_options import choices_of
from halocline.surfaces.cli.plain.questions import can_draw, on_terminal, pick_option
from halocline.surfaces.cli.stderr import print_folded
from halocline.surfaces.page_opener import open_page

UNTRIED = "Nothing was stored. To store the key without testing it: --no-test"
REFUSED = "Nothing was stored. Copy the key again, or create a new one."
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
    provider = arguments.provider or _choose_provider(accounts.all(), client.terminal_settings.theme)
    return _log_in(accounts, accounts.of(provider), arguments)


def _log_in(accounts: Accounts, account: Account, arguments: argparse.Namespace) -> int:
    key = _read_key(accounts, account, arguments)
    if not arguments.no_test:
        _report_connection(event_loop.run_loop(accounts.tried(account.provider, key)))
    _print_text(_describe_kept(account, accounts.keep(account.provider, key)))
    return 0


def _read_key(accounts: Accounts, account: Account, arguments: argparse.Namespace) -> Secret:
    """Get the key from the browser, the terminal or a pipe. Raises UsageError and ModelError.

    No event loop runs while a person types, as it would catch Ctrl-C.
    """
    attended = sys.stdin is not None and sys.stdin.isatty()
    may_choose = attended and account.signs_in and not arguments.with_key
    if arguments.no_browser or (may_choose and _prefers_browser(account)):
        return event_loop.run_loop(_from_browser(accounts, account, opens=not arguments.no_browser))
    return accounts.checked(account.provider, typed_key(account) if attended else piped_key(account))


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


def _report_connection(tried: ModelConnection) -> None:
    """Report the result of the connection test. Raises HaloclineError when the key does not work."""
    if tried.failure and tried.known is None:
        hint = f"{tried.hint} {UNTRIED}" if tried.accepted is None else REFUSED
        raise HaloclineError(tried.failure, hint)
    took = f"{tried.seconds:.1f} s"
    if tried.accepted:
        _print_text(f"{tried.server} accepted the key ({took}).")
    else:
        _print_text(f"{tried.server} answered ({took}), but may not check keys.")
    if tried.failure:
        _print_text(f"{tried.failure} {tried.hint}")


def _describe_kept(account: Account, kept: StoredKey) -> str:
    """Describe the place of the stored key, and how to undo it."""
    server = f" at {kept.server}" if kept.server else ""
    where = "in the system keyring" if kept.place == "keyring" else f"unencrypted in {kept.path}, readable only by you"
    what = f"key for {account.title}{server} ({kept.tail})" if kept.tail else f"sign-in to {account.title}{server}"
    text = f"The {what} is stored {where}. To undo: halo logout {account.provider}"
    if kept.variable:
        text += f"\nThe environment variable {kept.variable} is also set and overrides it."
    return text


def _choose_provider(all_of_them: list[Account], theme: str) -> str:
    """Ask for a provider: in a list with keys where the terminal can draw one. Raises UsageError without a terminal."""
    all_of_them = sorted(all_of_them, key=lambda one: (not one.has_key, one.searches, one.provider))
    names = [account.provider for account in all_of_them]
    if sys.stdin is None or not sys.stdin.isatty():
        raise UsageError("No provider was named.", f"Use: halo login PROVIDER, with one of: {', '.join(names)}")
    if on_terminal() and can_draw():
        rows = [
            pickers.list_picker.PickerEntry(one.provider, one.provider, _describe_account(one)) for one in all_of_them
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
    gone = [_describe_forgotten(account, server) for account in chosen for server in accounts.forget(account.provider)]
    for line in gone or ["No key was stored."]:
        _print_text(line)
    for account in chosen:
        if account.variable:
            _print_text(f"The environment variable {account.variable} still has a key: unset {account.variable}")
    return 0


def _describe_forgotten(account: Account, server: str) -> str:
    text = f"Removed the key for {account.title}{f' at {server}' if server else ''}."
    if account.signs_in and account.keys_page and not server:
        text += f" It is still valid; to revoke it: {account.keys_page}"
    return text


def _print_text(text: str) -> None:
    print_folded(text)


def typed_key(account: Account) -> str:
    """Ask for a key. Raises UsageError when the input ends."""
    from getpass import getpass

    if account.keys_page:
        print(f"Create a key for {account.title} at {account.keys_page}")
    try:
        return getpass("Key (hidden as you paste it): ")
    except EOFError:
        print()
        raise UsageError("No key was entered.", "Nothing was stored.") from None


def piped_key(account: Account) -> str:
    """Read the key from standard input. Raises UsageError when it is empty."""
    data = b"" if sys.stdin is None else sys.stdin.buffer.read(LONGEST)
    if not data.strip():
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
