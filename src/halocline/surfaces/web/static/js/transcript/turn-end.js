// The end of a turn: why it ended and what it cost, or the error that ended it; then what one may do next.
import { html, classes } from '../lib/ui.js'
import { complain, go, openSheet, reviewOpen } from '../state/store.js'
import { count, money, seconds, shown, truncate } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { continueTask } from '../state/queue.js'
import { CopyButton } from '../lib/code.js'
import { Time } from '../widgets/elapsed.js'

/** Why a turn ended. */
export const REASONS = {
  end_turn: 'Done',
  max_tokens: 'The reply hit the output limit and was cut off',
  max_turn_requests: 'Stopped at a limit',
  refusal: 'The model refused',
  cancelled: 'Stopped',
  error: 'Failed',
}

export function ErrorCard({ row, task }) {
  const { said, actions } = findRemedy(row, task)
  return html`<div class="card error-card" role="group" aria-label="Error" data-card tabindex="-1">
    <div class="row nowrap">
      <span class="bad"><${Icon} name="warn" /></span>
      <strong class="grow">${shown(row.text)}</strong>
    </div>
    ${(row.hint || said) && html`<p>${shown(row.hint || said)}</p>`}
    <div class="row">
      ${actions.map(
        ([text, act], at) => html`<button
          key=${text}
          class=${classes('button small', at === 0 && 'primary')}
          onClick=${act}
        >
          ${text}
        </button>`,
      )}
    </div>
    <details class="tiny soft">
      <summary>Your files and this conversation are saved. Details</summary>
      <div class="row">
        <code>${row.code}</code>
        <${CopyButton} text=${[row.code, row.text, row.hint].filter(Boolean).join('\n')} label="Copy error" />
      </div>
    </details>
  </div>`
}

/** Remedies for an error, the most likely first. */
function findRemedy(row, task) {
  const goOn = () => continueTask(task).catch(complain)
  const again = ['Try again', goOn]
  const model = ['Use another model', () => openSheet('models', { task })]
  const keys = ['Open models and keys', () => go('providers', (task.facts.model || '').split('/')[0])]
  const shorten = ['Compact and continue', () => task.send('compact').then(goOn, complain)]
  const fresh = ['Start a new task', () => go('new')]
  const helps = {
    key: ['The API key is missing or was rejected.', keys, model],
    credit: ['The account is out of credit or over a limit.', model, keys, again],
    wait: ['The service is busy. Try again in a minute.', again, model],
    compact: ['The conversation exceeds the context window.', shorten, model, fresh],
    none: [''],
    model: ['', model, keys],
    retry: ['', again, model],
  }
  const [said, ...actions] = helps[row.remedy ?? 'retry']
  return { said, actions }
}

/** Choose a model, then look at what rewinding to the latest prompt would do before it is sent again. */
function tryAgain(task) {
  const prompt =
    task.findLast((row) => row.type === 'prompt_row' && row.seq > 0 && !row.steering && !row.left) ??
    task.facts.prompts.findLast((one) => !one.steering)
  const resend = () => openSheet('restore', { task, seq: prompt.seq, edit: prompt.text })
  if (prompt) openSheet('models', { task, onChosen: resend })
}

/** A command that ran after the last edit, with how it ended. */
const Command = ({ one }) =>
  html`<li><code>${shown(truncate(one.command, 200))}</code> ${shown(one.own ? 'by you' : '')} ${shown(one.end ?? '')}</li>`

/** What the log proves about the turn's work: what it changed, what ran after the last edit, what is missing. */
function Proof({ evidence }) {
  const { changed = [], commands = [], failed_tests: failed = [], new_errors: errors = [] } = evidence
  const { gone_errors: gone = [], not_checked: unchecked = [], not_confirmed: denied = [] } = evidence
  const checks = commands.filter((one) => !one.looks)
  const last = checks.at(-1)
  const list = (title, items) =>
    items.length > 0 && html`<p>${title}</p><ul>${items.map((one) => html`<li>${shown(one)}</li>`)}</ul>`
  return html`${denied.map((why) => html`<p class="warn">Not confirmed: ${shown(why)}</p>`)}
    ${
      changed.length > 0 &&
      html`<details class="tiny soft">
        <summary>
          ${count(changed.length, 'file')} changed${last ? html`, then <code>${shown(truncate(last.command, 60))}</code>${last.end ? ` (${last.end})` : ''}` : ''}
          ${!denied.length && unchecked.length > 0 ? ` · not checked: ${shown(unchecked.join('; '))}` : ''}
        </summary>
        ${list(
          'Changed',
          changed.map((one) => `${one.path} ${one.how}`),
        )}
        ${commands.length > 0 && html`<p>After the last edit</p><ul>${commands.map((one) => html`<${Command} one=${one} />`)}</ul>`}
        ${list('Tests that failed', failed)} ${list('New errors', errors)} ${list('Errors gone', gone)}
        ${list('Not checked', unchecked)}
      </details>`
    }`
}

/** True for a row that is no work and takes none back, as that of a mode, or of a checkpoint that was ready late. */
const isAside = (row) => (row.type === 'notice_row' && !row.seq) || row.type === 'checkpoint_row'

/** The end of a turn: duration and cost, then its evidence; for the latest one, next steps. */
export function TurnEnd({ row, task }) {
  task.version.value
  const evidence = row.evidence ?? {}
  const took = [row.steps && count(row.steps, 'step'), seconds(row.seconds), row.cost != null && money(row.cost)]
    .filter(Boolean)
    .join(' · ')
  const good = row.reason === 'end_turn' && !row.failed?.length && !evidence.not_confirmed?.length
  const said = row.repeats ? '' : row.text // shown by the error's card above
  return html`<div class=${classes('turn-end', good ? 'soft' : 'warn')} data-card tabindex="-1">
    <span>
      ${good ? html`<span class="good" aria-hidden="true">✓</span>` : ''} ${REASONS[row.reason] ?? row.reason}${row.failed?.length ? `, but ${row.failed.join(' and ')} failed` : ''}
      ${said ? ` · ${shown(said)}` : ''} · ${took}
      ${row.at && html`${' · '}<${Time} at=${row.at} />`}
    </span>
    <${Proof} evidence=${evidence} />
    ${task.findLast((one) => !one.undone && !one.undoes && !isAside(one)) === row && html`<${NextSteps} row=${row} task=${task} />`}
  </div>`
}

/** What one may do after the latest turn. */
function NextSteps({ row, task }) {
  return html`<span class="turn-actions row">
    ${
      row.evidence?.changed?.length > 0 &&
      html`
        <button class="button small" onClick=${() => (reviewOpen.value = true)}>Review</button>
        <button class="button small" onClick=${() => openSheet('commit', { task })}>Commit…</button>
      `
    }
    ${
      row.reason !== 'end_turn' &&
      html`<button
        class="button small"
        onClick=${() => continueTask(task).catch(complain)}
      >
        Continue
      </button>`
    }
    ${
      task.facts.prompts.length > 0 &&
      html`<button class="button small quiet" onClick=${() => tryAgain(task)}>
        Try another model…
      </button>`
    }
  </span>`
}
