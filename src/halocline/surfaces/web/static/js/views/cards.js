// How each kind of row looks. A card takes the focus, and Enter opens or closes what it holds.
import { Component, html, classes, useEffect, useState } from '../ui.js'
import { act, query } from '../line.js'
import { allOpen, complain, go, openSheet, reviewOpen, toast } from '../store.js'
import { count, money, seconds, shown, short, tokens, base } from '../format.js'
import { Icon } from '../icons.js'
import { Markdown } from '../markdown.js'
import { CopyButton } from '../code.js'
import { CallCard, GroupCard, PreviewCard } from './calls.js'
import { Elapsed } from './elapsed.js'
import { Checkpoint } from './timeline.js'
import { Marked } from './marked.js'
import { Pictures } from './output.js'
import { Plan } from './plan.js'
import { QuestionCard } from './questions.js'

/** Why a turn ended, in words. */
export const REASONS = {
  end_turn: 'Done',
  max_tokens: 'The reply was cut off: it reached the longest that was allowed',
  max_turn_requests: 'Stopped at a limit',
  refusal: 'The model refused',
  cancelled: 'Stopped',
  error: 'Failed',
}

/** A line that can be opened; `summary` stands on it. `open` says how it is until a person says otherwise. */
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

const Prompt = ({ row, task }) => {
  const images = (task.about.get(row)?.content ?? []).filter((part) => part.type === 'image')
  return html`<article
    class=${classes('prompt', row.steering && 'steering')}
    data-card
    data-prompt
    tabindex="-1"
    aria-label="You"
  >
    <div class="prompt-text"><${Marked} text=${row.text} /></div>
    ${images.length > 0 && html`<${Pictures} images=${images} />`}
    <div class="prompt-tools">
      ${row.steering && html`<span class="soft tiny">sent while it worked</span>`}
      <${CopyButton} text=${row.text} label="Copy what you said" />
      ${
        row.seq > 0 &&
        !row.steering &&
        html`
          <button
            class="icon-button"
            aria-label="Edit, and go on from here"
            title="Edit, and go on from here"
            onClick=${() => openSheet('restore', { task, seq: row.seq, edit: row.text })}
          >
            <${Icon} name="edit" size="15" />
          </button>
          <button
            class="icon-button"
            aria-label="Go back to before this"
            title="Go back to before this"
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
  const cut = task.about.get(row)?.cut
  const all = () =>
    query('event', { task: task.id, seq: cut }).then((event) => setWhole(longest(event, row.text)), complain)
  const text = whole || row.text
  return html`<article class=${classes('reply', row.draft && 'draft')} data-card tabindex="-1" aria-label="Agent">
    <${Markdown} text=${text} draft=${row.draft} />
    ${
      cut &&
      !whole &&
      /\[… [\d,]+ characters are not shown …\]/.test(text) &&
      html`<button class="button small" onClick=${all}>Show all of this reply</button>`
    }
    ${!row.draft && html`<div class="reply-tools"><${CopyButton} text=${text} label="Copy this reply" /></div>`}
  </article>`
}

/** The text of a reply that begins as its cut form does. */
const longest = (event, cut) =>
  event.message.content.find((part) => part.type === 'text' && part.text.startsWith(cut.slice(0, 1000)))?.text ?? cut

/** Open while it is thought, closed when it is over; how long it took is known to whoever watched. */
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

function Notice({ row }) {
  const other = /^Forked to task (\S+) after event/.exec(row.text)?.[1]
  return html`<div class="notice soft">
    <pre>${shown(row.text)}</pre>
    ${other && html`<a href=${`#/task/${other}`}>Open it</a>`}
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

const Restored = ({ row, task }) => html`<div class="divider">
  <span>
    <${Icon} name="undo" size="14" /> Files were put back: ${count(row.changed?.length ?? 0, 'file')}
    ${row.undo && html`<button class="link" onClick=${() => takeBack(task, row.undo)}>Undo</button>`}
  </span>
</div>`

const takeBack = (task, checkpoint) =>
  act('restore', { task: task.id, checkpoint, overwrite: false }).then(
    () => toast('The files are as they were before.'),
    complain,
  )

/** A request that is made again: how long that takes, and what else could be done. */
function Retry({ row, task }) {
  task.version.value
  const [, tick] = useState(0)
  const waits =
    task.facts.activity === 'retry' && task.transcript.rows.findLast((one) => one.type === 'retry_row') === row
  useEffect(() => {
    if (!waits) return undefined
    const timer = setInterval(() => tick((n) => n + 1), 500)
    return () => clearInterval(timer)
  }, [waits])
  const left = Math.max(0, ((task.about.get(row)?.until ?? 0) - Date.now()) / 1000)
  const times = `${row.attempt}${row.most ? ` of ${row.most}` : ''}`
  return html`<div
    class=${classes('notice', 'warn', waits && 'retry')}
    role="group"
    aria-label="The request is made again"
  >
    <${Icon} name="clock" size="15" />
    <span class="grow">
      ${shown(row.cause)}
      ${
        waits
          ? html` <strong>${left >= 1 ? `Tries again in ${Math.round(left)} s` : 'Tries again now'}</strong> (${times}
            ${row.model ? `, with ${short(row.model)}` : ''}).
          `
          : ` Tried again${row.model ? ` with ${short(row.model)}` : ''} (${times}).`
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
    ${row.exit_code != null ? ` with ${row.exit_code}` : ''}
    ${row.stopped ? `: ${row.stopped}` : ''}.
  </div>`

const Rules = ({ row }) => html`<div class="thought">
  <${Fold}
    summary=${html`
      <${Icon} name="book" size="15" />
      <span class="soft cut">Follows ${(row.files ?? []).map((file) => file.path ?? file.name).join(', ')}</span>
    `}
  >
    <ul class="plain soft">
      ${(row.files ?? []).map(
        (file, at) => html`<li key=${at}><code>${file.path ?? file.name}</code> ${file.reason ?? ''}</li>`,
      )}
      ${(row.gone ?? []).map((name) => html`<li key=${name}>no longer: <code>${name}</code></li>`)}
    </ul>
  </${Fold}>
</div>`

function Compaction({ row, task }) {
  const { summary, focus } = task.about.get(row) ?? {}
  if (!row.cause)
    return html`<div class="divider"><span>Shortening was undone: the model reads all of it again</span></div>`
  return html`<div class="compaction" data-card tabindex="-1">
    <div class="divider">
      <span>
        Context shortened: ${tokens(row.before)} → ${tokens(row.after)}
        <button class="link" onClick=${() => task.send('compact', { undo: true }).catch(complain)}>Undo</button>
      </span>
    </div>
    ${
      summary &&
      html`<${Fold}
        summary=${html`<span class="soft">What the model reads instead${focus ? ` (about ${shown(focus)})` : ''}</span>`}
      >
        <${Markdown} text=${summary} />
      </${Fold}>`
    }
  </div>`
}

const Hook = ({ row }) =>
  html`<div class=${classes('notice', row.decision === 'block' ? 'warn' : 'soft')}>
    <${Icon} name="bolt" size="15" /> Hook ${row.hook} (${row.moment}) ${row.decision === 'block' ? 'blocked this' : row.status}
    ${row.said ? `: ${shown(row.said)}` : ''} <span class="tiny">${seconds(row.seconds)}</span>
  </div>`

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
        <${CopyButton} text=${[row.code, row.text, row.hint].filter(Boolean).join('\n')} label="Copy the error" />
      </div>
    </details>
  </div>`
}

/** What can be done about an error, the most likely first. */
function remedy({ code }, task) {
  const goOn = () => task.send('submit_prompt', { content: [{ type: 'text', text: 'Go on.' }] }).catch(complain)
  const again = ['Try again', goOn]
  const model = ['Use another model', () => openSheet('models', { task })]
  const keys = ['Open models and keys', () => go('providers', (task.facts.model || '').split('/')[0])]
  const shorten = ['Shorten and go on', () => task.send('compact').then(goOn, complain)]
  const fresh = ['Start a new task', () => go('new')]
  if (/auth|permission|secrets/.test(code))
    return { said: 'The key is missing, or it was refused.', deeds: [keys, model] }
  if (/quota|billing|credit|balance/.test(code))
    return { said: 'The account has no credit left, or a limit was reached.', deeds: [model, keys, again] }
  if (/rate|overload/.test(code)) return { said: 'The service is busy. It may take a minute.', deeds: [again, model] }
  if (/context/.test(code))
    return { said: 'The conversation is longer than the model can read.', deeds: [shorten, model, fresh] }
  if (/compact|nothing_to_undo|restored|checkpoint/.test(code)) return { said: '', deeds: [] }
  if (/not_found|invalid/.test(code)) return { said: '', deeds: [model, keys] }
  return { said: '', deeds: [again, model] }
}

/** The end of a turn: what it changed, how long it took and what it cost; of the newest, what might come next. */
function TurnEnd({ row, task }) {
  const turn = task.about.get(row)
  const files = turn?.files?.size ?? 0
  const took = [
    files && count(files, 'file') + ' changed',
    row.steps && count(row.steps, 'step'),
    seconds(row.seconds),
    money(row.cost),
  ]
    .filter(Boolean)
    .join(' · ')
  const good = row.reason === 'end_turn'
  const said = turn?.error?.text === row.text ? '' : row.text // the error's card stands above
  return html`<div class=${classes('turn-end', good ? 'soft' : 'warn')} data-card tabindex="-1">
    <span>
      ${good ? html`<span class="good" aria-hidden="true">✓</span>` : ''} ${REASONS[row.reason] ?? row.reason}
      ${said ? ` · ${shown(said)}` : ''} · ${took}
    </span>
    <span class="turn-deeds row">
      ${
        files > 0 &&
        html`
          <button class="button small" onClick=${() => (reviewOpen.value = true)}>Review</button>
          <button class="button small" onClick=${() => commit(task)}>Commit…</button>
        `
      }
      ${
        !good &&
        html`<button
          class="button small"
          onClick=${() => task.send('submit_prompt', { content: [{ type: 'text', text: 'Go on.' }] }).catch(complain)}
        >
          Go on
        </button>`
      }
      <button class="button small quiet" onClick=${() => document.querySelector('.composer textarea')?.focus()}>
        Say more
      </button>
      <button class="button small quiet" onClick=${() => go('new')}>New task</button>
    </span>
  </div>`
}

/** A call, in the form that suits its tool. */
function Call(props) {
  const { row } = props
  if (row.status === 'completed') {
    if (row.name === 'attempt_completion') return html`<${Completion} ...${props} />`
    if (row.name === 'plan_mode_respond' && row.arguments?.response) return html`<${Plan} ...${props} />`
    if (row.name === 'new_task') return html`<${HandedOver} ...${props} />`
  }
  return html`<${CallCard} ...${props} />`
}

const commit = (task) => import('./commit.js').then((module) => module.openCommit(task), complain)

/** What came of the task. What can be done with it stands at the end of the turn, which follows. */
const Completion = ({
  row,
}) => html`<article class="card completion" data-card data-call=${row.call} tabindex="-1" aria-label="The result">
  <div class="completion-head">
    <span class="good" aria-hidden="true"><${Icon} name="check" size="16" /></span>
    <strong class="grow">Finished</strong>
    <${CopyButton} text=${row.output} label="Copy the result" />
  </div>
  <${Markdown} text=${row.output} />
</article>`

function HandedOver({ row, task }) {
  const to = /Task `([^`]+)` goes on/.exec(row.output ?? '')?.[1]
  if (!to) return html`<${CallCard} row=${row} task=${task} />`
  return html`<article class="card completion" data-card data-call=${row.call} tabindex="-1" aria-label="Handed over">
    <div class="completion-head">
      <${Icon} name="branch" size="16" />
      <strong class="grow">Handed over to a new task</strong>
      <a class="button small" href=${`#/task/${to}`}>Open it</a>
    </div>
    <${Fold} summary=${html`<span class="soft">What the new task was told</span>`}>
      <${Markdown} text=${row.arguments?.context ?? ''} />
    </${Fold}>
  </article>`
}

/** What was said before the chat went back: kept for the person, not read by the model. */
const LeftBehind = ({ row, task }) => html`<div class="left-behind">
  <${Fold}
    summary=${html`<span class="soft">
      Left behind: ${count(row.rows.length, 'entry', 'entries')} that the model does not read any more
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

/** One row. It is drawn again when the row is another object. */
export class Card extends Component {
  shouldComponentUpdate({ row, task }) {
    return row !== this.props.row || task !== this.props.task
  }
  render({ row, task }) {
    const Kind = CARDS[row.type]
    return Kind ? html`<${Kind} row=${row} task=${task} />` : null
  }
}
