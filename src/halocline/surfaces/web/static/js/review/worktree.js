// The worktree of a task: its diff, what a merge would do, and the buttons that merge it, undo that and discard it.
import { html, classes, style, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { dotOf, listed } from '../state/board.js'
import { announcement, openSheet, taskOf } from '../state/store.js'
import { count, shown, thousands } from '../lib/format.js'
import { DiffText } from '../lib/diff.js'
import { Answer, Failed, useAction, useQuery } from '../widgets/page-frame.js'
import { Sheet } from '../widgets/sheet.js'
import { openFile } from '../files/open-file.js'
/** @import { WorktreeReport } from '../../../types/protocol' */

await style('static/js/review/worktree.css')

const Side = ({ name, text }) => html`<div class="worktree-side">
  <p class="tiny soft">${name}</p>
  <pre class="mono" tabindex="0" aria-label=${name}>${text ? shown(text) : html`<span class="soft">(nothing)</span>`}</pre>
</div>`

/** A file in which both sides changed the same lines, and the buttons that settle it alone. */
const Conflict = ({
  conflict,
  files,
  id,
  run,
  busy,
}) => html`<section class="worktree-conflict" aria-label=${`Conflict in ${conflict.path}`}>
  <p class="row">
    <strong class="mono grow cut">${shown(conflict.path)}</strong>
    ${
      !files.some(
        (file) => file.before === conflict.path || (file.kind === 'deleted' && file.path === conflict.path),
      ) &&
      html`<button class="button small quiet" onClick=${() => openFile(taskOf(id), conflict.path)}>
        Open the worktree's file
      </button>`
    }
  </p>
  ${conflict.why && html`<p class="small soft">${shown(conflict.why)}</p>`}
  ${(conflict.hunks ?? []).map(
    (hunk, at) => html`<div key=${at}>
      <p class="tiny soft">Line ${hunk.line}</p>
      <div class="worktree-sides">
        <${Side} name="Main folder" text=${hunk.ours} />
        <${Side} name="Worktree" text=${hunk.theirs} />
      </div>
    </div>`,
  )}
  <div class="row">
    <span class="small">Settle this file as in:</span>
    <${Settle} label="Main folder" choice="ours" conflict=${conflict} run=${run} busy=${busy} />
    <${Settle} label="Worktree" choice="theirs" conflict=${conflict} run=${run} busy=${busy} />
    ${
      conflict.hunks?.length > 0 &&
      html`<${Settle} label="Both, with markers" choice="markers" conflict=${conflict} run=${run} busy=${busy} />`
    }
  </div>
</section>`

/** Merges one file, with this side of its overlaps. */
const Settle = ({ label, choice, conflict: { path, version }, run, busy }) => html`<button
  class="button small"
  disabled=${busy}
  aria-label=${`${label}, in ${path}`}
  onClick=${() => run('worktree_merge', { choice, only: [path], seen: [version] })}
>
  ${label}
</button>`

const Left = ({ title, entries = [] }) =>
  entries.length > 0 &&
  html`<div class="small">
    <p class="soft">${title}</p>
    <ul class="plain">
      ${entries.map((one) => html`<li key=${one.path}><span class="mono">${shown(one.path)}</span>: ${shown(one.why)}</li>`)}
    </ul>
  </div>`

/** The buttons of a merge. @param {{ report: WorktreeReport, run: Function, busy: boolean }} props */
function Merge({ report, run, busy }) {
  const { merged, guarded = [] } = report.merge
  const conflicts = merged.conflicts?.length ?? 0
  const changed = merged.changed?.length ?? 0
  const seen = merged.conflicts?.map((one) => one.version) ?? []
  const merge = (options) => () => run('worktree_merge', { ...options, seen })
  return html`<div class="row">
    ${
      changed > 0 &&
      html`<button class="button primary" disabled=${busy} onClick=${merge({})}>
        Merge ${count(changed, 'file')}${conflicts ? ' without overlaps' : ''}
      </button>`
    }
    ${
      conflicts > 0 &&
      html`
        <span class="small">${changed ? 'Or merge all, with overlaps' : 'Merge with overlaps'} as in:</span>
        <button class="button" disabled=${busy} onClick=${merge({ choice: 'ours' })}>the main folder</button>
        <button class="button" disabled=${busy} onClick=${merge({ choice: 'theirs' })}>the worktree</button>
        ${
          merged.conflicts.some((one) => one.hunks?.length) &&
          html`<button class="button" disabled=${busy} onClick=${merge({ choice: 'markers' })}>both, with markers</button>`
        }
      `
    }
    ${
      guarded.length > 0 &&
      html`<button class="button" disabled=${busy} onClick=${merge({ guarded: true })}>
        Merge also ${count(guarded.length, 'file')} that an edit would ask about
      </button>`
    }
    ${
      report.state.can_undo &&
      html`<button class="button" disabled=${busy} onClick=${() => run('worktree_undo')}>Undo the last merge</button>`
    }
  </div>`
}

/** The attempts at the same prompt, side by side; each leads to its worktree. @param {{ group?: string, id: string }} props */
function Attempts({ group, id }) {
  const rows = (listed.value?.rows ?? []).filter((row) => group && row.work?.group === group)
  if (rows.length < 2) return null
  return html`<table class="worktree-attempts small" tabindex="0">
    <caption class="soft">Attempts at the same prompt</caption>
    <tr><th>Worktree</th><th>Model</th><th>End</th><th>Files</th><th>Cost</th></tr>
    ${rows.map(
      (row) => html`<tr key=${row.task} aria-current=${row.task === id ? 'true' : null}>
        <td>
          ${
            row.task === id
              ? html`<strong>${shown(row.work.name)}</strong>`
              : html`<button class="link" onClick=${() => openSheet('worktree', { id: row.task })}>${shown(row.work.name)}</button>`
          }
        </td>
        <td>${shown(row.model)}</td>
        <td><span class=${classes('dot', dotOf(row))} aria-hidden="true"></span> ${shown(row.activity)}</td>
        <td>${shown(row.work.text)}</td>
        <td>${row.cost}</td>
      </tr>`,
    )}
  </table>`
}

/** Removes the worktree, once what goes with it was named. @param {{ report: WorktreeReport, run: Function, busy: boolean }} props */
function Discard({ report, run, busy }) {
  const [sure, setSure] = useState(false)
  if (!sure)
    return html`<div class="row">
      <button class="button small danger" disabled=${busy} onClick=${() => setSure(true)}>Discard the worktree…</button>
    </div>`
  return html`<div class="card pad stack" role="group" aria-label="Discard the worktree">
    <p>Remove <span class="mono worktree-place">${shown(report.folder)}</span>?</p>
    ${report.loss.map((line) => html`<p key=${line} class="small">${shown(line)}</p>`)}
    <div class="row">
      <button class="button danger" disabled=${busy} onClick=${() => run('worktree_discard', { left: report.left })}>
        ${report.left.length ? 'Discard it with this work' : 'Discard it'}
      </button>
      <button class="button quiet" onClick=${() => setSure(false)}>Keep it</button>
    </div>
  </div>`
}

/** @param {{ report: WorktreeReport, id: string, run: Function, busy: boolean }} props */
function Report({ report, id, run, busy }) {
  const { state, files, merge } = report
  return html`<div class="stack">
    <p><strong>${shown(state.name)}</strong>: ${shown(state.text)}</p>
    <p class="tiny soft mono worktree-place">${shown(report.folder)} → ${shown(report.main)}</p>
    <${Attempts} group=${state.group} id=${id} />
    <${Merge} report=${report} run=${run} busy=${busy} />
    <${Discard} report=${report} run=${run} busy=${busy} />
    ${(merge.merged.conflicts ?? []).map((one) => html`<${Conflict} key=${one.path} conflict=${one} files=${files} id=${id} run=${run} busy=${busy} />`)}
    <${Left} title="Not merged:" entries=${merge.refused} />
    <${Left} title="Merged only if you say so:" entries=${merge.guarded} />
    ${merge.apart?.length > 0 && html`<p class="small">Not merged, repositories of their own: ${shown(merge.apart.join(', '))}</p>`}
    ${files.map(
      (file) => html`<div key=${file.path}>
        <${DiffText} diff=${{ ...file, text: file.added == null ? '' : file.diff }} named />
        ${file.cut > 0 && html`<p class="tiny soft">${thousands(file.cut)} more bytes not shown.</p>`}
      </div>`,
    )}
  </div>`
}

function View({ id }) {
  const found = useQuery('worktree', { task: id })
  const [done, setDone] = useState([])
  const [isGone, setGone] = useState(false)
  const [run, busy, error] = useAction(async (name, options = {}) => {
    const lines = await act(name, { task: id, ...options })
    setDone(lines)
    announcement.value = lines[0] ?? ''
    if (name === 'worktree_discard') setGone(true)
    else found.again()
  })
  return html`<${Sheet} title="Worktree" wide>
    <div class="stack">
      ${
        done.length > 0 &&
        html`<div class="card pad small worktree-place" role="status">
          ${done.map((line, at) => html`<p key=${at}>${shown(line)}</p>`)}
        </div>`
      }
      ${error && html`<${Failed} error=${error} again=${found.again} />`}
      ${
        !isGone &&
        html`<${Answer} of=${found} what="the worktree">
          ${(report) => html`<${Report} report=${report} id=${id} run=${run} busy=${busy} />`}
        </${Answer}>`
      }
    </div>
  </${Sheet}>`
}

export default function WorktreeSheet({ id }) {
  return html`<${View} key=${id} id=${id} />`
}
