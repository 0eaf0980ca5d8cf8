// The hint on sending while the agent asks: the message is the answer, and nothing pending is done. Or it is sent with
// an approval, or queued until the turn ends.
import { html } from '../lib/ui.js'
import { isDeliberate } from '../lib/deliberate-input.js'
import { announcement } from '../state/store.js'
import { approveCall } from '../decisions/approve.js'

const NOT_DONE = {
  execute: 'the command will not run',
  edit: 'the file stays unchanged',
  delete: 'nothing is deleted',
  move: 'nothing is moved',
}

/** Approve with a message. Returns false if that was not done because not all of it was in view. */
export async function approveWith(task, asked, note, { parts }) {
  const done = await approveCall(task, task.call(asked.call), { note, content: parts })
  if (done) announcement.value = 'Approved with your message'
  return done
}

export default function Instead({ asked, submit }) {
  const approval = asked.kind === 'approval'
  return html`<div class="instead row tiny" role="status">
    <strong class="grow">
      ${
        approval
          ? `Sending this rejects the request: ${NOT_DONE[asked.tool] ?? 'it will not be done'}.`
          : 'Sending this answers the question.'
      }
    </strong>
    ${
      approval &&
      html`<button class="button small" onClick=${() => isDeliberate() && submit(true, { yes: true })}>
        Approve with message
      </button>`
    }
    <button class="button small quiet" onClick=${() => submit(false, { later: true })}>Queue instead</button>
  </div>`
}
