// The stages of a connection test: server, key, model, and the failure.
import { html } from '../lib/ui.js'
import { seconds, shown } from '../lib/format.js'

const MARKS = { yes: ['✓', 'good', 'yes'], no: ['✗', 'bad', 'no'], unknown: ['–', 'soft', 'unknown'] }
const mark = (is) => (is === true ? 'yes' : is === false ? 'no' : 'unknown')

export function Stages({ of }) {
  const stages = [
    [
      'Server',
      of.server ? `${of.server} ${of.reached === false ? 'cannot be reached' : 'responds'}` : 'the server',
      of.reached !== false,
    ],
    [
      'Key',
      of.accepted === true
        ? 'accepted'
        : of.accepted === false
          ? 'rejected'
          : of.reached === false
            ? 'not tried'
            : 'not required or not checked',
      of.accepted,
    ],
    [
      'Model',
      !of.model || of.model.endsWith('/')
        ? 'not checked'
        : of.known === true
          ? `${of.model} is available`
          : of.known === false
            ? `${of.model} is not available`
            : `${of.model} could not be checked`,
      of.known,
    ],
  ]
  return html`<div class="pile" role="status">
    <ul class="stages">
      ${stages.map(([name, text, is]) => {
        const [sign, kind, said] = MARKS[mark(is)]
        return html`<li key=${name}>
          <b class=${kind} aria-hidden="true">${sign}</b>
          <span><strong>${name}</strong> <span class="hidden-text">${said}: </span>${shown(text)}</span>
        </li>`
      })}
    </ul>
    ${
      of.failure
        ? html`<div class="pane-card error-card">
          <strong>${shown(of.failure)}</strong>
          ${of.hint && html`<p>${shown(of.hint)}</p>`}
          ${of.code && html`<code class="soft tiny">${shown(of.code)}</code>`}
        </div>`
        : html`<p class="good">Connection works${of.seconds ? ` (${seconds(of.seconds)})` : ''}.</p>`
    }
    ${of.key_source && html`<p class="soft tiny">Key: ${shown(of.key_source)}</p>`}
  </div>`
}
