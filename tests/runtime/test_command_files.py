from pathlib import Path

import pytest

from halocline.context.user_files.commands import Places
from halocline.protocol.errors import UsageError
from halocline.runtime.prompts.command_files import SlashEntries
from halocline.runtime.prompts.slash_commands import (
    ROWS,
    SLASH_COMMANDS,
    SlashPlace,
    is_alone,
    nearest_names,
    split_slash_command,
    words_in,
)

HERE = SlashPlace.TERMINAL


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


class Project:
    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        self.places = Places(self.root, root / "own", root / "home")

    def workflow(self, name: str, text: str = "Follow me.") -> None:
        write(self.root / f".clinerules/workflows/{name}.md", text)

    def skill(self, name: str, body: str = "Use me.") -> None:
        write(self.root / f".agents/skills/{name}/SKILL.md", f"---\nname: {name}\ndescription: About.\n---\n{body}\n")

    def claude_skill(self, name: str, body: str, *head: str) -> Path:
        file = self.root / f".claude/skills/{name}/SKILL.md"
        write(file, "\n".join(["---", "description: About.", *head, "---", body, ""]))
        return file

    def words(self, *off: str) -> SlashEntries:
        return SlashEntries(self.places, off)

    def expanded(self, text: str, where: SlashPlace = HERE, *off: str):
        return self.words(*off).expanded(text, where)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def texts(expansion) -> list[str]:
    return [note.text for note in expansion.notes]


@pytest.mark.parametrize("typed", ["/deploy", "/deploy.md", "  /deploy now", "/deploy\nnow", "please /deploy, now"])
def test_a_workflow_is_followed_where_its_name_stands(project, typed):
    project.workflow("deploy", "# Steps\nShip $ARGUMENTS!")
    (note,) = project.expanded(typed).notes
    assert note.source == "workflow"
    assert note.text.startswith("The workflow /deploy, from .clinerules/workflows/deploy.md.\n")
    assert "# Steps\nShip" in note.text


@pytest.mark.parametrize(
    "text",
    [
        "deploy",
        "see a/deploy",
        "https://x.org/deploy",
        "/deploy/now",
        "/deployed",
        "//deploy",
        "\\/deploy",
        "a\n/deploy",
        "`/deploy`",
    ],
)
def test_what_only_looks_like_a_word_stays_as_it_is(project, text):
    project.workflow("deploy")
    assert texts(project.expanded(text)) == []


def test_what_follows_a_word_is_its_arguments(project):
    project.workflow("deploy", "Ship $1 to $2: $ARGUMENTS")
    assert texts(project.expanded("/deploy 'the app' prod"))[0].endswith("Ship the app to prod: 'the app' prod")


def test_a_script_in_a_workflow_or_a_skill_keeps_its_own_variables(project):
    project.workflow("a", "awk '{print $2}' of $1")
    project.skill("b", "awk '{print $1}' of $ARGUMENTS")
    assert texts(project.expanded("/a x"))[0].endswith("awk '{print $2}' of x")
    assert texts(project.expanded("/b x y"))[0].endswith("awk '{print $1}' of x y")


def test_a_skill_of_claude_code_gets_its_arguments_as_there(project):
    file = project.claude_skill("args", "all=$ARGUMENTS at=$ARGUMENTS[1] zero=$0 none=$7 in=${CLAUDE_SKILL_DIR}/a.py")
    (text,) = texts(project.expanded("/args x 'y z'"))
    assert f"all=x 'y z' at=y z zero=x none=$7 in={file.parent}/a.py" in text
    (text,) = texts(project.expanded("/args"))
    assert f"all=$ARGUMENTS at=$ARGUMENTS[1] zero=$0 none=$7 in={file.parent}/a.py" in text


def test_a_skill_for_the_model_alone_is_no_slash_command(project):
    project.claude_skill("hidden", "Use me.", "user-invocable: false")
    assert [skill.name for skill in project.words().found_skills.offered] == ["hidden"]
    assert texts(project.expanded("/hidden")) == []
    assert "hidden" not in {word.name for word in project.words().listed(HERE)}


def test_a_word_in_passing_is_told_as_one(project):
    project.workflow("deploy")
    assert "only mentions it" in texts(project.expanded("the /deploy route is slow"))[0]
    assert "only mentions it" not in texts(project.expanded("/deploy"))[0]


def test_of_workflows_the_first_counts_but_every_skill(project):
    for name in ("one", "two"):
        project.workflow(name)
        project.skill(f"{name}-skill")
    found = project.expanded("/one-skill then /one and /two with /two-skill and /one-skill")
    assert [text.split(",")[0] for text in texts(found)] == [
        "The workflow /one",
        "The skill /one-skill",
        "The skill /two-skill",
    ]


def test_a_file_has_no_say_in_permissions_models_or_commands(project):
    project.workflow("a", "---\nallowed-tools: Bash(*)\nmodel: opus\n---\nRun !`touch made` now.")
    text = texts(project.expanded("/a"))[0]
    said = text.split("\n", 1)[0]
    assert "!`commands` were not run" in said
    assert "allowed-tools have no effect" in said
    assert "model it names is ignored" in said
    assert text.endswith("Run !`touch made` now.")
    assert not (project.root / "made").exists()


def test_ours_are_never_replaced_but_a_file_of_the_same_name_has_its_ending(project):
    project.workflow("init", "Mine.")
    assert "AGENTS.md" in texts(project.expanded("/init"))[0]
    assert texts(project.expanded("/init.md"))[0].endswith("Mine.")
    listed = [word.name for word in project.words().listed(HERE)]
    assert listed.count("init") == 1
    assert "init.md" in listed


@pytest.mark.parametrize("row", [row for row in ROWS if row.is_for_the_model], ids=lambda row: row.name)
@pytest.mark.parametrize("where", SlashPlace)
def test_a_word_for_the_model_becomes_a_note_or_a_tool_where_there_is_one(project, row, where):
    for name in row.names:
        found = project.expanded(f"/{name} more", where)
        assert bool(found.notes or found.tool) is (where in row.where)


def test_deep_planning_offers_a_fresh_task_only_where_somebody_can_begin_it(project):
    assert project.expanded("/deep-planning x").offers == {"new_task"}
    assert project.expanded("/deep-planning x", SlashPlace.RUN).offers == frozenset()


def test_words_that_are_switched_off_are_none(project):
    project.workflow("deploy")
    project.skill("pdf")
    words = project.words("workflow/dep*", "skill/*")
    assert texts(words.expanded("/deploy with /pdf", HERE)) == []
    assert {word.kind for word in words.listed(HERE)}.isdisjoint({"workflow", "skill"})


def test_a_word_that_nobody_knows_is_answered_with_those_that_were_meant(project):
    project.workflow("deploy")
    with pytest.raises(UsageError) as raised:
        project.words().check("/depoly", HERE)
    assert (raised.value.text, raised.value.hint) == ("There is no slash command /depoly.", "Did you mean /deploy?")


@pytest.mark.parametrize(
    "text", ["/etc", "/etc/hosts", "/depoly now", "/", "/tmp", "/deploy", "/deploy.md", "/pdf", "/9", "x"]
)
def test_a_path_a_sentence_and_a_known_word_are_nothing_to_complain_about(project, text):
    project.workflow("deploy")
    project.workflow("9")
    project.skill("pdf")
    project.words().check(text, HERE)


@pytest.mark.parametrize("name", [row.name for row in ROWS if SlashPlace.RUN not in row.where])
def test_a_word_for_a_person_is_refused_where_there_is_none(project, name):
    with pytest.raises(UsageError, match="works only in a terminal session"):
        project.words().check(f"/{name} x", SlashPlace.RUN)


def test_a_file_that_cannot_be_read_is_named(project):
    project.workflow("deploy")
    words = project.words()
    assert words.listed(HERE)
    (project.root / ".clinerules/workflows/deploy.md").unlink()
    with pytest.raises(UsageError, match=r"Cannot read /deploy: .*deploy\.md"):
        words.expanded("/deploy", HERE)


def test_names_are_unique():
    names = [name for row in ROWS for name in row.names]
    assert len(names) == len(set(names)) == len(SLASH_COMMANDS)


@pytest.mark.parametrize(
    ("prompt", "expected"),
    [
        ("/a", ("a", "")),
        (" /a-b.md  c d ", ("a-b.md", "c d")),
        ("/fe:x\ny", ("fe:x", "y")),
        ("/a\tb c", ("a", "b c")),
        ("/a/b c", ("", "")),
        ("a /b", ("", "")),
        ("/", ("", "")),
        ("", ("", "")),
        ("/_x", ("", "")),
    ],
)
def test_the_first_word_of_a_prompt(prompt, expected):
    assert split_slash_command(prompt) == expected


def test_a_word_is_alone_when_nothing_follows_it():
    assert [is_alone(text) for text in ("/a", " /a\n", "/a b", "/a/b", "a")] == [True, True, False, False, False]


def test_words_are_found_with_their_places():
    text = "  /a and /b:c, (/d) /e. /f"
    assert [(name, text[begin:end]) for name, begin, end in words_in(text)] == [
        ("a", "/a"),
        ("b:c", "/b:c"),
        ("e", "/e"),
        ("f", "/f"),
    ]


def test_the_nearest_names_are_longer_or_alike():
    assert nearest_names("mo", ["mode", "model", "cost"]) == ["mode", "model"]
    assert nearest_names("jbos", ["jobs", "cost"]) == ["jobs"]
    assert nearest_names("zzz", ["jobs"]) == []


@pytest.mark.parametrize(
    ("word", "meant"), [("act", "/mode act"), ("ask", "/approvals ask"), ("accept-edits", "/approvals accept-edits")]
)
def test_the_name_of_a_mode_is_answered_with_the_command_that_takes_it(project, word, meant):
    with pytest.raises(UsageError) as raised:
        project.words().check(f"/{word}", HERE)
    assert raised.value.hint == f"Did you mean {meant}?"
