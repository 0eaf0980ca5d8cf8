"""The journey that is killed over and over: what the model says, what the person wants, and what each edit leaves.

Every edit gives one certain content, so that the log says what may be on the disk.
"""

from collections.abc import Mapping

from halocline.providers.scripted.model import Call, Turn

PROJECT: Mapping[str, str] = {
    "README.md": "# A project\n",
    "src/c.py": "c = 0\n",
    "src/d.py": "d = 0\n",
    "notes.txt": "one\ntwo\n",
    "old.txt": "what a command deletes\n",
    "long.txt": "".join(f"line {number} of a file that fills the window\n" for number in range(400)),
}
PATCH = """\
*** Begin Patch
*** Update File: src/c.py
-c = 0
+c = 1
*** Update File: src/d.py
-d = 0
+d = 1
*** Add File: src/new/e.py
+e = 1
*** End Patch"""
SWAP = "------- SEARCH\ntwo\n=======\n2\n+++++++ REPLACE"
JOB = "echo $$ > job.pid; echo ready; exec sleep 600"
TODOS = [{"text": "write", "status": "completed"}, {"text": "finish", "status": "in_progress"}]


def _write(id: str, path: str, content: str) -> Call:
    return Call("write_to_file", {"path": path, "content": content}, id=id)


def _shell(id: str, command: str, **more: object) -> Call:
    return Call("execute_command", {"command": command, "requires_approval": True, **more}, id=id)


TURNS = (
    Turn(
        thinking="What is there? A few files that may be changed.",
        text="I begin with two files and a patch.",
        chunk=5,
        calls=(
            _write("a1", "a.txt", "a1\n"),
            _write("b1", "deep/b.txt", "b1\n"),
            Call("apply_patch", {"input": PATCH}, id="p1"),
        ),
    ),
    Turn(
        text="Then a command.",
        calls=(_shell("r1", "echo r1 >> ../ran"), Call("read_file", {"path": "long.txt"}, id="look")),
    ),
    Turn(text="The first part is done.", chunk=4),
    Turn(
        calls=(
            _shell("j1", JOB, background=True),
            Call("ask_followup_question", {"question": "Which one?", "options": ["this", "that"]}, id="q1"),
            Call("replace_in_file", {"path": "notes.txt", "diff": SWAP}, id="s1"),
        ),
    ),
    Turn(text="The second part is done.", calls=(_shell("r2", "echo r2 >> ../ran; rm old.txt"),)),
    Turn(text="Both parts are."),
    Turn(
        calls=(
            _write("a2", "a.txt", "a2\n"),
            _write("b2", "deep/b.txt", "b2\n"),
            Call("update_todos", {"todos": TODOS}, id="t1"),
            _shell("r3", "echo r3 >> ../ran"),
        ),
    ),
    Turn(thinking="Nothing is left to do.", text="Finished.", chunk=5),
)
ACTS = {0: "Begin.", 3: "Go further.", 6: "End it."}
"""What the person says when so many replies were given."""
RESTS = 6
"""After so many replies the conversation is shortened, files are put back and the task is forked."""
EDITS: Mapping[str, Mapping[str, str | None]] = {
    "a1": {"a.txt": "a1\n"},
    "b1": {"deep/b.txt": "b1\n"},
    "p1": {"src/c.py": "c = 1\n", "src/d.py": "d = 1\n", "src/new/e.py": "e = 1\n"},
    "s1": {"notes.txt": "one\n2\n"},
    "r2": {"old.txt": None},
    "a2": {"a.txt": "a2\n"},
    "b2": {"deep/b.txt": "b2\n"},
}
"""What each call that changes files makes of them, when it works; None where it deletes one."""
EDITED = tuple({path for made in EDITS.values() for path in made})
COMMANDS = {"r1", "r2", "r3"}
"""Each leaves its name beside the workspace, where no restore takes it back."""
