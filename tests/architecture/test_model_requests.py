"""Every place that sends a request to a model is known, and what belongs to a task is within its limits."""

import ast
from collections import Counter

from tests.architecture.sources import find_nodes, parse_modules

SENT_BY = {
    "task/compactor.py": ("steps of a task, and summaries of its conversation: `TaskParts.model`", 2),
    "task/mcp_sampling.py": ("what MCP servers ask: `Task.model`", 1),
    "runtime/prompts/side_question.py": ("side questions: a model of their own, `WithinBudget`", 1),
    "task/calls/judge.py": ("verdicts on approvals: a model of its own, `WithinBudget`", 1),
    "task/within_budget.py": ("the gate itself: with a reservation, or where nothing is limited", 2),
    "runtime/recording_model.py": ("passes on the requests of a task that is recorded", 1),
    "services/commit_message.py": ("no task, so no limit: one request without tools, at a person's word", 1),
    "runtime/models/connection_test.py": ("no task, so no limit: a test of a few tokens, at a person's word", 1),
}
"""Modules outside `providers` that call a model, what for, and how often."""
NO_MODELS = ("http", "_controller", "controller")
"""Receivers whose `stream` is none of a model."""
WITHIN = ("runtime/assembly/assembly.py", "runtime/prompts/side_question.py")
"""Where a task gets a model: each is put into a `WithinBudget`."""


def test_every_place_that_sends_a_request_to_a_model_is_known():
    found = Counter[str]()
    for module, tree in parse_modules().items():
        for call in find_nodes(tree, ast.Call) if not module.startswith(("providers/", "testing/")) else ():
            if isinstance(call.func, ast.Attribute) and call.func.attr == "stream" and _receiver(call) not in NO_MODELS:
                found[module] += 1
    assert found == {module: count for module, (_, count) in SENT_BY.items()}


def test_each_model_of_a_task_is_within_its_limits():
    modules = parse_modules()
    for module in WITHIN:
        calls = [ast.unparse(call.func) for call in find_nodes(modules[module], ast.Call)]
        assert "WithinBudget" in calls


def _receiver(call: ast.Call) -> str:
    assert isinstance(call.func, ast.Attribute)
    value = call.func.value
    return value.id if isinstance(value, ast.Name) else getattr(value, "attr", "")
