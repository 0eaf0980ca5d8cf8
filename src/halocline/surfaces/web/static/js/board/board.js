// The board: all tasks of this home in their groups, as the server lists them, and the cards that decide what they ask.
import { html, classes, signal, style } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { dotOf, listed, placeOf, tasksOf, TITLES } from '../state/board.js'
import { complain, openSheet, toast } from '../state/store.js'
import { keepValue } from '../lib/preferences.js'
import { base, shown, when } from '../lib/format.js'
import { Cleared, Empty, Filter, Page, fits } from '../widgets/page-frame.js'
import { Asked } from './asked.js'
/** @import { BoardRow } from '../../../types/protocol' */

await style('static/js/board/board.css')

const MOST = 60

/** What is typed into the filter; kept while the page is open. */
const words = signal('')
/** The folder whose tasks are listed; empty: all. */
const folder = keepValue('board folder', '')
/** The task whose card is open; empty: the first that needs you. */
const opened = signal('')

const STANDINGS = { conflict: 'asks', unknown: 'failed' }

const run = (name, row, done) => act(name, { task: row.task }).then(() => toast(done), complain)

const Facts = ({ row }) => html`<p class="soft tiny board-facts">
  <span>${shown(placeOf(row))}</span>
  <span>${shown(row.model)}</span>
  <span>${when(row.changed_at)}</span>
  ${row.cost !== '–' && html`<span>${row.cost}</span>`}
  ${row.context != null && html`<span class=${row.context < 20 ? 'warn' : ''}>${row.context}% left</span>`}
</p>`

/** The buttons of a task beside its card. */
function Actions({ row, isOpen }) {
  const isWaiting = row.asked && row.process
  const canResume = !row.process && (row.group === 'cut short' || row.asked)
  const hasWorktree = row.work && row.work.standing !== 'gone'
  if (!isWaiting && !canResume && !hasWorktree && row.group !== 'running') return null
  return html`<span class="board-actions">
    ${
      hasWorktree &&
      html`<button
        class="button small"
        aria-label=${`Worktree: ${row.title}`}
        onClick=${() => openSheet('worktree', { id: row.task })}
      >
        Worktree…
      </button>`
    }
    ${
      isWaiting &&
      html`<button
        class="button small"
        aria-expanded=${isOpen}
        aria-label=${`${isOpen ? 'Hide' : 'Decide'}: ${row.title}`}
        onClick=${() => (opened.value = isOpen ? '-' : row.task)}
      >
        ${isOpen ? 'Hide' : 'Decide…'}
      </button>`
    }
    ${
      canResume &&
      html`<button
        class="button small"
        aria-label=${`Resume: ${row.title}`}
        onClick=${() => run('resume', row, 'It continues in the background.')}
      >
        Resume
      </button>`
    }
    ${
      row.group === 'running' &&
      html`<button class="button small quiet" aria-label=${`Stop: ${row.title}`} onClick=${() => run('stop', row, 'Stopped.')}>
        Stop
      </button>`
    }
  </span>`
}

/** @param {{ row: BoardRow, isOpen: boolean }} props */
function Item({ row, isOpen }) {
  const dot = dotOf(row)
  const says = row.group === 'ended' || row.group === 'running' ? row.reply : ''
  return html`<li class=${classes('board-item', row.parent && 'below', isOpen && 'open')}>
    <div class="board-line">
      <span class=${classes('dot', dot)} aria-hidden="true"></span>
      <div class="grow">
        <a class="board-title" href=${`#/task/${row.task}`}>${shown(row.title)}</a>
        ${!(row.group === 'ended' && row.is_good) && html`<p class=${classes('small board-activity', row.group !== 'ended' && dot)}>${shown(row.activity)}</p>`}
        ${says && html`<p class="small soft cut">${shown(says)}</p>`}
        ${row.work && html`<p class=${classes('small board-activity', STANDINGS[row.work.standing])}>${shown(row.work.text)}</p>`}
        <${Facts} row=${row} />
      </div>
      <${Actions} row=${row} isOpen=${isOpen} />
    </div>
    ${isOpen && html`<${Asked} key=${row.task} row=${row} />`}
  </li>`
}

const Conditions = ({ folders, only, rows }) => html`<div class="board-filter" role="search">
  <${Filter} label="Filter tasks" value=${words.value} onInput=${(text) => (words.value = text)} />
  ${
    folders.length > 1 &&
    html`<select class="field" aria-label="Folder" value=${only} onChange=${(e) => (folder.value = e.target.value)}>
      <option value="">All folders</option>
      ${folders.map((one) => html`<option key=${one} value=${one}>${shown(placeOf(rows.find((row) => row.folder === one)))}</option>`)}
    </select>`
  }
</div>`

function Groups({ groups, rows }) {
  const first = rows.find((row) => row.asked && row.process)
  const isChosen = opened.value === '-' || rows.some((row) => row.task === opened.value && row.asked)
  const open = isChosen ? opened.value : first?.task
  return groups.map((group) => {
    const ones = rows.filter((row) => row.group === group)
    return (
      ones.length > 0 &&
      html`<div class="board-group" key=${group} role="group" aria-label=${TITLES[group]}>
        <h2 class="group-title">${TITLES[group]} (${tasksOf(ones).length})</h2>
        <ul class="board-list">
          ${ones
            .slice(0, MOST)
            .map(
              (row) =>
                html`<${Item} key=${row.task} row=${row} isOpen=${row.task === open && Boolean(row.asked && row.process)} />`,
            )}
        </ul>
        ${ones.length > MOST && html`<p class="pad soft small">More are in the <a href="#/history">history</a>.</p>`}
      </div>`
    )
  })
}

export default function Board() {
  const found = listed.value
  const rows = found?.rows ?? []
  const folders = [...new Set(rows.map((row) => row.folder))]
  const only = folders.includes(folder.value) ? folder.value : ''
  const fitting = rows.filter((row) => (!only || row.folder === only) && fits(words.value, row.words))
  const clear = () => ((words.value = ''), (folder.value = ''))
  const tasks = tasksOf(rows)
  const asks = tasks.filter((row) => row.group === 'needs you').length
  return html`<${Page} title="Board" below=${html`<${Conditions} folders=${folders} only=${only} rows=${rows} />`}>
    <div class="page-body board">
      <p class="hidden-text" role="status">${found ? `${asks} of ${tasks.length} tasks need you` : ''}</p>
      ${
        found &&
        (fitting.length
          ? html`<${Groups} groups=${found.groups} rows=${fitting} />`
          : rows.length
            ? html`<${Cleared} words=${words.value || base(only)} clear=${clear} />`
            : html`<${Empty} title="No tasks yet."><p><a href="#/">Start one</a>.</p></${Empty}>`)
      }
    </div>
  </${Page}>`
}
