import json

import pytest
from tests.surfaces.cli.halo_process import Halo, call

RULES = """
[[rule]]
decision = "allow"
name = "tests"
argv = ["make", "test"]
matches = ["make test -j4"]

[[rule]]
decision = "deny"
name = "no-notes"
reason = "notes are mine"
paths = ["notes/"]
"""


@pytest.fixture
def rules(halo: Halo):
    (halo.home).mkdir(exist_ok=True)
    (halo.home / "policy.toml").write_text(RULES)


async def played(halo: Halo) -> str:
    calls = [call("write_to_file", path=path, content="x") for path in ("notes/a.txt", "a.txt")]
    done = await halo.run("-y", "-p", "-m", halo.script({"call": calls}, {"text": "done"}), "hi")
    assert done.code == 0
    (folder,) = (halo.home / "tasks").iterdir()
    return folder.name


async def test_explain_goes_by_the_rules_in_force(halo: Halo, rules: None) -> None:
    allowed = await halo.run("policy", "explain", "--json", "make test")
    assert json.loads(allowed.out)["rule"] == "tests"
    other = await halo.run("policy", "explain", "make install")
    assert other.out.splitlines()[-1].startswith("ask: ")


async def test_explain_tells_in_a_word_what_a_command_leaves_out(halo: Halo) -> None:
    for command, form in (("grep -rn x .", "grep -r -n [excluding secret files] -- x ."), ("rg x", "rg [excluding")):
        explained = await halo.run("policy", "explain", command)
        assert f"runs as: {form}" in explained.out


async def test_rules_are_listed_with_their_conditions(halo: Halo, rules: None) -> None:
    (halo.folder / ".clineignore").write_text("private/\n")
    listed = await halo.run("policy", "rules")
    assert listed.out.splitlines() == [
        "allow  user     tests  argv make test",
        "deny   user     no-notes  paths notes/",
        "hidden from the model: private/",
    ]


async def test_a_file_whose_examples_are_wrong_is_an_error_that_names_the_example(halo: Halo, rules: None) -> None:
    assert (await halo.run("policy", "test")).out == "2 rules in force, all examples pass.\n"
    wrong = halo.folder / "wrong.toml"
    wrong.write_text(RULES.replace("make test -j4", "cmake test"))
    done = await halo.run("policy", "test", str(wrong))
    assert done.code == 2
    assert "it should match 'cmake test'" in done.err


async def test_rules_can_be_tried_on_what_was_done(halo: Halo, rules: None) -> None:
    (halo.home / "policy.toml").rename(halo.folder / "candidate.toml")
    await played(halo)
    done = await halo.run("policy", "simulate", str(halo.folder / "candidate.toml"))
    assert done.out.splitlines()[:2] == [
        "2 calls of 1 task: 1 allow, 0 ask, 1 deny",
        "originally: 2 allow, 0 ask, 0 deny",
    ]
    assert "allow → deny  Write notes/a.txt (no-notes," in done.out


async def test_an_audit_says_by_which_rule_each_call_was_decided(halo: Halo, rules: None) -> None:
    task = await played(halo)
    done = await halo.run("policy", "audit", task)
    assert done.out.splitlines() == ["deny  Write notes/a.txt  (no-notes)", "allow Write a.txt  (yolo)"]
    rows = [json.loads(line) for line in (await halo.run("policy", "audit", "--json", task)).out.splitlines()]
    assert [(row["then"], row["rule"]) for row in rows] == [("deny", "no-notes"), ("allow", "yolo")]


async def test_leave_that_was_given_for_good_is_listed_and_taken_back(halo: Halo) -> None:
    halo.home.mkdir(exist_ok=True)
    given = '[[rule]]\ndecision = "allow"\nkinds = ["execute"]\ncommand = "{}"\nreason = "you allowed it"\n'
    (halo.home / "grants.toml").write_text(given.format("make") + "\n" + given.format("touch \\u001b[31mred"))
    listed = await halo.run("policy", "rules")
    assert "grant-2  kinds execute; command touch" in listed.out
    assert "\x1b" not in listed.out
    assert "(you allowed it)" in listed.out
    assert "halo policy forget NAME" in listed.out
    wrong = await halo.run("policy", "forget", "grant-1", "grant-9")
    assert (wrong.code, "No rule 'grant-9' here." in wrong.err) == (2, True)
    done = await halo.run("policy", "forget", "grant-1", "grant-2")
    assert (done.code, done.out.count("revoked: ")) == (0, 2)
    assert (await halo.run("policy", "rules")).out == "No rules apart from the approval mode.\n"


async def test_a_rule_of_a_file_is_not_taken_back(halo: Halo, rules: None) -> None:
    done = await halo.run("policy", "forget", "tests")
    assert (done.code, "does not come from an approval" in done.err) == (2, True)
    assert (halo.home / "policy.toml").read_text() == RULES


async def test_a_broken_file_of_rules_is_told_at_the_start_and_by_the_doctor(halo: Halo) -> None:
    (halo.folder / ".halocline").mkdir()
    (halo.folder / ".halocline" / "policy.toml").write_text("x = [")
    ran = await halo.run("-p", "-m", halo.script({"text": "done"}), "hi")
    assert "Until you fix it, every call needs approval." in ran.err
    assert "policy.toml" in ran.err
    doctor = await halo.run("doctor")
    assert doctor.code != 0
    assert "policy.toml" in doctor.out


async def test_rules_of_an_untrusted_project_and_of_other_folders_are_told_apart(halo: Halo) -> None:
    (halo.folder / ".halocline").mkdir()
    (halo.folder / ".halocline" / "policy.toml").write_text('[[rule]]\ndecision = "allow"\nargv = ["make"]\n')
    halo.home.mkdir(exist_ok=True)
    grant = '[[rule]]\ndecision = "allow"\ncommand = "{}"\nworkspace = "{}"\n'
    both = grant.format("there", "/elsewhere") + grant.format("here", halo.folder.resolve())
    (halo.home / "grants.toml").write_text(both)
    listed = (await halo.run("policy", "rules")).out
    assert "1 rule of the project without effect until you trust it: halo trust add\n  allow  argv make" in listed
    assert "1 permission for other folders" in listed
    assert ("command here" in listed, "command there" in listed) == (True, False)
    added = await halo.run("trust", "add")
    assert "allow argv make" in added.out
    assert "until you trust it" not in (await halo.run("policy", "rules")).out


async def test_a_server_file_that_cannot_be_read_is_no_matter_of_trust(halo: Halo) -> None:
    (halo.folder / ".mcp.json").write_text('{"mcpServers": {')
    ran = await halo.run("-p", "-m", halo.script({"text": "done"}), "hi")
    assert ".mcp.json" in ran.err
    assert "Its servers are off until you fix it." in ran.err
    assert "()" not in ran.err
    assert "halo trust add" not in ran.err


async def test_trust_for_a_folder_that_is_not_there_says_how_to_name_one(halo: Halo) -> None:
    done = await halo.run("trust", "add", "/nope")
    assert (done.code, "halo trust add FOLDER" in done.err, "-C" in done.err) == (2, True, False)
