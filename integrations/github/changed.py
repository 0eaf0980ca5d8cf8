"""Writes the paths of the files that a task changed and git would commit, each ended by a NUL.

Standard input is what `halo checkpoints diff --since-start --json` says. What a build left behind is not among them.
"""

import json
import os
import subprocess
import sys

COMMITTABLE = ("git", "ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")

ours = {json.loads(line)["path"] for line in sys.stdin}
in_git = subprocess.run(COMMITTABLE, stdout=subprocess.PIPE, check=True).stdout
for path in sorted(ours & {os.fsdecode(name) for name in in_git.split(b"\0")}):
    sys.stdout.buffer.write(os.fsencode(os.path.abspath(path)) + b"\0")
