// What would be done, whole and line by line, and that its end was seen: nothing is approved before that.
import { html, classes, signal, useEffect, useRef, useState } from '../ui.js'
import { count, shown } from '../format.js'

const MOST = 12
const LONGEST_TITLE = 60

/** Requests whose last line was in view. */
const seen = signal({})
/** The request whose rest is shown, as somebody wanted to approve it before. */
const revealed = signal('')

/** What an approval shows of a call beside its title; nothing when the title says it all. */
export function wholeOf({ title, approval, arguments: given, kind }) {
  const text = approval?.detail || (kind === 'execute' && given?.command) || title
  return text === title && text.length <= LONGEST_TITLE && !text.includes('\n') ? '' : text
}

/** Whether all of it was in view; if not, show the rest. */
export function isSeen(row) {
  const { request } = row.approval
  if (!wholeOf(row) || seen.peek()[request]) return true
  revealed.value = request
  requestAnimationFrame(() =>
    [...document.querySelectorAll(`[data-end="${CSS.escape(request)}"]`)].at(-1)?.scrollIntoView({ block: 'nearest' }),
  )
  return false
}

export function Whole({ row }) {
  const text = wholeOf(row)
  const request = row.approval?.request
  const [open, setOpen] = useState(false)
  const end = useRef()
  useEffect(() => {
    if (!end.current || !request) return undefined
    const watch = new IntersectionObserver(
      (all) => all.some((one) => one.isIntersecting) && (seen.value = { ...seen.peek(), [request]: true }),
    )
    watch.observe(end.current)
    return () => watch.disconnect()
  }, [request, text])
  if (!text) return null
  const lines = text.split('\n').length
  const all = open || revealed.value === request
  return html`<div class="whole">
    <pre class=${classes('detail', all && 'all')} tabindex="0" role="group" aria-label="All of it">
      ${shown(text)}<i data-end=${request} ref=${end}></i>
    </pre>
    ${
      lines > MOST &&
      html`<button class="link tiny" aria-expanded=${all} onClick=${() => ((revealed.value = ''), setOpen(!all))}>
        ${all ? 'Fewer lines' : `Show all ${count(lines, 'line')}`}
      </button>`
    }
  </div>`
}
