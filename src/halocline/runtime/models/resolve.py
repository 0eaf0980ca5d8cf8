"""Resolve the model of a task, and explain how to get one if there is none."""

from collections.abc import Callable, Mapping
from fnmatch import fnmatchcase
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

from msgspec.structs import replace

from halocline import providers
from halocline.context.request import Thinking
from halocline.net.address import show_address
from halocline.ports.blobs import Blobs
from halocline.ports.model import Model
from halocline.protocol.errors import NoModel, UsageError
from halocline.protocol.kinds import Mode
from halocline.protocol.state.prompt import ModelState
from halocline.protocol.values import JsonObject
from halocline.providers import wrappers
from halocline.providers.catalog.file import Catalogue
from halocline.providers.catalog.models import ModelInfo
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint, build_endpoint
from halocline.providers.text_tools.correction import Correcting
from halocline.providers.text_tools.on_refusal import TextToolsOnRefusal
from halocline.providers.tokens import Tokens
from halocline.providers.wrappers.bounded import Bounded
from halocline.providers.wrappers.model_info_probe import Informed, ask_info, wants_to_know
from halocline.providers.wrappers.pace import Pace
from halocline.providers.wrappers.retry import Retrying
from halocline.runtime import models
from halocline.runtime.models.keys import Keys, StoredSignIn
from halocline.runtime.models.vendors import find_vendor, require_allowed, with_known_facts
from halocline.runtime.network import choose_network, find_network, shorten_waits
from halocline.store.model_habits import ModelHabits
from halocline.store.settings.settings import Settings

if TYPE_CHECKING:
    from halocline.ports.editor_models import EditorModels

DIRECT_QUIET = 300.0
"""Seconds that a reply may go without new content; the stall timeout if that is longer (local servers)."""
EXTRA = "Change [extra_body] in settings.toml."
OTHER_MODEL = "Choose another model with -m, or correct the plug-in: halo plugins list"
NO_MODEL = "No model is configured."
HOW_TO = """Choose one:
        halo login  (asks for an API key, tests and stores it)
        export ANTHROPIC_API_KEY=…  (or OPENAI_API_KEY, OPENROUTER_API_KEY, …)
        start Ollama, LM Studio or llama.cpp on this machine; halo finds it
        halo login openai-compatible  (any other server: asks for its address)
        try halo demo, which needs none of these"""


async def open_model(
    named: str,
    settings: Settings,
    env: Mapping[str, str],
    keys: Keys,
    blobs: Blobs,
    catalogue: Catalogue,
    on_sent: Callable[[], None] = lambda: None,
    habits: ModelHabits | None = None,
) -> Model:
    """Open the named model, or the first one that this machine has a key or a server for.

    `on_sent` is called whenever a request was sent to it. What it is found to do is kept in `habits`.

    Raises:
        UsageError: the name is wrong, the key is missing, or no model is available.
        SecretsError: a stored key is needed and cannot be read.
    """
    vendor, model = await choose_model(named, settings, keys, catalogue)
    if vendor.family == "scripted":
        from halocline.providers.scripted.model import Scripted

        at, script = with_known_facts(Endpoint(vendor, model), settings, catalogue), Scripted.load(model)
        priced: Model = wrappers.own_usage.OwnUsage(script, at, script.name) if at.own_prices else script
        return with_text_calls(priced, Endpoint(vendor, model), settings, habits)
    if vendor.family == "vscode":
        at = with_known_facts(Endpoint(vendor, model), settings, catalogue)
        return with_text_calls(await open_editor_model(at, settings, blobs, catalogue.editor), at, settings, habits)
    if vendor.family == "plugin":
        return await open_brought_model(Endpoint(vendor, model), settings, catalogue)
    at = with_known_facts(await resolve_endpoint(vendor, model, settings, env, keys), settings, catalogue)
    if vendor.is_free and wants_to_know(at):
        catalogue.told[at.name] = await ask_info(at)
    at = await require_price(at, settings, catalogue)
    heard = replace(at, network=replace(at.network, on_sent=on_sent))
    speaker = with_text_calls(with_bounds(build_client(heard, blobs), at, settings), at, settings, habits)
    return Informed(speaker, at) if wants_to_know(at) else speaker


async def open_editor_model(at: Endpoint, settings: Settings, blobs: Blobs, models: "EditorModels | None") -> Model:
    """Open a model of the editor. Raises UsageError outside of it, and for a cost limit if its price is unknown."""
    if models is None:
        text = f"{at.name} is a model of VS Code, and this is not its extension."
        raise UsageError(text, "Open the task in VS Code, or choose another model with -m.")
    await require_price(at, settings)
    _find_extra_body(at, settings)  # there is nowhere to put one
    return with_bounds(providers.vscode.VsCode(at, blobs, models), at, settings)


async def open_brought_model(at: Endpoint, settings: Settings, catalogue: Catalogue) -> Model:
    """Open a model of a plug-in's provider. Raises UsageError for whatever its code raises, and as `require_price`."""
    at, provider = with_known_facts(at, settings, catalogue), at.vendor.name
    try:
        opened = catalogue.brought[provider].opens(at.model)
    except (Exception, SystemExit) as error:
        raise UsageError(f"The plug-in of {provider} failed: {type(error).__name__}: {error}.", OTHER_MODEL) from error
    if not (hasattr(opened, "stream") and hasattr(opened, "close")):
        raise UsageError(f"The plug-in of {provider} gave no model for {at.name}: {opened!r:.80}.", OTHER_MODEL)
    if not getattr(opened, "reports_cost", False):
        await require_price(at, settings)
    return wrappers.own_usage.OwnUsage(opened, at)


async def choose_model(named: str, settings: Settings, keys: Keys, catalogue: Catalogue) -> tuple[Vendor, str]:
    """Return the vendor and its own name for the model; empty means its default. Raises as `open_model` does."""
    name = named or settings.model or await models.local_servers.find_usual_model(settings, keys, catalogue)
    if not name:
        raise NoModel(NO_MODEL, HOW_TO)
    name = await _complete_name(name, settings, keys, catalogue)
    provider, slash, model = name.partition("/")
    if not provider:
        hint = models.vendors.suggest_provider(model, settings, catalogue)
        raise UsageError(f"{name!r} has no provider before the slash: write it as provider/model.", hint)
    vendor = find_vendor(provider, settings, catalogue)
    if not model and (slash or not vendor.default_model):
        raise UsageError(
            f"{name!r} does not name a model.", f"Write it as provider/model, for example {provider}/MODEL."
        )
    require_allowed(f"{vendor.name}/{model or vendor.default_model}", settings)
    return vendor, model


async def _complete_name(name: str, settings: Settings, keys: Keys, catalogue: Catalogue) -> str:
    """Return a name with its provider: a server's that was set up, a known one's, or a server's that is found here.

    Raises:
        UsageError: none has it.
    """
    name = settings.model_aliases.get(name, name)
    provider = name.partition("/")[0]
    if not provider or provider in VENDORS or provider in settings.providers or provider in catalogue.brought:
        return name
    servers = models.local_servers
    if served := await servers.find_served(name, settings, keys, catalogue, found_here=False):
        return served
    try:
        full = models.model_names.complete_name(name, settings, keys, catalogue)
        find_vendor(full.partition("/")[0], settings, catalogue)
    except UsageError:
        if served := await servers.find_served(name, settings, keys, catalogue, found_here=True):
            return served
        if "/" not in name and (given := await servers.give_to_only_server(name, settings, keys, catalogue)):
            return given
        raise
    return full


async def list_model_names(named: str, settings: Settings, keys: Keys, catalogue: Catalogue) -> dict[Mode, str]:
    """Return the models that a task would use, without opening them; empty names if no model is configured.

    Raises:
        UsageError: the name is wrong.
    """
    try:
        vendor, model = await choose_model(named, settings, keys, catalogue)
    except UsageError:
        if named or settings.model:
            raise
        return dict.fromkeys(Mode, "")
    act = f"{vendor.name}/{model or vendor.default_model}"
    if named or not settings.plan.model:
        return dict.fromkeys(Mode, act)
    planner, own = await choose_model(settings.plan.model, settings, keys, catalogue)
    return {Mode.ACT: act, Mode.PLAN: f"{planner.name}/{own or planner.default_model}"}


def require_its_server(model: ModelState, task: str, given: str) -> None:
    """Raise UsageError if a task had another server than its provider's own, and none is `given` now.

    The one in the log is not just taken: the log's author would get the conversation and the key.
    """
    server = show_address(model.server)
    if not given:
        raise UsageError(
            f"This task used {model.name} at {server}. Without that address, the conversation would go elsewhere.",
            f"Go on there: halo -r {task} --base-url {server}. Or choose a model for it with -m.",
        )


async def resolve_endpoint(
    vendor: Vendor, model: str, settings: Settings, env: Mapping[str, str], keys: Keys
) -> Endpoint:
    """Return the endpoint of a model, with key or tokens and network options. Raises as `open_model` does.

    Without a key, a library may be needed for tokens; UsageError says how to install it.
    """
    found = await keys.find(vendor)
    key, source = (found.key.reveal(), found.source) if found else ("", "")
    at = build_endpoint(vendor, model, env, key=key, key_source=source, base_url=settings.base_url)
    at = with_sign_in(at, settings, env, keys)
    if at.vendor.entra_scope and not (at.key or at.tokens):
        choose = partial(find_network, settings=settings, env=env)
        at = replace(at, tokens=providers.auth.entra.make_entra_tokens(at.vendor, choose))
    return replace(at, network=choose_network(at, settings, env), extra_body=_find_extra_body(at, settings))


def with_sign_in(at: Endpoint, settings: Settings, env: Mapping[str, str], keys: Keys) -> Endpoint:
    """Return the endpoint with the tokens of a sign-in, if that is what is stored as its key."""
    found = providers.auth.oidc.read_sign_in(at.key) if at.vendor.sign_in else None
    if found is None:
        return at
    network = shorten_waits(find_network(found.token_url, settings, env))
    renewal = providers.auth.oidc.Renewal(found, at.vendor, network, StoredSignIn(keys, at.vendor, found))
    return replace(at, key="", tokens=Tokens(renewal.fetch))


def _find_extra_body(at: Endpoint, settings: Settings) -> JsonObject:
    """Return the request fields that the settings add for a model; of two patterns, the later one wins.

    Raises UsageError for fields that are not theirs to set, and where requests are not ours.
    """
    found: JsonObject = {}
    for pattern, fields in settings.extra_body.items():
        if fnmatchcase(at.name, pattern):
            found = providers.extra_body.merge_fields(found, fields)
    if not found:
        return found
    if problems := sorted(providers.extra_body.RESERVED & found.keys()):
        raise UsageError(f"extra_body for {at.name} sets {', '.join(problems)}, which Halocline sends itself.", EXTRA)
    if writer := {"library": "its vendor's SDK", "vscode": "VS Code"}.get(at.family):
        raise UsageError(f"extra_body does not apply to {at.name}: {writer} writes the requests.", EXTRA)
    return found


def with_retries(model: Model, settings: Settings, is_watched: Callable[[], bool], pace: Pace) -> Model:
    """Wrap a model with retries after transient errors, at a pace that tasks share.

    An outage is waited out only without fallback models, and while no one watches who could decide.
    """
    patience = 0.0 if settings.fallback_models else 60 * settings.outage_patience
    return Retrying(model, patience=patience, is_watched=is_watched, pace=pace)


def with_text_calls(model: Model, at: Endpoint, settings: Settings, habits: ModelHabits | None = None) -> Model:
    """Wrap a model so that the calls that it prints are made.

    It is asked in the text protocol if the settings, or later its server, say that it has no native tool calls.
    """
    in_text = partial(_ask_in_text, info=at.info)
    spoken = TextToolsOnRefusal(model, in_text)
    if any(fnmatchcase(model.name, pattern) for pattern in settings.text_tools):
        spoken.ask_in_text()
    correct = partial(Correcting, spoken, at.info, is_in_text=lambda: spoken.is_in_text)
    if habits is None:
        return correct()
    name, server = at.name, show_address(at.url)
    note = partial(habits.note_printing, name, server)
    return correct(prints=habits.prints_calls(name, server), on_printed=note)


def _ask_in_text(model: Model, info: ModelInfo) -> Model:
    return providers.text_tools.model.TextProtocol(model, info)


async def require_price(at: Endpoint, settings: Settings, catalogue: Catalogue | None = None) -> Endpoint:
    """Return the endpoint, with prices if there is a limit in US dollars; ask the server if they are unknown.

    Raises:
        UsageError: the server does not know them either, so the limit cannot be enforced.
    """
    if settings.max_cost is None or at.info.prices is not None:
        return at
    if wants_to_know(at):
        at = replace(at, known=await ask_info(at))
        if catalogue and at.known:
            catalogue.told[at.name] = at.known
    if at.info.prices is None and settings.token_limit is None:
        text = f"The cost limit of ${settings.max_cost:.2f} cannot be enforced: the price of {at.name} is unknown."
        hint = f'Set input and output under [prices."{at.name}"] in settings.toml, in dollars per million tokens, or '
        raise UsageError(text, hint + "limit tokens as well: --token-limit.")
    return at


def with_bounds(model: Model, at: Endpoint, settings: Settings) -> Model:
    """Wrap a model so that replies without new content, and endless replies, are ended."""
    network = at.network
    quiet = settings.quiet_timeout or max(DIRECT_QUIET, network.stall_timeout)
    first = max(quiet, network.first_byte_timeout) if settings.quiet_timeout is None else quiet
    return Bounded(model, first, quiet, int(settings.max_reply * 1e6))


CLIENTS = {
    "anthropic": "anthropic.request:Anthropic",
    "gemini": "gemini.request:Gemini",
    "openai_responses": "openai_responses.request:OpenAIResponses",
    "ollama": "ollama.request:Ollama",
    "sap": "sap.request:SapAiCore",
    "library": "sdk.model:Library",
}
"""The module and class that speak to each family of servers; imported when a model is opened."""


def build_client(at: Endpoint, blobs: Blobs) -> Model:
    """Build the client for an endpoint. Unknown families are compatible with OpenAI's chat API."""
    module, _, name = CLIENTS.get(at.family, "openai_chat.request:OpenAIChat").partition(":")
    client: Callable[[Endpoint, Blobs], Model] = getattr(import_module(f"halocline.providers.{module}"), name)
    return client(at, blobs)


def thinking_by_mode(settings: Settings) -> Mapping[Mode, Thinking]:
    """Return the thinking settings for each mode."""
    plan = settings.plan
    act = Thinking(settings.effort, settings.thinking_budget)
    own = plan.effort is not None or plan.thinking_budget is not None
    return {Mode.ACT: act, Mode.PLAN: Thinking(plan.effort, plan.thinking_budget) if own else act}
