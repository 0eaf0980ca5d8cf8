"""The first model, chosen on the live screen when a conversation begins and there is none: provider, key, model.

What must stay true: what was typed before and meanwhile is in the composer afterwards, and nothing is stored before
its server has taken it.
"""

from halocline.client.models import Account
from halocline.client.tasks import Client
from halocline.protocol.errors import HaloclineError
from halocline.surfaces import slash
from halocline.surfaces.entered_keys import sort_accounts
from halocline.surfaces.sanitize import clean
from halocline.surfaces.terminal.view import View

MISSING = "No model is set up. Pick a provider, whose key is asked for next. Esc: not now"
PROVIDER, MODEL, MODEL_NAME = "Provider", "Model of new tasks", "Name of the model"
USED = "New tasks use {name}. Another one: /model"


async def choose_first(client: Client, view: View) -> bool:
    """Let the person connect a provider and choose its model. False when they go back from the providers."""
    view.say(MISSING)
    accounts = {one.provider: one for one in sort_accounts(client.models.accounts.all()) if not one.searches}
    offered = {name: clean(one.title) for name, one in accounts.items()}
    label = PROVIDER
    while picked := await view.pick_value(label, offered, signs_in=True):
        try:
            if await _connect(client, view, accounts[picked]):
                return True
        except HaloclineError as error:
            view.say(f"{error.text} {error.hint}".rstrip())
            label = error.text  # the list may leave no room for what is said
    return False


async def _connect(client: Client, view: View, account: Account) -> bool:
    """Connect a provider, and choose among its models; without a choice, new tasks use its usual one."""
    kept = await slash.login.connect_account(client, view, account)
    if kept is None:
        return False
    accounts, said = kept
    view.say("\n".join(said))
    names = [f"{account.provider}/{name}" for name in await accounts.list_models(account.provider)]
    if len(names) > 1:
        chosen = await view.pick_value(MODEL, dict.fromkeys(names, ""))
    elif names or not account.needs_address:
        chosen = next(iter(names), None)
    else:
        typed = await view.ask_line(MODEL_NAME)
        chosen = f"{account.provider}/{typed.strip()}" if typed and typed.strip() else None
    if chosen:
        client.settings.put("model", chosen)
        view.say(USED.format(name=chosen))
    return True
