// Shows formulas as MathML, and diagrams as images. The libraries that draw them are loaded on first use. The source is
// always available, and shown if drawing fails.
import { html, style, useEffect, useRef, useState } from './ui.js'
import { shown } from './format.js'
import { Code, CopyButton } from './code.js'
import { draw } from './draw-diagram.js'
import { Icon } from './icons.js'
import { definePart } from './parts.js'

const loadModule = definePart(() => import('../../vendor/temml/temml.js'))
const loadTemml = async () =>
  (await Promise.all([loadModule(), style('static/vendor/temml/temml.css'), drawnStyle()]))[0].default
const drawnStyle = () => style('static/js/lib/drawn-blocks.css')

// Untrusted input: no links, images or classes, bounded sizes and macro expansion.
const OPTIONS = { trust: false, throwOnError: true, maxSize: [20, 200], maxExpand: 300, annotate: true }
/** Longer inline TeX, in characters, gets its own scrollable line. */
const WIDE = 80

const firstLine = (text) => text.split('\n', 1)[0].replace(/:$/, '').slice(0, 200)
/** Why TeX could not be drawn, as one line. */
const reason = (error) =>
  error instanceof RangeError
    ? 'nested too deeply'
    : firstLine(`${error.message ?? error}`.replace(/ at (?:end of input|position \d+):[^]*/, ''))

/** Render a formula into `place`; returns why not if it fails. */
function useFormula(place, text, display, open) {
  const [state, setState] = useState({ drawn: false, why: '' })
  useEffect(() => {
    if (open) return undefined
    let here = true
    loadTemml().then(
      (tex) => {
        if (!here) return
        try {
          tex.render(text, place.current, { ...OPTIONS, displayMode: display })
          setState({ drawn: true, why: '' })
        } catch (error) {
          place.current.textContent = ''
          setState({ drawn: false, why: reason(error) })
        }
      },
      () => here && setState({ drawn: false, why: 'the formula library did not load' }),
    )
    return () => (here = false)
  }, [text, display, open])
  return state
}

/** Clicking an inline formula toggles its source; a display formula has buttons. */
export function Formula({ text, display, open }) {
  const place = useRef()
  const { drawn, why } = useFormula(place, text, display, open)
  const [source, setSource] = useState(false)
  const plain = !drawn || source
  const written = html`<code class="formula-source" hidden=${!plain}>${shown(text)}</code>`
  const picture = html`<span class="formula-drawn" ref=${place} hidden=${plain} tabindex=${display ? 0 : null}></span>`
  const failed = why && html`<span class="soft tiny">${shown(` Cannot render formula: ${why}`)}</span>`
  if (!display)
    return html`<span
      class=${text.length > WIDE ? 'formula wide' : 'formula'}
      title=${drawn ? text : null}
      onClick=${() => drawn && getSelection().isCollapsed && setSource(!source)}
    >
      ${written}${picture}${failed}
    </span>`
  return html`<span class="formula display" role="group" aria-label="Formula">
    ${written}${picture}${failed}
    ${drawn && html`<${Tools} text=${text} what="formula" source=${source} onSource=${setSource} />`}
  </span>`
}

const Tools = ({ text, what, source, onSource }) => html`<span class="drawn-tools">
  <button
    class="icon-button copy"
    aria-label=${`Show ${what} source`}
    title=${source ? 'Show rendered' : 'Show source'}
    aria-pressed=${source}
    onClick=${() => onSource(!source)}
  >
    <${Icon} name="source" size="15" />
  </button>
  <${CopyButton} text=${text} label=${`Copy ${what} source`} />
</span>`

const LONGEST = 30_000

/** True once an element has been near the viewport. */
function useNear(place) {
  const [near, setNear] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setNear((was) => was || entry.isIntersecting), {
      rootMargin: '800px',
    })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return near
}

const system = matchMedia('(prefers-color-scheme: dark)')
const isDark = () => (document.documentElement.dataset.theme ?? (system.matches ? 'dark' : 'light')) === 'dark'

function useDark() {
  const [dark, setDark] = useState(isDark)
  useEffect(() => {
    const updateDark = () => setDark(isDark())
    const observer = new MutationObserver(updateDark)
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] })
    system.addEventListener('change', updateDark)
    return () => (observer.disconnect(), system.removeEventListener('change', updateDark))
  }, [])
  return dark
}

export function Diagram({ text, language }) {
  const place = useRef()
  const near = useNear(place)
  const dark = useDark()
  const [source, setSource] = useState(false)
  const [{ picture, why }, setDrawn] = useState({ why: text.length > LONGEST ? 'it is too long' : '' })
  useEffect(() => void drawnStyle(), [])
  useEffect(() => {
    if (!near || text.length > LONGEST) return undefined
    let wanted = true
    draw(text, dark).then(
      (drawn) => wanted && setDrawn({ picture: drawn }),
      (error) => wanted && setDrawn({ why: firstLine(error.message) }),
    )
    return () => (wanted = false)
  }, [text, dark, near])
  return html`<div class="diagram" ref=${place}>
    ${(source || !picture) && html`<${Code} text=${text} language=${language} />`}
    ${why && html`<p class="soft tiny">${shown(`Cannot render diagram: ${why}`)}</p>`}
    ${
      picture &&
      html`<figure class="code" hidden=${source}>
        <figcaption><span class="soft tiny">diagram</span></figcaption>
        <div class="diagram-place" tabindex="0" role="group" aria-label="Diagram">
          <img
            class="diagram-picture"
            src=${picture.src}
            width=${picture.width}
            height=${picture.height}
            style=${{ minWidth: `${0.6 * picture.width}px` }}
            alt=${shown(picture.about || 'Diagram; its source is available')}
          />
        </div>
      </figure>`
    }
    ${picture && html`<${Tools} text=${text} what="diagram" source=${source} onSource=${setSource} />`}
  </div>`
}
