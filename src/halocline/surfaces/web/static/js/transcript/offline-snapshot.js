// What a reload shows while the server is unreachable: the last viewed tasks, bounded, in this browser only.
// `worker.js` caches the page's own files.
import { style } from '../lib/ui.js'
import { standing } from '../lib/connection.js'
import { keepValue } from '../lib/preferences.js'
import { listed } from '../state/board.js'
import { current } from '../state/store.js'

const MOST_TASKS = 3
const MOST_ROWS = 120
const LONGEST_ROW = 8000
const LONGEST = 250_000
/** [{task, title, at, rows}], the latest first. */
export const snapshots = keepValue('snapshots', [])
/** The last board. */
const kept = keepValue('board', null)

const short = (key, value) =>
  typeof value === 'string' && value.length > LONGEST_ROW ? `${value.slice(0, LONGEST_ROW)}…` : value

function save() {
  const task = current.peek()
  const board = listed.peek()
  if (board?.rows.length) kept.value = { ...board, rows: board.rows.slice(0, 30) }
  if (!task?.ready.peek() || !task.rows.length) return
  let rows = JSON.parse(JSON.stringify(task.rows.slice(-MOST_ROWS).filter(Boolean), short))
  while (rows.length > 1 && JSON.stringify(rows).length > LONGEST) rows = rows.slice(Math.ceil(rows.length / 4))
  const one = {
    task: task.id,
    title: task.facts.name || task.facts.title,
    at: Date.now() / 1000,
    rows,
    cut: rows.length < task.rows.length,
  }
  snapshots.value = [one, ...snapshots.peek().filter((other) => other.task !== task.id)].slice(0, MOST_TASKS)
}

/** Start saving what a reload would need. */
export async function keep() {
  const saveHidden = () => document.hidden && save()
  document.addEventListener('visibilitychange', saveHidden)
  addEventListener('pagehide', save)
  standing.subscribe((now) => now === 'lost' && save())
  if (!navigator.serviceWorker || !isSecureContext || window.early.isEditor) return
  await navigator.serviceWorker.register('/worker.js')
  // Set once a reload would find the whole page.
  navigator.serviceWorker.addEventListener('message', () => (document.documentElement.dataset.kept = 'yes'))
  const { active } = await navigator.serviceWorker.ready
  await style('static/js/widgets/sheets.css')
  const used = performance.getEntriesByType('resource').map((entry) => entry.name)
  active.postMessage({ keep: ['/', ...new Set(used)] })
}

/** Use the saved board if there is no other. */
export function showSaved() {
  listed.value ??= kept.peek()
}
