// Words of the transcript, put into the composer: a selection as a quotation, a command to be run again.
import { html, useEffect, useRef, useState } from '../ui.js'

/** Put words where the person writes, after what is there, and go there. */
export function compose(text) {
  const field = document.querySelector('.composer textarea')
  if (!field) return
  const before = field.value.trimEnd()
  field.value = before ? `${before}\n\n${text}` : text
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.focus()
  field.setSelectionRange(field.value.length, field.value.length)
}

export const quotation = (text) =>
  `${text
    .trim()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')}\n\n`

/** A button at words that are selected in the transcript. */
export function QuoteButton({ log }) {
  const [place, setPlace] = useState(null)
  const shownAt = useRef(null)
  shownAt.current = place
  useEffect(() => {
    function selected() {
      const selection = getSelection()
      const text = selection?.isCollapsed ? '' : selection.toString()
      const inside =
        text.trim() && log.current?.contains(selection.anchorNode) && log.current.contains(selection.focusNode)
      if (!inside || selection.anchorNode.parentElement?.closest('textarea, input')) return setPlace(null)
      const box = log.current.parentElement.getBoundingClientRect()
      const { right, bottom } = selection.getRangeAt(0).getBoundingClientRect()
      setPlace({
        text,
        left: Math.max(8, Math.min(right - box.left - 40, box.width - 100)),
        top: Math.max(4, Math.min(bottom - box.top + 6, box.height - 44)),
      })
    }
    // Asking for the selection settles the layout: not at each step of a log that follows its end.
    const settled = () => shownAt.current && setTimeout(selected, 0)
    document.addEventListener('selectionchange', selected)
    log.current?.addEventListener('scroll', settled, { passive: true })
    return () => {
      document.removeEventListener('selectionchange', selected)
      log.current?.removeEventListener('scroll', settled)
    }
  }, [])
  if (!place) return null
  const quote = () => {
    compose(quotation(place.text))
    getSelection().removeAllRanges()
    setPlace(null)
  }
  return html`<button
    class="button small quote-button"
    style=${{ left: `${place.left}px`, top: `${place.top}px` }}
    onMouseDown=${(e) => e.preventDefault()}
    onClick=${quote}
  >
    ❝ Quote
  </button>`
}
