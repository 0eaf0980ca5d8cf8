// The diff of an edit that waits: each hunk is accepted, left out, written otherwise or commented on, by buttons and by
// n p a x e c. What is chosen stands in `choices`, for the card and the dock alike.
import { html, classes, useLayoutEffect, useRef, useState } from '../ui.js'
import { shown } from '../format.js'
import { choicesOf, DIVISIBLE, draft, keepDraft, keyOf, rewrite, toggle, uncomment } from '../choices.js'
import { DiffText, firstChange, hunksOf, side } from '../diff.js'
import { End, endOf, revealed } from './whole.js'

/** To the next or previous hunk below `box`. */
export function step(box, by) {
  const all = [...box.querySelectorAll('[data-hunk]')]
  const at = all.indexOf(document.activeElement?.closest?.('[data-hunk]'))
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'nearest' })
}

/** Words of a person, for a place. `onDone(text)` or nothing. */
export function Words({ label, start = '', rows = 2, mono = false, done, onDone, onBack, onText = () => {} }) {
  const field = useRef()
  const [text, setText] = useState(start)
  useLayoutEffect(() => field.current?.focus(), []) // before the next key comes
  const finish = (e) => (e.preventDefault(), onDone(text))
  return html`<form
    class="words"
    onSubmit=${finish}
    onKeyDown=${(e) => {
      e.stopPropagation()
      if (e.key === 'Escape') (e.preventDefault(), onBack())
      else if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) finish(e)
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
          title="Take this change or leave it out (a, x)"
        >
          ${out ? 'Left out' : '✓ Taken'}
        </button>
        <button class="hunk-tool" onClick=${onEdit} title="Write it otherwise (e)">Edit</button>
      `
    }
    <button class="hunk-tool" onClick=${onComment} title="Say something about it (c)">Comment</button>
  </span>`
}

/** All diffs of an approval. */
export function Approvable({ row }) {
  const { request, diffs } = row.approval
  const choices = choicesOf(request)
  const [form, open] = useState(null) // {key, kind: edit | comment, line, was}
  const setForm = (next) => (keepDraft(choices), open(next)) // what is typed counts, kept by its button or not
  const box = useRef()
  const divisible = DIVISIBLE.has(row.name)
  const { rejected, texts, comments } = choices.value
  const back = () => {
    const key = form?.key
    draft(choices, null)
    setForm(null)
    requestAnimationFrame(() => box.current?.querySelector(`[data-hunk="${key}"]`)?.focus())
  }
  function each(diff, file) {
    return (hunk, at) => {
      const key = keyOf(file, at)
      const out = Boolean(rejected[key])
      const here = comments.filter(
        (one) => one.path === diff.path && hunk.lines.some((line) => (line.new ?? line.old) === one.line),
      )
      return {
        look: classes(out && 'left-out', texts[key] != null && !out && 'rewritten'),
        onLine: (line) => setForm({ key, kind: 'comment', line }),
        head: html`<${HunkTools}
          out=${out}
          divisible=${divisible}
          onToggle=${() => toggle(choices, key)}
          onEdit=${() => setForm({ key, kind: 'edit', was: texts[key] })}
          onComment=${() => setForm({ key, kind: 'comment', line: firstChange(hunk) })}
        />`,
        focus: {
          key,
          label: `Change ${at + 1} in ${diff.path}, line ${firstChange(hunk)}${out ? ', left out' : ''}. Keys: n and p next and previous, a take, x leave out, e edit, c comment`,
        },
        below: html`
          ${
            texts[key] != null &&
            !out &&
            form?.key !== key &&
            html`<div class="rewritten-text">
              <span class="tiny soft">Instead:</span>
              <pre tabindex="0">${shown(texts[key])}</pre>
              <button class="link tiny" onClick=${() => rewrite(choices, key, null)}>As it was</button>
            </div>`
          }
          <${Comments} comments=${here} onRemove=${(one) => uncomment(choices, one)} />
          ${
            form?.key === key &&
            form.kind === 'comment' &&
            html`<${Words}
              key=${form.line}
              label=${`About line ${form.line}`}
              done="Keep the comment"
              onBack=${back}
              onText=${(text) => draft(choices, { path: diff.path, line: form.line, text })}
              onDone=${() => (keepDraft(choices), back())}
            />`
          }
          ${
            form?.key === key &&
            form.kind === 'edit' &&
            html`<${Words}
              label=${`Lines ${hunk.newStart} to ${hunk.newStart + Math.max(0, hunk.newCount - 1)} as they shall be`}
              mono
              start=${texts[key] ?? side(hunk, 'new').join('\n')}
              rows=${Math.min(20, hunk.newCount + 1)}
              done="Use this text"
              onBack=${() => (rewrite(choices, key, form.was), back())}
              onText=${(text) => rewrite(choices, key, text === side(hunk, 'new').join('\n') ? null : text)}
              onDone=${back}
            />`
          }
        `,
      }
    }
  }
  function pressed(e) {
    const at = e.target.closest?.('[data-hunk]')
    if (!at || e.ctrlKey || e.metaKey || e.altKey) return
    const key = at.dataset.hunk
    const [file, number] = key.split('.').map(Number)
    const hunk = hunksOf(diffs[file].text)[number]
    const deeds = {
      n: () => step(box.current, 1),
      p: () => step(box.current, -1),
      a: () => divisible && rejected[key] && toggle(choices, key),
      x: () => divisible && !rejected[key] && toggle(choices, key),
      e: () => divisible && setForm({ key, kind: 'edit', was: texts[key] }),
      c: () => setForm({ key, kind: 'comment', line: firstChange(hunk) }),
    }
    if (!deeds[e.key]) return
    e.preventDefault()
    e.stopPropagation()
    deeds[e.key]()
  }
  return html`<div class="approvable" ref=${box} onKeyDown=${pressed} data-own-keys>
    ${diffs.map(
      (diff, file) => html`<${DiffText}
        key=${file}
        diff=${diff}
        each=${each(diff, file)}
        named=${diffs.length > 1}
        most=${revealed.value === request ? Infinity : undefined}
        tail=${html`<${End} of=${endOf(request, file)} />`}
      />`,
    )}
  </div>`
}
