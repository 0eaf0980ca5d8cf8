// Opens files of a task: in the viewer, in the person's own editor, or in the editor that shows the page.
import { openBeside } from '../state/store.js'
import { query } from '../lib/connection.js'
import { editorLink } from '../lib/preferences.js'
/** @import { FoundFile } from '../../../types/protocol' */

const { early } = window

/** Editors that open files by an address. */
export const EDITORS = {
  'VS Code': 'vscode://file{path}:{line}',
  'VS Code Insiders': 'vscode-insiders://file{path}:{line}',
  Cursor: 'cursor://file{path}:{line}',
  Windsurf: 'windsurf://file{path}:{line}',
  Zed: 'zed://file{path}:{line}',
  'JetBrains IDEs': 'idea://open?file={path}&line={line}',
  'Sublime Text': 'subl://open?url=file://{path}&line={line}',
  TextMate: 'txmt://open?url=file://{path}&line={line}',
}
/** A scheme that runs nothing in the page and leads to no other page. */
const SCHEME = /^(?!(?:javascript|data|blob|file|https?|about|view-source):)[a-z][a-z0-9+.-]*:\/\//i

export const isEditorLink = (text) => SCHEME.test(text) && text.includes('{path}')

/** The address that opens a file in the person's editor; empty if none is set. Pure but for the setting. */
export function editorAddress(place, line = 1, link = editorLink.value) {
  if (!isEditorLink(link)) return ''
  const path = place.split('/').map(encodeURIComponent).join('/')
  return link.replaceAll('{path}', () => path).replaceAll('{line}', String(line))
}

export const editorName = (link = editorLink.value) =>
  Object.keys(EDITORS).find((name) => EDITORS[name] === link) ?? 'your editor'

/** Show what commands print. */
export const openTerminal = (task) => openBeside('terminal', { task })

/** Open a file, or a folder, of a task. */
export function openFile(task, path, line, isFolder = false) {
  if (early.isEditor && !isFolder) early.tell('show', { path: makeAbsolute(task, path), line })
  else openBeside('file', { task, path, line, isFolder })
}

const makeAbsolute = (task, path) => (path.startsWith('/') ? path : `${task.facts.workspace}/${path}`)

const PAUSE = 40
const MOST = 200

/** Finds the files that texts about a task name; names that come together are looked up together. */
export function finderOf(task) {
  /** @type {Map<string, FoundFile>} */
  const known = new Map()
  let waiting = new Map()
  const look = async (asked) => {
    const names = [...asked.keys()]
    const found = await query('files_named', { task: task.id, names }).catch(() => [])
    for (const one of found) known.set(one.name, one)
    for (const [name, answer] of asked) answer(known.get(name))
  }
  const lookLater = () => {
    const all = [...waiting]
    waiting = new Map()
    for (let at = 0; at < all.length; at += MOST) look(new Map(all.slice(at, at + MOST)))
  }
  const asked = new Map()
  return {
    known: (name) => known.get(name),
    find(name) {
      if (known.has(name)) return Promise.resolve(known.get(name))
      if (!asked.has(name)) {
        if (!waiting.size) setTimeout(lookLater, PAUSE)
        const answer = new Promise((resolve) => waiting.set(name, resolve))
        asked.set(name, answer)
        answer.then((found) => found || setTimeout(() => asked.delete(name), 5000)) // it may be made meanwhile
      }
      return asked.get(name)
    },
    open: (found, line) => openFile(task, found.place, line, found.is_folder),
    address: (found, line) =>
      (!early.isEditor && !found.is_folder && editorAddress(found.place, line)) || `#/task/${task.id}`,
  }
}
