// What menus and the light bulb do: put a place into the chat, start a task about it, write a commit message.
const { spawn } = require('node:child_process')
const vscode = require('vscode')
const notebooks = require('./notebooks')

const { Uri, languages, l10n, window, workspace } = vscode

/** The document and lines of an action: as given, or those of the active editor. Lines count from 1. */
function placeOf(uri, range) {
  const editor = window.activeTextEditor
  const document = uri ? workspace.textDocuments.find((one) => one.uri.toString() === uri.toString()) : editor?.document
  const lines = range ?? editor?.selection
  if (!document || !lines) throw new Error(l10n.t('Select code in an editor first.'))
  const last = lines.end.character || lines.isEmpty ? lines.end.line : Math.max(lines.start.line, lines.end.line - 1)
  return { document, first: lines.start.line + 1, last: last + 1, isEmpty: lines.isEmpty }
}

/** What a document is a part of: a cell's notebook, else itself, as other schemes with a file's path hold other text. */
const fileOf = (uri) => (uri.scheme === 'vscode-notebook-cell' ? Uri.file(uri.fsPath) : uri)

/** The path as a mention names it: relative to its folder. */
const pathOf = (uri) => workspace.asRelativePath(fileOf(uri), (workspace.workspaceFolders ?? []).length > 1)
const mention = (path, lines = '') => (/\s/.test(path) ? `@"${path}${lines}"` : `@${path}${lines}`)

/** Run an action and say what went wrong. */
const telling =
  (run) =>
  async (parts, ...given) => {
    try {
      return await run(parts, ...given)
    } catch (error) {
      return void window.showErrorMessage(error.message)
    }
  }

const addSelection = telling(({ pages }, uri, range) => {
  const { document, first, last, isEmpty } = placeOf(uri, range)
  const cell = notebooks.findCell(document)
  if (cell) return pages.insert(`${mention(pathOf(document.uri))} (${nameOf(cell)}) `)
  const lines = isEmpty ? '' : first === last ? `:${first}` : `:${first}-${last}`
  return pages.insert(`${mention(pathOf(document.uri), lines)} `)
})

const addFile = telling(({ pages }, uri, all) => {
  const uris = all?.length ? all : [uri ?? window.activeTextEditor?.document.uri].filter(Boolean)
  return pages.insert(`${uris.map((one) => mention(pathOf(one))).join(' ')} `)
})

const addTerminalSelection = telling(async ({ pages }) => {
  const before = await vscode.env.clipboard.readText()
  await vscode.commands.executeCommand('workbench.action.terminal.copySelection')
  const text = await vscode.env.clipboard.readText()
  await vscode.env.clipboard.writeText(before)
  const fence = '`'.repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)))
  return pages.insert(`${fence}\n${text.trimEnd()}\n${fence}\n`)
})

const addProblems = telling(({ pages }, given) => {
  const uri = given?.resource ?? window.activeTextEditor?.document.uri
  if (!uri) throw new Error(l10n.t('Open a file first.'))
  const found = languages.getDiagnostics(uri)
  if (!found.length) throw new Error(l10n.t('{0} has no problems.', pathOf(uri)))
  const lines = found.map(({ range, message }) => `- ${mention(pathOf(uri), `:${range.start.line + 1}`)} ${message}`)
  return pages.insert(`${lines.join('\n')}\n`)
})

/** As the model counts the cells. */
const nameOf = ({ index }) => l10n.t('cell {0}', index + 1)

/** The cell of a menu, or the one that is selected. */
function selectedCell(given) {
  const { notebook, selection } = window.activeNotebookEditor ?? {}
  const cell = given?.document ? given : notebook?.cellCount && notebook.cellAt(selection.start)
  if (!cell) throw new Error(l10n.t('Select a cell of a notebook first.'))
  return cell
}

const actOnCell = (name) =>
  telling((parts, given) => {
    const { document } = selectedCell(given)
    return act(name)(parts, document.uri, new vscode.Range(0, 0, document.lineCount, 0))
  })

/** Begin a prompt for a new cell; the person says what is to be in it. */
const generateCell = telling(({ pages }, given) => {
  const cell = selectedCell(given)
  return pages.insert(
    l10n.t('Below {0} of {1}, add a cell that', nameOf(cell), mention(pathOf(cell.document.uri))) + ' ',
  )
})

/** The lines of a place in its file, and their text; of a cell, those that hold it. */
async function linesOf({ document, first, last }) {
  const cell = notebooks.findCell(document)
  if (!cell) return { first, last, text: document.getText(new vscode.Range(first - 1, 0, last, 0)) }
  const { lines, start, end } = await notebooks.findLines(cell)
  return { first: start + 1, last: end, text: lines.slice(start, end).join('\n'), cell: cell.index + 1 }
}

/** Start a task about a place. `problems` are what the editor says about it. */
const act = (name) =>
  telling(async ({ backend, pages }, uri, range, problems) => {
    const place = placeOf(uri, range)
    const { document, first, last } = place
    const said =
      problems ??
      languages
        .getDiagnostics(document.uri)
        .filter(({ range: at }) => at.start.line < last && at.end.line >= first - 1)
        .map(({ message }) => message)
    const file = fileOf(document.uri)
    const folder = workspace.getWorkspaceFolder(file)
    if (!folder) throw new Error(l10n.t('{0} is in no folder of this window.', document.fileName))
    const task = await backend.ask('action/run', {
      name,
      folder: folder.uri.fsPath,
      path: workspace.asRelativePath(file, false),
      ...(await linesOf(place)),
      problems: said,
    })
    await pages.go(['task', task])
  })

/** The processes that write a commit message. */
const writing = new Set()

function tellWriting() {
  return vscode.commands.executeCommand('setContext', 'halocline.writesCommitMessage', writing.size > 0)
}

/** Stop writing; what has come stays in the box. */
const stopCommitMessage = telling(() => writing.forEach((child) => child.kill('SIGINT')))

/** Write the message of what is staged, else of all changes, into the box of the repository as it comes. */
const commitMessage = telling(async ({ backend }, source) => {
  const git = vscode.extensions.getExtension('vscode.git')
  const { repositories } = (git.isActive ? git.exports : await git.activate()).getAPI(1)
  const wanted = source?.rootUri?.toString()
  const known = repositories.find(({ rootUri }) => rootUri.toString() === wanted)
  const repository = known ?? (repositories.length > 1 ? await pickRepository(repositories) : repositories[0])
  if (!repository) return
  const { findCommand } = require('./command')
  const [program, ...words] = await findCommand(backend.context)
  const env = { ...process.env, ...(await require('./keys').readKeys(backend.context)) }
  const options = {
    location: vscode.ProgressLocation.SourceControl,
    title: l10n.t('Writing a commit message'),
    cancellable: true,
  }
  await window.withProgress(options, (_, token) => {
    const child = spawn(program, [...words, 'commit-message', '-C', repository.rootUri.fsPath], { env })
    writing.add(child)
    tellWriting()
    token.onCancellationRequested(() => child.kill('SIGINT'))
    let [text, problems] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (more) => {
      text += more
      repository.inputBox.value = text.trim()
    })
    child.stderr.setEncoding('utf8').on('data', (more) => (problems += more))
    return new Promise((done, fail) => {
      child.on('error', fail)
      child.on('close', (code) => {
        writing.delete(child)
        tellWriting()
        if (code && !child.killed) fail(new Error(problems.trim() || `exit code ${code}`))
        else done()
      })
    })
  })
})

async function pickRepository(repositories) {
  const items = repositories.map((repository) => ({ label: workspace.asRelativePath(repository.rootUri), repository }))
  return (await window.showQuickPick(items, { title: l10n.t('Commit message for') }))?.repository
}

module.exports = {
  addSelection,
  addFile,
  addTerminalSelection,
  addProblems,
  explain: act('explain'),
  fix: act('fix'),
  improve: act('improve'),
  explainCell: actOnCell('explain'),
  improveCell: actOnCell('improve'),
  generateCell,
  commitMessage,
  stopCommitMessage,
}
