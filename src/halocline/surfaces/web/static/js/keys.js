// The keys: one table, which the shortcut sheet shows and one listener obeys. A row says where it holds, and what a
// person reads. Keys of menus and lists are with these; here is what holds on the whole page.
import {
  allOpen,
  announcement,
  closeSheet,
  current,
  finding,
  go,
  openSheet,
  reviewOpen,
  sheet,
  sidebarOpen,
} from './store.js'
import { keymap } from './prefs.js'
import { signal } from './ui.js'

const mac = /Mac|iPhone|iPad/.test(navigator.platform)

/** id → what the key does; views add theirs with `on`. */
const deeds = new Map()

/** Let a view answer a key while it is there; gives the way to take that back. */
export function on(id, deed) {
  deeds.set(id, deed)
  return () => deeds.get(id) === deed && deeds.delete(id)
}

export const KEYS = [
  {
    id: 'send',
    keys: 'Enter',
    text: 'Send; while the agent works: queue; while it asks: answer',
    where: 'composer',
    fixed: true,
  },
  { id: 'newline', keys: 'Shift+Enter', text: 'New line', where: 'composer', fixed: true },
  { id: 'steer', keys: 'Ctrl+Enter', text: 'Send now, into the running turn', where: 'composer', fixed: true },
  { id: 'recall', keys: 'ArrowUp', text: 'In an empty box: my earlier prompts', where: 'composer', fixed: true },
  { id: 'search-prompts', keys: 'Ctrl+;', text: 'Search my prompts', where: 'composer' },
  { id: 'stash', keys: 'Ctrl+S', text: 'Put the text aside; in an empty box: bring it back', where: 'composer' },
  { id: 'mode', keys: 'Ctrl+Shift+M', text: 'Plan or act', where: 'page' },
  {
    id: 'approve',
    keys: 'Enter',
    text: 'Approve (card has the focus, or the composer is empty)',
    where: 'decision',
    fixed: true,
  },
  { id: 'always', keys: 'a', text: 'Approve always…', where: 'decision', fixed: true },
  { id: 'reject', keys: 'r', text: 'Reject, with a reason', where: 'decision', fixed: true },
  { id: 'edit', keys: 'e', text: 'Edit before it runs', where: 'decision', fixed: true },
  { id: 'answer', keys: '1–9', text: 'Choose an answer', where: 'decision', fixed: true },
  { id: 'next', keys: 'j', text: 'Next card', where: 'log', fixed: true },
  { id: 'previous', keys: 'k', text: 'Card before', where: 'log', fixed: true },
  { id: 'next-prompt', keys: ']', text: 'My next prompt', where: 'log', fixed: true },
  { id: 'previous-prompt', keys: '[', text: 'My prompt before', where: 'log', fixed: true },
  { id: 'top', keys: 'g g', text: 'To the beginning', where: 'log', fixed: true },
  { id: 'bottom', keys: 'G', text: 'To the end, and follow', where: 'log', fixed: true },
  { id: 'next-hunk', keys: 'n', text: 'Next change', where: 'review', fixed: true },
  { id: 'previous-hunk', keys: 'p', text: 'Change before', where: 'review', fixed: true },
  { id: 'history-pick', keys: 'Space', text: 'Choose a task, for several at once', where: 'history', fixed: true },
  { id: 'history-pin', keys: 'f', text: 'Favourite', where: 'history', fixed: true },
  { id: 'history-rename', keys: 'r', text: 'Rename', where: 'history', fixed: true },
  { id: 'history-export', keys: 'e', text: 'Export', where: 'history', fixed: true },
  { id: 'history-fork', keys: 'y', text: 'Fork: another task with the same past', where: 'history', fixed: true },
  { id: 'history-delete', keys: 'Delete', text: 'Delete, with a way back', where: 'history', fixed: true },
  {
    id: 'stop',
    keys: 'Escape',
    text: 'Close what is open, leave the field; twice: stop the agent',
    where: 'page',
    fixed: true,
  },
  {
    id: 'rewind',
    keys: 'Escape Escape',
    text: 'While nothing runs, in an empty box: go back to a moment',
    where: 'page',
    fixed: true,
  },
  { id: 'palette', keys: 'Ctrl+K', text: 'Commands, tasks and settings', where: 'page' },
  { id: 'recent', keys: 'Ctrl+E', text: 'Switch to a recent task', where: 'page' },
  { id: 'new', keys: 'Ctrl+Shift+O', text: 'New task', where: 'page' },
  { id: 'review', keys: 'Ctrl+.', text: 'What changed', where: 'page' },
  { id: 'details', keys: 'Ctrl+O', text: 'Open or close all details', where: 'page' },
  { id: 'find', keys: 'Ctrl+Shift+F', text: 'Find in this task', where: 'page' },
  { id: 'shortcuts', keys: '?', text: 'This list', where: 'page' },
]

/** The keys of a row: the person's own, or the usual ones. */
export const keysOf = (row) => keymap.value[row.id] ?? row.keys

/** A key as this machine's keyboard has it. */
export const label = (keys) =>
  keys
    .replaceAll('Ctrl+', mac ? '⌘' : 'Ctrl+')
    .replaceAll('Shift+', mac ? '⇧' : 'Shift+')
    .replaceAll('ArrowUp', '↑')
    .replaceAll('Escape', 'Esc')

const rowOf = (id) => KEYS.find((row) => row.id === id)
export const keyOf = (id) => (rowOf(id) ? label(keysOf(rowOf(id))) : '')

export const typing = (target) => Boolean(target?.closest?.('input, textarea, select, [contenteditable]'))

/** An event as the table names keys. */
export function pressed(event) {
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

/** Whether an event is the key of a row, wherever that was moved to. */
export const matches = (id, event) => !event.altKey && pressed(event) === keysOf(rowOf(id))

/** The rows that have these keys, beside one: what giving them to it would take away. */
export const taken = (keys, id) => KEYS.filter((row) => row.id !== id && keysOf(row) === keys)

const PAGE = {
  palette: () => openSheet('palette'),
  recent: () => openSheet('palette', { only: 'tasks' }),
  new: () => go('new'),
  review: () => (reviewOpen.value = !reviewOpen.value),
  details: () => (allOpen.value = !allOpen.value),
  shortcuts: () => openSheet('shortcuts'),
  find: () => (finding.value = true),
}

/** Pressed once: what pressing Esc again would do, in words. */
export const armed = signal('')
const SECOND = 1500
let timer = 0
function twice(what, deed) {
  if (armed.value === what) {
    armed.value = ''
    return deed()
  }
  armed.value = announcement.value = what
  clearTimeout(timer)
  timer = setTimeout(() => (armed.value = ''), SECOND)
  return undefined
}

function escape(event) {
  const composer = event.target.matches?.('.composer textarea')
  if (sheet.value) closeSheet()
  else if (finding.value) finding.value = false
  else if (sidebarOpen.value) sidebarOpen.value = false
  else if (typing(event.target) && !(composer && (current.value?.facts.running || !event.target.value)))
    event.target.blur()
  else if (current.value?.facts.running) twice('Press Esc again to stop', () => current.value.send('interrupt'))
  else if (current.value)
    twice('Press Esc again to go back to a moment', () => openSheet('restore', { task: current.value }))
}

export function listen() {
  addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    const key = pressed(event)
    if (key === 'Escape') return escape(event)
    const row = KEYS.find((one) => one.where === 'page' && keysOf(one) === key)
    if (!row || (key.length === 1 && (typing(event.target) || sheet.value))) return
    const deed = deeds.get(row.id) ?? PAGE[row.id]
    if (!deed || (sheet.value && row.id !== 'palette' && row.id !== 'recent') || (row.id === 'find' && !current.value))
      return
    event.preventDefault()
    deed(event)
  })
}
