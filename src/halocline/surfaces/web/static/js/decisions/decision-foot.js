// Below a decision: all that waits, to be approved together, and why it is asked.
import { html, useState } from '../lib/ui.js'
import { isDeliberate, useArmed } from '../lib/deliberate-input.js'
import { openSheet } from '../state/store.js'
import { shown } from '../lib/format.js'
import { approveCall } from './approve.js'
import { Explanation } from './explanation.js'
import { wholeOf } from './whole-call.js'

/** What is asked for; longer text is shown in full below. Titles of our own tools begin with a verb, a command's does
 *  not, nor do those of other programs' tools. */
export const Wanted = ({ asked, row }) => {
  const verb = row?.name === 'execute_command' ? 'Run' : asked.tool === 'other' ? 'Allow' : ''
  if (row && wholeOf(row) === asked.title) return html`<strong class="grow">${verb || 'Allow'}</strong>`
  return html`
    ${verb && html`<strong>${verb}</strong> `}
    <code class="wanted grow">${shown(asked.title)}</code>
  `
}

function Batch({ task, approvals }) {
  const [open, setOpen] = useState(false)
  const armed = useArmed(open && approvals.map(({ request }) => task.keyOf(request)).join())
  if (approvals.length < 2) return null
  return html`<div class="batch">
    <div class="row">
      ${
        open &&
        html`<button
          class="button small"
          disabled=${!armed}
          onClick=${() => isDeliberate() && approvals.forEach(({ call }) => approveCall(task, task.call(call)))}
        >
          Approve all ${approvals.length}
        </button>`
      }
      <button class="button small quiet" aria-expanded=${open} onClick=${() => setOpen(!open)}>
        ${open ? 'Hide' : `Show all ${approvals.length}…`}
      </button>
    </div>
    ${
      open &&
      html`<ul class="plain-list tiny">
        ${approvals.map((asked) => {
          const row = task.call(asked.call)
          return html`<li key=${asked.request}>
            <${Wanted} asked=${asked} row=${row} />
            ${row?.approval && html`<${Explanation} task=${task} row=${row} />`}
          </li>`
        })}
      </ul>`
    }
  </div>`
}

/** All approvals that wait, below the first of them. */
export const Foot = ({ task, isFirst }) =>
  isFirst && html`<${Batch} task=${task} approvals=${task.facts.waiting.filter((one) => one.kind === 'approval')} />`

export const Why = ({ task, row }) => html`<button
  class="link tiny"
  onClick=${() => openSheet('policy', { task, command: row.kind === 'execute' ? row.title : '' })}
>
  Why am I being asked?
</button>`
