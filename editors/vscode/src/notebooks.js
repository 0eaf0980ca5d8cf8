// Notebooks that are open: their text as they would be saved, and edits of their cells, so that kernel, outputs and undo stay.
const vscode = require('vscode')

const { NotebookCellData, NotebookData, NotebookEdit, NotebookRange, Range, WorkspaceEdit } = vscode
const { commands, window, workspace } = vscode
const TYPE = 'jupyter-notebook'

const find = (path) =>
  workspace.notebookDocuments.find(
    ({ uri, notebookType, isClosed }) =>
      uri.scheme === 'file' && uri.fsPath === path && notebookType === TYPE && !isClosed,
  )

/** True if it is not as on disk. The notebook itself does not know that of changes from before a window was reloaded. */
const isUnsaved = ({ uri, isDirty }) =>
  isDirty ||
  window.tabGroups.all.some(({ tabs }) =>
    tabs.some((tab) => tab.isDirty && tab.input?.uri?.toString() === uri.toString()),
  )

/** The cell whose text is in a document. */
const findCell = (document) =>
  workspace.notebookDocuments.flatMap((notebook) => notebook.getCells()).find((cell) => cell.document === document)

/** The text that the file gets if the notebook is saved now; `other` is another text of one cell, by its index. */
async function serialize(notebook, other = {}) {
  const data = new NotebookData(
    notebook.getCells().map(({ kind, document, outputs, metadata, executionSummary, index }) => {
      const cell = new NotebookCellData(kind, other[index] ?? document.getText(), document.languageId)
      return Object.assign(cell, { outputs: [...outputs], metadata, executionSummary })
    }),
  )
  data.metadata = notebook.metadata
  const { exportNotebook } = await vscode.extensions.getExtension('vscode.ipynb').activate()
  return exportNotebook(data)
}

/** The lines of the file that hold the text of a cell, from 0, and all lines of it. */
async function findLines({ notebook, index }) {
  const [lines, marked] = (await Promise.all([serialize(notebook), serialize(notebook, { [index]: '\0' })])).map(
    (text) => text.split('\n'),
  )
  const { start, end } = findChange(lines, marked)
  return { lines, start, end: Math.max(end, start + 1) }
}

/** Give an open notebook the cells of a text and save it. Cells that stay the same are not touched. */
async function write(notebook, text) {
  const [now, wanted] = [await serialize(notebook), text].map((one) => JSON.parse(one))
  const change = new WorkspaceEdit()
  const parse = () => commands.executeCommand('vscode.executeDataToNotebook', TYPE, new TextEncoder().encode(text))
  const edits = await listEdits(notebook, now.cells, wanted.cells, parse, change)
  if (asText({ ...now, cells: [] }) !== asText({ ...wanted, cells: [] }))
    edits.push(NotebookEdit.updateNotebookMetadata((await parse()).metadata))
  change.set(notebook.uri, edits)
  return (await workspace.applyEdit(change)) && notebook.save()
}

/** Add the edits of texts to `change`, so that what surrounds a text stays; return those of whole cells. */
async function listEdits(notebook, now, wanted, parse, change) {
  const { start, end, wantedEnd } = findChange(now.map(asText), wanted.map(asText))
  const isText = (cell, at) => asText({ ...cell, source: '' }) === asText({ ...wanted[start + at], source: '' })
  if (end !== wantedEnd || !now.slice(start, end).every(isText)) {
    const { cells } = await parse()
    return [NotebookEdit.replaceCells(new NotebookRange(start, end), cells.slice(start, wantedEnd))]
  }
  for (const index of range(start, end)) {
    const { uri, lineCount } = notebook.cellAt(index).document
    if (asText(now[index]) !== asText(wanted[index]))
      change.replace(uri, new Range(0, 0, lineCount, 0), join(wanted[index].source))
  }
  return []
}

/** What differs between two lists: the part of the first from `start` to `end`, of the second to `wantedEnd`. */
function findChange(one, other) {
  const [shorter, same] = [Math.min(one.length, other.length), (a, b) => a === b]
  let [start, last] = [0, 0]
  while (start < shorter && same(one[start], other[start])) start += 1
  while (last < shorter - start && same(one.at(-1 - last), other.at(-1 - last))) last += 1
  return { start, end: one.length - last, wantedEnd: other.length - last }
}

const range = (start, end) => [...Array(end).keys()].slice(start)
/** A text may be a list of lines. */
const join = (source) => [source].flat().join('')
const asText = ({ source = '', ...rest }) => JSON.stringify({ ...rest, source: join(source) })

module.exports = { find, findCell, findLines, isUnsaved, serialize, write }
