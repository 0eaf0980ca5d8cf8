// What would be done, whole and line by line, and that its end was seen: nothing is approved before that. It ends where
// its text ends, and each of its diffs.
import { html, classes, signal, useEffect, useRef, useState } from '../ui.js'
import { count, shown } from '../format.js'
import { announcement } from '../store.js'

const MOST = 12
const LONGEST_TITLE = 60

/** The ends that were in view. */
const seen = signal({})
/** The request whose rest is shown, as somebody wanted to approve it before. */
export const revealed = signal('')

/** The name of the end of a diff. */
export const endOf = (request, file) => `${request}/${file}`

/** What an approval shows of a call beside its title; nothing when the title says it all. */
export function wholeOf({ title, approval, arguments: given, kind }) {
  const text = approval?.detail || (kind === 'execute' && given?.command) || title
  return text === title && text.length <= LONGEST_TITLE && !text.includes('\n') ? '' : text
}

/** Whether all of it was in view; if not, show the rest. */
export function isSeen(row) {
  const { request, diffs = [] } = row.approval
  const ends = [...(wholeOf(row) ? [request] : []), ...diffs.map((_, file) => endOf(request, file))]
  const unseen = ends.find((end) => !seen.peek()[end])
  if (!unseen) return true
  revealed.value = request
  announcement.value = 'This is the rest of it. Approve once more.'
  const show = () =>
    [...document.querySelectorAll(`[data-end="${CSS.escape(unseen)}"]`)].at(-1)?.scrollIntoView({ block: 'center' })
  requestAnimationFrame(() => requestAnimationFrame(show)) // once the rest is drawn
  return false
}

/** Where something ends that has to be in view before it is approved. */
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

export function Whole({ row }) {
  const text = wholeOf(row)
  const request = row.approval?.request
  const [open, setOpen] = useState(false)
  if (!text) return null
  const lines = text.split('\n').length
  const all = open || revealed.value === request
  return html`<div class="whole">
    <pre class=${classes('detail', all && 'all')} tabindex="0" role="group" aria-label="All of it">
      ${shown(text)}${request && html`<${End} key=${text} of=${request} />`}
    </pre>
    ${
      lines > MOST &&
      html`<button class="link tiny" aria-expanded=${all} onClick=${() => ((revealed.value = ''), setOpen(!all))}>
        ${all ? 'Fewer lines' : `Show all ${count(lines, 'line')}`}
      </button>`
    }
  </div>`
}
