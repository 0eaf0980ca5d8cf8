// What this browser stores: preferences and drafts. Without storage (a private window, no space) all works until the page is
// closed. Other tabs see a changed preference at once.
import { effect, signal } from './ui.js'

const PREFIX = 'halo '
const known = new Map()

function read(name, usual) {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name)) ?? usual
  } catch {
    return usual
  }
}

/** A signal stored under a name; `usual` is its default. */
export function keepValue(name, usual) {
  const one = signal(read(name, usual))
  let first = true
  known.set(PREFIX + name, { one, usual, name })
  effect(() => {
    const text = JSON.stringify(one.value)
    if (first) return void (first = false)
    try {
      if (text === JSON.stringify(usual)) localStorage.removeItem(PREFIX + name)
      else if (localStorage.getItem(PREFIX + name) !== text) localStorage.setItem(PREFIX + name, text)
    } catch {
      // No space: kept only while the page is open.
    }
  })
  return one
}

/** Read another tab's latest value before changing shared data. */
export const renew = (name) => {
  const { one, usual } = known.get(PREFIX + name)
  const found = read(name, usual)
  if (JSON.stringify(found) !== JSON.stringify(one.value)) one.value = found
}

addEventListener('storage', (event) => {
  const found = known.get(event.key)
  if (found) renew(found.name)
})

/** system, light or dark */
export const theme = keepValue('theme', 'system')
/** True if system notifications are on. */
export const notifying = keepValue('notifying', false)
export const sounding = keepValue('sounding', false)
/** Names of models, latest first. */
export const favouriteModels = keepValue('favourite models', [])
export const recentModels = keepValue('recent models', [])
/** Changed keyboard shortcuts: id → keys. */
export const keymap = keepValue('keys', {})
/** Prompts sent from this browser, latest last. */
export const said = keepValue('said', [])
/** Widths of panes in pixels; 0 is the usual one. */
export const sidebarWidth = keepValue('sidebar width', 0)
export const reviewWidth = keepValue('review width', 0)
/** How a link opens a file in the person's editor: an address with {path} and {line}; empty for none. */
export const editorLink = keepValue('editor link', '')
/** Diffs side by side where there is room (`beside`), or one below the other (`below`). */
export const diffs = keepValue('diffs', 'beside')
effect(() => {
  const chosen = theme.value
  if (window.early?.isEditor) return // its colors are those of the editor, which may be known before this runs
  if (chosen === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = chosen
})

effect(() => void (document.documentElement.dataset.diffs = diffs.value))

const MOST_SAID = 300
const LONGEST_SAID = 4000

export function remember(text) {
  if (!text.trim() || text.length > LONGEST_SAID) return
  said.value = [...said.value.filter((other) => other !== text), text].slice(-MOST_SAID)
}

export function usedModel(name) {
  if (name) recentModels.value = [name, ...recentModels.value.filter((other) => other !== name)].slice(0, 8)
}

// Drafts: what was typed and not sent, by task or form. They belong to a tab: two tabs on one task have each their own,
// and a reload keeps them. A copy stays in the browser, so that the next tab gets what a closed one left.
const DRAFTS = 'halo drafts'
const MOST_DRAFTS = 60
/** Letters of drafts from which they are not written with every key, which takes longer the more there are. */
const MANY = 20_000
const WRITE_EVERY = 1500

function readDrafts(storage, key) {
  try {
    return JSON.parse(storage().getItem(key)) ?? {}
  } catch {
    return {}
  }
}

function writeDrafts(storage, key, all) {
  try {
    if (Object.keys(all).length) storage().setItem(key, JSON.stringify(all))
    else storage().removeItem(key)
  } catch {
    // No storage or no space: kept only while the page is open.
  }
}

const ofTab = () => sessionStorage
const ofBrowser = () => localStorage

/** Drafts by task or form. */
export const drafts = signal(readDrafts(ofTab, DRAFTS))
export const draftOf = (id) => drafts.peek()[id] ?? ''
export function setDraft(id, text) {
  const { [id]: _, ...others } = drafts.peek()
  const rest = Object.fromEntries(Object.entries(others).slice(-MOST_DRAFTS))
  drafts.value = text ? { ...rest, [id]: text } : rest
}

/** The prompt that a rewind put into the composer of each task: its undo takes that out again, and no other text. */
export const putBack = new Map()

const tab = `${DRAFTS} ${crypto.getRandomValues(new Uint32Array(2)).join('')}`

/** Keep what is stored the same as the drafts. */
function storeDrafts(storage, key) {
  let timer = 0
  const write = () => {
    clearTimeout(timer)
    timer = 0
    writeDrafts(storage, key, drafts.peek())
  }
  const writeNow = () => timer && write()
  addEventListener('pagehide', writeNow)
  document.addEventListener('visibilitychange', writeNow)
  effect(() => {
    const letters = Object.values(drafts.value).reduce((sum, text) => sum + text.length, 0)
    if (letters < MANY) write()
    else timer ||= setTimeout(write, WRITE_EVERY)
  })
}
storeDrafts(ofTab, DRAFTS)

/** Take over what closed tabs left: a tab holds a lock on its name for as long as it is open. */
async function adopt() {
  const { held } = await navigator.locks.query()
  const open = new Set(held.map((lock) => lock.name))
  const left = Object.keys(localStorage).filter((key) => key.startsWith(DRAFTS) && !open.has(key))
  const found = Object.assign({}, ...left.map((key) => readDrafts(ofBrowser, key)))
  const own = drafts.peek()
  if (left.length) drafts.value = { ...found, ...own }
  for (const key of left) localStorage.removeItem(key)
  storeDrafts(ofBrowser, tab)
}

// Only a page on this machine or behind TLS has locks; elsewhere a draft ends with its tab.
navigator.locks?.request(tab, () => adopt().then(() => new Promise(() => {}))).catch(() => {})
