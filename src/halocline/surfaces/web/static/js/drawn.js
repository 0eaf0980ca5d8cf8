// Renders formulas as MathML in the page, and diagrams in a sandboxed frame that can do nothing but draw. The libraries
// are loaded on first use. The source is always available, and shown if drawing fails.
import { html, style, useEffect, useRef, useState } from './ui.js'
import { shown } from './format.js'
import { theme } from './prefs.js'
import { Code, CopyButton } from './code.js'
import { Icon } from './icons.js'

let temml = null
const loadTemml = () =>
  (temml ??= Promise.all([
    import('../vendor/temml/temml.js'),
    style('static/vendor/temml/temml.css'),
    drawnStyle(),
  ]).then(([module]) => module.default))
const drawnStyle = () => style('static/css/drawn.css')

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
const HIGHEST = 3000
/** Time limit of a diagram in milliseconds; the first also loads the library. */
const PATIENCE = 20_000

/** True if an element is near the viewport; other frames are removed. */
function useNear(place) {
  const [near, setNear] = useState(false)
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => setNear(entry.isIntersecting), { rootMargin: '800px' })
    observer.observe(place.current)
    return () => observer.disconnect()
  }, [])
  return near
}

function useDark() {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const [dark, setDark] = useState(system.matches)
  useEffect(() => {
    const changed = () => setDark(system.matches)
    system.addEventListener('change', changed)
    return () => system.removeEventListener('change', changed)
  }, [])
  return theme.value === 'system' ? dark : theme.value === 'dark'
}

/** The frame receives the text once ready, and reports its size or an error; nothing else is accepted from it. */
function Frame({ text, dark, height, onDrawn, onFailed }) {
  const frame = useRef()
  useEffect(() => {
    const late = setTimeout(() => onFailed('it takes too long'), PATIENCE)
    function heard(event) {
      if (event.source !== frame.current?.contentWindow) return
      if (event.data?.ready) return frame.current.contentWindow.postMessage({ text, dark }, '*')
      clearTimeout(late)
      if (typeof event.data?.error === 'string') onFailed(firstLine(event.data.error))
      else if (event.data?.height > 0) onDrawn(Math.min(HIGHEST, Math.ceil(event.data.height)))
    }
    addEventListener('message', heard)
    return () => (clearTimeout(late), removeEventListener('message', heard))
  }, [text, dark])
  return html`<iframe
    ref=${frame}
    class="diagram-frame"
    key=${dark}
    title="Diagram; use the button above for its source"
    src="/diagram"
    sandbox="allow-scripts"
    height=${height || 1}
    tabindex="-1"
  ></iframe>`
}

export function Diagram({ text, language }) {
  const place = useRef()
  const near = useNear(place)
  const dark = useDark()
  const [source, setSource] = useState(false)
  const [height, setHeight] = useState(0)
  const [why, setWhy] = useState(
    text.length > LONGEST ? 'it is too long' : window.early.isEditor ? 'diagrams are drawn only in a browser' : '',
  )
  useEffect(() => void drawnStyle(), [])
  const plain = source || why || !height
  return html`<div class="diagram" ref=${place}>
    ${plain && html`<${Code} text=${text} language=${language} />`}
    ${why && html`<p class="soft tiny">${shown(`Cannot render diagram: ${why}`)}</p>`}
    ${
      !why &&
      html`<figure class="code" hidden=${plain && height > 0}>
        ${height > 0 && html`<figcaption><span class="soft tiny">diagram</span></figcaption>`}
        <div class="diagram-place" style=${{ height: `${height}px` }}>
          ${
            near &&
            html`<${Frame} text=${text} dark=${dark} height=${height} onDrawn=${setHeight} onFailed=${setWhy} />`
          }
        </div>
      </figure>`
    }
    ${height > 0 && !why && html`<${Tools} text=${text} what="diagram" source=${source} onSource=${setSource} />`}
  </div>`
}
