// What sending does while the agent asks: the message is the answer, and nothing that waits is done. Or it goes along with
// a yes, or waits for the end of the turn.
import { html } from '../ui.js'
import { isMeant } from '../calm.js'
import { callRow } from '../rows.js'
import { announcement } from '../store.js'
import { approve } from './decision.js'

const NOT_DONE = {
  execute: 'the command will not run',
  edit: 'the file stays as it is',
  delete: 'nothing is deleted',
  move: 'nothing is moved',
}

/** Approve what is asked, with these words and pictures. False when that was not done: not all of it was in view. */
export async function approveWith(task, asked, note, { parts }) {
  const done = await approve(task, callRow(task.transcript, asked.event.call), { note, content: parts })
  if (done) announcement.value = 'Approved, with your message'
  return done
}

export default function Instead({ asked, submit }) {
  const approval = asked.kind === 'approval'
  return html`<div class="instead row tiny" role="status">
    <strong class="grow">
      ${
        approval
          ? `Your message answers this request: ${NOT_DONE[asked.event.kind] ?? 'it will not be done'}.`
          : 'Your message answers the question.'
      }
    </strong>
    ${
      approval &&
      html`<button class="button small" onClick=${() => isMeant() && submit(true, { yes: true })}>
        Approve, and say this
      </button>`
    }
    <button class="button small quiet" onClick=${() => submit(false, { later: true })}>Queue it instead</button>
  </div>`
}
