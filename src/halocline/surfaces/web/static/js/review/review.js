// The review of changes, file by file: accept, comment, revert. Comments go to the agent as one prompt.
import { html, signal, style, useEffect, useRef, useState } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { announcement, complain, openSheet, reviewOpen, showDialogBelow } from '../state/store.js'
import { clock, count } from '../lib/format.js'
import { closeOnBack } from '../state/back.js'
import { Icon } from '../lib/icons.js'
import { DiffText, firstChange, hunksOf, hunkText, Stat } from '../lib/diff.js'
import { Comments, step } from '../decisions/hunks.js'
import { openFile } from '../files/open-file.js'
import { accept, File, keyOf, seen } from './reviewed-file.js'

style('static/js/review/review.css')

const SCOPES = [
  ['task', 'Whole task'],
  ['completion', 'Since the last result'],
  ['turn', 'Latest turn'],
]

/** The first event of a scope; 1 is the beginning. Pure. */
export function findStart(facts, scope) {
  const turns = facts.turns
  if (scope === 'task' || !turns.length) return 1
  if (scope === 'turn') return turns.at(-1).seq
  const before = turns.slice(0, -1).findLast((turn) => turn.finished && turn.end)
  return before ? before.end : 1
}

/** Comments by task. */
const notes = signal({})

/** Comments as one prompt. Pure. */
const writePrompt = (comments) =>
  `I reviewed the changes:\n\n${comments.map(({ path, line, text, quote }) => `\`${path}\`, line ${line}${quote ? `:\n${quote}\n` : ': '}${text}`).join('\n\n')}`

/** The comparison for a scope, fetched again whenever files may have changed. */
function useComparison(task, scope) {
  task.version.value
  const [found, setFound] = useState({ files: null, error: null, at: 0 })
  const [authors, setAuthors] = useState({})
  const [again, setAgain] = useState(0)
  const old = findStart(task.facts, scope)
  const { checkpoints, changed, rewinds, running, turns } = task.facts
  const stamp = `${checkpoints.length} ${changed.length} ${rewinds.length} ${running} ${turns.at(-1)?.files ?? 0}`
  useEffect(() => {
    if (!task.ready.value) return undefined
    let here = true
    setAuthors({})
    query('compare', { task: task.id, old }).then(
      ({ files }) => here && setFound({ files, error: null, at: Date.now() / 1000 }),
      (error) => here && setFound({ files: null, error, at: 0 }),
    )
    query('changed_by', { task: task.id, old }).then(
      (by) => here && setAuthors(by),
      () => {},
    )
    return () => (here = false)
  }, [task.id, task.ready.value, old, stamp, again])
  const refresh = () => setAgain((n) => n + 1)
  useEffect(() => {
    addEventListener('focus', refresh) // another program may have changed files
    return () => removeEventListener('focus', refresh)
  }, [])
  return [{ ...found, authors }, refresh]
}

/**
 * The lines around a file's changes, in the file as it is now.
 * @returns {import('../lib/diff-around.js').Source}
 */
const readAround = (task, file) => ({
  side: 'new',
  read: (first, last) => query('file', { task: task.id, path: file.path, first, last }),
  open: () => openFile(task, file.path, firstChange(hunksOf(file.diff)[0])),
})

const NARROW = matchMedia('(max-width: 899px)')

/** True while the window is too narrow for a column beside the transcript. */
function useNarrow() {
  const [narrow, setNarrow] = useState(NARROW.matches)
  useEffect(() => {
    const update = () => setNarrow(NARROW.matches)
    NARROW.addEventListener('change', update)
    return () => NARROW.removeEventListener('change', update)
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
    if (narrow) return (showDialogBelow(box.current), closeOnBack(close))
    box.current?.querySelector('h2')?.focus()
    return undefined
  }, [narrow])
  const closeOnEscape = (e) => e.key === 'Escape' && !e.target.matches('textarea') && (e.preventDefault(), close())
  const Tag = narrow ? 'dialog' : 'aside'
  return html`<${Tag}
    key=${Tag}
    class=${narrow ? 'sheet wide review-sheet' : 'review'}
    ref=${box}
    aria-label="Changes"
    onCancel=${(e) => (e.preventDefault(), close())}
    onKeyDown=${closeOnEscape}
  >
    <div class="sheet-head review-head">
      <h2 class="hidden-text" tabindex="-1">Changes</h2>
      <label class="hidden-text" for="review-scope">Show</label>
      <select id="review-scope" class="field" value=${scope} onChange=${(e) => setScope(e.target.value)}>
        ${SCOPES.map(([value, text]) => html`<option key=${value} value=${value}>${text}</option>`)}
      </select>
      <${Sum} task=${task} files=${found.files ?? []} />
      <button class="icon-button" aria-label="Refresh" title="Refresh" onClick=${again}>
        <${Icon} name="refresh" size="15" />
      </button>
      <button class="icon-button" aria-label="Close" onClick=${close}><${Icon} name="close" /></button>
    </div>
    <${Changes} task=${task} found=${found} scope=${scope} onAll=${() => setScope('task')} again=${again} />
  </${Tag}>`
}

const listKeys = (task, files) => files.flatMap((file) => hunksOf(file.diff).map((hunk) => keyOf(task, file, hunk)))

/** How much there is, and how much of it was reviewed. */
function Sum({ task, files }) {
  const sum = (field) => files.reduce((n, file) => n + (file[field] ?? 0), 0)
  const all = listKeys(task, files)
  return html`<p class="grow small review-sum" role="status">
    ${
      files.length > 0 &&
      html`${count(files.length, 'file')} ${' '}<${Stat} added=${sum('added')} removed=${sum('removed')} />${' '}
        <span class="soft" title="Accepted changes">· ${all.filter((key) => seen.value[key]).length}/${all.length} accepted</span>
        <span class="hidden-text"> reviewed</span>`
    }
  </p>`
}

/** Reverts changes of files: [revert, the last one as {what, undo}, or {problem} if it failed, or null]. */
function useRevert(task, again) {
  const [latest, setLatest] = useState(null)
  const fail = (problem) => (setLatest({ problem }), again()) // the diff may be of older files
  const swap = (file, diff, back) =>
    act('revert', { task: task.id, path: file.path, diff, status: isWhole(file, diff) ? file.status : 'changed', back })
  const revert = (file, diff, what) =>
    swap(file, diff, true).then(() => {
      again()
      const undo = () => swap(file, diff, false).then(() => (setLatest(null), again()), fail)
      setLatest({ what, undo })
      announcement.value = `Reverted ${what}.`
    }, fail)
  return [revert, latest]
}

function Changes({ task, found, scope, onAll, again }) {
  const box = useRef()
  const [form, setForm] = useState(null) // {key, line}
  const [revert, reverted] = useRevert(task, again)
  const comments = notes.value[task.id] ?? []
  const keep = (list) => (notes.value = { ...notes.value, [task.id]: list })
  if (found.error)
    return html`<div class="review-body">
      <div class="pad">
        <p class="bad">${found.error.text ?? found.error.message}</p>
        <p class="soft">${found.error.hint ?? ''}</p>
      </div>
      <${AsMade} task=${task} />
    </div>`
  if (!found.files) return html`<p class="pad soft" role="status">Comparing files…</p>`
  if (!found.files.length)
    return html`<div class="pad stack">
      <${Reverted} of=${reverted} />
      <p>No changes${scope === 'task' ? ' in this task' : ''} as of ${clock(found.at)}.</p>
      <div class="row">
        ${scope !== 'task' && html`<button class="button small" onClick=${onAll}>Show whole task</button>`}
        <button class="button small" onClick=${again}>Refresh</button>
        <button class="button small" onClick=${() => push(task)}>Push…</button>
      </div>
    </div>`
  function handleKey(e) {
    const at = e.target.closest?.('[data-hunk]')
    if (e.ctrlKey || e.metaKey || e.altKey || e.target.closest('input, textarea, select')) return
    const [number, hunkNumber] = (at?.dataset.hunk ?? '').split('.').map(Number)
    const file = at && found.files[number]
    const hunk = file && hunksOf(file.diff)[hunkNumber]
    const actions = {
      n: () => step(box.current, 1),
      p: () => step(box.current, -1),
      a: () => hunk && (accept(keyOf(task, file, hunk), !seen.value[keyOf(task, file, hunk)]), step(box.current, 1)),
      x: () => hunk && revert(file, hunkText(hunk), `a change in ${file.path}`),
      c: () => hunk && setForm({ key: at.dataset.hunk, line: firstChange(hunk) }),
    }
    if (!actions[e.key]) return
    e.preventDefault()
    e.stopPropagation()
    actions[e.key]()
  }
  const all = listKeys(task, found.files)
  const left = all.filter((key) => !seen.value[key]).length
  return html`
    <div class="review-body" ref=${box} onKeyDown=${handleKey} data-own-keys>
      <${Reverted} of=${reverted} />
      ${found.files.map(
        (file, number) => html`<${File}
          task=${task}
          around=${readAround(task, file)}
          key=${file.path}
          file=${file}
          author=${Object.hasOwn(found.authors, file.path) ? found.authors[file.path] : ''}
          number=${number}
          comments=${comments}
          keep=${keep}
          form=${form}
          setForm=${setForm}
          revert=${revert}
          box=${box}
        />`,
      )}
      <${Apart} files=${found.files} comments=${comments} keep=${keep} />
    </div>
    <${Foot} task=${task} comments=${comments} keep=${keep} all=${all} left=${left} />
  `
}

const Reverted = ({ of }) =>
  of &&
  (of.problem
    ? html`<p class="took-back small warn" role="alert">
        ${of.problem.text ?? of.problem.message} The changes below are as they are now.
      </p>`
    : html`<div class="took-back row small" role="status">
        <span class="grow">Reverted ${of.what}.</span>
        <button class="button small" onClick=${of.undo}>Undo</button>
      </div>`)

/** Comments on lines that no change shows any more. */
function Apart({ files, comments, keep }) {
  const isShown = (one) =>
    files.some(
      (file) =>
        file.path === one.path &&
        hunksOf(file.diff).some((hunk) => hunk.lines.some((line) => (line.new ?? line.old) === one.line)),
    )
  const apart = comments.filter((one) => !isShown(one))
  if (!apart.length) return null
  return html`<section class="review-file" aria-label="Comments on hidden changes">
    <p class="small soft pad-line">Comments on changes not shown here:</p>
    ${apart.map(
      (one) => html`<${Comments}
        comments=${[{ ...one, text: `${one.path}: ${one.text}` }]}
        onRemove=${() => keep(comments.filter((other) => other !== one))}
      />`,
    )}
  </section>`
}

/** Sends the comments, accepts what is left, commits and pushes. */
function Foot({ task, comments, keep, all, left }) {
  const asks = task.facts.waiting.length > 0
  const sendComments = (type) =>
    task
      .send(type, { content: [{ type: 'text', text: writePrompt(comments) }] })
      .then(() => (keep([]), (announcement.value = 'Your comments were sent.')), complain)
  return html`<div class="sheet-foot review-foot">
    ${
      comments.length > 0 &&
      html`<button
        class="button primary"
        onClick=${() => sendComments(task.facts.running && !asks ? 'steer' : 'submit_prompt')}
      >
        Send ${count(comments.length, 'comment')} ${asks ? 'after this turn' : 'to the agent'}
      </button>`
    }
    ${
      comments.length > 0 &&
      asks &&
      html`<button class="button" onClick=${() => sendComments('steer')}>Reject and send now</button>`
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
  </div>`
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
const isWhole = (file, diff) => diff === file.diff || hunksOf(file.diff).length === 1
