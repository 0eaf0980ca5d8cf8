// The text of open files, for the Python side: unsaved text is read here, and edits of open files are made and saved here.
const { Range, WorkspaceEdit, workspace } = require('vscode')

const find = (path) =>
  workspace.textDocuments.find(
    (document) => document.uri.scheme === 'file' && document.uri.fsPath === path && !document.isClosed,
  )

/** The unsaved text of a file; null if it is as on disk. */
function read({ path }) {
  const document = find(path)
  return document?.isDirty ? document.getText() : null
}

/** Change an open file and save it, so that its undo goes on and no question about two versions comes up. */
async function write({ path, text }) {
  const document = find(path)
  if (!document) return false
  const edit = new WorkspaceEdit()
  edit.replace(document.uri, new Range(0, 0, document.lineCount, 0), text)
  return (await workspace.applyEdit(edit)) && document.save()
}

module.exports = { read, write }
