// Building blocks of pages: header, list and detail panes, filter, loading and error states, dialogs.
import { html, classes, signal, style, useEffect, useLayoutEffect, useRef, useState } from '../lib/ui.js'
import { query, welcome } from '../lib/connection.js'
import { complain, history } from '../state/store.js'
import { folderNow } from '../state/folder.js'
import { isTyping } from '../state/shortcut-keys.js'
import { base } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { MenuButton } from './menu-button.js'
import { Sheet } from './sheet.js'
/** @import { Queries } from '../../../types/protocol' */

await style('static/js/widgets/pages.css')

const PATIENCE = 300

/** A page with a title, actions beside it, and content below. */
export const Page = ({ title, actions, below, children }) => html`<div class="page paged">
  <header class="page-head"><${MenuButton} /><h1 class="cut grow" tabindex="-1">${title}</h1>${actions}</header>
  ${below}${children}
</div>`

/** List left, detail right. On narrow screens `detail` replaces the list and has a back link; with `both` it goes below
 * the list. Focus moves along with what is shown. */
export function Panes({ label, list, detail, back, rest, both }) {
  const shown = Boolean(detail)
  const box = useRef()
  useEffect(() => {
    const here = document.activeElement
    if (here !== document.body && here?.offsetParent !== null) return
    if (getComputedStyle(box.current).gridTemplateColumns.split(' ').length === 1)
      box.current.querySelector(shown ? '.pane-back' : '[data-item][tabindex="0"]')?.focus()
  }, [shown])
  return html`<div class=${classes('panes', shown && !both && 'with-detail')} ref=${box}>
    <section class="pane-list" aria-label=${label}>${list}</section>
    <section class=${classes('pane-detail', shown && 'filled')} aria-label="Details">
      ${shown && html`<a class="pane-back" href=${back}><${Icon} name="chevron" size="14" /> ${label}</a>`}
      ${shown ? detail : rest && html`<p class="pane-rest soft">${rest}</p>`}
    </section>
  </div>`
}

export const Filter = ({ value, onInput, label, ...more }) => html`<input
  class="field"
  type="search"
  aria-label=${label}
  placeholder=${label}
  value=${value}
  onInput=${(e) => onInput(e.target.value)}
  autocomplete="off"
  spellcheck=${false}
  ...${more}
/>`

export const Cleared = ({ words, clear }) =>
  html`<p class="pane-empty soft">No results for ‘${words}’ · <button class="link" onClick=${clear}>Clear</button></p>`

/** An empty state: what belongs here, and what to do. */
export const Empty = ({ title, children }) =>
  html`<div class="pane-empty"><strong>${title}</strong>${children && html`<div class="soft">${children}</div>`}</div>`

/** True if the texts contain every word of a filter. */
export function fits(words, ...texts) {
  const text = texts.join(' ').toLowerCase()
  return words
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .every((word) => text.includes(word))
}

/**
 * A query's result. An empty name queries nothing.
 * @template {keyof Queries} N
 * @param {N | ''} name
 * @param {Queries[N]['arguments']} [args]
 * @returns {{
 *   value: Queries[N]['answer'] | null, error: any, asking: boolean, again: () => void,
 *   put: (value: Queries[N]['answer']) => void
 * }}
 */
export function useQuery(name, args) {
  const [state, setState] = useState({ value: null, error: null, asking: true })
  const [turn, setTurn] = useState(0)
  useEffect(() => {
    if (!name) return undefined
    let here = true
    setState((old) => ({ ...old, asking: true }))
    query(name, args).then(
      (value) => here && setState({ value, error: null, asking: false }),
      (error) => here && setState((old) => ({ ...old, error, asking: false })),
    )
    return () => (here = false)
  }, [name, JSON.stringify(args), turn])
  return { ...state, again: () => setTurn((n) => n + 1), put: (value) => setState((old) => ({ ...old, value })) }
}

/** A query's result drawn by `children(value)`; else a loading or error state. */
export function Answer({ of, what, children }) {
  const [late, setLate] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), PATIENCE)
    return () => clearTimeout(timer)
  }, [])
  if (of.value != null)
    return html`${of.error && html`<${Failed} error=${of.error} again=${of.again} />`}${children(of.value)}`
  if (of.error) return html`<${Failed} error=${of.error} again=${of.again} />`
  return late ? html`<p class="pane-empty soft" role="status">Loading ${what}…</p>` : null
}

export const Failed = ({ error, again }) => html`<div class="card error-card pane-card" role="alert">
  <strong>${error.text ?? error.message}</strong>
  ${error.hint && html`<p>${error.hint}</p>`}
  ${again && html`<button class="button small" onClick=${again}>Try again</button>`}
</div>`

/** An action on the server: [run, busy, error]. */
export function useAction(action) {
  const [busy, setBusy] = useState(false)
  const [error, setError] = useState(null)
  const run = async (...args) => {
    setBusy(true)
    setError(null)
    try {
      return await action(...args)
    } catch (failure) {
      setError(failure)
      return undefined
    } finally {
      setBusy(false)
    }
  }
  return [run, busy, error]
}

/** Report a rejected promise. */
export const reportFailure = (promise) => promise.catch(complain)

/** Roving focus: arrow keys, j and k move in a list with one tab stop. Items have `data-item`. */
export function useRoving() {
  const box = useRef()
  const items = () => [...(box.current?.querySelectorAll('[data-item]') ?? [])]
  const settle = (chosen) => {
    const all = items()
    const one =
      chosen ??
      all.find((item) => item === document.activeElement) ??
      all.find((item) => item.getAttribute('aria-current')) ??
      all[0]
    for (const item of all) item.tabIndex = item === one ? 0 : -1
  }
  useLayoutEffect(() => settle())
  const onKeyDown = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return
    const all = items()
    const at = all.indexOf(event.target.closest('[data-item]'))
    if (at < 0) return
    const to = { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0, End: all.length - 1 }[event.key]
    if (to == null) return
    event.preventDefault()
    const next = all[Math.max(0, Math.min(all.length - 1, to))]
    settle(next)
    next.focus()
    next.scrollIntoView({ block: 'nearest' })
  }
  return { ref: box, onKeyDown, onFocusIn: (event) => event.target.matches('[data-item]') && settle(event.target) }
}

/** Move from a filter into its list with the down arrow. */
export const intoList = (event) => {
  if (event.key !== 'ArrowDown') return
  event.preventDefault()
  event.target.closest('.pane-list, .page')?.querySelector('[data-item]')?.focus()
}

/** A list of links. `entries` are {key, href, title, text, dot, badge}. */
export function Links({ entries, here, label }) {
  const roving = useRoving()
  return html`<ul class="items" aria-label=${label} ...${roving}>
    ${entries.map(
      (one) => html`<li key=${one.key}>
        <a
          class=${classes('item', one.key === here && 'here', one.off && 'off')}
          href=${one.href}
          data-item
          aria-current=${one.key === here ? 'true' : null}
        >
          ${one.dot != null && html`<span class=${classes('dot', one.dot)} aria-hidden="true"></span>`}
          <span class="grow">
            <span class="cut block">${one.title}</span>
            ${one.text && html`<span class="soft tiny cut block">${one.text}</span>`}
          </span>
          ${one.badge && html`<span class="soft tiny one-line">${one.badge}</span>`}
        </a>
      </li>`,
    )}
  </ul>`
}

/** A dialog over the page that restores focus. */
export function Dialog(props) {
  useLayoutEffect(() => {
    const before = document.activeElement
    return () =>
      requestAnimationFrame(() => before?.isConnected && document.activeElement === document.body && before.focus())
  }, [])
  return html`<div onKeyDown=${(e) => e.key === 'Escape' && e.stopPropagation()}><${Sheet} ...${props} /></div>`
}

/** The folder chosen on a page for a folder, such as MCP and Instructions; empty: the one worked in. */
export const place = signal('')
export const placeNow = () => place.value || folderNow()

export function PlacePicker() {
  const known = [
    ...new Set([placeNow(), ...(welcome.value?.workspaces ?? []), ...history.value.map((info) => info.workspace)]),
  ].slice(0, 30)
  return html`<label class="place">
    <span class="soft tiny">for</span>
    <select class="field" aria-label="Folder" value=${placeNow()} onChange=${(e) => (place.value = e.target.value)}>
      ${known.map((folder) => html`<option key=${folder} value=${folder}>${base(folder)} — ${folder}</option>`)}
    </select>
  </label>`
}
