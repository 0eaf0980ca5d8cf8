// The permissions of new tasks as one table: in the folder and outside, each as the approval mode says, or otherwise.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { announcement } from '../state/store.js'
import { shown } from '../lib/format.js'
import { ROWS } from '../state/permission-rows.js'
import { isLocked } from './setting.js'
import { allowsMore, Confirm, RISKY } from '../widgets/confirm-looser.js'

export const TABLE = 'auto_approve'
const LOOKS = { true: 'good', false: 'warn', null: 'soft' }
const CHOICES = { null: 'By mode', true: 'Allow', false: 'Ask' }

/** One permission; `title` says which, for those who do not see the table; `wanted` is a value that is asked about. */
function Cell({ of, title, wanted, choose }) {
  if (!of) return html`<td class="soft">–</td>`
  const why = isLocked(of)
  const value = String(wanted === undefined ? (of.value ?? null) : wanted)
  return html`<td>
    <select
      id=${`setting-${of.name}`}
      class=${`field ${LOOKS[value]}`}
      aria-label=${title}
      title=${why || of.name}
      disabled=${Boolean(why)}
      value=${value}
      onChange=${(event) => choose(of, title, JSON.parse(event.target.value))}
    >
      ${Object.entries(CHOICES).map(([each, label]) => html`<option key=${each} value=${each}>${label}</option>`)}
    </select>
  </td>`
}

export function Matrix({ all, changed }) {
  const [error, setError] = useState(null)
  const [asked, setAsked] = useState(null)
  const find = (name) => all.find((one) => one.name === `${TABLE}.${name}`)
  async function save({ name }, value) {
    setAsked(null)
    try {
      await (value === null ? act('reset_setting', { name }) : act('set_setting', { name, value }))
      setError(null)
      announcement.value = 'Permissions: saved'
    } catch (failure) {
      setError(failure)
    }
    changed()
  }
  const choose = (of, title, value) =>
    allowsMore(value, of.value ?? null) ? setAsked({ of, title, value }) : save(of, value)
  const draw = (name, title) => {
    const of = find(name)
    return html`<${Cell} of=${of} title=${title} wanted=${asked && asked.of.name === of?.name ? asked.value : undefined} choose=${choose} />`
  }
  return html`<section class="setting">
    <table class="permissions">
      <caption class="hidden-text">Permissions of new tasks</caption>
      <thead>
        <tr><th scope="col">Without approval</th><th scope="col">In the folder</th><th scope="col">Outside</th></tr>
      </thead>
      <tbody>
        ${ROWS.map(
          ([title, inside, outside]) => html`<tr key=${inside}>
            <th scope="row">${title}</th>
            ${draw(inside, `${title}${outside && ', in the folder'}`)} ${draw(outside, `${title}, outside`)}
          </tr>`,
        )}
      </tbody>
    </table>
    ${
      asked &&
      html`<${Confirm}
        title=${`${asked.title}: ${CHOICES[asked.value].toLowerCase()}?`}
        about=${`${shown(asked.of.doc ?? '')} Applies to new tasks.`}
        yes=${CHOICES[asked.value]}
        risky=${asked.value && RISKY.some((name) => asked.of.name === `${TABLE}.${name}`)}
        onYes=${() => save(asked.of, asked.value)}
        onNo=${() => setAsked(null)}
      />`
    }
    <p class="soft tiny">Allowed builds and tests run all code of the project. Denials are never overridden.</p>
    ${error && html`<p class="bad tiny" role="alert">${shown(error.text ?? error.message)} ${shown(error.hint ?? '')}</p>`}
  </section>`
}
