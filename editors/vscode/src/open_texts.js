// The text of open files, for the Python side: unsaved text is read here, and edits of open files are made and saved here.
const { Range, WorkspaceEdit, workspace } = require('vscode')
const notebooks = require('./notebooks')

/** The unsaved text of files, as it was last given. */
const given = new Map()

const find = (path) =>
  workspace.textDocuments.find(
    (document) => document.uri.scheme === 'file' && document.uri.fsPath === path && !document.isClosed,
  )

async function readUnsaved(path) {
  const notebook = notebooks.find(path)
  if (notebook) return notebooks.isUnsaved(notebook) ? notebooks.serialize(notebook) : null
  const document = find(path)
  return document?.isDirty ? document.getText() : null
}

/** The unsaved text of a file; null if it is as on disk. */
async function read({ path }) {
  const text = await readUnsaved(path)
  given.set(path, text)
  return text
}

/**
 * Change an open file and save it, so that its undo goes on and no question about two versions comes up. Returns false if
 * it is to be written on disk, 'changed' if its unsaved text is another than was given: then nothing may be written.
 */
async function write({ path, text }) {
  const unsaved = await readUnsaved(path)
  if (unsaved !== null && unsaved !== given.get(path)) return 'changed' // the edit does not know it: it must not be lost
  const notebook = notebooks.find(path)
  if (notebook) return notebooks.write(notebook, text)
  const document = find(path)
  if (!document) return false
  const edit = new WorkspaceEdit()
  edit.replace(document.uri, new Range(0, 0, document.lineCount, 0), text)
  return (await workspace.applyEdit(edit)) && document.save()
}

module.exports = { read, write }
