"""The examples that `halo rules new --from` copies, read as any other rule is."""

import re

import pytest

from halocline.context.instructions.front_matter import When, rule_in
from halocline.context.instructions.globs import fitting_path
from halocline.services.instructions import EXAMPLES, WORKFLOWS

RULES = sorted(EXAMPLES.glob("*.md"))
FOR_PATHS = {
    "mcp-development": ("tools/mcp/server.py", "src/api.py"),
    "slides": ("slides/a.md", "docs/guide.md"),
    "writing-rules": ("src/AGENTS.md", "README.md"),
}


@pytest.mark.parametrize("path", sorted(EXAMPLES.rglob("*.md")), ids=lambda path: path.stem)
def test_an_example_is_short_has_a_title_and_is_understood(path):
    rule = rule_in(path.read_text(encoding="utf-8"), "cline", path.name)
    assert rule.remark == ""
    assert re.match(r"\s*# \w", rule.text)
    assert len(rule.text) < 3_000


@pytest.mark.parametrize("path", RULES, ids=lambda path: path.stem)
def test_an_example_holds_when_its_front_matter_says_so(path):
    rule = rule_in(path.read_text(encoding="utf-8"), "cline", path.name)
    if path.stem not in FOR_PATHS:
        assert rule.when is When.ALWAYS
        return
    meant, other = FOR_PATHS[path.stem]
    assert rule.when is When.PATHS
    assert (fitting_path(rule.globs, [meant]), fitting_path(rule.globs, [other])) == (meant, "")


def test_there_is_one_of_each_kind():
    names = {path.stem for path in RULES} | {path.stem for path in (EXAMPLES / WORKFLOWS).iterdir()}
    assert names == {*FOR_PATHS, "memory-bank", "continuous-improvement", "new-task", "research", "pr-review"}
