// Highlights mentions and slash commands in messages and in the composer. Behind the field lies an invisible copy of
// its text with the highlights, which scrolls along.
import { html, style, useEffect, useLayoutEffect, useRef } from '../lib/ui.js'
import { shown } from '../lib/format.js'
import { splitPieces } from './find-marks.js'

export const Marked = ({ text }) =>
  splitPieces(text).map(({ text: piece, kind }, at) =>
    kind ? html`<span key=${at} class="marked">${shown(piece)}</span>` : shown(piece),
  )

const SAME = [
  'fontFamily',
  'fontSize',
  'fontWeight',
  'lineHeight',
  'letterSpacing',
  'tabSize',
  'textIndent',
  'direction',
  'paddingTop',
  'paddingLeft',
]

export function Behind({ field, typed, known }) {
  const box = useRef()
  const fit = () => {
    const own = field.current
    if (!own || !box.current) return
    const said = getComputedStyle(own)
    for (const name of SAME) box.current.style[name] = said[name]
    box.current.style.top = `${own.offsetTop}px`
    box.current.style.left = `${own.offsetLeft}px`
    box.current.style.width = `${own.clientWidth}px` // without its scroll bar
    box.current.style.height = `${own.clientHeight}px`
    box.current.style.paddingRight = said.paddingRight
    box.current.scrollTop = own.scrollTop
  }
  useEffect(() => {
    style('static/js/composer/marked-text.css').then(fit)
    const observer = new ResizeObserver(fit)
    observer.observe(field.current)
    observer.observe(field.current.parentElement)
    const own = field.current
    own.addEventListener('scroll', fit, { passive: true })
    return () => (observer.disconnect(), own.removeEventListener('scroll', fit))
  }, [])
  useLayoutEffect(fit)
  return html`<div class="behind" ref=${box} aria-hidden="true">
    ${splitPieces(typed, known).map(({ text, kind }, at) => (kind ? html`<mark key=${at}>${text}</mark>` : text))}
    ${'\u200b'}
  </div>`
}
