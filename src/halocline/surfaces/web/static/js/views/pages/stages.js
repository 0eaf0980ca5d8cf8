// How far the way to a model goes: server, key, model; and exactly what stopped it.
import { html } from '../../ui.js'
import { seconds, shown } from '../../format.js'

const MARKS = { yes: ['✓', 'good', 'yes'], no: ['✗', 'bad', 'no'], unknown: ['–', 'soft', 'not known'] }
const mark = (is) => (is === true ? 'yes' : is === false ? 'no' : 'unknown')

export function Stages({ of }) {
  const stages = [
    [
      'Server',
      of.server ? `${of.server} ${of.reached === false ? 'cannot be reached' : 'answers'}` : 'the server',
      of.reached !== false,
    ],
    [
      'Key',
      of.accepted === true
        ? 'is accepted'
        : of.accepted === false
          ? 'is refused'
          : of.reached === false
            ? 'was not tried'
            : 'is not asked for, or was not looked at',
      of.accepted,
    ],
    [
      'Model',
      !of.model
        ? 'none was asked about'
        : of.known === true
          ? `${of.model} is there`
          : of.known === false
            ? `${of.model} is not there`
            : `${of.model} could not be asked about`,
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
        : html`<p class="good">The way is open${of.seconds ? ` (${seconds(of.seconds)})` : ''}.</p>`
    }
    ${of.key_source && html`<p class="soft tiny">The key: ${shown(of.key_source)}</p>`}
  </div>`
}
