// The history of all tasks: full-text search, filters, sorting, preview and bulk actions.
import { html, classes, signal, useEffect, useRef, useState } from '../lib/ui.js'
import { board, welcome } from '../lib/connection.js'
import { go, goInstead } from '../state/store.js'
import { base, count, knownCost, money, short, shown, size, tokens, when } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Answer, Cleared, Empty, Filter, Page, Panes, intoList, useQuery, useRoving } from '../widgets/page-frame.js'
import { Tabs } from '../widgets/form.js'
import { STATUS, Snippet, bringBack, formatDay, discard, forkOf, label, statusOf, titleOf } from './task-actions.js'
import { ExportDialog, Preview, RenameDialog } from './task-preview.js'
import { Storage, Trash } from './storage.js'
import { Lazy } from '../widgets/lazy.js'
import { definePart } from '../lib/parts.js'

const loadImport = definePart(() => import('./import-tasks.js'))

const STEP = 100
const PAUSE = 180
const SEEN = 500
const NARROW = 760
const ORDERS = { time: 'Newest', cost: 'Highest cost', tokens: 'Most tokens', size: 'Largest', relevance: 'Best match' }
const NONE = { workspace: '', model: '', status: '', tag: '', favourite: false }

/** Search, filters and order; kept while the page is open. */
const asked = signal({ words: '', order: '', limit: STEP, ...NONE })
const chosen = signal(new Set())
const ask = (what) => (asked.value = { ...asked.value, limit: STEP, ...what })

export default function History({ path }) {
  const [first = ''] = path
  const tab = ['trash', 'storage', 'import'].includes(first) ? first : 'tasks'
  return html`<${Page}
    title="History"
    below=${html`<${Tabs}
      label="History sections"
      here=${tab}
      href=${(word) => (word === 'tasks' ? '#/history' : `#/history/${word}`)}
      tabs=${[
        ['tasks', 'Tasks'],
        ['trash', 'Trash'],
        ['storage', 'Storage'],
        ['import', 'Import'],
      ]}
    />`}
  >
    ${
      tab === 'trash'
        ? html`<${Trash} restore=${bringBack} />`
        : tab === 'storage'
          ? html`<${Storage} />`
          : tab === 'import'
            ? html`<${Lazy} load=${loadImport} />`
            : html`<${Tasks} here=${first} />`
    }
  </${Page}>`
}

function queryOf({ words, order, limit, workspace, model, status, tag, favourite }) {
  const given = { words, workspace, model, favourite, limit: limit + 1 }
  if (order && !(order === 'relevance' && !words)) given.order = order
  if (status) given.status = [status]
  if (tag) given.tags = [tag]
  return given
}

/** The search text after a pause in typing. */
function useSettled(words) {
  const [settled, setSettled] = useState(words)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(words), words ? PAUSE : 0)
    return () => clearTimeout(timer)
  }, [words])
  return settled
}

function Tasks({ here }) {
  const wish = asked.value
  const words = useSettled(wish.words)
  const found = useQuery('tasks', queryOf({ ...wish, words }))
  const all = useQuery('tasks', { limit: SEEN })
  const [dialog, setDialog] = useState(null)
  const removed = useRef(null)
  const resetList = () => {
    chosen.value = new Set()
    found.again()
    all.again()
  }
  useEffect(() => {
    if (found.value) found.again()
  }, [board.value])
  const list = (found.value ?? []).slice(0, wish.limit)
  const info =
    (found.value ?? []).find((one) => one.task === here) ?? (all.value ?? []).find((one) => one.task === here)
  const actions = {
    open: (one) => go('task', one.task),
    pin: async (one) => (await label(one, { favourite: !one.favourite })) && resetList(),
    rename: (one) => setDialog({ kind: 'rename', info: one }),
    export: (one) => setDialog({ kind: 'export', info: one }),
    fork: forkOf,
    remove: (ones) => (
      (removed.current = { task: ones[0].task, at: list.findIndex((one) => one.task === ones[0].task) }),
      discard(ones, () => (resetList(), ones.some((one) => one.task === here) && go('history')))
    ),
    tags: async (one, tags) => (await label(one, { tags })) && resetList(),
  }
  const close = () => setDialog(null)
  return html`
    <${Panes}
      label="Tasks"
      back="#/history"
      rest="Select a task to preview it."
      detail=${info && html`<${Preview} key=${info.task} info=${info} actions=${actions} words=${words} />`}
      list=${html`
        <${Conditions} all=${all.value ?? []} />
        <${Chosen} list=${list} actions=${actions} />
        <${Answer} of=${found} what="the history">
          ${() =>
            list.length
              ? html`
                <${Rows}
                  list=${list}
                  here=${here}
                  actions=${actions}
                  removed=${removed}
                  grouped=${(wish.order || (words ? 'relevance' : 'time')) === 'time'}
                />
                ${
                  found.value.length > wish.limit &&
                  html`<p class="pane-empty">
                    <button class="button" onClick=${() => (asked.value = { ...wish, limit: wish.limit + STEP })}>
                      Show more
                    </button>
                  </p>`
                }
              `
              : html`<${Nothing} words=${words} />`}
        </${Answer}>
      `}
    />
    ${
      dialog?.kind === 'rename' &&
      html`<${RenameDialog}
        info=${dialog.info}
        onClose=${close}
        onDone=${async (name) => (close(), (await label(dialog.info, { name })) && resetList())}
      />`
    }
    ${dialog?.kind === 'export' && html`<${ExportDialog} info=${dialog.info} onClose=${close} />`}
  `
}

function Nothing({ words }) {
  if (words) return html`<${Cleared} words=${words} clear=${() => ask({ words: '' })} />`
  const { workspace, model, status, tag, favourite } = asked.value
  if (workspace || model || status || tag || favourite)
    return html`<${Empty} title="No matching tasks.">
      <button class="link" onClick=${() => ask(NONE)}>Clear filters</button>
    </${Empty}>`
  return html`<${Empty} title="No tasks yet.">
    <p><a href="#/">Start one</a>, or <a href="#/history/import">import conversations</a> from other agents.</p>
  </${Empty}>`
}

/** The search, the filters and the order; on a narrow screen behind a button that says how many are set. */
function Conditions({ all }) {
  const wish = asked.value
  const [isOpen, setOpen] = useState(false)
  const set = Object.keys(NONE).filter((name) => wish[name]).length
  const listDistinct = (of) => [...new Set(all.flatMap(of))].filter(Boolean).sort()
  const folders = [...new Set([...(welcome.value?.workspaces ?? []), ...listDistinct((one) => one.workspace)])]
  const choice = (name, text, options) => html`<select
    class="field"
    aria-label=${text}
    value=${wish[name]}
    onChange=${(e) => ask({ [name]: e.target.value })}
  >
    <option value="">${text}</option>
    ${options.map(([value, said]) => html`<option key=${value} value=${value}>${said}</option>`)}
  </select>`
  const tags = listDistinct((one) => one.tags ?? [])
  return html`<div class="wishes" role="search">
    <${Filter}
      label="Search all tasks"
      value=${wish.words}
      onInput=${(words) => ask({ words })}
      onKeyDown=${intoList}
    />
    <button class="chip only-narrow" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
      Filter and sort${set > 0 && ` (${set})`}
    </button>
    <div class=${classes('wish-row', isOpen && 'open')}>
      ${choice(
        'workspace',
        'All folders',
        folders.map((folder) => [folder, `${base(folder)} — ${folder}`]),
      )}
      ${choice(
        'status',
        'Any status',
        Object.entries(STATUS).map(([value, [, said]]) => [value, said]),
      )}
      ${choice(
        'model',
        'All models',
        listDistinct((one) => one.model).map((model) => [model, short(model)]),
      )}
      ${
        tags.length > 0 &&
        choice(
          'tag',
          'Any tag',
          tags.map((tag) => [tag, tag]),
        )
      }
      <button
        class=${classes('chip', wish.favourite && 'on')}
        aria-pressed=${wish.favourite}
        onClick=${() => ask({ favourite: !wish.favourite })}
      >
        <${Icon} name="star" size="14" /> Favorites
      </button>
      <label class="place grow">
        <span class="soft tiny">Sort by</span>
        <select
          class="field"
          aria-label="Sort by"
          value=${wish.order || (wish.words ? 'relevance' : 'time')}
          onChange=${(e) => ask({ order: e.target.value })}
        >
          ${Object.entries(ORDERS).map(
            ([value, text]) =>
              (value !== 'relevance' || wish.words) && html`<option key=${value} value=${value}>${text}</option>`,
          )}
        </select>
      </label>
    </div>
  </div>`
}

/** Actions for the selected tasks. */
function Chosen({ list, actions }) {
  const picked = list.filter((info) => chosen.value.has(info.task))
  if (!picked.length) return null
  const bytes = picked.reduce((sum, info) => sum + info.size, 0)
  return html`<div class="picked-bar row" role="group" aria-label="Selected tasks">
    <span class="grow"><strong>${count(picked.length, 'task')}</strong> <span class="soft">${size(bytes)}</span></span>
    ${
      picked.length < list.length &&
      html`<button class="button small" onClick=${() => (chosen.value = new Set(list.map((info) => info.task)))}>
        Select all ${list.length}
      </button>`
    }
    <button class="button small" onClick=${() => (chosen.value = new Set())}>Clear</button>
    <button class="button small danger" onClick=${() => actions.remove(picked)}>Delete</button>
  </div>`
}

/** `removed` is the first of the tasks that were deleted, and where it was: the next row gets the focus. */
function Rows({ list, here, actions, grouped, removed }) {
  const roving = useRoving()
  useEffect(() => {
    if (!removed.current || list.some((info) => info.task === removed.current.task)) return
    const items = roving.ref.current.querySelectorAll('[data-item]')
    if (document.activeElement === document.body) items[Math.min(removed.current.at, items.length - 1)]?.focus()
    removed.current = null
  })
  const of = (event) => list.find((info) => info.task === event.target.closest('[data-item]')?.dataset.item)
  function handleKey(event) {
    roving.onKeyDown(event)
    if (event.defaultPrevented && innerWidth > NARROW) goInstead('history', document.activeElement.dataset.item)
    const info = event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey ? null : of(event)
    if (!info) return
    const keys = {
      Enter: () => actions.open(info),
      ' ': () => toggle(info),
      f: () => actions.pin(info),
      r: () => actions.rename(info),
      e: () => actions.export(info),
      y: () => actions.fork(info),
      Delete: () =>
        actions.remove(chosen.value.has(info.task) ? list.filter((one) => chosen.value.has(one.task)) : [info]),
    }
    if (!keys[event.key]) return
    event.preventDefault()
    event.stopPropagation()
    keys[event.key]()
  }
  const parts = []
  for (const info of list) {
    const title = grouped ? formatDay(info.changed_at) : ''
    if (parts.at(-1)?.title !== title) parts.push({ title, list: [] })
    parts.at(-1).list.push(info)
  }
  return html`<div class="task-rows" ref=${roving.ref} onKeyDown=${handleKey} onFocusIn=${roving.onFocusIn}>
    <p class="soft tiny key-hint" aria-hidden="true">
      <kbd>↑</kbd>
      <kbd>↓</kbd> move <kbd>Enter</kbd> open <kbd>Space</kbd> select <kbd>f</kbd> favorite <kbd>r</kbd> rename <kbd>
        e
      </kbd> export <kbd>y</kbd> fork <kbd>Del</kbd> delete
    </p>
    ${parts.map(
      (part) => html`<section key=${part.title} aria-label=${part.title || 'Tasks'}>
        ${part.title && html`<h2 class="group-title">${part.title}</h2>`}
        <ul class="items">
          ${part.list.map(
            (info) => html`<${Row} key=${info.task} info=${info} here=${info.task === here} actions=${actions} />`,
          )}
        </ul>
      </section>`,
    )}
  </div>`
}

function toggle(info) {
  const next = new Set(chosen.value)
  if (!next.delete(info.task)) next.add(info.task)
  chosen.value = next
}

function Row({ info, here, actions }) {
  const standing = board.value[info.task] ?? 'rests'
  const dot = standing !== 'rests' ? standing : (STATUS[info.status]?.[0] ?? '')
  const said = { asks: 'Needs you', runs: 'Running' }[standing] ?? statusOf(info)
  const picked = chosen.value.has(info.task)
  return html`<li class=${classes('task-row', here && 'here', picked && 'picked')}>
    <label class="task-check">
      <input
        type="checkbox"
        tabindex="-1"
        aria-label=${`Select ${titleOf(info)}`}
        checked=${picked}
        onChange=${() => toggle(info)}
      />
    </label>
    <a
      class="task-cell"
      href=${`#/history/${info.task}`}
      data-item=${info.task}
      aria-current=${here ? 'true' : null}
      onDblClick=${() => actions.open(info)}
      aria-keyshortcuts="Enter Space f r e y Delete"
    >
      <span class="cut block">
        <span class=${classes('dot', dot)} aria-hidden="true"></span>
        ${titleOf(info)}
        ${
          info.favourite &&
          html` <span class="warn" title="Favorite">
              <${Icon} name="star" size="13" />
              <span class="hidden-text">favorite</span>
            </span>
          `
        }
      </span>
      <span class="soft tiny cut block">
        ${said} · ${base(info.workspace)} · ${short(info.model)} · ${when(info.changed_at)}
        ${(info.tags ?? []).map((tag) => html` <span class="tag" key=${tag}>${shown(tag)}</span>`)}
      </span>
      ${info.snippet && html`<span class="tiny block snippet"><${Snippet} text=${info.snippet} /></span>`}
    </a>
    <span class="figure" title=${`${tokens(info.tokens)} tokens`}>
      ${money(knownCost(info))}
    </span>
    <span class="figure wide-figure">${tokens(info.tokens)}</span>
    <span class="figure wide-figure">${size(info.size)}</span>
  </li>`
}
