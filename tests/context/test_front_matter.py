import pytest
from hypothesis import given, strategies as st
from tests.tables import for_each

from halocline.context.instructions.front_matter import LONGEST, Rule, When, rule_in


def head(lines: str, body: str = "Body.") -> str:
    return f"---\n{lines}\n---\n{body}"


def read(dialect: str, lines: str, name: str = "a.md") -> Rule:
    return rule_in(head(lines), dialect, name)


@for_each(
    "dialect, lines, when, globs",
    [
        ("cline", "", When.ALWAYS, ()),
        ("cline", "description: x\nauthor: y\nversion: 1\ntags: [a]\nglobs: src/**", When.ALWAYS, ()),
        ("cline", 'paths:\n  - "src/**"\n  - "*.md"', When.PATHS, ("src/**", "*.md")),
        ("cline", "paths: []", When.NEVER, ()),
        ("claude", "paths: src/**/*.{ts,tsx}, lib/*.ts", When.PATHS, ("src/**/*.{ts,tsx}", "lib/*.ts")),
        ("claude", "paths:\n  - **/*.ts\n  - {src,lib}/**", When.PATHS, ("**/*.ts", "{src,lib}/**")),
        ("claude", "paths: [**/*.ts, *.py]", When.PATHS, ("**/*.ts", "*.py")),
        ("claude", "paths:", When.ALWAYS, ()),
        ("claude", "globs: a/**", When.ALWAYS, ()),
        ("cursor", "alwaysApply: true\nglobs: a/**", When.ALWAYS, ()),
        ("cursor", "globs: *.tsx,src/*.ts\nalwaysApply: false", When.PATHS, ("**/*.tsx", "src/*.ts")),
        ("cursor", 'globs: ["*.py"]', When.PATHS, ("**/*.py",)),
        ("cursor", "description: Before migrations\nglobs:\nalwaysApply: false", When.OFFERED, ()),
        ("cursor", "description:\nglobs:\nalwaysApply: false", When.NAMED, ()),
        ("copilot", "applyTo: **", When.ALWAYS, ()),
        ("copilot", 'applyTo: "**/*.ts,**/*.tsx"', When.PATHS, ("**/*.ts", "**/*.tsx")),
        ("copilot", "description: For tests", When.OFFERED, ()),
        ("copilot", 'applyTo: "**"\nexcludeAgent: "cloud-agent"', When.NEVER, ()),
        ("copilot", 'applyTo: "**"\nexcludeAgent: "code-review"', When.ALWAYS, ()),
        ("windsurf", "trigger: always_on", When.ALWAYS, ()),
        ("windsurf", "trigger: glob\nglobs: *.go", When.PATHS, ("**/*.go",)),
        ("windsurf", "trigger: model_decision\ndescription: For Go", When.OFFERED, ()),
        ("windsurf", "trigger: manual", When.NAMED, ()),
    ],
)
def test_front_matter_means_what_it_means_to_its_program(dialect, lines, when, globs):
    rule = read(dialect, lines)
    assert (rule.when, rule.globs, rule.remark) == (when, globs, "")
    assert rule.text == "Body."


@pytest.mark.parametrize(
    ("dialect", "lines"),
    [
        ("cline", "paths: src/**"),
        ("cline", "paths: {a: b}"),
        ("cline", "paths: [1, 2]"),
        ("cline", "paths: [unclosed"),
        ("cline", "paths:\n  - **/*.ts"),
        ("cline", "just words"),
        ("cline", "a: !!int ''"),
        ("cline", "a: " + "[" * 9_000),
        ("cline", "paths: [" + "'a', " * LONGEST + "]"),
        ("cursor", "alwaysApply: perhaps"),
        ("windsurf", "trigger: sometimes"),
    ],
)
def test_what_cannot_be_understood_always_holds_as_it_is_written_with_a_remark(dialect, lines):
    rule = read(dialect, lines)
    assert (rule.when, rule.text) == (When.ALWAYS, head(lines))
    assert rule.remark.startswith("its front matter cannot be read (")


def test_a_file_that_is_named_as_another_programs_is_read_as_that_ones():
    assert read("cline", "globs: *.py", "a.mdc").globs == ("**/*.py",)
    assert read("cline", "applyTo: '*.py'", "a.instructions.md").globs == ("*.py",)


@pytest.mark.parametrize(
    "text", ["", "Words.", "---", "---\npaths: []", "\n---\npaths: []\n---\nx", "----\npaths: []\n---\n"]
)
def test_a_text_without_front_matter_is_all_rule(text):
    assert rule_in(text, "cline", "a.md") == Rule(text)


def test_a_plain_file_has_no_front_matter():
    assert rule_in(head("paths: []"), "plain", "AGENTS.md") == Rule(head("paths: []"))


def test_a_description_that_is_no_text_describes_nothing():
    bomb = "a: &a [x, x]\nb: &b [*a, *a]\ndescription: *b"
    assert read("cursor", bomb).when is When.NAMED


@given(st.text(), st.sampled_from(["cline", "claude", "cursor", "copilot", "windsurf"]))
def test_no_front_matter_breaks_the_reader(lines, dialect):
    assert read(dialect, lines).when in When
