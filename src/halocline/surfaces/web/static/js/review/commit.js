// The commit form: choose files and a message. git commits with its hooks; other staged files stay staged.
import { html, style, useEffect, useRef, useState } from '../lib/ui.js'
import { Refusal, act, query } from '../lib/connection.js'
import { announcement, closeSheet, openSheet } from '../state/store.js'
import { count, shown } from '../lib/format.js'
import { Sheet } from '../widgets/sheet.js'
import { useDraft } from '../widgets/use-draft.js'

const SUBJECT = 72

/** How a file's staging affects the commit. */
const describeStaging = (file) =>
  file.staged && file.unstaged ? 'partly staged; all of it is committed' : file.staged ? 'staged' : ''

function Files({ title, files, chosen, choose, shared = [] }) {
  const all = files.every((file) => chosen.has(file.path))
  const set = (paths, yes) =>
    choose(yes ? new Set([...chosen, ...paths]) : new Set([...chosen].filter((path) => !paths.includes(path))))
  return html`<fieldset class="commit-files">
    <legend class="row">
      <strong class="small">${title}</strong>
      <button
        type="button"
        class="link tiny"
        onClick=${() =>
          set(
            files.map((file) => file.path),
            !all,
          )}
      >
        ${all ? 'Select none' : 'Select all'}
      </button>
    </legend>
    ${files.map(
      (file) => html`<label class="commit-file" key=${file.path}>
        <input
          type="checkbox"
          checked=${chosen.has(file.path)}
          onChange=${(e) => set([file.path], e.currentTarget.checked)}
        />
        <span class="mono grow commit-path">${shown(file.path)}</span>
        ${shared.includes(file.path) && html`<span class="badge">also by you</span>`}
        <span class="soft tiny">${file.state}${describeStaging(file) && `, ${describeStaging(file)}`}</span>
      </label>`,
    )}
  </fieldset>`
}

/** The output of git or gh on failure. */
export const Refused = ({ error }) =>
  html`<div class="banner-bad" role="alert">
    <div class="grow">
      <pre class="commit-said" tabindex="0">${shown(error.text ?? error.message)}</pre>
      <p>${shown(error.hint ?? '')}</p>
    </div>
  </div>`

const LOOK_EVERY = 250
const waitBriefly = () => new Promise((done) => setTimeout(done, LOOK_EVERY))

/** Has the model write the message of the chosen files; `write` starts it, `stop` ends it, as closing the form does. */
function useWriter(task, setMessage, setError) {
  const [writing, setWriting] = useState(false)
  const wanted = useRef(false)
  const stop = () => wanted.current && act('commit_message_stop', { task: task.id }).catch(() => {})
  useEffect(
    () => () => {
      stop()
      wanted.current = false
    },
    [],
  )
  async function write(paths, before) {
    wanted.current = true
    setWriting(true)
    setError(null)
    setMessage('')
    try {
      await act('commit_message', { task: task.id, paths })
      let now
      let text = ''
      do {
        await waitBriefly()
        now = await query('commit_message_progress', { task: task.id })
        text = now?.value || now?.step || text
        if (wanted.current && text) setMessage(text)
      } while (wanted.current && now && !now.over)
      if (!wanted.current) return
      if (now?.error) throw new Refusal({ text: now.error, hint: now.hint })
      if (!text) setMessage(before)
      announcement.value = now?.stopped ? 'Stopped writing the message' : 'The message is written'
    } catch (problem) {
      setMessage(before)
      setError(problem)
    } finally {
      wanted.current = false
      setWriting(false)
    }
  }
  return { writing, write, stop }
}

function Form({ task, plan, onDone }) {
  const [chosen, choose] = useState(new Set(plan.ours))
  const [message, setMessage, forget] = useDraft(`commit ${task.id}`, plan.message)
  const [error, setError] = useState(null)
  const [busy, setBusy] = useState(false)
  const writer = useWriter(task, setMessage, setError)
  const { files, branch, under_way: underWay, runs = [] } = plan.uncommitted
  const ours = files.filter((file) => plan.ours.includes(file.path))
  const others = files.filter((file) => !plan.ours.includes(file.path))
  const left = files.filter((file) => file.staged && !chosen.has(file.path)).length
  async function send(e) {
    e.preventDefault()
    setBusy(true)
    setError(null)
    try {
      const made = await act('commit', { task: task.id, paths: [...chosen], message, runs })
      forget()
      onDone(made)
    } catch (problem) {
      setError(problem)
    } finally {
      setBusy(false)
    }
  }
  return html`<form class="stack" onSubmit=${send}>
    ${
      underWay &&
      html`<p class="blind" role="status">
        ${underWay} is in progress. Finish it in a terminal before you commit here.
      </p>`
    }
    ${
      task.facts.running &&
      html`<p class="blind" role="status">The agent is still working: its ongoing changes may be included.</p>`
    }
    ${ours.length > 0 && html`<${Files} title="Changed by this task" files=${ours} chosen=${chosen} choose=${choose} shared=${plan.shared} />`}
    ${
      others.length > 0 &&
      html`<details open=${!ours.length}>
        <summary class="small">${count(others.length, 'other uncommitted file')}</summary>
        <${Files} title="Other changes" files=${others} chosen=${chosen} choose=${choose} />
      </details>`
    }
    <${MessageField}
      message=${message}
      setMessage=${setMessage}
      writer=${writer}
      chosen=${chosen}
      busy=${busy}
      send=${send}
    />
    ${
      left > 0 &&
      html`<p class="tiny soft">
        ${count(left, 'staged file')}${' '}
        not selected; ${left === 1 ? 'it stays' : 'they stay'} staged.
      </p>`
    }
    ${
      runs.length > 0 &&
      html`<div class="stack" role="status">
        <p class="small">This repository runs these programs on commit:</p>
        <ul class="tiny mono commit-runs">
          ${runs.map((program) => html`<li key=${program}>${shown(program)}</li>`)}
        </ul>
      </div>`
    }
    ${error && html`<${Refused} error=${error} />`}
    <div class="row">
      <button class="button primary" disabled=${busy || writer.writing || !chosen.size || !message.trim()}>
        ${busy ? 'Committing…' : `Commit ${count(chosen.size, 'file')}`}
      </button>
      <span class="tiny soft" role="status">
        ${
          busy
            ? 'Running git and its hooks'
            : branch
              ? html`on <span class="mono">${shown(branch)}</span>`
              : 'detached HEAD'
        }
      </span>
    </div>
  </form>`
}

/** The message, which the model can write. */
function MessageField({ message, setMessage, writer, chosen, busy, send }) {
  const { writing, write, stop } = writer
  const subject = message.split('\n', 1)[0]
  return html`
    <label class="stack">
      <span class="small">Message</span>
      <textarea
        class="field commit-message"
        data-first
        rows="7"
        value=${message}
        readonly=${writing}
        onInput=${(e) => setMessage(e.currentTarget.value)}
        onKeyDown=${(e) => e.key === 'Enter' && (e.ctrlKey || e.metaKey) && chosen.size > 0 && !writing && send(e)}
      ></textarea>
    </label>
    <div class="row">
      <button
        type="button"
        class="button"
        disabled=${busy || !chosen.size}
        onClick=${() => (writing ? stop() : write([...chosen], message))}
      >
        ${writing ? 'Stop writing' : 'Write it with the model'}
      </button>
      <span class="tiny soft" role="status">
        ${writing ? 'The model is writing' : 'Sends the changes of the selected files to the model'}
      </span>
    </div>
    ${
      subject.length > SUBJECT &&
      html`<p class="tiny soft" role="status">
        The first line has ${subject.length} characters; keep it under ${SUBJECT}.
      </p>`
    }
  `
}

const Done = ({ made, task }) => html`<div class="stack">
  <p role="status">
    <span class="good" aria-hidden="true">✓</span>
    ${' '}
    ${count(made.files, 'file')} committed as <code>${made.name}</code>: ${shown(made.subject)}
  </p>
  ${
    made.said &&
    html`<details>
      <summary class="small">git output</summary>
      <pre class="commit-said" tabindex="0">${shown(made.said)}</pre>
    </details>`
  }
  <div class="row">
    <button class="button" data-first onClick=${closeSheet}>Close</button>
    <button class="button" onClick=${() => openSheet('push', { task })}>Push…</button>
  </div>
</div>`

export default function Commit({ task }) {
  const [plan, setPlan] = useState(null)
  const [error, setError] = useState(null)
  const [made, setMade] = useState(null)
  useEffect(() => {
    style('static/js/review/commit.css')
    query('commit_plan', { task: task.id }).then(setPlan, setError)
  }, [])
  const showDone = (commit) => {
    setMade(commit)
    announcement.value = `Committed as ${commit.name}`
    requestAnimationFrame(() => document.querySelector('dialog.sheet [data-first]')?.focus())
  }
  const body = made
    ? html`<${Done} made=${made} task=${task} />`
    : error
      ? html`<p class="bad">${shown(error.text ?? error.message)}</p><p class="soft">${shown(error.hint ?? '')}</p>`
      : !plan
        ? html`<p class="soft" role="status">Loading…</p>`
        : plan.uncommitted.files.length
          ? html`<${Form} task=${task} plan=${plan} onDone=${showDone} />`
          : html`<p>
              Nothing to commit
              ${plan.uncommitted.branch ? html` on <span class="mono">${shown(plan.uncommitted.branch)}</span>` : ''}.
            </p>
            <div class="row"><button class="button" data-first onClick=${() => openSheet('push', { task })}>Push…</button></div>`
  return html`<${Sheet} title="Commit" wide>${body}</${Sheet}>`
}
