// Halocline's edits in the diff editor: growing while they are written, and to be changed, accepted or rejected.
const { basename } = require('node:path')
const vscode = require('vscode')

const { EventEmitter, FilePermission, FileType, Uri, commands, l10n, window, workspace } = vscode
const AFTER = 'halocline-edit'
const BEFORE = 'halocline-before'
const encoder = new TextEncoder()
const decoder = new TextDecoder()

/** The sides of diffs, in memory. What is after can be edited. */
class Sides {
  constructor() {
    this.texts = new Map()
    this.changes = new EventEmitter()
    this.onDidChangeFile = this.changes.event
    this.replaced = new EventEmitter()
    this.onDidChange = this.replaced.event
    this.time = 0
  }

  /** Set the text of a side; `isFixed` forbids to edit it. */
  set(uri, text, isFixed = false) {
    const known = this.texts.get(uri.toString())
    if (known?.text === text) return
    this.texts.set(uri.toString(), { text, isFixed, at: ++this.time })
    this.changes.fire([{ type: known ? 1 : 2, uri }])
    this.replaced.fire(uri)
  }

  delete(uri) {
    if (this.texts.delete(uri.toString())) this.changes.fire([{ type: 3, uri }])
  }

  find(uri) {
    const found = this.texts.get(uri.toString())
    if (!found) throw vscode.FileSystemError.FileNotFound(uri)
    return found
  }

  // A TextDocumentContentProvider.
  provideTextDocumentContent(uri) {
    return this.texts.get(uri.toString())?.text ?? ''
  }

  // A FileSystemProvider, as far as an editor needs one.
  watch() {
    return { dispose() {} }
  }

  stat(uri) {
    const { text, isFixed, at } = this.find(uri)
    const size = encoder.encode(text).length
    return {
      type: FileType.File,
      ctime: 0,
      mtime: at,
      size,
      permissions: isFixed ? FilePermission.Readonly : undefined,
    }
  }

  readFile(uri) {
    return encoder.encode(this.find(uri).text)
  }

  writeFile(uri, data) {
    const { isFixed } = this.find(uri)
    this.texts.set(uri.toString(), { text: decoder.decode(data), isFixed, at: ++this.time })
  }

  readDirectory() {
    return []
  }

  createDirectory() {}

  rename() {}
}

class Diffs {
  constructor(backend) {
    this.backend = backend
    this.sides = new Sides()
    /** What is shown, by task and call: {task, call, request, title, files: [{path, before, after}]}. */
    this.shown = new Map()
    const register = workspace.registerFileSystemProvider(AFTER, this.sides, { isCaseSensitive: true })
    const before = workspace.registerTextDocumentContentProvider(BEFORE, this.sides)
    const tellSettings = backend.keepTold('editor/settings', () => ({
      show_edits: workspace.getConfiguration('halocline').get('showEdits'),
    }))
    this.parts = [
      register,
      before,
      backend.onEnd(() => [...this.shown.values()].forEach((one) => this.close(one))),
      workspace.onDidChangeConfiguration(
        (change) => change.affectsConfiguration('halocline.showEdits') && tellSettings(),
      ),
    ]
    backend.on('diff/draft', (given) => this.show(given).catch((error) => backend.log.error(error)))
    backend.on('diff/open', (given) => this.show(given).catch((error) => backend.log.error(error)))
    backend.on('diff/close', (given) => this.close(given).catch((error) => backend.log.error(error)))
  }

  dispose() {
    for (const part of this.parts) part.dispose()
  }

  async show(given) {
    const key = keyOf(given)
    const known = this.shown.get(key)
    const names = given.files.map(({ file }) => file)
    const files = given.files.map((file) => ({
      ...file,
      left: makeUri(BEFORE, given, file.file),
      right: makeUri(AFTER, given, file.file),
    }))
    const one = { ...given, files }
    this.shown.set(key, one)
    for (const { left, right, before, after } of files) {
      this.sides.set(left, before ?? '')
      this.sides.set(right, after ?? '', after === null)
    }
    const isOpen =
      known && known.files.length === names.length && known.files.every(({ file }, at) => file === names[at])
    if (isOpen && (given.request === undefined || known.request === given.request) && !given.again)
      return this.follow(one)
    for (const { left, right, file, before } of [...files].reverse()) {
      const title =
        before === null
          ? l10n.t('{0} (new file, Halocline)', basename(file))
          : l10n.t('{0} (edit, Halocline)', basename(file))
      await commands.executeCommand('vscode.diff', left, right, title, {
        preview: false, // it would take the place of a file that the person looks at
        preserveFocus: true,
      })
    }
  }

  /** Keep the newest line of a growing edit in view. */
  follow({ request, files: [{ right, before, after }] }) {
    if (request !== undefined) return
    const editor = window.visibleTextEditors.find(({ document }) => document.uri.toString() === right.toString())
    if (!editor || editor === window.activeTextEditor) return
    const old = (before ?? '').split('\n')
    const now = after.split('\n')
    let same = 0
    while (same < now.length && now.at(-1 - same) === old.at(-1 - same)) same += 1
    const at = new vscode.Position(Math.max(0, now.length - same - 1), 0)
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport)
  }

  async close(given) {
    const one = this.shown.get(keyOf(given))
    if (!one) return
    this.shown.delete(keyOf(given))
    for (const { left, right } of one.files) {
      const document = workspace.textDocuments.find(({ uri }) => uri.toString() === right.toString())
      if (document?.isDirty) await document.save() // into memory; a changed one would ask before its tab closes
      await window.tabGroups.close(tabsOf(right))
      this.sides.delete(left)
      this.sides.delete(right)
    }
  }

  /** Accept or reject the edit whose diff is in front. What was changed in it is what is written. */
  async decide(uri, accept, note = '') {
    const one = this.find(uri)
    if (!one?.request) return void window.showInformationMessage(l10n.t('This edit does not wait for a decision.'))
    const texts = Object.fromEntries(
      one.files.filter(({ after }) => after !== null).map(({ path, right }) => [path, this.textOf(right)]),
    )
    try {
      await this.backend.request('edit/decide', { task: one.task, request: one.request, accept, texts, note })
    } catch (error) {
      window.showErrorMessage(error.message)
    }
  }

  async rejectWithReason(uri) {
    const note = await window.showInputBox({
      title: l10n.t('Why not?'),
      prompt: l10n.t('The model reads this and tries something else.'),
      ignoreFocusOut: true,
    })
    if (note !== undefined) await this.decide(uri, false, note)
  }

  find(uri) {
    const wanted = (uri ?? window.activeTextEditor?.document.uri)?.toString()
    return [...this.shown.values()].find(({ files }) => files.some(({ right }) => right.toString() === wanted))
  }

  textOf(uri) {
    const document = workspace.textDocuments.find((other) => other.uri.toString() === uri.toString())
    return (document?.getText() ?? this.sides.find(uri).text).replaceAll('\r\n', '\n')
  }
}

const keyOf = ({ task, call }) => `${task} ${call}`

/** Its path is the file's, so that the editor knows the language. */
const makeUri = (scheme, { task, call }, file) =>
  Uri.from({ scheme, path: Uri.file(file).path, query: `${task} ${call}` })

const tabsOf = (uri) =>
  window.tabGroups.all
    .flatMap(({ tabs }) => tabs)
    .filter(({ input }) => (input?.modified ?? input?.uri)?.toString() === uri.toString())

module.exports = { Diffs }
