// The errors that the window shows in files that are open in it, told once they are true of the text as it is now, as far as one can know.
const { DiagnosticSeverity, Uri, languages, window, workspace } = require('vscode')

/** Milliseconds without another answer after which what checks a file is taken to be done with it. */
const QUIET = 150
/** Milliseconds that a check is given in a language in which none was timed yet. */
const UNTIMED = 1000
/** Problems of the panel that are told at once. */
const MOST_SHOWN = 200

// VS Code says when errors come or go, and nothing when a file was checked and stays right. So a language counts as
// checked once an error of it came or went, and after a change we wait twice as long as its slowest check took.
class Problems {
  constructor() {
    /** When the text of a file last changed, and when its errors last did, in milliseconds. */
    this.changed = new Map()
    this.told = new Map()
    /** Languages that something checks, each with the milliseconds of its slowest check. */
    this.checked = new Map()
    this.waiting = new Set()
    for (const [uri] of languages.getDiagnostics()) this.take(uri)
    this.parts = [
      languages.onDidChangeDiagnostics(({ uris }) => {
        for (const uri of uris) this.take(uri)
        for (const look of this.waiting) look()
      }),
      workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length) this.changed.set(document.uri.toString(), performance.now())
      }),
    ]
  }

  /** Return which of the files are open and checked, and their errors. */
  async check({ paths, wait }) {
    const documents = paths.map((path) => find(Uri.file(path))).filter((document) => document && isShown(document))
    await this.settle(documents, wait * 1000)
    const found = documents.filter(({ languageId }) => this.checked.has(languageId))
    return { paths: found.map(({ uri }) => uri.fsPath), problems: found.flatMap(({ uri }) => listErrors(uri)) }
  }

  /** Note that a file was checked. */
  take(uri) {
    const [key, now] = [uri.toString(), performance.now()]
    const language = find(uri)?.languageId
    const took = this.isDone(uri) ? 0 : now - (this.changed.get(key) ?? now)
    this.told.set(key, now)
    if (language) this.checked.set(language, Math.max(took, this.checked.get(language) ?? 0))
  }

  /** True if the errors of a file changed since its text did, or its text never did. */
  isDone(uri) {
    const key = uri.toString()
    return !this.changed.has(key) || (this.told.get(key) ?? 0) > this.changed.get(key)
  }

  /** Wait until all files were checked as they are now, and then until nothing more is told; at most for some time. */
  settle(documents, most) {
    return new Promise((done) => {
      let quiet
      const end = () => {
        clearTimeout(late)
        clearTimeout(quiet)
        this.waiting.delete(look)
        done()
      }
      const pauseOf = ({ languageId, uri }) => {
        const slowest = this.checked.get(languageId)
        if (slowest === undefined) return most
        return this.isDone(uri) ? QUIET : QUIET + (2 * slowest || UNTIMED)
      }
      const look = () => {
        clearTimeout(quiet)
        quiet = setTimeout(end, Math.max(0, ...documents.map(pauseOf)))
      }
      const late = setTimeout(end, most)
      this.waiting.add(look)
      look()
    })
  }

  dispose() {
    for (const part of this.parts) part.dispose()
  }
}

/** True if a file is in a tab: many languages check no others. */
const isShown = ({ uri }) =>
  window.tabGroups.all.some(({ tabs }) => tabs.some(({ input }) => input?.uri?.toString() === uri.toString()))

const find = (uri) => workspace.textDocuments.find((document) => document.uri.toString() === uri.toString())

/** What the Problems panel shows of files, errors before warnings. */
function listShown() {
  const all = languages.getDiagnostics().filter(([uri]) => uri.scheme === 'file')
  const of = (severity) => all.flatMap(([uri, found]) => describe(uri, found, severity))
  return [...of(DiagnosticSeverity.Error), ...of(DiagnosticSeverity.Warning)].slice(0, MOST_SHOWN)
}

const listErrors = (uri) => describe(uri, languages.getDiagnostics(uri), DiagnosticSeverity.Error)

/** Describe what was found of one severity in a file. */
function describe(uri, found, severity) {
  const document = find(uri)
  return found
    .filter((one) => one.severity === severity)
    .map(({ range, message, code, source }) => ({
      path: uri.fsPath,
      line: range.start.line + 1,
      text: range.start.line < (document?.lineCount ?? 0) ? document.lineAt(range.start.line).text : '',
      message,
      code: String(code?.value ?? code ?? ''),
      source: source ?? '',
      is_warning: severity === DiagnosticSeverity.Warning,
    }))
}

module.exports = { Problems, listShown }
