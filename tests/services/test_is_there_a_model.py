"""All who ask whether there is a model get one answer."""

import re
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.architecture.sources import SOURCE
from tests.servers.model_server import ModelServer

from halocline.client.tasks import Client
from halocline.protocol.errors import UsageError
from halocline.protocol.kinds import Mode
from halocline.protocol.secrets.secret import Secret
from halocline.providers.catalog.models import FREE
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller
from halocline.runtime.models.model_names import newest_first
from halocline.services.doctor.doctor import check_models
from halocline.services.models.servers import save_server, try_server
from halocline.services.models.service import ModelService
from halocline.store.paths import Home
from halocline.store.secrets.store import SecretStore
from halocline.store.settings.load import load_settings
from halocline.surfaces.slash.models import complete_model

KEY = "sk-1234567890abcdef1234"
ASKERS = {
    "runtime/models/resolve.py": "halo run, and the page's usual model",
    "runtime/models/connection_test.py": "halo doctor --connect",
    "runtime/assembly/model_access.py": "a task that opens",
    "services/models/service.py": "ModelService, for the rest",
    "services/doctor/doctor.py": "halo doctor",
    "surfaces/cli/commands/models.py": "halo models",
    "surfaces/cli/commands/login.py": "halo login",
    "surfaces/slash/models.py": "/model",
    "surfaces/web/handlers/composer.py": "the page, in the browser and in VS Code",
    "surfaces/acp/agent.py": "editors over ACP",
    "surfaces/acp/options.py": "their list",
}
_ASKS = re.compile(r"find_usual|\.can_start\(|list_models\(|offered_models\(|list_model_names\(|choose_model\(")
_OWN_WAYS = re.compile(r"\.default_model\b|served_models\(")


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer(key=KEY, models=("tiny-1", "tiny-2")) as serving:
        yield serving


@pytest.fixture
async def open_server() -> AsyncIterator[ModelServer]:
    async with ModelServer(models=("tiny-1", "tiny-2")) as serving:
        yield serving


class Machine:
    """One home with its variables."""

    def __init__(self, folder: Path) -> None:
        self.env = {"HALOCLINE_HOME": str(folder / "home")}
        self.home = Home.of(self.env)

    def assembly(self) -> Assembly:
        return Assembly(self.home, load_settings(self.home.settings, self.env), self.env)

    async def answers(self) -> dict[str, str]:
        """The model that each asker finds; of a list, that the answer of the others is usable in it."""
        assembly = self.assembly()
        service, client = ModelService(assembly), Client(Controller(assembly), "test")
        usual = await service.find_usual()
        usable = [model.name for model in await service.list_models() if model.usable]
        finding = await check_models(self.env)
        said = re.search(r"uses ([^\s;]+)", finding.text)
        return {
            "run": await self._opened(assembly),
            "names": (await assembly.names(""))[Mode.ACT],
            "service": usual,
            "doctor": said[1] if said else "",
            "list": usual if usual in usable else "".join(usable[:1]),
            "completions": usual if usual in await complete_model(client, "", []) else "",
            "editor": usual if await service.can_start() else "",
        }

    async def _opened(self, assembly: Assembly) -> str:
        try:
            model = await assembly.model("")
        except UsageError:
            return ""
        await model.close()
        return model.name


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


async def test_where_there_is_none_all_say_so(machine: Machine) -> None:
    assert set((await machine.answers()).values()) == {""}


@pytest.mark.parametrize(
    ("env", "text", "name"),
    [
        ({"ANTHROPIC_API_KEY": KEY}, "", "anthropic/claude-sonnet-5-5"),
        ({}, 'model = "openai-compatible/mine"\n[providers.openai-compatible]\nbase_url = "{url}"\n', ""),
        ({}, '[providers.openai-compatible]\nbase_url = "{url}"\nlocal = true\n', "openai-compatible/tiny-1"),
        ({}, '[providers.box]\nbase_url = "{url}"\nlocal = true\n', "box/tiny-1"),
        ({"OPENAI_COMPATIBLE_BASE_URL": "{url}"}, "", "openai-compatible/tiny-1"),
        ({"OPENAI_COMPATIBLE_BASE_URL": "{url}", "OPENAI_COMPATIBLE_API_KEY": KEY}, "", "openai-compatible/tiny-1"),
        ({}, '[providers.sglang]\nbase_url = "{url}"\n', "sglang/tiny-1"),
        ({}, 'base_url = "{url}"\n', "openai-compatible/tiny-1"),
        ({"HALOCLINE_BASE_URL": "{url}"}, "", "openai-compatible/tiny-1"),
    ],
)
async def test_where_there_is_one_all_find_it(
    machine: Machine, open_server: ModelServer, env: dict[str, str], text: str, name: str
) -> None:
    url = open_server.url("openai")
    machine.env |= {variable: value.replace("{url}", url) for variable, value in env.items()}
    machine.home.settings.write_text(text.replace("{url}", url))
    answers = await machine.answers()
    assert set(answers.values()) == {name or "openai-compatible/mine"}, answers


async def test_a_server_that_was_connected_is_found_by_all(machine: Machine, server: ModelServer) -> None:
    client = Client(Controller(machine.assembly()), "test")
    host = server.url("openai").removesuffix("/v1")
    found = await try_server(client.models.accounts, "openai-compatible", host, KEY)
    assert found.connection.failure == ""
    save_server(client.settings.put, "openai-compatible", found)
    assert set((await machine.answers()).values()) == {"openai-compatible/tiny-1"}
    assert await found.accounts.list_models("openai-compatible") == ["tiny-2", "tiny-1"]


@pytest.mark.parametrize("end", ["", "/", "/v1", "/v1/"])
async def test_an_address_comes_to_the_same_server_with_v1_at_its_end_and_without(
    machine: Machine, server: ModelServer, end: str
) -> None:
    accounts = Client(Controller(machine.assembly()), "test").models.accounts
    host = server.url("openai").removesuffix("/v1")
    found = await try_server(accounts, "openai-compatible", f"{host}{end}", KEY)
    refused = await try_server(accounts, "openai-compatible", f"{host}{end}", f"{KEY}x")
    assert (found.base_url, found.connection.failure) == (f"{host}/v1", "")
    assert (refused.connection.accepted, refused.base_url) == (False, f"{host}/v1")


async def test_a_model_of_the_settings_that_no_list_has_is_said_to_be_unlisted(
    machine: Machine, open_server: ModelServer
) -> None:
    url = open_server.url("openai")
    own = f'model = "openai-compatible/mine"\n[providers.openai-compatible]\nbase_url = "{url}"\nlocal = true\n'
    machine.home.settings.write_text(own)
    models = await ModelService(machine.assembly()).list_models()
    assert [model.name for model in models if model.unlisted] == ["openai-compatible/mine"]


async def test_the_prices_and_windows_of_such_a_server_are_unknown_and_not_nothing(
    machine: Machine, open_server: ModelServer
) -> None:
    url = open_server.url("openai")
    machine.home.settings.write_text(f'[providers.openai-compatible]\nbase_url = "{url}"\nlocal = true\n')
    models = {model.name: model for model in await ModelService(machine.assembly()).list_models()}
    model = models["openai-compatible/tiny-1"]
    assert (model.input, model.output, model.window) == (None, None, None)
    assert FREE.prices


async def test_a_server_that_takes_the_place_of_a_known_provider_is_asked_for_its_models(
    machine: Machine, open_server: ModelServer
) -> None:
    url = open_server.url("openai")
    machine.home.settings.write_text(f'model = "openai/tiny-1"\nbase_url = "{url}"\n')
    assembly = machine.assembly()
    model = await assembly.model("tiny-2")
    await model.close()
    assert model.name == "openai/tiny-2"
    assert {"openai/tiny-1", "openai/tiny-2"} <= {one.name for one in await ModelService(assembly).list_models()}


async def test_a_key_is_sent_to_its_own_server_alone(machine: Machine, open_server: ModelServer) -> None:
    SecretStore(machine.home.credentials).put("openai-compatible@https://elsewhere.example", Secret(KEY))
    machine.env["OPENAI_COMPATIBLE_BASE_URL"] = open_server.url("openai")
    await machine.answers()
    assert open_server.questions
    assert not any("authorization" in question.headers for question in open_server.questions)


def test_the_askers_are_these_and_none_has_a_way_of_its_own() -> None:
    texts = {str(path.relative_to(SOURCE)): path.read_text() for path in SOURCE.rglob("*.py")}
    asking = {name for name, text in texts.items() if _ASKS.search(text)}
    assert asking - {"runtime/models/local_servers.py", "services/models/model_list.py"} == {
        *ASKERS,
        "services/models/accounts.py",  # of one server, for halo login
        "surfaces/cli/session/first_model.py",  # of that server, for the first start
    }
    own = {name for name, text in texts.items() if _OWN_WAYS.search(text)}
    assert own == {
        "providers/endpoint.py",
        "runtime/models/local_servers.py",
        "runtime/models/resolve.py",
        "services/models/accounts.py",
        "services/models/model_list.py",
    }


def test_the_newest_of_a_family_comes_first() -> None:
    names = ["claude-opus-4", "gpt-5", "claude-opus-4-5-20251101", "claude-opus-5-5", "claude-opus-4-5", "gpt-5.6"]
    assert newest_first(names) == [
        "claude-opus-5-5",
        "claude-opus-4-5",
        "claude-opus-4-5-20251101",
        "claude-opus-4",
        "gpt-5.6",
        "gpt-5",
    ]
