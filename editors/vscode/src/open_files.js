// Tells the Python side which files are open and visible, so that the model knows with the next prompt.
const { window } = require('vscode')

const PAUSE = 200

class OpenFiles {
  constructor(backend) {
    this.backend = backend
    const later = () => {
      clearTimeout(this.late)
      this.late = setTimeout(() => this.tell(), PAUSE)
    }
    this.parts = [
      window.tabGroups.onDidChangeTabs(later),
      window.onDidChangeActiveTextEditor(later),
      window.onDidChangeVisibleTextEditors(later),
    ]
    later()
  }

  tell() {
    const isFile = (uri) => uri?.scheme === 'file'
    const active = window.activeTextEditor
    const visible = [active, ...window.visibleTextEditors.filter((editor) => editor !== active)]
    const tabs = window.tabGroups.all.flatMap((group) => group.tabs)
    this.backend.notify('editor/changed', {
      visible: paths(visible.map((editor) => editor?.document.uri).filter(isFile)),
      open: paths(tabs.map(({ input }) => input?.uri).filter(isFile)),
    })
  }

  dispose() {
    clearTimeout(this.late)
    for (const part of this.parts) part.dispose()
  }
}

const paths = (uris) => [...new Set(uris.map((uri) => uri.fsPath))]

module.exports = { OpenFiles }
