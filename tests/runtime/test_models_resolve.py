import pytest
from tests.providers.documents import documents
from tests.servers.model_server import ModelServer

from halocline.ports.model import BroughtProvider
from halocline.protocol.errors import UsageError
from halocline.protocol.secrets.secret import Secret
from halocline.providers.catalog.file import BUNDLED, Catalogue
from halocline.providers.catalog.vendor import Vendor
from halocline.providers.catalog.vendors import VENDORS
from halocline.providers.endpoint import Endpoint
from halocline.runtime.assembly.model_access import ModelAccess
from halocline.runtime.models.keys import FoundKey, Keys
from halocline.runtime.models.local_servers import served_models
from halocline.runtime.models.resolve import open_model
from halocline.services.models.model_list import offered_models
from halocline.store.blobs import DiskBlobs
from halocline.store.paths import Home
from halocline.store.secrets.store import SecretStore
from halocline.store.settings.provider_settings import Price, Provider
from halocline.store.settings.sections import PlanSettings
from halocline.store.settings.settings import Settings
from halocline.testing import Scripted


@pytest.fixture
def blobs(tmp_path):
    return DiskBlobs(tmp_path / "blobs")


@pytest.fixture
def home(tmp_path):
    return Home.of({"HALOCLINE_HOME": str(tmp_path / "home")})


@pytest.fixture
def chosen(home, blobs):
    """Gives the name of the model that is chosen."""

    async def choose(named="", key="", env=None, **settings):
        given = FoundKey(Secret(key), "--api-key") if key else None
        keys = Keys(home, env or {}, given, settings.get("base_url", ""))
        model = await open_model(named, Settings(**settings), env or {}, keys, blobs, Catalogue(BUNDLED))
        await model.close()
        return model.name

    return choose


async def test_what_is_named_wins_over_the_settings_and_these_over_what_has_a_key(chosen):
    env = {"ANTHROPIC_API_KEY": "a", "OPENAI_API_KEY": "o"}
    assert await chosen("openai/x", env=env, model="anthropic/y") == "openai/x"
    assert await chosen(env=env, model="openai/z") == "openai/z"
    assert await chosen(env=env) == f"anthropic/{VENDORS['anthropic'].default_model}"


@pytest.mark.parametrize(
    ("env", "name"),
    [
        ({"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}, "anthropic/claude-sonnet-5-5"),
        ({"OPENAI_API_KEY": "k"}, "openai/gpt-5.6"),
        ({"GEMINI_API_KEY": "k"}, "gemini/gemini-3.8-flash"),
        ({"GOOGLE_API_KEY": "k", "GEMINI_API_KEY": " "}, "gemini/gemini-3.8-flash"),
        # Google's other services use this variable, too, so that a key for models alone goes before it.
        ({"GOOGLE_API_KEY": "k", "OPENROUTER_API_KEY": "k"}, "openrouter/openrouter/auto"),
    ],
)
async def test_the_first_vendor_with_a_key_is_taken_when_no_model_is_named(chosen, env, name):
    assert await chosen(env=env) == name


async def test_a_stored_key_is_enough_and_a_variable_of_another_vendor_goes_before_it(chosen, home):
    SecretStore(home.credentials).put("anthropic", Secret("sk-ant-1"))
    SecretStore(home.credentials).put("groq@http://127.0.0.1:1", Secret("gsk_1"))
    assert await chosen() == f"anthropic/{VENDORS['anthropic'].default_model}"
    assert await chosen(env={"GROQ_API_KEY": "k"}) == f"groq/{VENDORS['groq'].default_model}"


async def test_a_key_stored_for_one_server_is_none_for_another(chosen, home):
    SecretStore(home.credentials).put("groq@http://127.0.0.1:1", Secret("gsk_1"))
    with pytest.raises(UsageError, match="There is no key for Groq"):
        await chosen("groq")
    assert await chosen(base_url="http://127.0.0.1:1/v1") == f"groq/{VENDORS['groq'].default_model}"


async def test_a_provider_without_a_model_gives_its_default_one(chosen):
    assert await chosen("openai", key="k") == f"openai/{VENDORS['openai'].default_model}"


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ("nobody/x", "There is no provider 'nobody'."),
        ("ollama", "'ollama' does not name a model."),
        ("anthropic/x", "There is no key for Anthropic: ANTHROPIC_API_KEY is not set."),
    ],
)
async def test_a_choice_that_cannot_work_is_refused_with_the_reason(chosen, named, said):
    with pytest.raises(UsageError) as error:
        await chosen(named)
    assert error.value.text == said


async def test_a_local_server_says_which_models_it_has():
    async with ModelServer() as server:
        vendor = Vendor("near", "Near", "openai_chat", base_url=server.url("openai"), local=True)
        assert await served_models(Endpoint(vendor, "")) == ["scripted"]


async def test_a_server_of_the_settings_that_needs_no_key_is_found_as_a_local_one(chosen):
    async with ModelServer(models=["first"]) as server:
        own = {"openai-compatible": Provider(base_url=server.url("openai"), local=True)}
        assert await chosen(providers=own) == "openai-compatible/first"


async def test_a_server_is_listed_with_its_own_key_and_never_with_one_given_for_this_run(home):
    async with ModelServer(models=["first"]) as server:
        own = Settings(providers={"openai-compatible": Provider(base_url=server.url("openai"))})
        given = FoundKey(Secret("given-key"), "--api-key")
        for env, found in (({}, given), ({"OPENAI_COMPATIBLE_API_KEY": "own-key"}, given)):
            listed = await offered_models(own, env, Keys(home, env, found), Catalogue(BUNDLED))
            assert "openai-compatible/first" in [model.name for model in listed]
        sent = [request.headers.get("authorization") for request in server.questions if request.path == "/v1/models"]
    assert sent == [None, "Bearer own-key"]


async def test_a_model_of_a_server_without_a_key_can_be_used_though_the_settings_have_its_price(home):
    async with ModelServer(models=["first"]) as server:
        own = Settings(
            providers={"mine": Provider(family="openai_chat", base_url=server.url("openai"))},
            prices={"mine/first": Price(input=3.0, output=15.0)},
        )
        listed = await offered_models(own, {}, Keys(home, {}), Catalogue(BUNDLED))
    found = [model for model in listed if model.name == "mine/first"]
    assert [(model.usable, model.input) for model in found] == [(True, 3.0)]


async def test_models_of_plugins_are_listed_with_their_plugin_and_the_person_s_price(home):
    brought = {
        "acme": BroughtProvider(Scripted, "notes", ("large", "small")),
        "abacus": BroughtProvider(Scripted, "other"),  # a name of the catalogue, whose models are others
        "mine": BroughtProvider(Scripted, "other", ("hidden",)),
    }
    own = Settings(
        providers={"mine": Provider(base_url="http://127.0.0.1:9/v1")},
        prices={"acme/large": Price(input=3.0, output=15.0), "acme/priced": Price(input=1.0, output=2.0)},
        model="abacus/chosen",
    )
    listed = await offered_models(own, {}, Keys(home, {}), Catalogue(BUNDLED, brought=lambda: brought))
    found = [(one.name, one.plugin, one.usable, one.input) for one in listed if one.plugin]
    assert found == [
        ("acme/large", "notes", True, 3.0),
        ("acme/priced", "notes", True, 1.0),
        ("acme/small", "notes", True, None),
        ("abacus/chosen", "other", True, None),
    ]
    assert [one.name for one in listed if one.name.startswith(("abacus/", "mine/"))] == ["abacus/chosen"]


async def test_where_no_local_server_is_there_are_no_models(unused_tcp_port):
    vendor = Vendor("near", "Near", "openai_chat", base_url=f"http://127.0.0.1:{unused_tcp_port}/v1", local=True)
    assert await served_models(Endpoint(vendor, "")) == []


async def test_a_cost_limit_can_be_kept_with_the_price_that_the_server_states(chosen):
    row = {"id": "new", "context_length": 9, "pricing": {"prompt": "0.000001", "completion": "0.000002"}}
    async with documents({"/v1/models": {"data": [row]}}) as server:
        address = f"{server.url}/v1"
        assert await chosen("openai/new", key="k", base_url=address, max_cost=1.0) == "openai/new"
        with pytest.raises(UsageError, match="the price of openai/other is unknown"):
            await chosen("openai/other", key="k", base_url=address, max_cost=1.0)


async def test_a_cost_limit_needs_a_price_and_the_settings_can_give_it(chosen):
    with pytest.raises(UsageError, match="the price of openai/mine is unknown"):
        await chosen("openai/mine", key="k", max_cost=1.0)
    prices = {"openai/mine": Price(input=1.0, output=2.0)}
    assert await chosen("openai/mine", key="k", max_cost=1.0, prices=prices) == "openai/mine"


@pytest.mark.parametrize("role", ["model", "plan", "fallback"])
async def test_a_cost_limit_needs_a_price_of_a_plugin_s_model_too_unless_it_reports_its_cost(home, blobs, role):
    def open_acme(name):
        opened = Scripted(["Hello."])
        opened.reports_cost = name == "reporting"
        return opened

    async def opens(name, **settings):
        more = {"plan": PlanSettings(model=name)} if role == "plan" else {}
        more |= {"fallback_models": (name,)} if role == "fallback" else {}
        chosen = Settings(model=name if role == "model" else "acme/reporting", max_cost=1.0, **settings, **more)
        access = ModelAccess(home, chosen, {})
        access.catalogue = Catalogue(BUNDLED, brought=lambda: {"acme": BroughtProvider(open_acme, "notes")})
        await (await access.model("")).close()

    with pytest.raises(UsageError, match=r"limit of \$1.00 cannot be enforced: the price of acme/large is unknown"):
        await opens("acme/large")
    await opens("acme/large", prices={"acme/large": Price(input=1.0, output=2.0)})
    await opens("acme/reporting")


async def test_a_model_of_vs_code_is_offered_nowhere_else(chosen):
    with pytest.raises(UsageError, match="this is not its extension") as caught:
        await chosen("vscode/copilot/gpt-5.6")
    assert "Open the task in VS Code" in caught.value.hint


async def test_a_stored_key_does_not_follow_a_provider_that_the_settings_move(chosen, home):
    SecretStore(home.credentials).put("groq", Secret("gsk_1"))
    assert await chosen("groq") == f"groq/{VENDORS['groq'].default_model}"
    moved = {"groq": Provider(base_url="http://127.0.0.1:1/v1")}
    with pytest.raises(UsageError, match="There is no key for Groq"):
        await chosen("groq", providers=moved)


@pytest.mark.parametrize(
    ("name", "problem", "hint"),
    [
        ("/effort", "'/effort' has no provider before the slash", "Known providers include anthropic"),
        ("/opnai", "'/opnai' has no provider before the slash", "Did you mean openai?"),
        ("/", "'/' has no provider before the slash", "Known providers include anthropic"),
        ("anthropic/", "'anthropic/' does not name a model.", "Write it as provider/model"),
        ("foo/bar", "There is no provider 'foo'.", "Known providers include anthropic"),
        ("antropic/claude", "There is no provider 'antropic'.", "Did you mean anthropic?"),
        (
            "anthropic/claude-foo",
            "There is no key for Anthropic: ANTHROPIC_API_KEY is not set.",
            "halo login anthropic",
        ),
    ],
)
async def test_a_name_with_a_missing_or_wrong_part_is_an_error_with_near_names(
    chosen, name: str, problem: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        await chosen(name)
    assert problem in caught.value.text
    assert hint in caught.value.hint
