from pathlib import Path

import pytest

from halocline.context.user_files.agents import FINISHING, LINE, READS, Agent, found_agents, tools_of
from halocline.context.user_files.skills import Skill
from halocline.protocol.config_locations import OBEYED, OBEYED_AT_HOME, OWN_AGENTS, PROJECT_AGENTS

SKILLS = (Skill("pdf", "Works with PDF.", "/nowhere"),)


def describe(place: Path, *lines: str, name: str = "reviewer", ending: str = ".md", body: str = "You review.") -> Path:
    place.mkdir(parents=True, exist_ok=True)
    file = place / f"{name}{ending}"
    file.write_text("\n".join(["---", f"name: {name}", "description: finds bugs", *lines, "---", body, ""]))
    return file


def agents(project: Path, home: Path) -> tuple[Agent, ...]:
    return found_agents(project, home / "own", home).agents


def only(project: Path, home: Path) -> Agent:
    (agent,) = agents(project, home)
    return agent


@pytest.mark.parametrize("place", PROJECT_AGENTS)
def test_agents_of_a_project_are_found_and_their_places_guarded(project, home, place):
    describe(project / place)
    found = only(project, home)
    assert (found.name, found.description, found.prompt, found.own) == ("reviewer", "finds bugs", "You review.", False)
    assert place in OBEYED


@pytest.mark.parametrize("place", [*OWN_AGENTS, "own"])
def test_a_persons_own_agent_wins_over_a_projects(project, home, place):
    describe(project / PROJECT_AGENTS[0], body="The project's.")
    describe(home / place, body="My own.", ending=".agent.md" if place == ".copilot/agents" else ".md")
    found = only(project, home)
    assert (found.prompt, found.own) == ("My own.", True)
    assert place in (*OBEYED_AT_HOME, "own")


@pytest.mark.parametrize(
    ("said", "tools"),
    [
        ("tools: Read, Grep", ("read_file", "search_files")),
        ("tools: [read_file, execute_command]", ("read_file", "execute_command")),
        ("tools:\n  - Bash(git log:*, git show:*)\n  - Glob", ("execute_command", "list_files", "search_files")),
        ("tools: Bash(git log:*, git show:*), LS", ("execute_command", "list_files")),
        ("tools: WebFetch, attempt_completion", ("web_fetch",)),
        ("tools: '*'", None),
        ("tools:", None),
        ("disallowedTools: Bash, Skill", ("read_file", "list_files", "search_files", "list_code_definition_names")),
        ("tools: Read, Bash\ndisallowedTools: Bash", ("read_file",)),
    ],
)
def test_the_tools_of_a_file_are_held_exactly(project, home, said, tools):
    describe(project / PROJECT_AGENTS[0], said)
    assert only(project, home).tools == tools


def test_a_tool_that_cannot_be_had_is_named(project, home):
    describe(project / PROJECT_AGENTS[0], "tools: Read, Edit, mcp__github__list, Frobnicate")
    found = found_agents(project, home / "own", home)
    assert found.agents[0].tools == ("read_file",)
    assert "not available to sub-agents: Edit, mcp__github__list, Frobnicate" in found.remarks[0]
    assert found.agents[0].file in found.remarks[0]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("You review.", "needs a name"),
        ("---\nname: reviewer\n---\nYou review.", "needs a description"),
        ("---\nname: ../up\ndescription: x\n---\nYou review.", "needs a name"),
        ("---\nname: reviewer\ndescription: x\n---\n", "no system prompt"),
        ("---\nname: reviewer\ndescription: x\ntools: Edit, Write\n---\nYou review.", "cannot have any of its tools"),
        ("---\n- a\n- b\n---\nYou review.", "needs a name and a description"),
        ("---\nname: reviewer\ndescription: x\n---\n" + "x" * 100_001, "longer than"),
    ],
)
def test_what_describes_no_agent_is_left_out_with_the_reason(project, home, text, why):
    describe(project / PROJECT_AGENTS[0]).write_text(text)
    found = found_agents(project, home / "own", home)
    assert found.agents == ()
    assert why in found.remarks[0]


def test_a_file_that_is_no_yaml_is_read_as_programs_write_it(project, home):
    file = describe(project / PROJECT_AGENTS[0])
    file.write_text("---\nname: reviewer\ndescription: Use it: when it is big\ntools: Read, Grep\n---\nYou review.\n")
    found = only(project, home)
    assert (found.description, found.tools) == ("Use it: when it is big", ("read_file", "search_files"))


def test_a_link_that_leads_out_of_the_project_describes_nothing(project, home, tmp_path):
    outside = describe(tmp_path / "elsewhere")
    (project / PROJECT_AGENTS[0]).mkdir(parents=True)
    (project / PROJECT_AGENTS[0] / "reviewer.md").symlink_to(outside)
    found = found_agents(project, home / "own", home)
    assert found.agents == ()
    assert "leads out of the project" in found.remarks[0]


@pytest.mark.parametrize(
    ("lines", "model", "steps"),
    [
        (("model: inherit",), "", None),
        (("model: haiku", "maxTurns: 12"), "haiku", 12),
        (("providerId: openai", "modelId: gpt-6-mini"), "openai/gpt-6-mini", None),
        (("model: anthropic/claude-haiku-4-5", "maxTurns: none"), "anthropic/claude-haiku-4-5", None),
    ],
)
def test_a_file_names_a_model_and_a_bound(project, home, lines, model, steps):
    describe(project / PROJECT_AGENTS[0], *lines, ending=".yaml")
    found = only(project, home)
    assert (found.model, found.steps) == (model, steps)


def test_skills_that_are_given_from_the_start_are_not_to_be_asked_for(project, home):
    describe(project / PROJECT_AGENTS[0], "skills: pdf, sheets")
    found = only(project, home)
    assert found.skills == ("pdf", "sheets")
    assert tools_of(found, SKILLS) == (*READS, FINISHING)
    assert tools_of(None, SKILLS) == (*READS, "use_skill", FINISHING)
    assert tools_of(None, ()) == (*READS, FINISHING)


def test_the_model_is_told_of_an_agent_in_one_short_line():
    line = Agent("a", "many\nwords " * 100, "You.", "/a.md").line
    assert len(line.description) == LINE
    assert "\n" not in line.description


def test_agents_in_folders_of_the_place_are_found(project, home):
    describe(project / PROJECT_AGENTS[0] / "team" / "two")
    describe(project / PROJECT_AGENTS[0] / ".hidden", name="other")
    assert only(project, home).name == "reviewer"
