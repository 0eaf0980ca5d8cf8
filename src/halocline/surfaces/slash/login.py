"""`/login` and `/logout`: as on the command line. A key is typed unseen, and kept only where keys are."""

from collections.abc import Sequence

from halocline.client.models import Account, Accounts
from halocline.client.tasks import Client
from halocline.protocol import secrets
from halocline.surfaces.entered_keys import forget_keys, keep_key, keep_server, sort_accounts
from halocline.surfaces.sanitize import clean
from halocline.surfaces.slash.context import SlashAnswer, SlashContext, SlashView

NO_KEYS = "No key is stored. To store one: /login"
WHICH = "Name a provider: /{name} PROVIDER. To list those with a key: halo login --list"
ALONE = "/{name} takes the name of a provider alone, and asks for all else. If you typed a key, create a new one."
NOTHING = "Nothing was stored."
ADDRESS = "Address of the server, for example http://127.0.0.1:8000/v1"
NEXT = "To use one of its models: /model"
MOVED = "It counts where no other address is set. Until then all models are those of {address}: --base-url or base_url"


async def answer_login(context: SlashContext, rest: str) -> SlashAnswer:
    if problem := _find_problem(context, "login", rest):
        return problem
    account = context.client.models.accounts.of(rest)
    kept = await connect_account(context.client, context.view, account)
    if kept is None:
        return NOTHING
    moved = context.client.models.accounts.base_url if account.needs_address else ""
    after = "" if account.searches else MOVED.format(address=moved) if moved else NEXT
    return "\n".join(filter(None, [*kept[1], after]))


async def connect_account(client: Client, view: SlashView, account: Account) -> tuple[Accounts, list[str]] | None:
    """Ask for what a provider needs, try it, and keep it. None when the person goes back. Raises HaloclineError.

    Returns the accounts at its address, and what to say.
    """
    accounts = client.models.accounts
    address = await view.ask_line(ADDRESS) if account.needs_address else ""
    if address is None:
        return None
    if account.keys_page:
        view.say(f"Create a key for {account.title} at {account.keys_page}")
    may_lack = "; only Enter if it needs none" if account.needs_address else ""
    typed = await view.ask_line(f"Key for {account.title} (hidden as you paste it{may_lack})", secret=True)
    if typed is None or not (typed.strip() or account.needs_address):
        return None
    if account.needs_address:
        return await keep_server(accounts, client.settings, account, address, typed)
    return accounts, await keep_key(accounts, account, accounts.checked(account.provider, typed))


async def answer_logout(context: SlashContext, rest: str) -> SlashAnswer:
    if not rest.split() and not await complete_logout(context.client, context.task, ()):
        return NO_KEYS
    if problem := _find_problem(context, "logout", rest):
        return problem
    accounts = context.client.models.accounts
    return "\n".join(forget_keys(accounts, [accounts.of(rest)]))


def _find_problem(context: SlashContext, name: str, rest: str) -> str:
    """Why there is no provider; what may be a key is not repeated."""
    words, known = rest.split(), (one.provider for one in context.client.models.accounts.all())
    is_one = len(words) == 1 and (not secrets.redaction.may_hold_keys(rest) or rest in known)
    return "" if is_one else (ALONE if words else WHICH).format(name=name)


async def complete_login(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    listed = () if given else sort_accounts(client.models.accounts.all())
    return {one.provider: clean(one.title) for one in listed}


async def complete_logout(client: Client, task: str, given: Sequence[str]) -> dict[str, str]:
    kept = (one for one in client.models.accounts.all() if one.stored or one.elsewhere)
    return {} if given else {one.provider: clean(one.title) for one in kept}
