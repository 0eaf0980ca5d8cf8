"""Plug-ins through whole tasks: what the model and the person get of them, and what of them is left out."""

import json
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.journeys.conftest import Journey
from tests.journeys.test_subagents import Scripts, asks, reports

from halocline.client.tasks import Client
from halocline.mcp.tool_names import name_for
from halocline.protocol import events as ev
from halocline.protocol.errors import UsageError
from halocline.protocol.events.hooks import HookSource
from halocline.protocol.events.subagents import SubagentStarted
from halocline.protocol.kinds import ApprovalMode, Mode
from halocline.providers.scripted.model import Call, Turn
from halocline.runtime.assembly.assembly import Assembly
from halocline.runtime.controller import Controller, TaskOptions
from halocline.services.plugins import PluginService
from halocline.store.settings.provider_settings import Price
from halocline.store.settings.sections import PluginSettings, TerminalSettings
from halocline.store.settings.settings import Settings
from halocline.store.themes import TERMINAL

SERVER = str(Path(__file__).parent.parent / "mcp" / "server.py")
DONE = Turn(text="done")
LIST = Turn(calls=(Call("list_files", {"path": "."}, id="c1"),))
MANIFEST = 'name = "tidy"\nversion = "1.2"\nmay = ["reads", "edits", "network", "commands"]\npython = "code.py"\n'
TOOL = """
import halocline
from . import words

@halocline.tool(effect="reads")
def greet(name: str) -> str:
    "Greet someone."
    return words.GREETING + name
"""
WORDS = {"words.py": "GREETING = 'Hello '\n"}
DUSK = 'description = "warm"\n' + "".join(f'{role} = "{style}"\n' for role, style in TERMINAL.styles.items())
SKILL = "---\ndescription: how to sweep\n---\nSweep ${CLAUDE_PLUGIN_ROOT}/broom twice."


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path / "person"))


def put(top: Path, texts: dict[str, str]) -> None:
    for name, text in texts.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
        (top / name).chmod(0o755 if text.startswith("#!") else 0o644)


def trust(journey: Journey, name: str = "tidy") -> None:
    service = PluginService(journey.client(())._controller.assemblies.own, journey.workspace)
    service.decide(service.find(name).found, trusted=True)


def install(journey: Journey, texts: dict[str, str], name: str = "tidy", manifest: str = MANIFEST) -> Path:
    top = journey.home.plugins / name
    put(top, {"plugin.toml": manifest, "code.py": "", **texts})
    trust(journey, name)
    return top


def remarks(client: Client, journey: Journey) -> list[str]:
    return [text for text in client.remarks(journey.task) if "plug-in" in text]


async def begin(journey: Journey, **settings) -> list[str]:
    """Start a task and return the remarks on plug-ins."""
    client = journey.client((DONE,), **settings)
    try:
        await journey.open(client)
        found = remarks(client, journey)
        await journey.prompt(client)
    finally:
        await client.close()
    return found


async def test_a_task_with_a_plugin_is_written_down_as_a_whole(journey):
    hook = "hooks = {'PostToolUse': lambda given: 'Well swept.'}\n"
    install(journey, {"code.py": TOOL + hook, **WORDS, "skills/sweep/SKILL.md": SKILL, "commands/go.md": "Go $1!"})
    calls = (
        Turn(calls=(Call("greet", {"name": "Ada"}, id="c1"),), expect="Go there!"),
        Turn(calls=(Call("use_skill", {"skill_name": "tidy:sweep"}, id="c2"),), expect="Hello Ada"),
        Turn(text="done", expect="Well swept."),
    )
    await journey.run(*calls, prompt="/tidy:go there")
    (loaded,) = journey.of(ev.PluginsLoaded)
    (plugin,) = loaded.plugins
    assert (plugin.name, plugin.version, len(plugin.digest)) == ("tidy", "1.2", 64)
    assert journey.state.prompt.plugins == (plugin,)
    greeted, swept = journey.results
    assert greeted.startswith("Hello Ada")
    assert "# Skill tidy:sweep\n\nSweep ${CLAUDE_PLUGIN_ROOT}/broom twice." in swept
    assert [tool.name for tool in journey.state.prompt.custom_tools] == ["greet"]
    assert "- tidy:sweep: how to sweep" in journey.state.prompt.system
    assert [kind for kind in journey.kinds if kind != "CheckpointTaken"] == [
        *("TaskStarted", "PluginsLoaded", "ToolsOffered", "CustomToolsOffered", "TurnStarted"),
        *("StepStarted", "UsageReported", "AssistantMessageCompleted", "ToolCallStarted", "HookRan", "ToolCallEnded"),
        *("StepStarted", "UsageReported", "AssistantMessageCompleted", "ToolCallStarted", "HookRan", "ToolCallEnded"),
        *("StepStarted", "UsageReported", "AssistantMessageCompleted", "TurnEnded"),
    ]


async def test_a_task_replays_without_its_plugin(journey):
    top = install(journey, {"code.py": TOOL, **WORDS})
    await journey.run(Turn(calls=(Call("greet", {"name": "Ada"}, id="c1"),)), DONE)
    for path in (*top.iterdir(),):
        path.unlink()
    assert (await journey.replay()).differences == ()
    await journey.run(DONE, resume=journey.task)
    assert [len(event.plugins) for event in journey.of(ev.PluginsLoaded)] == [1, 0]
    assert (journey.state.prompt.plugins, journey.state.prompt.custom_tools) == ((), ())


async def test_hooks_of_every_form_run_before_the_users_and_may_not_allow(journey):
    listed = {"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/say.sh"}]}]}}
    answer = json.dumps({"hookSpecificOutput": {"permissionDecision": "allow", "additionalContext": "I looked."}})
    script = f"#!/bin/sh\necho '{answer}'\n"
    code = "def look(given):\n    return 'I looked, too.'\nhooks = {'PreToolUse': look}\n"
    guard = '#!/bin/sh\necho \'{"contextModification": "So did I."}\'\n'
    texts = {"hooks/hooks.json": json.dumps(listed), "say.sh": script, "hooks/PreToolUse": guard, "code.py": code}
    install(journey, texts)
    run = Turn(calls=(Call("execute_command", {"command": "touch made"}, id="c1"),))
    options = TaskOptions(approval_mode=ApprovalMode.ASK)
    await journey.run(run, Turn(text="done", expect="I looked"), options=options)
    runs = journey.of(ev.HookRan)
    assert {one.source for one in runs} == {HookSource.PLUGIN}
    assert len(runs) == 3
    assert not (journey.workspace / "made").exists()


async def test_a_server_of_a_plugin_runs_under_its_name_and_asks(journey):
    entry = {"command": sys.executable, "args": [SERVER], "autoApprove": ["*"], "env": {"AT": "${CLAUDE_PLUGIN_ROOT}"}}
    install(journey, {".mcp.json": json.dumps({"test": entry})})
    journey.env, journey.longest = {"HOME": str(journey.workspace), "PATH": "/usr/bin:/bin"}, 60.0
    call = Turn(calls=(Call(name_for("tidy:test", "echo"), {"text": "hi"}, id="c1"),))
    await journey.run(call, DONE, options=TaskOptions(approval_mode=ApprovalMode.ASK))
    assert [event.server.name for event in journey.of(ev.McpOffered)] == ["tidy:test"]
    assert journey.ends == [("c1", "rejected")]


async def test_an_agent_of_a_plugin_has_its_hooks_and_skills(journey):
    agent = "---\nname: reader\ndescription: reads\n---\nRead."
    code = "import halocline\nno = lambda given: halocline.HookAnswer(block='Not today.')\n"
    code += "hooks = {'PreToolUse': halocline.HookMatcher('list_files', no)}\n"
    install(journey, {"agents/reader.md": agent, "code.py": code, "skills/sweep/SKILL.md": SKILL})
    child = (Turn(calls=(Call("list_files", {"path": "."}),)), reports("I read.", expect="Not today."))
    journey.client(())
    client = Client(
        Controller(Scripts(journey.home, journey.settings, (asks("look", agent="tidy:reader"), DONE), child)), "t"
    )
    await journey.run(client=client)
    (started,) = journey.of(SubagentStarted)
    assert started.agent == "tidy:reader"
    assert "I read." in journey.results[0]


FAILING = {
    "python": ({"code.py": "1 / 0"}, "its code failed: ZeroDivisionError: division by zero."),
    "exit": ({"code.py": "raise SystemExit(3)"}, "its code failed: SystemExit: 3."),
    "syntax": ({"code.py": "def"}, "its code failed: SyntaxError"),
    "hook point": ({"code.py": "hooks = {'Never': print}"}, "There is no hook 'Never'."),
    "hooks file": ({"hooks/hooks.json": "{"}, "of its hooks, the file cannot be read"),
}
PARTLY = {
    "skill": (
        {"skills/a/SKILL.md": "---\ndescription: " + "x" * 2000 + "\n---\nText."},
        "The skill a of the plug-in tidy is ignored",
    ),
    "taken": (
        {"code.py": TOOL.replace("greet", "read_file"), **WORDS},
        "The tool read_file of the plug-in tidy is left out: There is a tool read_file already.",
    ),
    "other program's": (
        {"code.py": TOOL.replace("greet", "Bash"), **WORDS},
        "The tool Bash of the plug-in tidy is left out: The name Bash stands for another tool, in rules",
    ),
    "effect": (
        {"code.py": TOOL, **WORDS, "plugin.toml": 'name = "tidy"\nmay = ["edits"]\npython = "code.py"'},
        "its effect is 'reads', which the plug-in's manifest does not declare.",
    ),
    "programs": (
        {"hooks/PreToolUse": "#!/bin/sh\nexit 2\n", "plugin.toml": 'name = "tidy"\nmay = ["reads"]'},
        "The hooks and MCP servers of the plug-in tidy are left out: its manifest declares no commands.",
    ),
}


@pytest.mark.parametrize("case", FAILING)
async def test_a_plugin_that_fails_is_named_and_left_out_and_the_others_work(journey, case):
    texts, why = FAILING[case]
    install(journey, texts)
    install(journey, {"code.py": TOOL, **WORDS}, "other", 'name = "other"\npython = "code.py"\n')
    (remark,) = await begin(journey)
    assert remark.startswith("The plug-in tidy is left out: ")
    assert why in remark
    assert [plugin.name for plugin in journey.state.prompt.plugins] == ["other"]
    assert [tool.name for tool in journey.state.prompt.custom_tools] == ["greet"]


@pytest.mark.parametrize("case", PARTLY)
async def test_a_part_that_cannot_be_used_is_named_and_the_rest_of_the_plugin_works(journey, case):
    texts, why = PARTLY[case]
    install(journey, texts)
    (remark,) = await begin(journey)
    assert why in remark
    assert [plugin.name for plugin in journey.state.prompt.plugins] == ["tidy"]
    assert journey.state.prompt.custom_tools == ()


async def test_of_two_tools_with_one_name_and_two_plugins_with_one_name_the_first_counts(journey):
    install(journey, {"code.py": TOOL, **WORDS}, "a", 'name = "a"\npython = "code.py"\n')
    install(journey, {"code.py": TOOL, **WORDS}, "b", 'name = "b"\npython = "code.py"\n')
    put(journey.workspace / ".halocline/plugins/c", {"plugin.toml": 'name = "a"\n'})
    journey.client(())._controller.assemblies.own.hooks_of(journey.workspace).say(trusted=True)
    found = await begin(journey)
    assert [text.partition(" is left out")[0] for text in found] == ["The plug-in a", "The tool greet of the plug-in b"]


async def test_a_plugin_that_changed_or_was_never_trusted_is_left_out_until_it_is_trusted(journey):
    put(journey.home.plugins / "tidy", {"plugin.toml": MANIFEST, "code.py": TOOL, **WORDS})
    unsaid = await begin(journey)
    trust(journey)
    trusted = await begin(journey)
    put(journey.home.plugins / "tidy", {"words.py": "GREETING = 'Bye '"})
    changed = await begin(journey)
    assert journey.state.prompt.plugins == ()
    trust(journey)
    again = await begin(journey)
    assert [tool.name for tool in journey.state.prompt.custom_tools] == ["greet"]
    assert (unsaid, trusted, changed, again) == (
        ["The plug-in tidy is left out: it is not trusted: halo plugins trust tidy."],
        [],
        ["The plug-in tidy is left out: it changed since you trusted it: halo plugins trust tidy."],
        [],
    )


async def test_a_projects_plugins_come_with_the_trust_in_its_folder_and_go_with_it(journey):
    put(journey.workspace / ".halocline/plugins/tidy", {"plugin.toml": MANIFEST, "code.py": TOOL, **WORDS})
    seen = []
    for step in ("unknown", "trusted", "changed"):
        hooks = journey.client(())._controller.assemblies.own.hooks_of(journey.workspace)
        if step == "trusted":
            hooks.say(trusted=True)
        if step == "changed":
            put(journey.workspace / ".halocline/plugins/tidy", {"words.py": "GREETING = 'Bye '"})
        seen.append((hooks.standing.value, await begin(journey), len(journey.state.prompt.plugins)))
    assert seen == [("unknown", [], 0), ("trusted", [], 1), ("changed", [], 0)]
    await journey.run(DONE, options=TaskOptions(trusted=True))
    assert len(journey.state.prompt.plugins) == 1


async def test_what_changes_after_the_task_began_is_not_what_runs(journey):
    script = '#!/bin/sh\necho \'{"contextModification": "the trusted one"}\'\n'
    late = TOOL.replace("from . import words\n", "").replace("    return", "    from . import words\n    return")
    top = install(journey, {"hooks/PreToolUse": script, "code.py": late, **WORDS})
    client = journey.client(
        (Turn(calls=(Call("greet", {"name": "Ada"}, id="c1"),)), Turn(text="done", expect="the trusted one"))
    )
    await journey.open(client)
    put(top, {"hooks/PreToolUse": "#!/bin/sh\ntouch stolen\n", "words.py": "GREETING = 'Bye '"})
    await journey.prompt(client)
    await client.close()
    assert journey.results[0].startswith("Hello Ada")
    assert not (journey.workspace / "stolen").exists()


async def test_parts_are_turned_off_one_by_one(journey):
    install(
        journey, {"code.py": TOOL, **WORDS, "skills/a/SKILL.md": SKILL, "commands/go.md": "Go", "commands/no.md": "No"}
    )
    off = PluginSettings(off=("tidy/tool/*", "tidy/command/no"))
    await begin(journey, plugins=off)
    words = journey.client((), plugins=off).words(journey.workspace)
    assert [word.name for word in words.listed("terminal") if word.name.startswith("tidy:")] == ["tidy:go", "tidy:a"]
    assert journey.state.prompt.custom_tools == ()
    assert await begin(journey, plugins=PluginSettings(off=("tidy",))) == []
    assert journey.state.prompt.plugins == ()


async def test_files_beside_a_skill_can_be_read_and_not_changed(journey):
    install(journey, {"skills/sweep/SKILL.md": SKILL, "skills/sweep/more.md": "More."})
    await begin(journey)
    (plugin,) = journey.state.prompt.plugins
    more = f"{plugin.folder}/skills/sweep/more.md"
    write = Call("write_to_file", {"path": more, "content": "x"}, id="c2")
    await journey.run(Turn(calls=(Call("read_file", {"path": more}, id="c1"),)), Turn(calls=(write,)), DONE)
    assert "More." in journey.results[0]
    assert [status for _, status in journey.ends] == ["completed", "rejected"]


CLAUDE = {
    ".claude-plugin/plugin.json": json.dumps(
        {
            "name": "dust",
            "version": "0.3.0",
            "author": {"name": "A"},
            "commands": ["./extra/polish.md"],
            "keywords": ["x"],
        }
    ),
    "commands/wipe.md": "---\ndescription: wipes\nallowed-tools: Bash\n---\nWipe $0 with ${CLAUDE_PLUGIN_ROOT}/cloth.",
    "extra/polish.md": "Polish.",
    "agents/maid.md": "---\nname: maid\ndescription: dusts\n---\nDust.",
    "skills/dusting/SKILL.md": "---\nname: dusting\ndescription: how to dust\n---\nSee ${CLAUDE_PLUGIN_ROOT}/cloth.",
    "hooks/hooks.json": json.dumps(
        {
            "description": "d",
            "hooks": {
                "PostToolUse": [
                    {"matcher": "Glob", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/h.sh"}]}
                ]
            },
        }
    ),
    "h.sh": '#!/bin/sh\necho "$CLAUDE_PLUGIN_ROOT" > hook-ran\n',
    ".mcp.json": json.dumps({"mcpServers": {"vacuum": {"command": "${CLAUDE_PLUGIN_ROOT}/server"}}}),
}


async def test_a_plugin_of_claude_code_is_read_as_it_is(journey):
    put(journey.home.plugins / "dust", CLAUDE)
    trust(journey, "dust")
    await journey.run(LIST, DONE, prompt="/dust:wipe shelves", plugins=PluginSettings(off=("dust/server/*",)))
    (plugin,) = journey.state.prompt.plugins
    (begun,) = journey.of(ev.TurnStarted)
    assert f"Wipe shelves with {plugin.folder}/cloth." in begun.content[0].text
    assert (journey.workspace / "hook-ran").read_text().strip() == plugin.folder
    assert [agent.name for agent in journey.state.subagents.available] == ["dust:maid"]
    listed = PluginService(journey.client(())._controller.assemblies.own, journey.workspace).listed()
    assert [(item.kind, item.name) for item in listed[0].items] == [
        *(("skill", "dusting"), ("command", "wipe"), ("command", "polish"), ("agent", "maid")),
        *(("hook", "PostToolUse"), ("server", "vacuum")),
    ]


PROVIDER = """
from halocline.testing import Scripted

def acme(name):
    if name == "broken":
        raise OSError("no socket")
    return Scripted(["I am " + name]) if name != "odd" else 7

acme.models = ["large", ""]
providers = {"acme": acme, "openai": acme, "none": 7}
"""


async def test_a_plugin_brings_a_provider_whose_models_tasks_use(journey):
    install(journey, {"code.py": PROVIDER})
    assembly = Assembly(journey.home, journey.settings, {})
    model = await assembly.model("acme/large")
    assert (model.name, (await assembly.names("acme/large"))[Mode.ACT]) == ("acme/large", "acme/large")
    own = Client(Controller(assembly), "test")
    try:
        await journey.open(own, TaskOptions(model="acme/large"))
        said = remarks(own, journey)
        await journey.prompt(own)
    finally:
        await own.close()
    assert journey.of(ev.AssistantMessageCompleted)[0].message.text == "I am large"
    assert journey.state.model.name == "acme/large"
    assert [text for text in said if "left out" in text] == [
        "The provider openai of the plug-in tidy is left out: Halocline has a provider of this name.",
        "The provider none of the plug-in tidy is left out: it is no function that opens a model.",
    ]
    assert [(name, one.plugin, one.models) for name, one in assembly.list_brought().items()] == [
        ("acme", "tidy", ("large",))
    ]
    for name, why in (("broken", "OSError: no socket"), ("odd", "gave no model"), ("", "does not name a model")):
        with pytest.raises(UsageError, match=why):
            await assembly.model(f"acme/{name}")


REPORTING = """
from halocline.protocol.events import UsageReported
from halocline.protocol.messages import Usage
from halocline.testing import Scripted

class Large(Scripted):
    async def stream(self, request):
        yield UsageReported(usage=Usage(input=1_000_000, output=500_000), cost=0.25)
        async for event in super().stream(request):
            if not isinstance(event, UsageReported):
                yield event

providers = {"acme": lambda name: Large(["Hello."])}
"""


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        ({}, 0.25),
        ({"acme/large": Price(input=2.0, output=4.0)}, 4.0),
        ({"acme/large": Price(window=9_000)}, 0.25),
        ({"acme/other": Price(input=2.0, output=4.0)}, 0.25),
    ],
)
async def test_the_person_s_prices_hold_for_models_of_plugins(journey, prices, cost):
    install(journey, {"code.py": REPORTING})
    own = Client(Controller(Assembly(journey.home, replace(journey.settings, prices=prices), {})), "test")
    try:
        await journey.open(own, TaskOptions(model="acme/large"))
        await journey.prompt(own)
    finally:
        await own.close()
    (reported,) = journey.of(ev.UsageReported)
    assert reported.cost == cost
    assert reported.window == (9_000 if prices.get("acme/large", Price()).window else None)


@pytest.mark.parametrize("reason", ["untrusted", "turned off", "no network", "the project's"])
async def test_a_provider_is_there_only_where_a_person_said_so(journey, reason):
    manifest = MANIFEST.replace('"network", ', "") if reason == "no network" else MANIFEST
    texts = {"plugin.toml": manifest, "code.py": PROVIDER}
    settings = {}
    if reason == "the project's":
        put(journey.workspace / ".halocline/plugins/tidy", texts)
    elif reason == "untrusted":
        put(journey.home.plugins / "tidy", texts)
    else:
        install(journey, texts, manifest=manifest)
    if reason == "turned off":
        settings["plugins"] = PluginSettings(off=("tidy/provider/*",))
    with pytest.raises(UsageError, match="no provider 'acme'"):
        await Assembly(journey.home, Settings(**settings), {}).model("acme/large")


async def test_a_plugin_brings_a_theme_that_is_chosen_by_its_name_and_broken_ones_are_told_to_who_asks(journey):
    install(journey, {"themes/dusk.toml": DUSK, "themes/off.toml": DUSK, "themes/odd.toml": "accent = 7"})
    settings = {"plugins": PluginSettings(off=("tidy/theme/off",)), "terminal": TerminalSettings(theme="tidy:dusk")}
    client = journey.client((DONE,), **settings)
    try:
        await journey.open(client)
        assert remarks(client, journey) == []
        for themes in (client.themes_of(journey.task), client.themes_in(journey.workspace)):
            theme, problem = themes.choose()
            assert (theme.description, theme.styles, problem) == ("warm", TERMINAL.styles, "")
            assert [theme.name for theme in themes.listed()][-2:] == ["plain", "tidy:dusk"]
            name, odd = themes.describe()
            assert (name, odd[:33]) == ("The theme is tidy:dusk.", "The theme tidy:odd cannot be used")
            with pytest.raises(UsageError, match="The theme tidy:odd cannot be used: it has no quiet"):
                themes.find("tidy:odd")
            with pytest.raises(UsageError, match="There is no theme 'tidy:off'") as off:
                themes.find("tidy:off")
            assert off.value.hint == "It is turned off: halo plugins enable tidy/theme/off"
        assert client.own_theme == theme
    finally:
        await client.close()


async def test_a_theme_of_a_project_is_there_once_the_folder_is_trusted_and_goes_with_the_trust(journey):
    place = journey.workspace / ".halocline/plugins/tidy"
    put(place, {"plugin.toml": 'name = "tidy"\n', "themes/dusk.toml": DUSK})
    hooks = journey.client(())._controller.assemblies.own.hooks_of(journey.workspace)
    chosen = {"terminal": TerminalSettings(theme="tidy:dusk")}
    seen = []
    for step in ("unknown", "trusted", "changed"):
        if step == "trusted":
            hooks.say(trusted=True)
        if step == "changed":
            put(place, {"themes/dusk.toml": DUSK.replace("cyan", "red")})
        client = journey.client((DONE,), **chosen)
        try:
            await journey.open(client)
            themes = client.themes_of(journey.task)
            seen.append((*themes.choose(), *themes.describe()))
            assert client.themes_in(journey.workspace).choose() == seen[-1][:2]
            assert client.own_theme == TERMINAL
        finally:
            await client.close()
    instead = "so the built-in terminal is shown. To choose or reset: /theme, halo doctor"
    missing = (
        TERMINAL,
        f"The theme tidy:dusk cannot be used, {instead}",
        "The theme is terminal, as tidy:dusk cannot be used.",
        "There is no theme 'tidy:dusk'. The plug-in tidy is left out: the folder is not trusted: halo trust add.",
    )
    assert (seen[0], seen[2]) == (missing, missing)
    assert (seen[1][0].name, *seen[1][1:]) == ("tidy:dusk", "", "The theme is tidy:dusk.")


ABSENT = {
    "not trusted": ({}, "The plug-in tidy is left out: it is not trusted: halo plugins trust tidy."),
    "turned off": (
        {"plugins": PluginSettings(off=("tidy",))},
        "The plug-in tidy is left out: it is turned off: halo plugins enable tidy.",
    ),
    "gone": ({}, "Use one of: terminal, color-blind, high-contrast, plain."),
    "here": ({}, "Use one of: terminal, color-blind, high-contrast, plain, tidy:dusk."),
    "later": ({}, "The plug-in tidy came after this task began, or failed in it (halo doctor says how)."),
}


@pytest.mark.parametrize("case", ABSENT)
async def test_a_theme_that_is_not_there_says_what_became_of_its_plugin(journey, case):
    settings, why = ABSENT[case]
    put(journey.home.plugins / "tidy", {"plugin.toml": 'name = "tidy"\n', "themes/dusk.toml": DUSK})
    client = journey.client((DONE,), **settings)
    service = client.plugins_of(journey.workspace)
    if case == "gone":
        service.remove("tidy")
    elif case == "here":
        service.decide(service.find("tidy").found, trusted=True)
    try:
        await journey.open(client)
        if case == "later":
            service.decide(service.find("tidy").found, trusted=True)
        with pytest.raises(UsageError, match="There is no theme 'tidy:dawn'") as absent:
            client.themes_of(journey.task).find("tidy:dawn")
        assert absent.value.hint == why
        with pytest.raises(UsageError, match="There is no theme 'tidy:dawn'"):
            client.settings_in(journey.workspace).put("terminal.theme", "tidy:dawn")
    finally:
        await client.close()
