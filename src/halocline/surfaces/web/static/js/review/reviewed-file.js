// One file of the review: its hunks, each with its comments, to accept or revert.
import { html, classes, signal, useState } from '../lib/ui.js'
import { shown, thousands } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { DiffText, firstChange, hunksOf, hunkText, Stat } from '../lib/diff.js'
import { Comments, focusHunk, Words } from '../decisions/hunks.js'

/** Accepted hunks, keyed by their task, and by their content so that they survive other changes. */
export const seen = signal({})
/** Comments that were typed and not added, by task, file and line. */
const unsent = new Map()
export const keyOf = (task, file, hunk) =>
  task.keyOf(`${file.path}\n${hunk.lines.map((line) => line.sign + line.text).join('\n')}`)

const quoteLine = (hunk, line) => {
  const found =
    hunk.lines.find((one) => (one.new ?? one.old) === line && one.sign !== ' ') ??
    hunk.lines.find((one) => (one.new ?? one.old) === line)
  return found ? `> ${found.sign} ${found.text.trim()}` : ''
}

export function accept(key, yes) {
  const next = { ...seen.value }
  if (yes) next[key] = true
  else delete next[key]
  seen.value = next
}

export function File({ task, around, file, author, number, comments, keep, form, setForm, revert, box }) {
  const [sure, setSure] = useState(false)
  const hunks = hunksOf(file.diff)
  const done = hunks.length > 0 && hunks.every((hunk) => seen.value[keyOf(task, file, hunk)])
  const [open, setOpen] = useState(null)
  const isOpen = open ?? !done
  const closeForm = (key) => {
    setForm(null)
    focusHunk(box.current, key)
  }
  const describeHunk = (hunk, at) => {
    const key = `${number}.${at}`
    const is = Boolean(seen.value[keyOf(task, file, hunk)])
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
          onClick=${() => accept(keyOf(task, file, hunk), !is)}
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
            start=${unsent.get(task.keyOf(`${file.path}:${form.line}`))}
            done="Add comment"
            onText=${(text) => unsent.set(task.keyOf(`${file.path}:${form.line}`), text)}
            onBack=${() => closeForm(key)}
            onDone=${(text) => (unsent.delete(task.keyOf(`${file.path}:${form.line}`)), text.trim() && keep([...comments, { path: file.path, line: form.line, text: text.trim(), quote: quoteLine(hunk, form.line) }]), closeForm(key))}
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
        ${author && html`<span class="badge">${author === 'both' ? 'also by you' : 'by you, not the task'}</span>`}
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
          class="icon-button small"
          title="Revert file…"
          aria-label=${`Revert all changes in ${file.path}`}
          onClick=${() => setSure(true)}
        >
          <${Icon} name="undo" size="15" />
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
        : html`<${DiffText} diff=${{ path: file.path, text: file.diff }} each=${describeHunk} around=${around} />`)
    }
    ${isOpen && file.cut > 0 && html`<p class="tiny soft pad-line">${thousands(file.cut)} more bytes not shown.</p>`}
  </section>`
}
