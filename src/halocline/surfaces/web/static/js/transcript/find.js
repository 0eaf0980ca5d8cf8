// Find in a task, including text scrolled out of view. Highlights matches without changing the transcript.
import { html, useEffect, useRef, useState } from '../lib/ui.js'
import { allOpen, finding } from '../state/store.js'
import { Icon } from '../lib/icons.js'

const MOST = 2000
const AFTER = 120

/** Matches as ranges, which may span elements. */
function places(box, words) {
  const low = words.toLowerCase()
  /** @type {[number, Text][]} */
  const nodes = []
  let text = ''
  const walker = document.createTreeWalker(box, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const node = /** @type {Text} */ (walker.currentNode)
    nodes.push([text.length, node])
    text += node.data
  }
  const hay = text.toLowerCase()
  const found = []
  let at = 0
  /** @returns {[Text, number]} */
  const point = (offset, isEnd) => {
    while (at + 1 < nodes.length && nodes[at + 1][0] < offset + (isEnd ? 0 : 1)) at++
    return [nodes[at][1], Math.min(offset - nodes[at][0], nodes[at][1].length)]
  }
  for (let from = hay.indexOf(low); from >= 0 && found.length < MOST; from = hay.indexOf(low, from + low.length)) {
    const range = new Range()
    range.setStart(...point(from, false))
    range.setEnd(...point(from + low.length, true))
    found.push(range)
  }
  return found
}

function mark(name, ranges) {
  if (!CSS.highlights) return
  if (ranges.length) CSS.highlights.set(name, new Highlight(...ranges))
  else CSS.highlights.delete(name)
}

export default function Find({ task }) {
  task.version.value
  const [words, setWords] = useState('')
  const [found, setFound] = useState([])
  const [at, setAt] = useState(0)
  const field = useRef()
  const before = useRef(document.activeElement)
  useEffect(() => {
    field.current.focus()
    const release = task.holdAll()
    return () => {
      release()
      mark('found', [])
      mark('found-here', [])
      before.current?.focus?.()
    }
  }, [])
  useEffect(() => {
    if (!words) return void setFound([])
    const timer = setTimeout(() => {
      const box = document.querySelector('.log-inside')
      setFound(box ? places(box, words) : [])
    }, AFTER)
    return () => clearTimeout(timer)
  }, [words, task.version.value, allOpen.value])
  const here = found.length ? Math.min(at, found.length - 1) : 0
  useEffect(() => {
    mark('found', found)
    mark('found-here', found.length ? [found[here]] : [])
    const place = found[here]?.startContainer.parentElement
    place?.scrollIntoView({ block: 'center' })
  }, [found, here])
  const go = (by) => found.length && setAt((here + by + found.length) % found.length)
  const handleKey = (e) => {
    if (e.key === 'Escape') (e.preventDefault(), e.stopPropagation(), (finding.value = false))
    else if (e.key === 'Enter') (e.preventDefault(), go(e.shiftKey ? -1 : 1))
  }
  return html`<div class="find" role="search" aria-label="Find in this task" onKeyDown=${handleKey}>
    <input
      class="field"
      type="search"
      ref=${field}
      aria-label="Find in this task"
      placeholder="Find in this task"
      value=${words}
      onInput=${(e) => (setWords(e.target.value), setAt(0))}
    />
    <span class="tiny soft find-count" role="status">
      ${!words ? '' : found.length ? `${here + 1} of ${found.length}${found.length === MOST ? '+' : ''}` : 'No results'}
    </span>
    ${
      words &&
      !allOpen.value &&
      html`<button class="button small" onClick=${() => (allOpen.value = true)}>Include details</button>`
    }
    <button class="icon-button" aria-label="Previous match" title="Shift+Enter" onClick=${() => go(-1)}>
      <span class="turned"><${Icon} name="down" size="16" /></span>
    </button>
    <button class="icon-button" aria-label="Next match" title="Enter" onClick=${() => go(1)}>
      <${Icon} name="down" size="16" />
    </button>
    <button class="icon-button" aria-label="Close" onClick=${() => (finding.value = false)}>
      <${Icon} name="close" size="16" />
    </button>
  </div>`
}
