"""Runs a script of the extension in Node, with as much of VS Code's API as it asks for: a tenth of a second in place of
half a minute. What VS Code itself does with the answers is tested in a real one.
"""

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.node import node_program

SOURCE = Path(__file__).parents[3] / "editors" / "vscode" / "src"
_API = """
const Module = require('node:module')
const said = []
const format = (text, ...words) => text.replace(/{(\\d)}/g, (_, at) => words[at])
const tell = async (text) => void said.push(text)
const makeFile = (path) => ({ scheme: 'file', fsPath: path, toString: () => `file://${path}` })
const Uri = { file: (path) => makeFile(path.startsWith('/') ? path : `/${path}`) }
class Range { constructor(...given) { this.given = given } }
class WorkspaceEdit { replace(uri, range, text) { this.made = { uri, text } } }
const vscode = {
  Range, Uri, WorkspaceEdit, ProgressLocation: {}, env: {}, commands: {}, languages: { getDiagnostics: () => [] },
  extensions: { getExtension: () => undefined }, l10n: { t: format },
  window: {
    showErrorMessage: tell, tabGroups: { all: [] },
    withProgress: (_, run) => run({ report() {} }, { onCancellationRequested() {} }),
  },
  workspace: {
    isTrusted: true, notebookDocuments: [], textDocuments: [],
    workspaceFolders: [{ uri: Uri.file('/project') }],
    getWorkspaceFolder: ({ scheme, fsPath }) =>
      scheme === 'file' && fsPath.startsWith('/project/') ? { uri: Uri.file('/project') } : undefined,
    asRelativePath: (uri) =>
      vscode.workspace.getWorkspaceFolder(uri) ? uri.fsPath.slice('/project/'.length) : uri.fsPath,
  },
}
const load = Module._load
Module._load = (name, ...more) => (name === 'vscode' ? vscode : load(name, ...more))
"""


def run_script(steps: str, **environment: str) -> Any:
    """Run `steps` of JavaScript, the body of an async function that knows `vscode`, what was `said` as errors, and
    `script(name)`. Return what they return.
    """
    node = node_program() or shutil.which("node") or pytest.skip("node is not on this machine")
    script = f"const script = (name) => require({json.dumps(str(SOURCE))} + '/' + name);"
    run = f"(async () => {{ {steps} }})().then((found) => console.log(JSON.stringify(found)))"
    done = subprocess.run(
        [node, "-"], input="\n".join([_API, script, run]), capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
