"""What the page keeps in its modules outlives a task, so each of it is kept by what no two tasks share."""

import re
from importlib.resources import files
from pathlib import Path

JS = Path(str(files("halocline.surfaces.web").joinpath("static"))) / "js"
KEPT = re.compile(
    r"^(?:export )?const (\w+) = (?:new (?:Map|Set)\(\)|(?:keepValue\('\w+', |signal\()(?:\{\}|new \w+\(\))\))",
    re.MULTILINE,
)
KEYS = {
    "by task": """
        composer/attachments files pasted
        lib/connection board watched
        lib/preferences putBack
        review/review notes
        state/store beside tasks
    """,
    "by task and what is named in it": """
        composer/suggestions asked
        decisions/approve-ahead known
        decisions/approve conflicts drafts
        decisions/edit-choices known
        decisions/in-view inView
        decisions/whole-call seen
        review/reviewed-file seen unsent
        transcript/checkpoints known
        widgets/use-draft values
    """,
    "by what no task has its own of": """
        files/config-editor drafts
        history/history chosen
        lib/code known
        lib/connection waiting
        lib/diff-lines marks
        lib/draw-diagram pictures
        lib/fetch-files pictures
        lib/preferences keymap known
        mcp/server failedTests
        models/effort-menu known
        state/folder seen
        state/outbox going
        state/shortcut-keys actions
        state/store usual
        widgets/lazy loaded
    """,
}


def test_all_that_the_page_keeps_is_known_with_what_it_is_kept_by() -> None:
    kept = {
        (str(file.relative_to(JS))[:-3], name) for file in JS.rglob("*.js") for name in KEPT.findall(file.read_text())
    }
    known = [
        (line.split()[0], name) for lines in KEYS.values() for line in lines.split("\n") for name in line.split()[1:]
    ]
    assert sorted(kept) == sorted(known), "request, call, sequence and path are named by task: use `task.keyOf`"
