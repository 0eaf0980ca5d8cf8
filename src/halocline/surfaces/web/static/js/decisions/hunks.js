// The diff of a pending edit: include, exclude, edit or comment on each hunk, with buttons and the keys n p a x e c.
// The choices are kept in `choices`, shared by the card and the dock.
import { html, classes, useLayoutEffect, useRef, useState } from '../lib/ui.js'
import { shown } from '../lib/format.js'
import {
  choicesOf,
  isDivisible,
  draftComment,
  isLeftOut,
  keepDraft,
  keyOf,
  removeComment,
  rewriteHunk,
  toggleFile,
  toggleHunk,
} from './edit-choices.js'
import { Lazy } from '../widgets/lazy.js'
import { DiffText, firstChange, hunksOf, side } from '../lib/diff.js'
import { End, endOf, revealed } from './whole-call.js'
import { definePart } from '../lib/parts.js'

/** Give a hunk the focus that its form had, unless something else has it by then. */
export function focusHunk(box, key) {
  requestAnimationFrame(
    () => document.activeElement === document.body && box?.querySelector(`[data-hunk="${key}"]`)?.focus(),
  )
}

/** Focus the next or previous hunk in `box`. */
export function step(box, by) {
  const all = [...box.querySelectorAll('[data-hunk]')]
  const at = all.indexOf(document.activeElement?.closest?.('[data-hunk]'))
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
}

/** A text form in a place of the diff. */
export function Words({ label, start = '', rows = 2, mono = false, done, onDone, onBack, onText = (_text) => {} }) {
  const field = useRef()
  const [text, setText] = useState(start)
  useLayoutEffect(() => field.current?.focus(), []) // before the next key comes
  const submit = (e) => (e.preventDefault(), onDone(text))
  return html`<form
    class="words"
    onSubmit=${submit}
    onKeyDown=${(e) => {
      e.stopPropagation()
      if (e.key === 'Escape') (e.preventDefault(), onBack())
      else if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) submit(e)
    }}
  >
    <label>
      <span class="tiny soft">${label}</span>
      <textarea
        ref=${field}
        class=${classes('field', mono && 'mono')}
        rows=${rows}
        value=${text}
        onInput=${(e) => (setText(e.target.value), onText(e.target.value))}
        spellcheck=${!mono}
      ></textarea>
    </label>
    <div class="row">
      <button class="button small primary" type="submit">${done}</button>
      <button class="button small quiet" type="button" onClick=${onBack}>Back</button>
    </div>
  </form>`
}

const loadEditor = definePart(() => import('../files/code-editor.js'))

/** An editor in a place of the diff: the lines of a hunk, beside what they replace. */
function HunkEditor({ hunk, path, label, start, onText, onDone, onBack }) {
  return html`<div class="words" onKeyDown=${(e) => e.stopPropagation()}>
    <span class="tiny soft">${label}</span>
    <${Lazy}
      load=${loadEditor}
      label=${label}
      path=${path}
      text=${start}
      before=${side(hunk, 'old').join('\n')}
      firstLine=${hunk.newStart}
      onText=${onText}
      onDone=${onDone}
      onBack=${onBack}
    />
    <div class="row">
      <button class="button small primary" onClick=${onDone}>Apply</button>
      <button class="button small quiet" onClick=${onBack}>Back</button>
    </div>
  </div>`
}

export function Comments({ comments, onRemove }) {
  return comments.map(
    (one, at) => html`<div key=${at} class="comment">
      <span class="tiny soft">line ${one.line}</span> <span class="grow">${shown(one.text)}</span>
      <button class="link tiny" onClick=${() => onRemove(one)}>Remove</button>
    </div>`,
  )
}

function HunkTools({ out, onToggle, onEdit, onComment, divisible }) {
  return html`<span class="hunk-tools">
    ${
      divisible &&
      html`
        <button
          class=${classes('hunk-tool', !out && 'on')}
          aria-pressed=${!out}
          onClick=${onToggle}
          title="Include or exclude this change (a, x)"
        >
          ${out ? 'Excluded' : '✓ Included'}
        </button>
        <button class="hunk-tool" onClick=${onEdit} title="Edit this change (e)">Edit</button>
      `
    }
    <button class="hunk-tool" onClick=${onComment} title="Comment on this change (c)">Comment</button>
  </span>`
}

/** Includes or excludes all changes of a file. */
function FileTools({ choices, diff, file }) {
  const out = isLeftOut(choices, diff, file)
  return html`<button
    class=${classes('hunk-tool', !out && 'on')}
    aria-pressed=${!out}
    onClick=${() => toggleFile(choices, diff, file)}
    title="Include or exclude all changes of this file"
  >
    ${out ? 'File excluded' : '✓ File included'}
  </button>`
}

/** Under a hunk: its new text, comments, and the form that is open there. */
function BelowHunk({ choices, of: key, hunk, path, form, onBack }) {
  const { rejected, texts, comments } = choices.value
  const text = texts[key]
  const before = side(hunk, 'new').join('\n')
  const here = comments.filter(
    (one) => one.path === path && hunk.lines.some((line) => (line.new ?? line.old) === one.line),
  )
  return html`
    ${
      text != null &&
      !rejected[key] &&
      !form &&
      html`<div class="rewritten-text">
        <span class="tiny soft">Edited:</span>
        <pre tabindex="0">${shown(text)}</pre>
        <button class="link tiny" onClick=${() => rewriteHunk(choices, key, null)}>Reset</button>
      </div>`
    }
    <${Comments} comments=${here} onRemove=${(one) => removeComment(choices, one)} />
    ${
      form?.kind === 'comment' &&
      html`<${Words}
        key=${form.line}
        label=${`Comment on line ${form.line}`}
        done="Add comment"
        onBack=${onBack}
        onText=${(text) => draftComment(choices, { path, line: form.line, text })}
        onDone=${() => (keepDraft(choices), onBack())}
      />`
    }
    ${
      form?.kind === 'edit' &&
      html`<${HunkEditor}
        hunk=${hunk}
        path=${path}
        label=${`New text of lines ${hunk.newStart} to ${hunk.newStart + Math.max(0, hunk.newCount - 1)}`}
        start=${text ?? before}
        onBack=${() => (rewriteHunk(choices, key, form.was), onBack())}
        onText=${(text) => rewriteHunk(choices, key, text === before ? null : text)}
        onDone=${onBack}
      />`
    }
  `
}

/** All diffs of an approval. */
/** @param {{ task: any, row: any, around?: (diff: any) => import('../lib/diff-around.js').Source }} of */
export function Approvable({ task, row, around }) {
  const { request, diffs } = row.approval
  const choices = choicesOf(task, request)
  const [form, open] = useState(null) // {key, kind: edit | comment, line, was}
  const setForm = (next) => (keepDraft(choices), open(next)) // typed text counts even if its form was not submitted
  const box = useRef()
  const divisible = isDivisible(row)
  const { rejected, texts } = choices.value
  const back = () => {
    const key = form?.key
    draftComment(choices, null)
    setForm(null)
    focusHunk(box.current, key)
  }
  const describeHunk = (diff, file) => (hunk, at) => {
    const key = keyOf(file, at)
    const out = Boolean(rejected[key])
    return {
      look: classes(out && 'left-out', texts[key] != null && !out && 'rewritten'),
      onLine: (line) => setForm({ key, kind: 'comment', line }),
      head: html`<${HunkTools}
        out=${out}
        divisible=${divisible}
        onToggle=${() => toggleHunk(choices, key)}
        onEdit=${() => setForm({ key, kind: 'edit', was: texts[key] })}
        onComment=${() => setForm({ key, kind: 'comment', line: firstChange(hunk) })}
      />`,
      focus: {
        key,
        label: `Change ${at + 1} in ${diff.path}, line ${firstChange(hunk)}${out ? ', excluded' : ''}. Keys: n and p next and previous, a include, x exclude, e edit, c comment`,
      },
      below: html`<${BelowHunk}
        choices=${choices}
        of=${key}
        hunk=${hunk}
        path=${diff.path}
        form=${form?.key === key ? form : null}
        onBack=${back}
      />`,
    }
  }
  function handleKey(e) {
    const at = e.target.closest?.('[data-hunk]')
    if (!at || e.ctrlKey || e.metaKey || e.altKey) return
    const key = at.dataset.hunk
    const [file, number] = key.split('.').map(Number)
    const hunk = hunksOf(diffs[file].text)[number]
    const actions = {
      n: () => step(box.current, 1),
      p: () => step(box.current, -1),
      a: () => divisible && rejected[key] && toggleHunk(choices, key),
      x: () => divisible && !rejected[key] && toggleHunk(choices, key),
      e: () => divisible && setForm({ key, kind: 'edit', was: texts[key] }),
      c: () => setForm({ key, kind: 'comment', line: firstChange(hunk) }),
    }
    if (!actions[e.key]) return
    e.preventDefault()
    e.stopPropagation()
    actions[e.key]()
  }
  return html`<div class="approvable" ref=${box} onKeyDown=${handleKey} data-own-keys>
    ${diffs.map(
      (diff, file) => html`<${DiffText}
        key=${file}
        diff=${diff}
        each=${describeHunk(diff, file)}
        around=${around?.(diff)}
        named=${diffs.length > 1}
        tools=${diffs.length > 1 && html`<${FileTools} choices=${choices} diff=${diff} file=${file} />`}
        most=${revealed.value === task.keyOf(request) ? Infinity : undefined}
        tail=${html`<${End} of=${endOf(task, request, file)} />`}
      />`,
    )}
  </div>`
}
