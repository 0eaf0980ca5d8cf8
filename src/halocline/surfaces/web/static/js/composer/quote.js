// Puts text into the composer: a selection as a quote, or a command to run again.
import { html, useEffect, useRef, useState } from '../lib/ui.js'

/** Append text to the composer and focus it. */
export function compose(text) {
  const field = document.querySelector('.composer textarea')
  if (!field) return
  const before = field.value.trimEnd()
  field.value = before ? `${before}\n\n${text}` : text
  field.dispatchEvent(new Event('input', { bubbles: true }))
  field.focus()
  field.setSelectionRange(field.value.length, field.value.length)
}

export const formatQuote = (text) =>
  `${text
    .trim()
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n')}\n\n`

/** A button at the selection in the transcript. */
export function QuoteButton({ log }) {
  const [place, setPlace] = useState(null)
  const shownAt = useRef(null)
  shownAt.current = place
  useEffect(() => {
    function readSelection() {
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
    // Reading the selection forces layout: not at each scroll of a following log.
    const readLater = () => shownAt.current && setTimeout(readSelection, 0)
    document.addEventListener('selectionchange', readSelection)
    log.current?.addEventListener('scroll', readLater, { passive: true })
    return () => {
      document.removeEventListener('selectionchange', readSelection)
      log.current?.removeEventListener('scroll', readLater)
    }
  }, [])
  if (!place) return null
  const quote = () => {
    compose(formatQuote(place.text))
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
