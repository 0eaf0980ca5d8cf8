// What a task does without asking, in one line, and a switch for each kind: over the approval mode, for this task, and
// where it is wanted for new tasks as well.
import { html, useState } from '../ui.js'
import { act } from '../line.js'
import { complain, toast } from '../store.js'
import { Icon } from '../icons.js'
import { Confirm } from './confirm.js'

const NOW = {
  allow: ['allowed now', 'check', 'good'],
  ask: ['asks now', 'question', 'warn'],
  deny: ['refused now', 'cross', 'bad'],
}
const STANDS = ['', 'true', 'false']
const LABELS = { '': 'As the mode says', true: 'Allow without asking', false: 'Always ask' }
const named = (on) => (on == null ? '' : String(on))
const meant = (text) => (text === '' ? null : text === 'true')
const capital = (text) => text[0].toUpperCase() + text.slice(1)

/** Whether less is asked when a switch stands so: always ask, as the mode says, allow. */
const allowsMore = (on, than) => [false, null, true].indexOf(on) > [false, null, true].indexOf(than)

const keep = (one, on) => {
  const name = `auto_approve.${one.switch}`
  return on == null ? act('reset_setting', { name }) : act('set_setting', { name, value: on })
}

function Line({ one, wanted, choose }) {
  const [text, icon, tone] = NOW[one.now]
  const id = `switch-${one.switch}`
  return html`<li class="switch-line">
    <label for=${id}>
      <strong>${capital(one.title)}</strong>
      <span class="soft tiny block" id=${`${id}-hint`}>${one.hint}</span>
    </label>
    <span class=${`tiny ${tone}`}><${Icon} name=${icon} size="14" /> ${text}</span>
    <select
      id=${id}
      class="field"
      aria-describedby=${`${id}-hint`}
      value=${named(wanted)}
      onChange=${(e) => choose(one, meant(e.target.value))}
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
        toast('New tasks begin with it, too.')
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
      ${allowed.length ? `Done without asking now: ${allowed.join(', ')}.` : 'Nothing is done without asking now.'}
    </p>
    <details class="switches" open=${mine > 0 || null}>
      <summary>Auto-approve: a switch for each kind${mine > 0 && ` (${mine} set in this task)`}</summary>
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
              title=${`${capital(one.title)}: ${LABELS[named(asked.on)].toLowerCase()}?`}
              about=${`${one.hint} It holds for this task, from its next call on${keeps ? ', and for new tasks' : ''}.`}
              yes=${LABELS[named(asked.on)]}
              risky=${one.switch === 'all_commands' && asked.on}
              onYes=${() => set(asked.one, asked.on)}
              onNo=${() => setAsked(null)}
            /></li>`
          }`,
        )}
      </ul>
      <label class="row nowrap small">
        <input type="checkbox" checked=${keeps} onChange=${(e) => setKeeps(e.target.checked)} />
        Keep what I switch for new tasks, too
      </label>
      <p class="soft tiny">
        Nothing here lifts what is refused: plan mode, ignored files, rules that deny, what no command may do.
      </p>
    </details>
  </section>`
}
