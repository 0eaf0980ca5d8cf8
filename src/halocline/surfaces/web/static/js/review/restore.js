// Rewind: choose a point, preview what would change, rewind, and undo that. Also edits a prompt, or forks a task from a
// point.
import { html, classes, effect, useEffect, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { draftOf, putBack } from '../lib/preferences.js'
import { announcement, closeSheet, complain, go, toast, written } from '../state/store.js'
import { clock, count, short, shown, truncate, when } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Sheet } from '../widgets/sheet.js'
import { Compared, countChanges, NOTHING, Refusal, useQuery, Will } from './restore-preview.js'

const WAYS = [
  ['both', 'Files and chat'],
  ['files', 'Files only'],
  ['chat', 'Chat only'],
]
const PATIENCE = 30_000

/** `seq` is the last event to keep, `checkpoint` one of the files, `edit` the text of prompt `seq`. */
export default function Restore({ task, seq, checkpoint, edit }) {
  const [chosen, choose] = useState(() => (edit == null ? targetOf(task, seq, checkpoint) : null))
  if (edit != null) return html`<${EditMessage} task=${task} seq=${seq} text=${edit} />`
  if (!chosen) return html`<${Points} task=${task} choose=${choose} />`
  return html`<${Back} task=${task} target=${chosen} other=${() => choose(null)} />`
}

function targetOf(task, seq, checkpoint) {
  const { checkpoints, prompts } = task.facts
  if (checkpoint) {
    const at = checkpoints.findLast((one) => one.checkpoint === checkpoint)
    return at && { to: at.seq, at: at.at, label: at.place }
  }
  if (!seq) return null
  const prompt = prompts.find((one) => one.seq === seq + 1)
  return {
    to: seq,
    at: prompt?.at ?? 0,
    label: prompt?.text ? `before “${truncate(prompt.text.split('\n', 1)[0], 80)}”` : 'an earlier point',
  }
}

/** Points as the places that one rewinds to, newest first; not the one where the task is. Pure. */
export function namePoints(points) {
  const named = points.map(({ kind, seq, at, place }) => ({
    kind,
    at,
    to: kind === 'prompt' ? seq - 1 : seq,
    label: place,
  }))
  if (['end', 'back'].includes(named.at(-1)?.kind)) named.pop()
  return named.reverse()
}

function Points({ task, choose }) {
  const { value, error } = useQuery('points', { task: task.id }, [task.id])
  const [words, setWords] = useState('')
  const all = namePoints(value ?? [])
  const found = all.filter((one) => one.label.toLowerCase().includes(words.toLowerCase()))
  function handleKey(e) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (!by) return
    e.preventDefault()
    const all = [...e.currentTarget.querySelectorAll('.moment')]
    const at = all.indexOf(document.activeElement)
    all[Math.max(0, Math.min(all.length - 1, at + by))]?.focus()
  }
  return html`<${Sheet} title="Rewind">
    ${error && html`<${Refusal} error=${error} />`}
    ${!value && !error && html`<p class="soft" role="status">Loading…</p>`}
    ${value && !all.length && html`<p>Nothing to rewind to yet.</p>`}
    ${
      all.length > 0 &&
      html`<div onKeyDown=${handleKey} class="stack">
        <label>
          <span class="hidden-text">Filter</span>
          <input
            class="field"
            data-first
            type="search"
            placeholder="Filter"
            value=${words}
            onInput=${(e) => setWords(e.target.value)}
          />
        </label>
        ${
          found.length === 0 &&
          html`<p class="soft">
            No results for “${words}”. <button class="link" onClick=${() => setWords('')}>Clear</button>
          </p>`
        }
        <ul class="moments">
          ${found.map(
            (one) => html`<li key=${`${one.kind} ${one.to}`}>
              <button class=${classes('moment', `of-${one.kind}`)} onClick=${() => choose(one)}>
                <span class="dot" aria-hidden="true"></span>
                <span class="soft tiny">${when(one.at)}</span>
                <span class="cut grow">${shown(one.label.replace(/^./, (first) => first.toUpperCase()))}</span>
              </button>
            </li>`,
          )}
        </ul>
      </div>`
    }
  </${Sheet}>`
}

// Fields of a preview: files that stay, and why.
const OWNERS = [
  ['yours', 'changed by you or another program'],
  ['conflicts', 'changed by the task and another program'],
  ['others', 'changed by another task'],
  ['doubtful', 'changed while a command ran, perhaps by you'],
]

function Back({ task, target, other }) {
  const [way, setWay] = useState('both')
  const [overwrite, setOverwrite] = useState(false)
  const [busy, setBusy] = useState(false)
  const { value, error } = useQuery('restore_plan', { task: task.id, to: target.to, overwrite }, [
    task.id,
    target.to,
    overwrite,
  ])
  // Only the plan that keeps these changes says whose they are.
  const [own, setOwn] = useState([])
  const plan = value && { ...NOTHING, ...value }
  const changesFiles = plan && way !== 'chat' && !plan.unsaved && countChanges(plan) > 0
  const isIdle = plan && !changesFiles && !(way !== 'files' && plan.messages > 0)
  useEffect(() => {
    if (!plan) return
    if (!overwrite) setOwn(OWNERS.flatMap(([field, whose]) => plan[field].map((name) => ({ name, whose }))))
    if (plan.unsaved) setWay('chat')
  }, [value])
  async function restore() {
    setBusy(true)
    const before = task.seq
    const files = way !== 'chat'
    const conversation = way !== 'files'
    try {
      await task.send('go_back', { to: target.to, files, conversation, overwrite })
      await waitForRewind(task, before, { files, conversation })
      closeSheet()
      announcement.value = `Rewound to ${target.label}.` // its row in the transcript says the rest
      if (conversation) await givePromptBack(task, target.to + 1)
    } catch (problem) {
      complain(problem)
      setBusy(false)
    }
  }
  return html`<${Sheet}
    title=${`Rewind to ${target.label}`}
    wide
    back=${other}
    foot=${html`
      <button class="button primary" disabled=${busy || !plan || isIdle} onClick=${restore}>
        ${busy ? 'Rewinding…' : task.facts.running ? 'Stop and rewind' : 'Rewind'}
      </button>
      <button class="button quiet" onClick=${closeSheet}>Cancel</button>
    `}
  >
    ${
      target.at > 0 &&
      html`<p class="soft small">
        ${when(target.at)}
        ${when(target.at) === clock(target.at) ? '' : `, ${clock(target.at)}`}
      </p>`
    }
    <fieldset class="ways">
      <legend class="hidden-text">What to rewind</legend>
      ${WAYS.map(
        ([value, text], at) => html`<label key=${value} class="choice">
          <input
            type="radio"
            name="way"
            data-first=${at === 0 ? '' : null}
            checked=${way === value}
            disabled=${Boolean(plan?.unsaved) && value !== 'chat'}
            onChange=${() => setWay(value)}
          />
          ${' '}${text}
        </label>`,
      )}
    </fieldset>
    ${error && html`<${Refusal} error=${error} />`}
    ${!plan && !error && html`<p class="soft" role="status">Checking what would change…</p>`}
    ${isIdle && way === 'both' && html`<p>Nothing would change: the files and the conversation are as they were then.</p>`}
    ${plan && !(isIdle && way === 'both') && html`<${Will} plan=${plan} way=${way} overwrite=${overwrite} />`}
    ${
      own.length > 0 &&
      way !== 'chat' &&
      html`<${OwnChanges} task=${task} to=${target.to} own=${own} overwrite=${overwrite} setOverwrite=${setOverwrite} />`
    }
    <${Compared} key=${`all ${target.to}`} task=${task} to=${target.to} label="All changes since then, yours too" />
    <${Fork} task=${task} to=${target.to} />
  </${Sheet}>`
}

/** What was changed since by someone else: kept, or overwritten. */
const OwnChanges = ({ task, to, own, overwrite, setOverwrite }) =>
  html`<fieldset class="ways stack">
  <legend><strong>${count(own.length, 'file')} changed since by you or another program</strong></legend>
  <ul class="plain">
    ${own.map(
      ({ name, whose }) =>
        html`<li key=${name}><code>${shown(name)}</code>${' '}<span class="soft small">${whose}</span></li>`,
    )}
  </ul>
  <div class="row">
    <label class="choice">
      <input type="radio" name="own" checked=${!overwrite} onChange=${() => setOverwrite(false)} /> Keep these
      changes
    </label>
    <label class="choice">
      <input type="radio" name="own" checked=${overwrite} onChange=${() => setOverwrite(true)} /> Overwrite them
    </label>
  </div>
  <${Compared} key="own" task=${task} to=${to} only=${own.map(({ name }) => name)} label="Show differences" />
</fieldset>`

/** Wait until the facts report success. Rejects on failure. */
function waitForRewind(task, before, { files, conversation }) {
  return new Promise((resolve, reject) => {
    const late = setTimeout(
      () => finish(() => reject(new Error('The rewind is taking long. The transcript will show its result.'))),
      PATIENCE,
    )
    const stop = effect(() => {
      task.version.value
      const { rewinds, error } = task.facts
      const since = rewinds.filter((one) => one.seq > before)
      const has = (kind) => since.some((one) => one.kind === kind)
      const done = (!files || has('files')) && (!conversation || has('chat'))
      if (done) finish(() => resolve())
      else if (error?.seq > before) finish(() => reject(error))
    })
    function finish(then) {
      clearTimeout(late)
      queueMicrotask(() => stop())
      then()
    }
  })
}

/** Put the prompt that a rewind took out into an empty composer, to be changed and sent again. */
async function givePromptBack(task, seq) {
  const prompt = task.facts.prompts.find((one) => one.seq === seq && !one.steering)
  if (!prompt || draftOf(task.id)) return
  const whole = prompt.is_cut ? await task.fetchWhole({ origin: { seq, nth: 0 }, cut: [] }) : null
  const text = whole ? (whole.typed ?? whole.text) : prompt.text
  putBack.set(task.id, text)
  written.value = { text }
}

function Fork({ task, to }) {
  const [open, setOpen] = useState(false)
  const { value } = useQuery('models', {}, [])
  const [model, setModel] = useState('')
  const [busy, setBusy] = useState(false)
  async function fork() {
    setBusy(true)
    try {
      const id = await act('fork', { task: task.id, at: to })
      if (model) await act('change_model', { task: id, model })
      closeSheet()
      go('task', id)
      toast('Forked into a new task. Files were not changed.')
    } catch (error) {
      complain(error)
      setBusy(false)
    }
  }
  return html`<details class="compared" open=${open} onToggle=${(e) => setOpen(e.currentTarget.open)}>
    <summary>Fork a new task from here instead</summary>
    <div class="pad stack">
      <p class="small soft">
        This task stays unchanged. The new one keeps its history up to this point. Files are not changed.
      </p>
      <div class="row">
        <label class="small" for="fork-model">Model</label>
        <select id="fork-model" class="field grow" value=${model} onChange=${(e) => setModel(e.target.value)}>
          <option value="">Same (${short(task.facts.model)})</option>
          ${(value ?? []).map(
            (one) => html`<option key=${one.model ?? one.name} value=${one.model ?? one.name}>
              ${one.model ?? one.name}
            </option>`,
          )}
        </select>
        <button class="button" disabled=${busy} onClick=${fork}>
          <${Icon} name="branch" size="15" /> ${busy ? 'Forking…' : 'Fork'}
        </button>
      </div>
    </div>
  </details>`
}

const PERSONS = new Set(['continue', 'pasted', 'piped', 'picture', 'code', 'problems'])

/** The parts of a prompt that are yours but not typed: pictures and pasted text. */
const listAttached = (content) =>
  content.filter((part) => part.type === 'image' || (part.type === 'note' && PERSONS.has(part.source)))

function EditMessage({ task, seq, text }) {
  // A row that is not here, or not all of it, is fetched.
  const row = task.findLast((one) => one.type === 'prompt_row' && one.seq === seq) ?? {
    origin: { seq, nth: 0 },
    cut: [],
  }
  const [whole, setWhole] = useState(row.cut ? null : row)
  const rest = listAttached(whole?.attached ?? [])
  const [now, setNow] = useState(whole?.names?.length ? (whole.typed ?? '') : text)
  useEffect(() => {
    if (!whole)
      task
        .fetchWhole(row)
        .then((all) => (setWhole(all), setNow(all.names?.length ? (all.typed ?? '') : all.text)), complain)
  }, [])
  const [files, setFiles] = useState(true)
  const [busy, setBusy] = useState(false)
  const { value, error } = useQuery('restore_plan', { task: task.id, to: seq - 1, overwrite: false }, [task.id, seq])
  const plan = value && { ...NOTHING, ...value }
  const changes = plan && !plan.unsaved
  async function say() {
    if (!now.trim() && !rest.length) return
    setBusy(true)
    try {
      await task.send('edit_message', {
        seq,
        content: [...(now.trim() ? [{ type: 'text', text: now.trim() }] : []), ...rest],
        files: Boolean(files && changes),
      })
      closeSheet()
    } catch (problem) {
      complain(problem)
      setBusy(false)
    }
  }
  return html`<${Sheet}
    title="Edit message"
    wide
    foot=${html`
      <button class="button primary" disabled=${busy || !whole} onClick=${say}>
        ${busy ? 'Rewinding…' : 'Rewind and send'}</button>
      <button class="button quiet" onClick=${closeSheet}>Cancel</button>
    `}
  >
    <label>
      <span class="hidden-text">Your message</span>
      <textarea
        class="field"
        data-first
        rows=${Math.min(14, Math.max(3, now.split('\n').length + 1))}
        value=${now}
        onInput=${(e) => setNow(e.target.value)}
        onKeyDown=${(e) => e.key === 'Enter' && (e.ctrlKey || e.metaKey) && (e.preventDefault(), say())}
      ></textarea>
    </label>
    ${
      rest.some((part) => part.source !== 'continue') &&
      html`<p class="small soft">
        Keeps ${count(rest.length, 'picture or pasted text', 'pictures and pasted texts')}.
      </p>`
    }
    <label class="choice">
      <input
        type="checkbox"
        checked=${files && changes}
        disabled=${!changes}
        onChange=${(e) => setFiles(e.target.checked)}
      /> Restore files to before this message
    </label>
    ${error && html`<${Refusal} error=${error} />`}
    ${plan && html`<${Will} plan=${plan} way=${files && changes ? 'both' : 'chat'} />`}
  </${Sheet}>`
}
