import os
from pathlib import Path

import pytest

from halocline.context.user_files.skills import bundled_files, found_skills, read_instructions, skills_section
from halocline.protocol.config_locations import OWN_SKILLS, PROJECT_SKILLS


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(text)
    return folder


def skill(place: Path, name: str = "pdf", about: str = "Works with PDF.") -> Path:
    return write(place / name, f"---\nname: {name}\ndescription: {about}\nlicense: MIT\n---\n# How\nDo it.\n")


def test_a_project_without_skills_says_nothing_of_them(project, home):
    found = found_skills(project, home)
    assert (found.skills, found.skipped, skills_section(found.skills)) == ((), (), "")


@pytest.mark.parametrize("place", PROJECT_SKILLS)
def test_skills_of_a_project_are_found(project, home, place):
    skill(project / place)
    (found,) = found_skills(project, home).skills
    assert (found.name, found.description) == ("pdf", "Works with PDF.")
    assert "- pdf: Works with PDF.\n" in skills_section((found,))
    assert read_instructions(found) == "# How\nDo it.\n"


@pytest.mark.parametrize("place", OWN_SKILLS)
def test_a_persons_own_skill_wins_over_a_projects(project, home, place):
    skill(project / PROJECT_SKILLS[0], about="The project's.")
    skill(home / place, about="My own.")
    assert [found.description for found in found_skills(project, home).skills] == ["My own."]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "description is empty"),
        ("---\nname: pdf\n---\n# How\n", "description is empty"),
        ("---\nname: pdf\ndescription: ' '\n---\n", "description is empty"),
        (f"---\nname: pdf\ndescription: {'x' * 1_025}\n---\n", "longer than 1024"),
    ],
)
def test_an_invalid_skill_is_left_out_and_told_of(project, home, text, why):
    folder = write(project / PROJECT_SKILLS[0] / "pdf", text)
    found = found_skills(project, home)
    assert found.skills == ()
    (told,) = found.skipped
    assert told.startswith(f"The skill {folder} is ignored: ")
    assert why in told


@pytest.mark.parametrize(
    ("text", "about"),
    [
        ("---\ndescription: Without a name.\n---\nBody\n", "Without a name."),
        ("# Title\n\nThe first paragraph\ntells.\n\nMore.\n", "The first paragraph tells."),
        ("---\nname: pdf\n---\nThe first paragraph.\n", "The first paragraph."),
        ("---\nname: other\ndescription: Another name.\n---\n", "Another name."),
        ("---\nname: pdf\ndescription: Use when: the moon is full\n---\n", "Use when: the moon is full"),
        ("---\nname: pdf\ndescription: >\n  Over two\n  lines.\n---\n", "Over two lines."),
        (
            "---\nname: pdf\ndescription: !!python/object/apply:os.getcwd []\n---\n",
            "!!python/object/apply:os.getcwd []",
        ),
    ],
)
def test_a_skill_is_named_for_its_folder_and_described_as_well_as_its_file_allows(project, home, text, about):
    write(project / PROJECT_SKILLS[0] / "pdf", text)
    assert [(one.name, one.description) for one in found_skills(project, home).skills] == [("pdf", about)]


def test_a_skill_that_only_a_person_starts_is_not_offered_to_the_model(project, home):
    write(project / PROJECT_SKILLS[0] / "pdf", "---\ndescription: x\ndisable-model-invocation: true\n---\n")
    found = found_skills(project, home)
    assert ([one.name for one in found.skills], found.offered) == (["pdf"], ())


def test_a_folder_without_the_file_is_told_of_and_a_stray_file_is_not(project, home):
    (project / PROJECT_SKILLS[0] / "empty").mkdir(parents=True)
    (project / PROJECT_SKILLS[0] / "README.md").write_text("")
    assert ["has no SKILL.md" in told for told in found_skills(project, home).skipped] == [True]


def test_a_projects_skill_cannot_lead_out_of_it_and_a_persons_own_may(project, home, tmp_path):
    outside = skill(tmp_path / "elsewhere")
    (project / PROJECT_SKILLS[0]).mkdir(parents=True)
    os.symlink(outside, project / PROJECT_SKILLS[0] / "pdf")
    found = found_skills(project, home)
    assert found.skills == ()
    assert "leads out of the project" in found.skipped[0]
    (home / OWN_SKILLS[0]).mkdir(parents=True)
    os.symlink(outside, home / OWN_SKILLS[0] / "pdf")
    assert [one.name for one in found_skills(project, home).skills] == ["pdf"]


def test_the_files_that_a_skill_brings_are_named(project, home):
    folder = skill(project / PROJECT_SKILLS[0])
    for name in ("scripts/a.py", "b.md", ".git/config"):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("")
    (found,) = found_skills(project, home).skills
    assert bundled_files(found, 10) == ("b.md", "scripts/a.py")
    assert len(bundled_files(found, 1)) == 2


def test_what_the_prompt_says_of_many_skills_is_bounded(project, home):
    for number in range(50):
        skill(project / PROJECT_SKILLS[0], f"s{number:02}", "x" * 1_000)
    text = skills_section(found_skills(project, home).skills)
    assert len(text) < 21_000
    assert text.endswith("There are more; use_skill lists them.\n")


def test_a_very_long_skill_is_cut_and_says_where_the_rest_is(project, home):
    folder = skill(project / PROJECT_SKILLS[0])
    (folder / "SKILL.md").write_text((folder / "SKILL.md").read_text() + "x" * 200_000)
    (found,) = found_skills(project, home).skills
    assert len(read_instructions(found)) < 101_000
    assert f"The rest of {found.file} is omitted" in read_instructions(found)
