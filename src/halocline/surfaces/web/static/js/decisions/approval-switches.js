// Auto-approval: a summary, and a switch per kind that overrides the approval mode, for this task and, if you want, for
// new tasks too.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { complain, toast } from '../state/store.js'
import { Icon } from '../lib/icons.js'
import { allowsMore, Confirm, RISKY } from '../widgets/confirm-looser.js'

const NOW = {
  allow: ['allowed', 'check', 'good'],
  ask: ['asks', 'question', 'warn'],
  deny: ['denied now', 'cross', 'bad'],
}
const STANDS = ['', 'true', 'false']
const LABELS = { '': 'Follow the mode', true: 'Auto-approve', false: 'Always ask' }
const nameValue = (on) => (on == null ? '' : String(on))
const parseValue = (text) => (text === '' ? null : text === 'true')
const capitalize = (text) => text[0].toUpperCase() + text.slice(1)

const keep = (one, on) => {
  const name = `auto_approve.${one.switch}`
  return on == null ? act('reset_setting', { name }) : act('set_setting', { name, value: on })
}

function Line({ one, wanted, choose }) {
  const [text, icon, tone] = NOW[one.now]
  const id = `switch-${one.switch}`
  return html`<li class="switch-line">
    <label for=${id}>
      <strong>${capitalize(one.title)}</strong>
      <span class="soft tiny block" id=${`${id}-hint`}>${one.hint}</span>
    </label>
    <span class=${`tiny ${tone}`}><${Icon} name=${icon} size="14" /> ${text}</span>
    <select
      id=${id}
      class="field"
      aria-describedby=${`${id}-hint`}
      value=${nameValue(wanted)}
      onChange=${(e) => choose(one, parseValue(e.target.value))}
    >
      ${STANDS.map((each) => html`<option key=${each} value=${each}>${LABELS[each]}</option>`)}
    </select>
  </li>`
}

export function Switches({ task, all, again }) {
  const [asked, setAsked] = useState(null)
  const [keeps, setKeeps] = useState(false)
  const allowed = all.filter((one) => one.now === 'allow').map((one) => one.title)
  const set = async (one, on) => {
    setAsked(null)
    try {
      await task.send('set_approval_switch', { switch: one.switch, on })
      if (keeps) {
        await keep(one, on)
        toast('Also set for new tasks.')
      }
    } catch (error) {
      complain(error)
    }
    again()
  }
  const choose = (one, on) => (allowsMore(on, one.on) ? setAsked({ one, on }) : set(one, on))
  const mine = all.filter((one) => one.set_here).length
  return html`<section>
    <p class="small auto-approved" role="status">
      ${allowed.length ? `Auto-approved: ${allowed.join(', ')}.` : 'Nothing is auto-approved.'}
    </p>
    <details class="switches" open=${mine > 0 || null}>
      <summary>Auto-approve by kind${mine > 0 && ` (${mine} set in this task)`}</summary>
      <ul class="plain-list">
        ${all.map(
          (one) => html`<${Line}
            key=${one.switch}
            one=${one}
            wanted=${asked?.one.switch === one.switch ? asked.on : one.on}
            choose=${choose}
          />
          ${
            asked?.one.switch === one.switch &&
            html`<li><${Confirm}
              title=${`${capitalize(one.title)}: ${LABELS[nameValue(asked.on)].toLowerCase()}?`}
              about=${`${one.hint} Applies to this task from its next call${keeps ? ', and to new tasks' : ''}.`}
              yes=${LABELS[nameValue(asked.on)]}
              risky=${RISKY.includes(one.switch) && asked.on}
              onYes=${() => set(asked.one, asked.on)}
              onNo=${() => setAsked(null)}
            /></li>`
          }`,
        )}
      </ul>
      <label class="row nowrap small">
        <input type="checkbox" checked=${keeps} onChange=${(e) => setKeeps(e.target.checked)} />
        Also apply changes to new tasks
      </label>
      <p class="soft tiny">
        This never overrides denials: plan mode, ignored files, deny rules and forbidden commands.
      </p>
    </details>
  </section>`
}
