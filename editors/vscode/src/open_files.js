// Tells the Python side which files are open and visible, so that the model knows with the next prompt.
const { window } = require('vscode')

const PAUSE = 200

class OpenFiles {
  constructor(backend) {
    const tell = backend.keepTold('editor/changed', describe)
    const later = () => {
      clearTimeout(this.late)
      this.late = setTimeout(tell, PAUSE)
    }
    this.parts = [
      window.tabGroups.onDidChangeTabs(later),
      window.onDidChangeActiveTextEditor(later),
      window.onDidChangeVisibleTextEditors(later),
      window.onDidChangeVisibleNotebookEditors(later),
    ]
  }

  dispose() {
    clearTimeout(this.late)
    for (const part of this.parts) part.dispose()
  }
}

function describe() {
  const active = window.activeTextEditor
  const visible = [active, ...window.visibleTextEditors.filter((editor) => editor !== active)]
  const tabs = window.tabGroups.all.flatMap((group) => group.tabs)
  return {
    visible: paths([
      ...visible.map((editor) => editor?.document.uri),
      ...window.visibleNotebookEditors.map(({ notebook }) => notebook.uri),
    ]),
    open: paths(tabs.map(({ input }) => input?.uri)),
  }
}

const paths = (uris) => [...new Set(uris.filter((uri) => uri?.scheme === 'file').map((uri) => uri.fsPath))]

module.exports = { OpenFiles }
