// The page's state beyond one task: the route, the list of tasks, and open sheets.
import { computed, effect, signal } from '../lib/ui.js'
import { board, query, standing } from '../lib/connection.js'
import { Unloaded } from '../lib/parts.js'
import { Task } from './task.js'

/** The route: the parts of the address after `#/`. */
export const route = signal([])
/** The newest tasks, as the server lists them. */
export const history = signal([])
export const workspaces = signal([])
/** Options of the next task; empty: from the settings. */
export const choice = signal({ workspace: '', model: '', mode: '', approval_mode: '' })
/** The settings' options for the next task, for display. */
export const usual = signal({})
/** The open sheet: {name, address, …} or null; the address is that of the page below. Opening one remembers the focus. */
export const sheet = signal(null)
export const toasts = signal([])
/** Announcement for screen readers; only changes of state. */
export const announcement = signal('')
export const sidebarOpen = signal(false)
export const reviewOpen = signal(false)
/** Text to append to the composer: {text, instead}; `instead` replaces. */
export const written = signal(null)
/** True while searching in the task. */
export const finding = signal(false)
/** True while all details are expanded. */
export const allOpen = signal(false)

const tasks = new Map()
const KEPT = 12

export function readRoute() {
  route.value = location.hash.startsWith('#/') ? location.hash.slice(2).split('/').map(decodeURIComponent) : []
}

/** Read the new route; a sheet that was opened at another place does not stay over this one, as after Back. */
export function followAddress() {
  readRoute()
  if (sheet.value && sheet.value.address !== location.hash) closeSheet()
}

export function go(...words) {
  const hash = '#/' + words.map(encodeURIComponent).join('/')
  if (location.hash !== hash) location.hash = hash
  else readRoute()
  sidebarOpen.value = false
}

/** Go to a place that takes this one's place in the history. An editor has no history, and its base address differs. */
export function goInstead(...words) {
  if (window.early.isEditor) go(...words)
  else location.replace('#/' + words.map(encodeURIComponent).join('/'))
}

/** The current task, or null. */
export const current = computed(() => (route.value[0] === 'task' && route.value[1] ? taskOf(route.value[1]) : null))

/** A task by its id; the last ones stay watched, so that returning is instant. */
export function taskOf(id) {
  let task = tasks.get(id)
  if (task) tasks.delete(id)
  else {
    task = new Task(id)
    task.watch()
  }
  tasks.set(id, task)
  for (const [old, other] of tasks) {
    if (tasks.size <= KEPT) break
    other.leave()
    tasks.delete(old)
  }
  return task
}

let refreshing = null
let again = false
/** Reload the list of tasks; concurrent requests share one query, plus one more if any came during it. */
export function refresh() {
  again = Boolean(refreshing)
  refreshing ??= query('tasks', { limit: 60 })
    .then((found) => (history.value = found))
    .catch(() => {})
    .finally(() => {
      refreshing = null
      if (again) refresh()
    })
  return refreshing
}

effect(() => {
  const now = board.value // read even without a task, so that this effect runs for the first
  for (const [id, task] of tasks) task.stands(now[id])
  if (standing.value === 'open') refresh()
})

export function toast(text, { undo = null, kind = 'info', seconds = 8 } = {}) {
  const one = { text, undo, kind, key: Math.random() }
  toasts.value = [...toasts.value.filter((other) => other.text !== text), one]
  setTimeout(() => dismiss(one), seconds * 1000)
  announcement.value = text
  return one
}

export const dismiss = (one) => (toasts.value = toasts.value.filter((other) => other !== one))

/** Show an error. */
export function complain(error) {
  toast([error.text ?? error.message, error.hint].filter(Boolean).join(' '), { kind: 'error', seconds: 12 })
}

// What a person did that needs a part that does not load: that is said in one place.
addEventListener('unhandledrejection', (event) => {
  if (!(event.reason instanceof Unloaded)) return
  event.preventDefault()
  complain(event.reason)
})

/** Dialogs over the page, the top one last. */
const dialogs = []
/** Show a dialog on top of all others. Returns what to call once it is gone. */
export function showDialog(box) {
  box.showModal()
  dialogs.push(box)
  return () => dialogs.splice(dialogs.indexOf(box), 1)
}

/** Show a dialog below those that are open, which keep the focus. */
export function showDialogBelow(box) {
  const here = document.activeElement
  box.showModal()
  for (const one of dialogs) (one.close(), one.showModal())
  if (dialogs.length) here?.focus()
}

let before = null
export function openSheet(name, options = {}) {
  if (!sheet.value) before = document.activeElement
  sheet.value = { name, address: location.hash, ...options }
}

export function closeSheet() {
  dialogs.at(-1)?.close() // the page behind can take the focus only then
  sheet.value = null
  const place = before
  before = null
  // Nothing outside a dialog can take the focus until it is gone.
  if (place) setTimeout(() => document.activeElement === document.body && place.focus?.())
}

const wide = matchMedia('(min-width: 1400px)')
/** True while the window has room for a third column. */
export const isRoomy = signal(wide.matches)
wide.addEventListener('change', () => (isRoomy.value = wide.matches))
/** What is looked at beside the chat of each task: {name, task, …}. */
const beside = signal({})
let opener = null

export const besideOf = (task) => beside.value[task.id]

/** Open something of a task beside the chat; over it where there is no room. */
export function openBeside(name, options) {
  if (!isRoomy.value || current.value !== options.task || sheet.value) return openSheet(name, options)
  if (!besideOf(options.task)) opener = document.activeElement
  reviewOpen.value = false
  beside.value = { ...beside.value, [options.task.id]: { name, ...options } }
}

export function closeBeside() {
  beside.value = { ...beside.value, [current.value?.id]: null }
  setTimeout(() => opener?.focus?.())
}
