// In the card of a waiting edit: those behind it in its reply, one below the other, each with its diff and its decision.
import { html, classes, useState } from '../lib/ui.js'
import { isDeliberate, useArmed } from '../lib/deliberate-input.js'
import { complain } from '../state/store.js'
import { shown } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { DiffText, fate, Stat } from '../lib/diff.js'
import { countEdits, decideAhead } from './approve-ahead.js'
import { Explanation } from './explanation.js'
import { End, endOf, isSeen, revealed } from './whole-call.js'

/** Lines of changes up to which all are open at first. */
const FEW = 60

const linesOf = (one) => one.row.approval.diffs.reduce((sum, diff) => sum + (diff.added ?? 0) + (diff.removed ?? 0), 0)

function Edit({ task, one, at, opensAll, armed, decide }) {
  const { row, decision } = one
  const { request: mark, diffs } = row.approval
  const [open, setOpen] = useState(null)
  const isOpen = revealed.value === task.keyOf(mark) || (open ?? opensAll)
  const sum = (field) => diffs.reduce((n, diff) => n + (diff[field] ?? 0), 0)
  const choose = (choice) => () =>
    isDeliberate() && (choice !== 'allow_once' || isSeen(task, row)) && decide(mark, decision === choice ? '' : choice)
  const button = (choice, label, look) =>
    html`<button class=${classes('button small', look, decision === choice && 'chosen')} disabled=${!armed} aria-pressed=${decision === choice} onClick=${choose(choice)}>
      ${label}<span class="hidden-text"> edit ${at}: ${row.title}</span>
    </button>`
  return html`<li class=${classes('edit-ahead', decision === 'reject_once' && 'refused')}>
    <div class="edit-ahead-line">
      <button class="fold-line" aria-expanded=${isOpen} onClick=${() => ((revealed.value = ''), setOpen(!isOpen))}>
        <span class=${classes('chevron', isOpen && 'open')} aria-hidden="true"><${Icon} name="chevron" size="14" /></span>
        <span class="soft">${at}</span>
        <span class="cut">${shown(row.title)}</span>
        ${diffs.length === 1 && fate(diffs[0]) && html`<span class="badge">${fate(diffs[0])}</span>`}
        <${Stat} added=${sum('added')} removed=${sum('removed')} />
      </button>
      ${button('allow_once', decision === 'allow_once' ? '✓ Approved' : 'Approve')}
      ${button('reject_once', decision === 'reject_once' ? '✕ Rejected' : 'Reject', 'danger')}
    </div>
    ${
      isOpen &&
      html`<div>
        ${diffs.map((diff, file) => html`<${DiffText} key=${file} diff=${diff} named=${diffs.length > 1} tail=${html`<${End} of=${endOf(task, mark, file)} />`} />`)}
        <div class="explanation pad-line"><${Explanation} task=${task} row=${row} /></div>
      </div>`
    }
  </li>`
}

export function EditsAhead({ task, row, edits }) {
  const { request } = row.approval
  const armed = useArmed(edits.ahead.length > 0 && task.keyOf(request))
  if (!edits.ahead.length) return null
  const opensAll = edits.ahead.reduce((sum, one) => sum + linesOf(one), 0) <= FEW
  const decide = async (mark, decision) => {
    try {
      const before = edits.ahead.find((one) => one.row.approval.request === mark)?.decision
      if (before && decision) await decideAhead(task, row, { [mark]: '' }) // another decision takes the first one back
      await decideAhead(task, row, { [mark]: decision })
    } catch (error) {
      complain(error)
    }
  }
  return html`<section class="edits-ahead" aria-label="Edits of this reply">
    <p class="small">
      <strong>${countEdits(row, edits.ahead)}</strong>
      ${' '}
      <span class="soft">· ${edits.at} of ${edits.total} is above</span>
    </p>
    <ol class="plain-list">
      ${edits.ahead.map(
        (one, at) =>
          html`<${Edit} key=${one.row.call} task=${task} one=${one} at=${edits.at + at + 1} opensAll=${opensAll} armed=${armed} decide=${decide} />`,
      )}
    </ol>
  </section>`
}
