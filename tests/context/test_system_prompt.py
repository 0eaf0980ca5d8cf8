import json
import tomllib
from pathlib import Path

import pytest
from tests.tables import for_each

from halocline.context.system_prompt.build import SECTIONS, PromptOptions, sections_of, system_prompt
from halocline.context.system_prompt.model_families import FAMILIES, family_of
from halocline.protocol.state.prompt import ModelState, PromptState
from halocline.protocol.state.state import State
from halocline.tools.toolset import Tools

BUDGET = tomllib.loads(Path(__file__).with_name("prompt_budget.toml").read_text(encoding="utf-8"))
"""The tokens that the prompt and the tools may take, by the form of the prompt and the family of the model."""
WORKSPACE = Path("/work/{project}")
MODELS = ["anthropic/claude-opus-5", "openai/gpt-5.6", "gemini/gemini-3-pro", "zai/glm-5", "ollama/qwen3"]


@pytest.mark.parametrize("compact", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_the_prompt_names_the_workspace_and_leaves_no_hole(model: str, compact: bool):
    text = system_prompt(WORKSPACE, models=[model], compact=compact)
    assert "Workspace: /work/{project}\n" in text
    assert "{system}" not in text
    assert "placeholder comment" in text
    assert set(sections_of(text)) <= set(SECTIONS)


@pytest.mark.parametrize("form", BUDGET)
@pytest.mark.parametrize("model", MODELS)
def test_prompt_and_tools_stay_within_what_their_family_may_take(model: str, form: str):
    most, compact = BUDGET[form][family_of(model) or "other"], form == "compact"
    offered = Tools().specs(State(model=ModelState(name=model), prompt=PromptState(compact=compact)))
    specs = [{"name": s.name, "description": s.description, "input_schema": s.schema} for s in offered]
    assert len(system_prompt(WORKSPACE, models=[model], compact=compact)) / 4 <= most["prompt"]
    assert len(json.dumps(specs, separators=(",", ":"), ensure_ascii=False)) / 4 <= most["tools"], (
        "Say it in fewer words, or offer a tool on demand (tools/toolset.py), or argue for more in prompt_budget.toml."
    )


def test_each_family_has_its_budget():
    assert [set(families) for families in BUDGET.values()] == [{*FAMILIES, "other"}] * 2
    assert {family_of(model) or "other" for model in MODELS} == {*FAMILIES, "other"}


def test_the_compact_prompt_speaks_of_no_tool_that_it_does_not_come_with():
    full = {spec.name for spec in Tools().specs(State())}
    spared = full - {spec.name for spec in Tools().specs(State(prompt=PromptState(compact=True)))}
    assert spared
    assert [name for name in spared if name in system_prompt(WORKSPACE, compact=True)] == []


def test_a_family_is_told_what_it_needs_and_each_only_that():
    texts = {name: system_prompt(WORKSPACE, models=[f"x/{name}-5"]) for name in FAMILIES}
    assert "apply_patch" in texts["gpt"]
    assert len(set(texts.values())) == len(FAMILIES)
    assert "# Habits" not in system_prompt(WORKSPACE, models=["ollama/qwen3"])
    both = sections_of(system_prompt(WORKSPACE, models=["x/gpt-5", "x/gemini-3", "x/gpt-5"]))["habits"]
    assert both.count("apply_patch") == 1
    assert "announcing" in both


@for_each(
    "model, known",
    [
        ("openai/gpt-5.6", "gpt"),
        ("openrouter/anthropic/claude-haiku", "claude"),
        ("bedrock/eu.anthropic.claude-sonnet", "claude"),
        ("vertex/gemini-3-pro", "gemini"),
        ("zai/GLM-5", "glm"),
        ("openai/gpt-4o", ""),
        ("azure/gpt-35-turbo", ""),
        ("azure/gpt-41-mini", "gpt"),
        ("azure/gpt5", "gpt"),
        ("venice/openai-gpt-52", "gpt"),
        ("bedrock/us.openai.gpt-5.6-v1:0", "gpt"),
        ("openrouter/openai/o4-mini", "gpt"),
        ("azure/gpt-4-1106-preview", ""),
        ("litellm/databricks-claude-sonnet-4", "claude"),
        ("sap/anthropic--claude-4.5-sonnet", "claude"),
        ("cerebras/zai-glm-4.7", "glm"),
        ("litellm/vertex-gemini-3-pro", "gemini"),
        ("ollama/chatglm", ""),
        ("", ""),
    ],
)
def test_a_model_is_known_by_its_name(model: str, known: str):
    assert family_of(model) == known


def test_a_section_is_replaced_emptied_or_brings_its_own_heading():
    wishes = PromptOptions(
        sections={"role": "You are {system} {me}.", "safety": "", "editing": "Edit well.", "commands": "# Sh\nNo."}
    )
    text = system_prompt(WORKSPACE, wishes=wishes)
    parts = sections_of(text)
    assert parts["role"].endswith(" {me}.\n\n")
    assert "{system}" not in text
    assert "safety" not in parts
    assert parts["editing"] == "# Editing\nEdit well.\n\n"
    assert "commands" not in parts
    assert parts["sh"] == "# Sh\nNo.\n\n"


def test_a_prompt_of_ones_own_still_gets_what_the_machine_is_and_the_skills():
    text = system_prompt(
        WORKSPACE, "\n# Skills\n- a: b\n", wishes=PromptOptions(whole="Sing.\n", added="Loud.", language="Latin")
    )
    assert list(sections_of(text)) == ["role", "machine", "language", "skills", "from the user"]
    assert text.startswith("Sing.\n\n# Machine\nWorkspace: ")
    assert text.endswith("\n# Skills\n- a: b\n\n# From the user\nLoud.\n")
    assert "Answer in Latin." in text


def test_sections_put_together_are_the_prompt():
    text = system_prompt(WORKSPACE, "\n# Skills\n- a: b\n", models=MODELS)
    assert "".join(sections_of(text).values()) == text
