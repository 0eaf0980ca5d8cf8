// The review of changes, file by file: accept, comment, revert. Comments go to the agent as one prompt.
import { html, classes, signal, style, useEffect, useRef, useState } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { announcement, complain, openSheet, reviewOpen, showDialogBelow } from '../state/store.js'
import { clock, count, shown, thousands } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { DiffText, firstChange, hunksOf, hunkText, Stat } from '../lib/diff.js'
import { Comments, focusHunk, step, Words } from '../decisions/hunks.js'
import { openFile } from '../files/open-file.js'

style('static/js/review/review.css')

const SCOPES = [
  ['task', 'Whole task'],
  ['completion', 'Since the last result'],
  ['turn', 'Latest turn'],
]

/** The first event of a scope; 1 is the beginning. Pure. */
export function since(facts, scope) {
  const turns = facts.turns
  if (scope === 'task' || !turns.length) return 1
  if (scope === 'turn') return turns.at(-1).seq
  const before = turns.slice(0, -1).findLast((turn) => turn.finished && turn.end)
  return before ? before.end : 1
}

/** Comments by task, and accepted hunks, keyed by their content so that they survive other changes. */
const notes = signal({})
const seen = signal({})
/** Comments that were typed and not added, by file and line. */
const unsent = new Map()
const mark = (file, hunk) => `${file.path}\n${hunk.lines.map((line) => line.sign + line.text).join('\n')}`

/** Comments as one prompt. Pure. */
const prompted = (comments) =>
  `I reviewed the changes:\n\n${comments.map(({ path, line, text, quote }) => `\`${path}\`, line ${line}${quote ? `:\n${quote}\n` : ': '}${text}`).join('\n\n')}`

const quoteOf = (hunk, line) => {
  const found =
    hunk.lines.find((one) => (one.new ?? one.old) === line && one.sign !== ' ') ??
    hunk.lines.find((one) => (one.new ?? one.old) === line)
  return found ? `> ${found.sign} ${found.text.trim()}` : ''
}

/** The comparison for a scope, fetched again whenever files may have changed. */
function useComparison(task, scope) {
  task.version.value
  const [found, setFound] = useState({ files: null, error: null, at: 0 })
  const [again, setAgain] = useState(0)
  const old = since(task.facts, scope)
  const stamp = `${task.facts.checkpoints.length} ${task.facts.changed.length} ${task.facts.running} ${task.facts.turns.at(-1)?.files ?? 0}`
  useEffect(() => {
    if (!task.ready.value) return undefined
    let here = true
    query('compare', { task: task.id, old }).then(
      ({ files }) => here && setFound({ files, error: null, at: Date.now() / 1000 }),
      (error) => here && setFound({ files: null, error, at: 0 }),
    )
    return () => (here = false)
  }, [task.id, task.ready.value, old, stamp, again])
  return [found, () => setAgain((n) => n + 1)]
}

/**
 * The lines around a file's changes, in the file as it is now.
 * @returns {import('../lib/diff-around.js').Source}
 */
const around = (task, file) => ({
  side: 'new',
  read: (first, last) => query('file', { task: task.id, path: file.path, first, last }),
  open: () => openFile(task, file.path, firstChange(hunksOf(file.diff)[0])),
})

const NARROW = matchMedia('(max-width: 899px)')

/** True while the window is too narrow for a column beside the transcript. */
function useNarrow() {
  const [narrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const changed = () => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', changed)
    return () => NARROW.removeEventListener('change', changed)
  }, [])
  return narrow
}

export default function Review({ task }) {
  const [scope, setScope] = useState('task')
  const [found, again] = useComparison(task, scope)
  const box = useRef()
  const narrow = useNarrow()
  const close = () => {
    reviewOpen.value = false
    requestAnimationFrame(() => document.querySelector('[aria-pressed][aria-label^="Changes"]')?.focus())
  }
  useEffect(() => {
    if (narrow) showDialogBelow(box.current)
    else box.current?.querySelector('h2')?.focus()
  }, [narrow])
  const Tag = narrow ? 'dialog' : 'aside'
  return html`<${Tag}
    key=${Tag}
    class=${narrow ? 'sheet wide review-sheet' : 'review'}
    ref=${box}
    aria-label="Changes"
    onCancel=${(e) => (e.preventDefault(), close())}
  >
    <div class="sheet-head review-head">
      <h2 tabindex="-1">Changes</h2>
      <button class="icon-button" aria-label="Refresh" title="Refresh" onClick=${again}>
        <${Icon} name="clock" size="15" />
      </button>
      <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
    </div>
    <div class="review-scope row">
      <label class="tiny soft" for="review-scope">Show</label>
      <select id="review-scope" class="field" value=${scope} onChange=${(e) => setScope(e.target.value)}>
        ${SCOPES.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
      </select>
    </div>
    <${Changes} task=${task} found=${found} scope=${scope} onAll=${() => setScope('task')} again=${again} />
  </${Tag}>`
}

function Changes({ task, found, scope, onAll, again }) {
  const box = useRef()
  const [form, setForm] = useState(null) // {key, line}
  const [taken, setTaken] = useState(null) // {what, undo}: the last revert
  const comments = notes.value[task.id] ?? []
  const keep = (list) => (notes.value = { ...notes.value, [task.id]: list })
  const asks = task.facts.waiting.length > 0
  const say = (type) =>
    task
      .send(type, { content: [{ type: 'text', text: prompted(comments) }] })
      .then(() => (keep([]), (announcement.value = 'Your comments were sent.')), complain)
  if (found.error)
    return html`<div class="review-body">
      <div class="pad">
        <p class="bad">${found.error.text ?? found.error.message}</p>
        <p class="soft">${found.error.hint ?? ''}</p>
      </div>
      <${AsMade} task=${task} />
    </div>`
  if (!found.files) return html`<p class="pad soft" role="status">Comparing files…</p>`
  const tookBack =
    taken &&
    html`<div class="took-back row small" role="status">
      <span class="grow">Reverted ${taken.what}.</span>
      <button class="button small" onClick=${taken.undo}>Undo</button>
    </div>`
  if (!found.files.length)
    return html`<div class="pad stack">
      ${tookBack}
      <p>No changes${scope === 'task' ? ' in this task' : ''} as of ${clock(found.at)}.</p>
      <div class="row">
        ${scope !== 'task' && html`<button class="button small" onClick=${onAll}>Show whole task</button>`}
        <button class="button small" onClick=${() => push(task)}>Push…</button>
      </div>
    </div>`
  const swap = (file, diff, back) =>
    act('revert', { task: task.id, path: file.path, diff, status: whole(file, diff) ? file.status : 'changed', back })
  const revert = (file, diff, what) =>
    swap(file, diff, true).then(() => {
      again()
      const undo = () => swap(file, diff, false).then(() => (setTaken(null), again()), complain)
      setTaken({ what, undo })
      announcement.value = `Reverted ${what}.`
    }, complain)
  const look = (key, yes) => {
    const next = { ...seen.value }
    if (yes) next[key] = true
    else delete next[key]
    seen.value = next
  }
  function pressed(e) {
    const at = e.target.closest?.('[data-hunk]')
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, textarea, select')) return
    const [number, hunkNumber] = (at?.dataset.hunk ?? '').split('.').map(Number)
    const file = at && found.files[number]
    const hunk = file && hunksOf(file.diff)[hunkNumber]
    const deeds = {
      n: () => step(box.current, 1),
      p: () => step(box.current, -1),
      a: () => hunk && (look(mark(file, hunk), !seen.value[mark(file, hunk)]), step(box.current, 1)),
      x: () => hunk && revert(file, hunkText(hunk), `a change in ${file.path}`),
      c: () => hunk && setForm({ key: at.dataset.hunk, line: firstChange(hunk) }),
    }
    if (!deeds[e.key]) return
    e.preventDefault()
    e.stopPropagation()
    deeds[e.key]()
  }
  const added = found.files.reduce((n, file) => n + (file.added ?? 0), 0)
  const removed = found.files.reduce((n, file) => n + (file.removed ?? 0), 0)
  const all = found.files.flatMap((file) => hunksOf(file.diff).map((hunk) => mark(file, hunk)))
  const left = all.filter((key) => !seen.value[key]).length
  const stands = (one) =>
    found.files.some(
      (file) =>
        file.path === one.path &&
        hunksOf(file.diff).some((hunk) => hunk.lines.some((line) => (line.new ?? line.old) === one.line)),
    )
  const apart = comments.filter((one) => !stands(one))
  return html`
    <div class="review-body" ref=${box} onKeyDown=${pressed} data-own-keys>
      <p class="review-sum small" role="status">
        ${count(found.files.length, 'file')}
        ${' '}
        <${Stat} added=${added} removed=${removed} />
        ${' '}
        <span class="soft">${left ? `${left} of ${count(all.length, 'change')} left to review` : 'all reviewed'}</span>
      </p>
      ${tookBack}
      ${found.files.map(
        (file, number) => html`<${File}
          around=${around(task, file)}
          key=${file.path}
          file=${file}
          number=${number}
          comments=${comments}
          keep=${keep}
          form=${form}
          setForm=${setForm}
          revert=${revert}
          look=${look}
          box=${box}
        />`,
      )}
      ${
        apart.length > 0 &&
        html`<section class="review-file" aria-label="Comments on hidden changes">
          <p class="small soft pad-line">Comments on changes not shown here:</p>
          ${apart.map(
            (one) => html`<${Comments}
              comments=${[{ ...one, text: `${one.path}: ${one.text}` }]}
              onRemove=${() => keep(comments.filter((other) => other !== one))}
            />`,
          )}
        </section>`
      }
    </div>
    <div class="sheet-foot review-foot">
      ${
        comments.length > 0 &&
        html`<button
          class="button primary"
          onClick=${() => say(task.facts.running && !asks ? 'steer' : 'submit_prompt')}
        >
          Send ${count(comments.length, 'comment')} ${asks ? 'after this turn' : 'to the agent'}
        </button>`
      }
      ${
        comments.length > 0 &&
        asks &&
        html`<button class="button" onClick=${() => say('steer')}>Reject and send now</button>`
      }
      ${
        left > 0 &&
        html`<button
          class="button"
          onClick=${() => (seen.value = { ...seen.value, ...Object.fromEntries(all.map((key) => [key, true])) })}
        >
          Accept all
        </button>`
      }
      <button class="button" onClick=${() => commit(task)}>Commit…</button>
      <button class="button" onClick=${() => push(task)}>Push…</button>
      <span class="tiny soft">n/p next/previous · a accept · x revert · c comment</span>
    </div>
  `
}

const commit = (task) => openSheet('commit', { task })
const push = (task) => openSheet('push', { task })

/** Without checkpoints: the edits in the order they were made. */
function AsMade({ task }) {
  useEffect(() => task.holdAll(), [task.id])
  const diffs = task.rows
    .filter((row) => row?.type === 'call_row' && row.status === 'completed')
    .flatMap((row) => row.diffs ?? [])
  if (!diffs.length) return null
  return html`
    <p class="pad-line small soft">
      Edits in the order they were made: <button class="link" onClick=${() => commit(task)}>Commit…</button>
    </p>
    ${diffs.map((diff, at) => html`<${DiffText} key=${at} diff=${diff} named most=${60} />`)}
  `
}

/** True if a diff covers the whole file. */
const whole = (file, diff) => diff === file.diff || hunksOf(file.diff).length === 1

function File({ around, file, number, comments, keep, form, setForm, revert, look, box }) {
  const [sure, setSure] = useState(false)
  const hunks = hunksOf(file.diff)
  const done = hunks.length > 0 && hunks.every((hunk) => seen.value[mark(file, hunk)])
  const [open, setOpen] = useState(null)
  const isOpen = open ?? !done
  const back = (key) => {
    setForm(null)
    focusHunk(box.current, key)
  }
  const each = (hunk, at) => {
    const key = `${number}.${at}`
    const is = Boolean(seen.value[mark(file, hunk)])
    const here = comments.filter(
      (one) => one.path === file.path && hunk.lines.some((line) => (line.new ?? line.old) === one.line),
    )
    return {
      closed: is,
      look: is ? 'looked-at' : '',
      focus: {
        key,
        label: `Change ${at + 1} of ${hunks.length} in ${file.path}, line ${firstChange(hunk)}${is ? ', accepted' : ''}. Keys: n and p next and previous, a accept, x revert, c comment`,
      },
      onLine: (line) => setForm({ key, line }),
      head: html`<span class="hunk-tools">
        <button
          class=${classes('hunk-tool', is && 'on')}
          aria-pressed=${is}
          onClick=${() => look(mark(file, hunk), !is)}
        >
          ${is ? '✓ Accepted' : 'Accept'}
        </button>
        <button class="hunk-tool" onClick=${() => setForm({ key, line: firstChange(hunk) })}>Comment</button>
        <button class="hunk-tool danger" onClick=${() => revert(file, hunkText(hunk), `a change in ${file.path}`)}>
          Revert
        </button>
      </span>`,
      below: html`
        <${Comments} comments=${here} onRemove=${(one) => keep(comments.filter((other) => other !== one))} />
        ${
          form?.key === key &&
          html`<${Words}
            key=${form.line}
            label=${`Comment on line ${form.line}`}
            start=${unsent.get(`${file.path}:${form.line}`)}
            done="Add comment"
            onText=${(text) => unsent.set(`${file.path}:${form.line}`, text)}
            onBack=${() => back(key)}
            onDone=${(text) => (unsent.delete(`${file.path}:${form.line}`), text.trim() && keep([...comments, { path: file.path, line: form.line, text: text.trim(), quote: quoteOf(hunk, form.line) }]), back(key))}
          />`
        }
      `,
    }
  }
  const text = file.added == null ? 'Binary file not shown.' : ''
  return html`<section class="review-file" aria-label=${file.path}>
    <div class="review-name">
      <button class="call-line" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>
        <span aria-hidden="true">${isOpen ? '▾' : '▸'}</span>
        <span class="cut grow mono" title=${file.path}>${shown(file.path)}</span>
        ${file.status !== 'changed' && html`<span class="badge">${file.status}</span>`}
        ${done && html`<span class="good tiny">✓<span class="hidden-text"> all accepted</span></span>`}
        <${Stat} added=${file.added} removed=${file.removed} />
      </button>
      ${
        !sure &&
        hunks.length > 0 &&
        !file.cut &&
        file.status !== 'renamed' &&
        html`<button
          class="button small quiet"
          aria-label=${`Revert all changes in ${file.path}`}
          onClick=${() => setSure(true)}
        >
          Revert…
        </button>`
      }
    </div>
    ${file.before && html`<p class="tiny soft pad-line">was ${shown(file.before)}</p>`}
    ${
      sure &&
      html`<div class="row pad-line small">
        Revert all changes in this file?
        <button class="button small danger" onClick=${() => (setSure(false), revert(file, file.diff, file.path))}>
          Revert all
        </button>
        <button class="button small quiet" onClick=${() => setSure(false)}>Cancel</button>
      </div>`
    }
    ${
      isOpen &&
      (text
        ? html`<p class="pad-line soft small">${text}</p>`
        : html`<${DiffText} diff=${{ path: file.path, text: file.diff }} each=${each} around=${around} />`)
    }
    ${isOpen && file.cut > 0 && html`<p class="tiny soft pad-line">${thousands(file.cut)} more bytes not shown.</p>`}
  </section>`
}
