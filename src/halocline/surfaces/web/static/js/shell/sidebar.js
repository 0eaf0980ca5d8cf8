// The tasks by what they need, and links to the other pages.
import { html, classes, fileAddress, signal, useLayoutEffect, useRef } from '../lib/ui.js'
import { closeOnBack } from '../state/back.js'
import { dotOf, listed, TITLES } from '../state/board.js'
import { go, openSheet, route, sidebarOpen } from '../state/store.js'
import { keepValue, theme } from '../lib/preferences.js'
import { base, shorten, shown, when } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { keyOf } from '../state/shortcut-keys.js'
import { Lazy } from '../widgets/lazy.js'
import { definePart } from '../lib/parts.js'
/** @import { BoardRow } from '../../../types/protocol' */

const filter = signal('')
/** The folder whose tasks are listed; empty: all. */
const folder = keepValue('sidebar folder', '')
/** The task whose menu is open: {info, x, y, from}. */
const taskMenu = signal(null)
const loadTaskMenu = definePart(() => import('../files/task-menu.js'))
const PAGES = [
  ['board', 'Board', 'list'],
  ['history', 'History', 'clock'],
  ['mcp', 'MCP servers', 'plug'],
  ['rules', 'Instructions', 'book'],
  ['providers', 'Models', 'spark'],
  ['settings', 'Settings', 'gear'],
]
const THEMES = [
  ['system', 'System', 'contrast'],
  ['light', 'Light', 'sun'],
  ['dark', 'Dark', 'moon'],
]
const MOST = 40

const SAID = { asks: 'needs you', runs: 'running', failed: 'failed', done: 'done', '': '' }

/** @param {{ info: BoardRow }} props */
function Item({ info }) {
  const dot = dotOf(info)
  const here = route.value[0] === 'task' && route.value[1] === info.task
  const menu = (event, from) => {
    event.preventDefault()
    const box = from.getBoundingClientRect()
    const isMouse = event.type === 'contextmenu' && event.clientX
    taskMenu.value = { info, from, x: isMouse ? event.clientX : box.left, y: isMouse ? event.clientY : box.bottom }
  }
  const isOpen = taskMenu.value?.info.task === info.task
  return html`<li class="task-item" onContextMenu=${(e) => menu(e, e.currentTarget.querySelector('.task-more'))}>
    <a
      class=${classes('task-link', here && 'here')}
      href=${`#/task/${info.task}`}
      aria-current=${here ? 'page' : null}
      onClick=${() => (sidebarOpen.value = false)}
    >
      <span class=${classes('dot', dot)} aria-hidden="true"></span>
      <span class="grow">
        <span class="cut block" title=${shown(info.title)}>${shorten(shown(info.title))}</span>
        <span class="soft tiny cut block">
          <span class="hidden-text">${SAID[dot]} </span>
          ${base(info.folder)} · ${when(info.changed_at)}
        </span>
      </span>
      ${
        info.favourite &&
        html`<span class="warn" title="Favorite">
          <${Icon} name="star" size="14" />
          <span class="hidden-text">favorite</span>
        </span>`
      }
    </a>
    <button
      class="icon-button task-more"
      aria-haspopup="menu"
      aria-expanded=${isOpen}
      aria-label=${`More actions for ${shown(info.title)}`}
      onClick=${(e) => menu(e, e.currentTarget)}
    >
      <${Icon} name="more" size="16" />
    </button>
  </li>`
}

function Theme() {
  const at = THEMES.findIndex(([name]) => name === theme.value)
  const next = THEMES[(at + 1) % THEMES.length]
  return html`<button
    class="page-link theme-button"
    title=${`Next: ${next[1].toLowerCase()}`}
    onClick=${() => (theme.value = next[0])}
  >
    <${Icon} name=${THEMES[at]?.[2] ?? 'contrast'} size="16" />
    Theme: ${(THEMES[at]?.[1] ?? 'system').toLowerCase()}
  </button>`
}

/** While the drawer of a narrow screen is open, it has the focus; then the button that opened it gets it back. */
function useDrawer() {
  const box = useRef()
  const isOpen = sidebarOpen.value
  useLayoutEffect(() => {
    const close = box.current.querySelector('[aria-label="Close"]')
    if (!isOpen || !close.checkVisibility()) return undefined
    const before = document.activeElement
    const behind = document.getElementById('middle')
    behind.inert = true
    close.focus()
    const closed = closeOnBack(() => (sidebarOpen.value = false))
    return () => {
      closed()
      behind.inert = false
      if (box.current.contains(document.activeElement) || document.activeElement === document.body) before?.focus()
    }
  }, [isOpen])
  return box
}

const Head = () => html`<div class="sidebar-head">
  <a class="brand" href="#/" onClick=${() => (sidebarOpen.value = false)}>
    <img src=${fileAddress('static/icon.svg')} alt="" width="24" height="24" />
    <strong>Halocline</strong>
  </a>
  <button
    class="icon-button"
    aria-label="Commands, tasks and settings"
    title=${`Commands (${keyOf('palette')})`}
    onClick=${() => openSheet('palette')}
  >
    <${Icon} name="search" />
  </button>
  <button
    class="icon-button"
    aria-label="New task"
    title=${`New task (${keyOf('new')})`}
    onClick=${() => go('new')}
  >
    <${Icon} name="plus" />
  </button>
  <button class="icon-button only-narrow" aria-label="Close" onClick=${() => (sidebarOpen.value = false)}>
    <${Icon} name="close" />
  </button>
</div>`

const Filters = ({ folders, only }) => html`<div class="sidebar-filter">
  <input
    class="field"
    type="search"
    aria-label="Filter tasks"
    placeholder="Filter tasks"
    value=${filter.value}
    onInput=${(e) => (filter.value = e.target.value)}
  />
  ${
    folders.length > 1 &&
    html`<select
      class="field folder-filter"
      aria-label="Folder"
      value=${only}
      onChange=${(e) => (folder.value = e.target.value)}
    >
      <option value="">All folders</option>
      ${folders.map((one) => html`<option key=${one} value=${one}>${base(one)}</option>`)}
    </select>`
  }
</div>`

export function Sidebar() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean)
  const rows = (listed.value?.rows ?? []).filter((row) => !row.parent)
  const folders = [...new Set(rows.map((row) => row.folder))]
  const only = folders.includes(folder.value) ? folder.value : ''
  const found = rows.filter((row) => (!only || row.folder === only) && words.every((word) => row.words.includes(word)))
  const clear = () => ((filter.value = ''), (folder.value = ''))
  const drawer = useDrawer()
  return html`<nav class="sidebar" aria-label="Tasks and pages" ref=${drawer}>
    <${Head} />
    <${Filters} folders=${folders} only=${only} />
    <div class="sidebar-list">
      ${(listed.value?.groups ?? []).map((name) => {
        const group = found.filter((row) => row.group === name).slice(0, MOST)
        return (
          group.length > 0 &&
          html`<section key=${name} aria-label=${TITLES[name]}>
            <h2 class="group-title">${TITLES[name]}</h2>
            <ul class="task-list">${group.map((row) => html`<${Item} key=${row.task} info=${row} />`)}</ul>
          </section>`
        )
      })}
      ${
        listed.value &&
        found.length === 0 &&
        html`<p class="pad soft">
          ${
            words.length || only
              ? html`No results for ‘${filter.value || base(only)}’ · <button class="link" onClick=${clear}>Clear</button>`
              : 'No tasks yet. Start one and it appears here.'
          }
        </p>`
      }
    </div>
    <div class="sidebar-foot">
      ${PAGES.map(
        ([word, title, icon]) => html`<a
          key=${word}
          class=${classes('page-link', route.value[0] === word && 'here')}
          href=${`#/${word}`}
          aria-current=${route.value[0] === word ? 'page' : null}
          onClick=${() => (sidebarOpen.value = false)}
        >
          <${Icon} name=${icon} size="16" />
          ${title}
        </a>`,
      )}
      <${Theme} />
    </div>
    ${
      taskMenu.value &&
      html`<${Lazy}
        load=${loadTaskMenu}
        key=${taskMenu.value.info.task}
        ...${taskMenu.value}
        onClose=${() => (taskMenu.value = null)}
      />`
    }
  </nav>`
}
