import json
import sqlite3
import stat
import subprocess
import sys
import threading

import pytest

from halocline.protocol import events as ev
from halocline.protocol.kinds import ApprovalMode, CallStatus, Mode, ToolKind
from halocline.protocol.messages import AssistantMessage, StopReason, Text, ToolResult, Usage
from halocline.protocol.queries.tasks import Order, TaskQuery
from halocline.store.tasks import index as task_index
from halocline.store.tasks.index import TaskIndex
from halocline.task.log import Log


class Tasks:
    def __init__(self, root):
        self.root = root
        self.folder = root / "tasks"
        self.folder.mkdir()
        self.file = root / "history.db"
        self.now = 1000.0

    def write(self, task, *events):
        """Begin a task, or go on with it."""
        self.now += 1
        log = Log(self.folder / task, task, clock=lambda: self.now)
        if not log.load():
            log.append(started())
        for event in events:
            log.append(event)
        log.close()

    def find(self, words="", **query):
        return TaskIndex(self.file, self.folder).find(TaskQuery(words=words, **query))

    def names(self, words="", **query):
        return [info.task for info in self.find(words, **query)]


@pytest.fixture
def tasks(tmp_path):
    return Tasks(tmp_path)


def started(workspace="/w", model="scripted/a"):
    return ev.TaskStarted(
        workspace=workspace,
        model=model,
        mode=Mode.ACT,
        approval_mode=ApprovalMode.ASK,
        system_prompt="secretsystem",
        version="0",
    )


def prompt(text):
    return ev.TurnStarted(content=(Text(text),))


def answer(text):
    message = AssistantMessage(content=(Text(text),), model="m", stop_reason=StopReason.END_TURN)
    return ev.AssistantMessageCompleted(message=message)


def cost(dollars, tokens=10):
    return ev.UsageReported(usage=Usage(input=tokens), cost=dollars)


def end(reason=StopReason.END_TURN):
    return ev.TurnEnded(reason=reason)


def call(title):
    return ev.ToolCallStarted(call="c", name="t", title=title, kind=ToolKind.READ)


def report(text):
    result = ToolResult(call="c", content=(Text(text),))
    return ev.ToolCallEnded(call="c", name="t", status=CallStatus.COMPLETED, result=result, ends_turn=True)


def test_a_list_has_the_newest_first_with_what_its_log_says(tasks):
    tasks.write("a", prompt("mend the parser\nplease"), ev.StepStarted(model="m"), cost(0.25, 7), answer("done"), end())
    tasks.write("b", prompt("other"), cost(None))
    newest, info = tasks.find()
    assert (newest.task, newest.status, newest.cost) == ("b", "unfinished", None)
    assert (info.title, info.workspace, info.model, info.status) == ("mend the parser", "/w", "scripted/a", "end_turn")
    assert (info.cost, info.tokens, info.steps, info.started_at, info.changed_at) == (0.25, 7, 1, 1001.0, 1001.0)
    files = [path for path in (tasks.folder / "a").rglob("*") if path.is_file()]
    assert info.size == sum(path.stat().st_size for path in files)


@pytest.mark.parametrize(
    "words",
    [
        "parser",
        "PARSER",
        "parser cache",
        "pars",
        "the cache is warm",
        "src/deep/file.py",
        "file",
        "café",
        "cafe",
        "run",
    ],
)
def test_prompts_answers_titles_reports_and_paths_are_searched(tasks, words):
    tasks.write("a", prompt("mend the parser"), answer("The cache is warm"), call("run it at the café"))
    tasks.write("a", ev.FileChanged(path="/w/src/deep/file.py", before=None, after="x", cause="c"), report("fine"))
    tasks.write("b", prompt("something else"))
    assert tasks.names(words) == ["a"]


@pytest.mark.parametrize("words", ["secretsystem", "parser missing", "NEAR(", "a OR b", "-x", "prompts:x"])
def test_what_is_not_there_is_not_found_whatever_is_typed(tasks, words):
    tasks.write("a", prompt("mend the parser"))
    assert tasks.names(words) == []


@pytest.mark.parametrize("words", ['"', "*", " . "])
def test_words_without_a_letter_choose_nothing(tasks, words):
    tasks.write("a", prompt("mend the parser"))
    assert tasks.names(words) == ["a"]


def test_a_snippet_shows_where_the_words_stand(tasks):
    tasks.write("a", prompt("word " * 50 + "mend the parser now " + "word " * 50))
    (found,) = tasks.find("parser")
    assert "the \x02parser\x03 now" in found.snippet
    assert len(found.snippet) < 120


def test_a_name_counts_more_than_a_prompt_and_that_more_than_an_answer(tasks):
    tasks.write("named", prompt("x"), ev.TaskLabelled(name="parser"))
    tasks.write("answered", prompt("x"), answer("the parser"))
    tasks.write("asked", prompt("the parser"))
    assert tasks.names("parser") == ["named", "asked", "answered"]


def test_a_misspelt_name_is_found_after_what_is_exact(tasks):
    tasks.write("a", prompt("x"), ev.TaskLabelled(name="invoice import"))
    tasks.write("b", prompt("x"), answer("invoce: a word that somebody misspelt"))
    assert tasks.names("invoce") == ["b", "a"]
    assert tasks.names("imvoice 7") == []
    assert tasks.names("elephant") == []


def test_a_log_that_grew_is_read_on_and_what_was_known_stays(tasks):
    tasks.write("a", prompt("first words"), cost(1.0))
    assert tasks.names("second") == []
    tasks.write("a", prompt("second words"), cost(0.5))
    assert tasks.names("second") == tasks.names("first") == ["a"]
    assert (tasks.find()[0].cost, tasks.find()[0].title) == (1.5, "first words")


def test_a_line_that_is_not_whole_yet_is_read_when_it_is(tasks):
    tasks.write("a", prompt("first"))
    log = tasks.folder / "a" / "events.jsonl"
    whole = log.read_bytes()
    tasks.write("a", prompt("second"))
    line = log.read_bytes()[len(whole) :]
    log.write_bytes(whole + line[:20])
    assert tasks.names("second") == []
    log.write_bytes(whole + line)
    assert tasks.names("second") == ["a"]


def test_a_longer_log_in_the_place_of_another_is_read_anew(tasks):
    tasks.write("a", prompt("first words"), cost(1.0), end())
    tasks.write("b", prompt("other words"), cost(2.0), cost(3.0), prompt("more"), end())
    tasks.find()
    (tasks.folder / "b" / "events.jsonl").replace(tasks.folder / "a" / "events.jsonl")
    (info,) = tasks.find()
    assert (info.task, info.title, info.cost) == ("a", "other words", 5.0)
    assert tasks.names("first") == []


def test_a_log_that_is_longer_than_a_piece_is_read_to_its_end(tasks):
    tasks.write("a", *[prompt(f"{number} " + "words " * 50_000) for number in range(20)], cost(1.0))
    assert (tasks.folder / "a" / "events.jsonl").stat().st_size > task_index.PIECE
    tasks.find()
    tasks.write("a", cost(2.0))
    assert tasks.find()[0].cost == 3.0


def test_another_log_of_the_same_name_is_read_anew(tasks):
    tasks.write("a", prompt("first"), answer("long " * 50))
    assert tasks.names("first") == ["a"]
    (tasks.folder / "a" / "events.jsonl").unlink()
    tasks.write("a", prompt("second"))
    assert (tasks.names("first"), tasks.names("second"), len(tasks.find())) == ([], ["a"], 1)


def test_a_task_that_is_gone_is_forgotten(tasks):
    tasks.write("a", prompt("parser"))
    assert tasks.names("parser") == ["a"]
    (tasks.folder / "a").rename(tasks.root / "a")
    assert tasks.names("parser") == tasks.names() == []


def test_garbage_in_a_log_hides_no_task(tasks):
    tasks.write("a", prompt("parser"))
    with open(tasks.folder / "a" / "events.jsonl", "ab") as file:
        file.write(b'garbage\n{"type":"turn_started","content":7}\n\x00\x00\n')
    tasks.write("b")
    (tasks.folder / "c").mkdir()
    (tasks.folder / "c" / "events.jsonl").write_bytes(b"nothing but garbage\n")
    assert tasks.names("parser") == ["a"]
    assert sorted(tasks.names()) == ["a", "b"]


def damaged_at_the_head(file):
    file.write_bytes(b"garbage" * 1000)


def damaged_in_the_middle(file):
    with sqlite3.connect(file) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    data = bytearray(file.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    file.write_bytes(data)


def of_another_version(file):
    with sqlite3.connect(file) as database:
        database.execute("DROP TABLE names")
        database.execute("PRAGMA user_version = 99")


@pytest.mark.parametrize(
    "damage", [damaged_at_the_head, damaged_in_the_middle, of_another_version, lambda f: f.unlink()]
)
def test_an_index_that_is_damaged_missing_or_of_another_version_is_made_anew(tasks, damage):
    for number in range(30):
        tasks.write(f"a{number}", prompt(f"parser {number}"), answer("word " * 200))
    before = tasks.find()
    damage(tasks.file)
    assert tasks.find() == before
    assert tasks.names("parser 7") == ["a7"]


def test_without_full_text_search_words_are_looked_for_one_by_one(tasks):
    tasks.write("a", prompt("mend the parser"), answer("it was the cache"))
    tasks.find()
    with sqlite3.connect(tasks.file) as database:
        for name in ("words", "names"):
            database.execute(f"DROP TABLE {name}")
        database.execute("CREATE TABLE words (name, prompts, answers, actions, paths)")
        database.execute("CREATE TABLE names (name)")
        database.execute("DELETE FROM tasks")
    assert tasks.names("parser cache") == ["a"]
    assert tasks.names("parser elephant") == []


def test_an_index_that_cannot_be_written_is_no_hindrance(tasks):
    tasks.write("a", prompt("parser"))
    tasks.file.mkdir()
    assert tasks.names("parser") == ["a"]


def test_the_index_is_private(tasks):
    tasks.write("a")
    tasks.find()
    assert [stat.S_IMODE(path.stat().st_mode) for path in tasks.root.glob("history.db*")] == [0o600]


LOOKER = """
import sys
from pathlib import Path
from halocline.protocol.queries.tasks import TaskQuery
from halocline.store.tasks.index import TaskIndex
for _ in range(15):
    print(len(TaskIndex(Path(sys.argv[1]), Path(sys.argv[2])).find(TaskQuery(words="parser"))))
"""


@pytest.mark.process
def test_several_processes_may_use_it_while_tasks_go_on(tasks):
    for number in range(40):
        tasks.write(f"a{number}", prompt("parser"))
    words = [sys.executable, "-c", LOOKER, str(tasks.file), str(tasks.folder)]
    lookers = [subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    growing = threading.Thread(target=lambda: [tasks.write(f"a{n}", prompt("more")) for n in range(40)])
    growing.start()
    for looker in lookers:
        assert looker.communicate() == ("40\n" * 15, "")
    growing.join()
    assert len(tasks.find("more")) == 40


def test_tasks_are_chosen_by_folder_model_tag_mark_time_and_end(tasks):
    tasks.write("a", prompt("x"), ev.TaskLabelled(tags=("later", "ui"), favourite=True), end())
    tasks.write("b", prompt("x"), ev.ModelChanged(model="openai/gpt"), end(StopReason.ERROR))
    assert tasks.names(model="GPT") == tasks.names(status=frozenset({"error"})) == tasks.names(since=1001.5) == ["b"]
    assert tasks.names(tags=frozenset({"later", "ui"})) == tasks.names(favourite=True) == ["a"]
    assert tasks.names(tags=frozenset({"later", "x"})) == tasks.names(workspace="/other") == []


def test_a_task_is_done_only_while_an_end_at_which_nothing_had_failed_stands(tasks):
    def status():
        return [info.status for info in tasks.find()]

    tasks.write("a", prompt("x"), ev.TurnEnded(StopReason.END_TURN, failed=("the last edit",)))
    assert status() == ["partly"]
    tasks.write("a", prompt("y"), end())
    ended = tasks.find()[0].end
    for to, then in ((2, "rewound"), (ended, "end_turn"), (ended - 1, "rewound"), (3, "rewound")):
        tasks.write("a", ev.ConversationRestored(to=to))
        assert status() == [then]
    tasks.write("a", prompt("z"))
    assert status() == ["unfinished"]


def test_tasks_are_sorted_by_what_was_asked_for(tasks):
    tasks.write("a", prompt("x" * 5000), cost(1.0, tokens=5))
    tasks.write("b", prompt("x"), cost(2.0, tokens=3))
    tasks.write("c", prompt("x"), cost(None, tokens=4))
    assert tasks.names(order=Order.COST) == ["b", "a", "c"]
    assert tasks.names(order=Order.TOKENS) == ["a", "c", "b"]
    assert tasks.names(order=Order.SIZE)[0] == "a"
    assert tasks.names(order=Order.TIME, limit=2) == ["c", "b"]


def test_a_label_is_no_work_and_can_be_taken_away(tasks):
    tasks.write("a", prompt("x"), ev.TaskLabelled(name="one", tags=("t",), favourite=True))
    tasks.write("b", prompt("x"))
    tasks.write("a", ev.TaskLabelled(name=""), ev.TaskLabelled(favourite=False))
    newest, labelled = tasks.find()
    assert (newest.task, labelled.name, labelled.tags, labelled.favourite) == ("b", "", ("t",), False)
    assert tasks.names("one") == []


def test_an_imported_task_has_the_model_with_which_it_goes_on_here(tasks):
    tasks.write("imported", prompt("one"), end())
    tasks.write(
        "imported",
        ev.TaskAdopted(
            model="scripted/b", mode=Mode.ACT, approval_mode=ApprovalMode.ASK, system_prompt="", version="0"
        ),
    )
    assert tasks.names(model="scripted/b") == ["imported"]


def test_a_log_whose_json_has_blanks_is_listed_as_any_other(tasks):
    tasks.write("one", prompt("the first"))
    log = tasks.folder / "one" / "events.jsonl"
    log.write_text("".join(json.dumps(json.loads(line)) + "\n" for line in log.read_text().splitlines()))
    assert tasks.names("first") == ["one"]
