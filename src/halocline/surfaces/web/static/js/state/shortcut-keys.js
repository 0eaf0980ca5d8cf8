// Keyboard shortcuts: one table, which the shortcut sheet shows and one listener follows. Keys of menus and lists are
// with these; here are those of the whole page.
import {
  allOpen,
  announcement,
  closeSheet,
  current,
  finding,
  go,
  openSheet,
  reviewOpen,
  closeBeside,
  sheet,
  sidebarOpen,
} from './store.js'
import { keymap } from '../lib/preferences.js'
import { signal } from '../lib/ui.js'

const mac = /Mac|iPhone|iPad/.test(navigator.platform)

/** id → action; views add theirs with `on`. */
const actions = new Map()

/** Register a view's action for a key; returns a function that unregisters it. */
export function on(id, action) {
  actions.set(id, action)
  return () => actions.get(id) === action && actions.delete(id)
}

export const KEYS = [
  {
    id: 'send',
    keys: 'Enter',
    text: 'Send; queue while the agent works; answer while it asks',
    where: 'composer',
    fixed: true,
  },
  { id: 'newline', keys: 'Shift+Enter', text: 'New line', where: 'composer', fixed: true },
  { id: 'steer', keys: 'Ctrl+Enter', text: 'Send to the running turn', where: 'composer', fixed: true },
  { id: 'recall', keys: 'ArrowUp', text: 'Earlier prompts (in an empty box)', where: 'composer', fixed: true },
  { id: 'search-prompts', keys: 'Ctrl+;', text: 'Search prompts', where: 'composer' },
  { id: 'stash', keys: 'Ctrl+S', text: 'Stash the text; restore it in an empty box', where: 'composer' },
  { id: 'mode', keys: 'Ctrl+Shift+M', text: 'Switch between plan and act', where: 'page' },
  {
    id: 'approve',
    keys: 'Enter',
    text: 'Approve (message field empty or not focused)',
    where: 'decision',
    fixed: true,
  },
  { id: 'all', keys: 's', text: 'Approve all edits of the reply that were shown', where: 'decision', fixed: true },
  { id: 'always', keys: 'a', text: 'Always allow… (message field not focused)', where: 'decision', fixed: true },
  { id: 'reject', keys: 'r', text: 'Reject with a reason (message field not focused)', where: 'decision', fixed: true },
  { id: 'edit', keys: 'e', text: 'Edit before it runs (message field not focused)', where: 'decision', fixed: true },
  {
    id: 'answer',
    keys: '1–9',
    text: 'Choose an answer (message field empty or not focused)',
    where: 'decision',
    fixed: true,
  },
  { id: 'next', keys: 'j', text: 'Next card', where: 'log', fixed: true },
  { id: 'previous', keys: 'k', text: 'Previous card', where: 'log', fixed: true },
  { id: 'next-prompt', keys: ']', text: 'Next prompt', where: 'log', fixed: true },
  { id: 'previous-prompt', keys: '[', text: 'Previous prompt', where: 'log', fixed: true },
  { id: 'top', keys: 'g g', text: 'Go to the beginning', where: 'log', fixed: true },
  { id: 'bottom', keys: 'G', text: 'Go to the end and follow', where: 'log', fixed: true },
  { id: 'next-hunk', keys: 'n', text: 'Next change', where: 'review', fixed: true },
  { id: 'previous-hunk', keys: 'p', text: 'Previous change', where: 'review', fixed: true },
  { id: 'history-pick', keys: 'Space', text: 'Select a task', where: 'history', fixed: true },
  { id: 'history-pin', keys: 'f', text: 'Toggle favorite', where: 'history', fixed: true },
  { id: 'history-rename', keys: 'r', text: 'Rename', where: 'history', fixed: true },
  { id: 'history-export', keys: 'e', text: 'Export', where: 'history', fixed: true },
  { id: 'history-fork', keys: 'y', text: 'Fork', where: 'history', fixed: true },
  { id: 'history-delete', keys: 'Delete', text: 'Delete (can be undone)', where: 'history', fixed: true },
  {
    id: 'stop',
    keys: 'Escape',
    text: 'Close, stop the agent (twice while it asks), or leave the field',
    where: 'page',
    fixed: true,
  },
  {
    id: 'rewind',
    keys: 'Escape Escape',
    text: 'Rewind (idle, in an empty box)',
    where: 'page',
    fixed: true,
  },
  { id: 'palette', keys: 'Ctrl+K', text: 'Commands, tasks and settings', where: 'page' },
  { id: 'recent', keys: 'Ctrl+E', text: 'Recent tasks', where: 'page' },
  { id: 'new', keys: 'Ctrl+Shift+O', text: 'New task', where: 'page' },
  { id: 'review', keys: 'Ctrl+.', text: 'Review changes', where: 'page' },
  { id: 'details', keys: 'Ctrl+O', text: 'Expand or collapse all details', where: 'page' },
  { id: 'find', keys: 'Ctrl+Shift+F', text: 'Find in this task', where: 'page' },
  { id: 'shortcuts', keys: '?', text: 'Keyboard shortcuts', where: 'page' },
]

/** The keys of a row: yours, or the default. */
export const keysOf = (row) => keymap.value[row.id] ?? row.keys

/** A key as labelled on this machine's keyboard. */
export const label = (keys) =>
  keys
    .replaceAll('Ctrl+', mac ? '⌘' : 'Ctrl+')
    .replaceAll('Shift+', mac ? '⇧' : 'Shift+')
    .replaceAll('ArrowUp', '↑')
    .replaceAll('Escape', 'Esc')

const rowOf = (id) => KEYS.find((row) => row.id === id)
export const keyOf = (id) => (rowOf(id) ? label(keysOf(rowOf(id))) : '')

export const isTyping = (target) =>
  Boolean(target?.closest?.('input, textarea, select, [contenteditable], .code-editor'))

/** An event as the table names keys. */
export function handleKey(event) {
  const control = mac ? event.metaKey : event.ctrlKey
  const name =
    event.key.length === 1
      ? control
        ? event.key.toUpperCase()
        : event.shiftKey
          ? event.key
          : event.key.toLowerCase()
      : event.key
  return (control ? 'Ctrl+' : '') + (event.shiftKey && (control || name.length > 1) ? 'Shift+' : '') + name
}

/** True if an event is the key of a row, as configured. */
export const matches = (id, event) => !event.altKey && handleKey(event) === keysOf(rowOf(id))

/** The other rows that use these keys. */
export const findSameKeys = (keys, id) => KEYS.filter((row) => row.id !== id && keysOf(row) === keys)

const PAGE = {
  palette: () => openSheet('palette'),
  recent: () => openSheet('palette', { only: 'tasks' }),
  new: () => go('new'),
  review: () => (reviewOpen.value = !reviewOpen.value),
  details: () => (allOpen.value = !allOpen.value),
  shortcuts: () => openSheet('shortcuts'),
  find: () => (finding.value = true),
}

/** After one Esc: the hint what the next one does. */
export const armed = signal('')
const SECOND = 1500
let timer = 0
function runTwice(what, action) {
  if (armed.value === what) {
    armed.value = ''
    return action()
  }
  armed.value = announcement.value = what
  clearTimeout(timer)
  timer = setTimeout(() => (armed.value = ''), SECOND)
  return undefined
}

function escape(event) {
  const composer = event.target.matches?.('.composer textarea')
  const works = current.value?.facts.running && !current.value.facts.waiting.length
  if (sheet.value) (event.preventDefault(), closeSheet()) // else the browser would close the dialog below, too
  else if (event.target.closest?.('dialog')) return
  else if (event.target.closest?.('.beside')) closeBeside()
  else if (finding.value) finding.value = false
  else if (sidebarOpen.value) sidebarOpen.value = false
  else if (isTyping(event.target) && !(composer && (works || !event.target.value))) event.target.blur()
  else if (works) current.value.send('interrupt')
  else if (current.value?.facts.running) runTwice('Press Esc again to stop', () => current.value.send('interrupt'))
  else if (current.value) runTwice('Press Esc again to rewind', () => openSheet('restore', { task: current.value }))
}

export function listen() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const key = handleKey(event)
    if (key === 'Escape') return escape(event)
    const row = KEYS.find((one) => one.where === 'page' && keysOf(one) === key)
    if (!row || (key.length === 1 && (isTyping(event.target) || sheet.value))) return
    const action = actions.get(row.id) ?? PAGE[row.id]
    if (
      !action ||
      (sheet.value && row.id !== 'palette' && row.id !== 'recent') ||
      (row.id === 'find' && !current.value)
    )
      return
    event.preventDefault()
    action(event)
  })
}
