// The card for each kind of row. A card can be focused; Enter opens or closes its content.
import { Component, html, classes, useEffect, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { allOpen, complain, go, openSheet, reviewOpen, toast } from '../state/store.js'
import { base, count, money, seconds, short, shown, tokens, when } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Markdown } from '../lib/markdown.js'
import { CopyButton } from '../lib/code.js'
import { CallCard, GroupCard, PreviewCard } from './call-cards.js'
import { Elapsed } from '../widgets/elapsed.js'
import { Checkpoint } from './checkpoints.js'
import { Hook } from './hook-row.js'
import { Marked } from '../composer/marked-text.js'
import { Pictures } from './output.js'
import { Plan } from '../decisions/plan.js'
import { QuestionCard } from '../decisions/question.js'

/** Why a turn ended. */
export const REASONS = {
  end_turn: 'Done',
  max_tokens: 'The reply hit the output limit and was cut off',
  max_turn_requests: 'Stopped at a limit',
  refusal: 'The model refused',
  cancelled: 'Stopped',
  error: 'Failed',
}

/** A collapsible line showing `summary`. `open` is its state until you toggle it. */
class Fold extends Component {
  render({ summary, label, children, kind, open }, { said }) {
    const isOpen = Boolean(said ?? open ?? allOpen.value)
    return html`<div class=${classes('fold', kind)}>
      <button
        class="fold-line"
        aria-expanded=${isOpen}
        aria-label=${label}
        onClick=${() => this.setState({ said: !isOpen })}
      >
        <span class=${classes('chevron', isOpen && 'open')} aria-hidden="true">
          <${Icon} name="chevron" size="14" />
        </span>
        ${summary}
      </button>
      ${isOpen && html`<div class="fold-body">${children}</div>`}
    </div>`
  }
}

/** The text of a prompt without the names of what came with it, which stand below it. */
const typedOf = (row) => (row.names?.length ? (row.typed ?? '') : row.text)

const Prompt = ({ row, task }) => {
  const images = (row.attached ?? []).filter((part) => part.type === 'image')
  return html`<article
    class=${classes('prompt', row.steering && 'steering')}
    data-card
    data-prompt
    tabindex="-1"
    aria-label="You"
  >
    <div class="prompt-text"><${Marked} text=${typedOf(row)} /></div>
    ${row.names?.map((name, at) => html`<div key=${at} class="soft small attached-name">${shown(name)}</div>`)}
    ${images.length > 0 && html`<${Pictures} images=${images} />`}
    <div class="prompt-tools">
      ${row.steering && html`<span class="soft tiny">sent while working</span>`}
      <${Time} at=${row.at} />
      <${CopyButton} text=${row.text} label="Copy message" />
      ${
        row.seq > 0 &&
        !row.steering &&
        html`
          <button
            class="icon-button"
            aria-label="Edit and resend"
            title="Edit and resend"
            onClick=${() => openSheet('restore', { task, seq: row.seq, edit: typedOf(row) })}
          >
            <${Icon} name="edit" size="15" />
          </button>
          <button
            class="icon-button"
            aria-label="Rewind to before this"
            title="Rewind to before this"
            onClick=${() => openSheet('restore', { task, seq: row.seq - 1 })}
          >
            <${Icon} name="undo" size="15" />
          </button>
        `
      }
    </div>
  </article>`
}

function Reply({ row, task }) {
  const [whole, setWhole] = useState('')
  const all = () => task.fetchWhole(row).then((reply) => setWhole(reply.text), complain)
  const text = whole || row.text
  return html`<article class=${classes('reply', row.draft && 'draft')} data-card tabindex="-1" aria-label="Agent">
    <${Markdown} text=${text} draft=${row.draft} />
    ${row.cut && !whole && html`<button class="button small" onClick=${all}>Show full reply</button>`}
    ${!row.draft && html`<div class="reply-tools"><${CopyButton} text=${text} label="Copy reply" /></div>`}
  </article>`
}

/** Open while the model thinks, closed after. The duration is known only if this page watched. */
class Thought extends Component {
  render({ row }, { since, lasted }) {
    if (row.draft && !since) this.state.since = Date.now() / 1000
    if (!row.draft && since && !lasted) this.state.lasted = Date.now() / 1000 - since
    const first = row.text.trim().split('\n', 1)[0].replace(/[*#`]/g, '')
    const said = row.draft ? 'Thinking…' : this.state.lasted ? `Thought for ${seconds(this.state.lasted)}` : 'Thought'
    return html`<div class="thought" data-card tabindex="-1">
      <${Fold}
        open=${row.draft ? true : undefined}
        summary=${html`
          <span class="soft">${said}</span>
          ${
            row.draft
              ? html`<${Elapsed} since=${this.state.since} />`
              : html`<span class="cut soft">${shown(first)}</span>`
          }
        `}
      >
        <${Markdown} text=${row.text} draft=${row.draft} />
      </${Fold}>
    </div>`
  }
}

const Start = ({ row }) =>
  html`<div class="start soft tiny">
    <span class="mono cut" title=${[row.workspace, ...(row.roots ?? [])].join('\n')}>
      ${[row.workspace, ...(row.roots ?? [])].map(base).join(', ')}
    </span> · <span class="cut">${short(row.model)}</span> · ${row.mode} · ${row.approval_mode}
  </div>`

const Notice = ({ row }) =>
  !row.undone &&
  html`<div class="notice soft">
    <pre>${shown(row.text)}</pre>
    ${row.task && html`<a href=${`#/task/${row.task}`}>Open</a>`}
  </div>`

const TodosCard = ({ row }) => html`<div class="thought">
  <${Fold}
    summary=${html`
      <${Icon} name="list" size="15" />
      <span class="soft">${row.by === 'person' ? 'You changed the plan' : 'Plan'}</span>
      <span class="soft">
        ${row.todos?.filter((t) => t.status === 'completed').length ?? 0}
        /${row.todos?.length ?? 0}
      </span>
    `}
  >
    <ul class="todo-list">
      ${(row.todos ?? []).map(
        (todo, at) => html`<li key=${at} class=${todo.status ?? 'pending'}>
          <span aria-hidden="true">
            ${todo.status === 'completed' ? '✓' : todo.status === 'in_progress' ? '▸' : '○'}
          </span>
          ${todo.text}
        </li>`,
      )}
    </ul>
  </${Fold}>
</div>`

const Restored = ({ row, task }) =>
  !row.undone &&
  html`<div><div class="divider">
    <span>
      <${Icon} name="undo" size="14" /> ${wordsOfRestore(row)}
      ${row.undo && html`<button class="link" onClick=${() => takeBack(task, row.undo, row.both ? row.seq - 1 : 0)}>Undo</button>`}
    </span>
  </div>
  ${row.left_out?.map((line, at) => html`<p key=${at} class="soft small">${shown(line)}</p>`)}</div>`

function wordsOfRestore({ changed, both }) {
  if (!changed?.length) return both ? 'Conversation rewound; no file had to be restored' : 'No file had to be restored'
  return `Files restored: ${count(changed.length, 'file')}${both ? ', and the conversation rewound' : ''}`
}

/** Restore the files as they were before a restore; with an event, the conversation up to it as well. */
async function takeBack(task, checkpoint, to) {
  try {
    await act('restore', { task: task.id, checkpoint, overwrite: false })
    if (to) await task.send('go_back', { to, files: false, conversation: true })
    toast(to ? 'Rewind undone.' : 'Restore undone.')
  } catch (error) {
    complain(error)
  }
}

/** When something was said: the time today, else the day; all of it on hover. */
const Time = ({ at }) =>
  at &&
  html`<time class="soft tiny" dateTime=${new Date(at * 1000).toISOString()} title=${moments.format(at * 1000)}>
    ${when(at)}
  </time>`

const moments = new Intl.DateTimeFormat([], { dateStyle: 'medium', timeStyle: 'medium' })

/** A retried request: the countdown, and alternatives. */
function Retry({ row, task }) {
  task.version.value
  const [, tick] = useState(0)
  const waits = task.facts.activity === 'retry' && task.findLast((one) => one.type === 'retry_row') === row
  useEffect(() => {
    if (!waits) return undefined
    const timer = setInterval(() => tick((n) => n + 1), 500)
    return () => clearInterval(timer)
  }, [waits])
  const left = Math.max(0, ((row.until ?? 0) - Date.now()) / 1000)
  const times = `${row.attempt}${row.most ? ` of ${row.most}` : ''}`
  return html`<div
    class=${classes('notice', 'warn', waits && 'retry')}
    role="group"
    aria-label="Retrying the request"
  >
    <${Icon} name="clock" size="15" />
    <span class="grow">
      ${shown(row.cause)}
      ${
        waits
          ? html` <strong>${left >= 1 ? `Retrying in ${Math.round(left)} s` : 'Retrying now'}</strong> (${times}
            ${row.model ? `, with ${short(row.model)}` : ''}).
          `
          : ` Retried${row.model ? ` with ${short(row.model)}` : ''} (${times}).`
      }
    </span>
    ${
      waits &&
      html`
        ${
          left >= 1 &&
          html`<button class="button small" onClick=${() => task.send('retry_now').catch(complain)}>Retry now</button>`
        }
        <button class="button small" onClick=${() => task.send('interrupt')}>Stop</button>
        <button class="button small" onClick=${() => openSheet('models', { task })}>Use another model</button>
      `
    }
  </div>`
}

const JobEnd = ({ row }) =>
  html`<div class=${classes('notice', row.exit_code || row.stopped ? 'warn' : 'soft')}>
    <${Icon} name="terminal" size="15" /> <code>${shown(row.command)}</code> ended
    ${row.exit_code != null ? ` with exit code ${row.exit_code}` : ''}
    ${row.stopped ? `: ${row.stopped}` : ''}.
  </div>`

const Rules = ({ row }) => html`<div class="thought">
  <${Fold}
    summary=${html`
      <${Icon} name="book" size="15" />
      <span class="soft cut">Instructions: ${(row.files ?? []).map((file) => file.path ?? file.name).join(', ')}</span>
    `}
  >
    <ul class="plain soft">
      ${(row.files ?? []).map(
        (file, at) => html`<li key=${at}><code>${file.path ?? file.name}</code> ${file.reason ?? ''}</li>`,
      )}
      ${(row.gone ?? []).map((name) => html`<li key=${name}>removed: <code>${name}</code></li>`)}
    </ul>
  </${Fold}>
</div>`

function Compaction({ row, task }) {
  const { summary, focus } = row
  if (!row.cause)
    return html`<div class="divider"><span>Compaction undone: the model sees everything again</span></div>`
  return html`<div class="compaction" data-card tabindex="-1">
    <div class="divider">
      <span>
        Context compacted: ${tokens(row.before)} → ${tokens(row.after)}
        <button class="link" onClick=${() => task.send('compact', { undo: true }).catch(complain)}>Undo</button>
      </span>
    </div>
    ${
      summary &&
      html`<${Fold}
        summary=${html`<span class="soft">Summary for the model${focus ? ` (focus: ${shown(focus)})` : ''}</span>`}
      >
        <${Markdown} text=${summary} />
      </${Fold}>`
    }
  </div>`
}

const ErrorCard = ({ row, task }) => {
  const { said, deeds } = remedy(row, task)
  return html`<div class="card error-card" role="group" aria-label="Error" data-card tabindex="-1">
    <div class="row nowrap">
      <span class="bad"><${Icon} name="warn" /></span>
      <strong class="grow">${shown(row.text)}</strong>
    </div>
    ${(row.hint || said) && html`<p>${shown(row.hint || said)}</p>`}
    <div class="row">
      ${deeds.map(
        ([text, deed], at) => html`<button
          key=${text}
          class=${classes('button small', at === 0 && 'primary')}
          onClick=${deed}
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
function remedy(row, task) {
  const goOn = () => task.send('submit_prompt', { content: [{ type: 'text', text: 'Continue.' }] }).catch(complain)
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
  const [said, ...deeds] = helps[row.remedy ?? 'retry']
  return { said, deeds }
}

/** Choose a model, then look at what rewinding to the latest prompt would do before it is sent again. */
function tryAgain(task) {
  const prompt =
    task.findLast((row) => row.type === 'prompt_row' && row.seq > 0 && !row.steering && !row.left) ??
    task.facts.prompts.findLast((one) => !one.steering)
  const resend = () => openSheet('restore', { task, seq: prompt.seq, edit: prompt.text })
  if (prompt) openSheet('models', { task, onChosen: resend })
}

/** The end of a turn: changes, duration and cost; for the latest one, next steps. */
function TurnEnd({ row, task }) {
  task.version.value
  const files = row.files ?? 0
  const took = [
    files && count(files, 'file') + ' changed',
    row.steps && count(row.steps, 'step'),
    seconds(row.seconds),
    money(row.cost),
  ]
    .filter(Boolean)
    .join(' · ')
  const good = row.reason === 'end_turn'
  const said = row.repeats ? '' : row.text // shown by the error's card above
  return html`<div class=${classes('turn-end', good ? 'soft' : 'warn')} data-card tabindex="-1">
    <span>
      ${good ? html`<span class="good" aria-hidden="true">✓</span>` : ''} ${REASONS[row.reason] ?? row.reason}
      ${said ? ` · ${shown(said)}` : ''} · ${took}
      ${row.at && html`${' · '}<${Time} at=${row.at} />`}
    </span>
    ${task.findLast((one) => !one.undone && !one.undoes) === row && html`<${NextSteps} row=${row} task=${task} />`}
  </div>`
}

/** What one may do after the latest turn. */
function NextSteps({ row, task }) {
  return html`<span class="turn-deeds row">
    ${
      row.files > 0 &&
      html`
        <button class="button small" onClick=${() => (reviewOpen.value = true)}>Review</button>
        <button class="button small" onClick=${() => openSheet('commit', { task })}>Commit…</button>
      `
    }
    ${
      row.reason !== 'end_turn' &&
      html`<button
        class="button small"
        onClick=${() => task.send('submit_prompt', { content: [{ type: 'text', text: 'Continue.' }] }).catch(complain)}
      >
        Continue
      </button>`
    }
    <button class="button small quiet" onClick=${() => document.querySelector('.composer textarea')?.focus()}>
      Follow up
    </button>
    <button class="button small quiet" onClick=${() => go('new')}>New task</button>
    ${
      task.facts.prompts.length > 0 &&
      html`<button class="button small quiet" onClick=${() => tryAgain(task)}>Try again with another model…</button>`
    }
  </span>`
}

/** A call, with the card for its tool. */
function Call(props) {
  const { row } = props
  if (row.status === 'completed') {
    if (row.name === 'attempt_completion') return html`<${Completion} ...${props} />`
    if (row.name === 'plan_mode_respond' && row.arguments?.response) return html`<${Plan} ...${props} />`
    if (row.name === 'new_task') return html`<${HandedOver} ...${props} />`
  }
  return html`<${CallCard} ...${props} />`
}

/** The task's result. The end of the turn, which follows, has the actions. */
const Completion = ({
  row,
}) => html`<article class="card completion" data-card data-call=${row.call} tabindex="-1" aria-label="Result">
  <div class="completion-head">
    <span class="good" aria-hidden="true"><${Icon} name="check" size="16" /></span>
    <strong class="grow">Finished</strong>
    <${CopyButton} text=${row.output} label="Copy result" />
  </div>
  <${Markdown} text=${row.output} />
</article>`

function HandedOver({ row, task }) {
  const to = row.child
  if (!to) return html`<${CallCard} row=${row} task=${task} />`
  return html`<article class="card completion" data-card data-call=${row.call} tabindex="-1" aria-label="Handed off">
    <div class="completion-head">
      <${Icon} name="branch" size="16" />
      <strong class="grow">Handed off to a new task</strong>
      <a class="button small" href=${`#/task/${to}`}>Open</a>
    </div>
    <${Fold} summary=${html`<span class="soft">Context for the new task</span>`}>
      <${Markdown} text=${row.arguments?.context ?? ''} />
    </${Fold}>
  </article>`
}

/** Rows from before a rewind: kept for you, not sent to the model. */
const LeftBehind = ({ row, task }) => html`<div class="left-behind">
  <${Fold}
    summary=${html`<span class="soft">
      Rewound: ${count(row.rows.length, 'entry', 'entries')} the model no longer sees
    </span>`}
  >
    ${row.rows.map((one, at) => html`<${Card} key=${at} row=${one} task=${task} />`)}
  </${Fold}>
</div>`

const CARDS = {
  left_row: LeftBehind,
  start_row: Start,
  prompt_row: Prompt,
  thought_row: Thought,
  reply_row: Reply,
  call_row: Call,
  preview_row: PreviewCard,
  group_row: GroupCard,
  question_row: QuestionCard,
  todos_row: TodosCard,
  checkpoint_row: Checkpoint,
  restored_row: Restored,
  retry_row: Retry,
  job_end_row: JobEnd,
  rules_row: Rules,
  compaction_row: Compaction,
  hook_row: Hook,
  notice_row: Notice,
  error_row: ErrorCard,
  turn_end_row: TurnEnd,
}

/** One row, redrawn only when the row object changes. */
export class Card extends Component {
  shouldComponentUpdate({ row, task }) {
    return row !== this.props.row || task !== this.props.task
  }
  render({ row, task }) {
    const Kind = CARDS[row.type]
    return Kind ? html`<${Kind} row=${row} task=${task} />` : null
  }
}
