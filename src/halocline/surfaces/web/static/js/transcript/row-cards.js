// The card for each kind of row. A card can be focused; Enter opens or closes its content.
import { Component, html, classes, useEffect, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { draftOf, putBack } from '../lib/preferences.js'
import { allOpen, complain, openSheet, written } from '../state/store.js'
import { base, count, seconds, short, shown, tokens } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Markdown } from '../lib/markdown.js'
import { CopyButton } from '../lib/code.js'
import { CallCard, GroupCard, PreviewCard } from './call-cards.js'
import { Boundary } from '../widgets/boundary.js'
import { Elapsed, Time } from '../widgets/elapsed.js'
import { Checkpoint } from './checkpoints.js'
import { Hook } from './hook-row.js'
import { Marked } from '../composer/marked-text.js'
import { Pictures } from './output.js'
import { ErrorCard, TurnEnd } from './turn-end.js'
import { Plan } from '../decisions/plan.js'
import { QuestionCard } from '../decisions/question.js'

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
    ${typedOf(row) && html`<div class="prompt-text"><${Marked} text=${typedOf(row)} /></div>`}
    ${images.length > 0 && html`<${Pictures} images=${images} />`}
    ${row.names?.map((name, at) => html`<div key=${at} class="soft small attached-name">${shown(name)}</div>`)}
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

/** A notice; that of a rewind is told where its files are. */
const Notice = ({ row, task }) => {
  task.version.value
  const isRewind = row.seq > 0 && !row.undoes
  const hasFiles = (one) => one.type === 'restored_row' && one.both && one.seq === row.seq - 1
  if (row.undone || (isRewind && task.findLast(hasFiles))) return null
  return html`<div class="notice soft">
    <pre>${row.met == null ? '' : row.met ? '✓ ' : '✗ '}${shown(row.text)}</pre>
    ${row.task && html`<a href=${`#/task/${row.task}`}>Open</a>`}
    ${isRewind && html`<button class="link" onClick=${() => rewindChat(task, row.seq - 1).catch(complain)}>Undo</button>`}
  </div>`
}

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

/** The notice of the rewind that restored files with the conversation. */
const noticeOf = (row, task) =>
  row.both && task.findLast((one) => one.type === 'notice_row' && one.seq === row.seq + 1 && !one.undoes)

const Restored = ({ row, task }) => {
  task.version.value
  if (row.undone) return null
  return html`<div><div class="divider">
    <span>
      <${Icon} name="undo" size="14" /> ${shown(wordsOfRestore(row, noticeOf(row, task)))}
      ${row.undo && html`<button class="link" onClick=${() => takeBack(task, row.undo, row.both ? row.seq - 1 : 0)}>Undo</button>`}
    </span>
  </div>
  ${row.left_out?.map((line, at) => html`<p key=${at} class="soft small">${shown(line)}</p>`)}</div>`
}

function wordsOfRestore({ changed }, notice) {
  const files = changed?.length ? `${count(changed.length, 'file')} restored` : 'No file had to be restored'
  const where = notice && (notice.place ? `Rewound to ${notice.place}` : notice.text.replace(/\.$/, ''))
  return notice ? `${where} · ${changed?.length ? files : 'no file had to be restored'}` : files
}

/** Rewind the conversation alone; the composer loses a prompt that a rewind had put there. */
async function rewindChat(task, to) {
  await task.send('go_back', { to, files: false, conversation: true })
  if (putBack.get(task.id) === draftOf(task.id)) written.value = { text: '', instead: true }
  putBack.delete(task.id)
}

/** Restore the files as they were before a restore; with an event, the conversation up to it as well. */
async function takeBack(task, checkpoint, to) {
  try {
    await act('restore', { task: task.id, checkpoint, overwrite: false })
    if (to) await rewindChat(task, to)
  } catch (error) {
    complain(error)
  }
}

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
  const times = row.attempt ? ` (${row.attempt}${row.most ? ` of ${row.most}` : ''})` : ''
  const now = row.attempt ? 'Retry now' : 'Ask now'
  const with_ = row.model ? ` with ${short(row.model)}` : ''
  const countdown = row.attempt
    ? left >= 1
      ? `Retrying in ${Math.round(left)} s`
      : 'Retrying now'
    : `${Math.round(left)} s`
  return html`<div
    class=${classes('notice', 'warn', waits && 'retry')}
    role="group"
    aria-label=${row.attempt ? 'Retrying the request' : 'Waiting to send the request'}
  >
    <${Icon} name="clock" size="15" />
    <span class="grow">
      ${shown(row.cause)}
      ${waits ? html` <strong>${countdown}</strong>${with_}${times}.` : row.attempt ? ` Retried${with_}${times}.` : '.'}
    </span>
    ${
      waits &&
      html`
        ${
          left >= 1 &&
          html`<button class="button small" onClick=${() => task.send('retry_now').catch(complain)}>${now}</button>`
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
      Rewound: the model no longer sees this
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
    return Kind ? html`<${Boundary} what="row" of=${row}><${Kind} row=${row} task=${task} /><//>` : null
  }
}
