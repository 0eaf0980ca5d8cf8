// The full text of an approval. Nothing can be approved before the ends of its text, of what explains it and of each diff
// were in view.
import { html, classes, signal, useEffect, useRef, useState } from '../lib/ui.js'
import { count, lookalikes, shown } from '../lib/format.js'
import { announcement } from '../state/store.js'

const MOST = 12
const LONGEST_TITLE = 60

/** Ends that were in view. */
const seen = signal({})
/** The key of the request expanded because of an attempt to approve it unseen. */
export const revealed = signal('')

/** The name of a diff's end, which no other task has. */
export const endOf = (task, request, file) => `${task.keyOf(request)}/${file}`

/** The text an approval shows below the title; empty if the title is complete. */
export function wholeOf({ title, approval, arguments: given, kind }) {
  const text = approval?.detail || (kind === 'execute' && given?.command) || title
  return text === title && text.length <= LONGEST_TITLE && !text.includes('\n') ? '' : text
}

/** True if the parts of a command say more than its text. */
export const showsParts = ({ parts }) => parts?.length > 1 || parts?.[0]?.targets?.length > 0

/** True if an approval says more than the text of its call. */
export const isExplained = (approval) =>
  Boolean(approval.reason || approval.place || approval.sandbox || showsParts(approval))

/** True if all of it was in view; if not, shows the rest. */
export function isSeen(task, row) {
  const { request, diffs = [] } = row.approval
  const explained = isExplained(row.approval) ? [endOf(task, request, 'explanation')] : []
  const ends = [
    ...(wholeOf(row) ? [endOf(task, request, 'text')] : []),
    ...explained,
    ...diffs.map((_, file) => endOf(task, request, file)),
  ]
  const unseen = ends.find((end) => !seen.peek()[end])
  if (!unseen) return true
  revealed.value = task.keyOf(request)
  announcement.value = 'Showing the rest. Approve again.'
  const show = () =>
    [...document.querySelectorAll(`[data-end="${CSS.escape(unseen)}"]`)].at(-1)?.scrollIntoView({ block: 'center' })
  requestAnimationFrame(() => requestAnimationFrame(show)) // once the rest is drawn
  return false
}

/** Marks an end that must be in view before approval. */
export function End({ of }) {
  const here = useRef()
  useEffect(() => {
    const watch = new IntersectionObserver(
      (all) => all.some((one) => one.isIntersecting) && (seen.value = { ...seen.peek(), [of]: true }),
    )
    watch.observe(here.current)
    return () => watch.disconnect()
  }, [of])
  return html`<i data-end=${of} ref=${here}></i>`
}

const code = (char) => `U+${char.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}`

/** Names characters of a call that look like others. */
export function Lookalikes({ row }) {
  const found = lookalikes(`${wholeOf(row)}\n${row.title}`)
  if (!found.length) return null
  return html`<p class="small warn">
    Characters that look like others: ${found.map((char) => `${char} (${code(char)})`).join(', ')}
  </p>`
}

export function Whole({ task, row }) {
  const text = wholeOf(row)
  const request = row.approval?.request
  const [open, setOpen] = useState(false)
  if (!text) return null
  const lines = text.split('\n').length
  const all = open || (request && revealed.value === task.keyOf(request))
  return html`<div class="whole">
    <pre class=${classes('detail', all && 'all')} tabindex="0" role="group" aria-label="Full text">
      ${shown(text)}${request && html`<${End} key=${text} of=${endOf(task, request, 'text')} />`}
    </pre>
    ${
      lines > MOST &&
      html`<button class="link tiny" aria-expanded=${all} onClick=${() => ((revealed.value = ''), setOpen(!all))}>
        ${all ? 'Show less' : `Show all ${count(lines, 'line')}`}
      </button>`
    }
  </div>`
}
