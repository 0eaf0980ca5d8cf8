// What is drawn of a reply: formulas, as MathML in the page; diagrams, in a frame that may do nothing but draw. What
// draws is fetched when it is first needed. The source is always there: shown on request, and when it cannot be drawn.
import { html, style, useEffect, useRef, useState } from './ui.js'
import { shown } from './format.js'
import { theme } from './prefs.js'
import { Code, CopyButton } from './code.js'
import { Icon } from './icons.js'

let temml = null
const loadTemml = () =>
  (temml ??= Promise.all([
    import('../vendor/temml/temml.js'),
    style('/static/vendor/temml/temml.css'),
    drawnStyle(),
  ]).then(([module]) => module.default))
const drawnStyle = () => style('/static/css/drawn.css')

// Nothing is trusted: no links, pictures or classes, nothing larger than a page, no macros without end.
const OPTIONS = { trust: false, throwOnError: true, maxSize: [20, 200], maxExpand: 300, annotate: true }
/** Characters of TeX in a line that get a line of their own, which can be moved sideways. */
const WIDE = 80

const firstLine = (text) => text.split('\n', 1)[0].replace(/:$/, '').slice(0, 200)
/** Why TeX could not be drawn, in a line. */
const reason = (error) =>
  error instanceof RangeError
    ? 'It is nested too deeply.'
    : firstLine(`${error.message ?? error}`.replace(/ at (?:end of input|position \d+):[^]*/, ''))

/** A formula's elements in a place; gives why there are none. */
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
      () => here && setState({ drawn: false, why: 'What draws formulas could not be loaded.' }),
    )
    return () => (here = false)
  }, [text, display, open])
  return state
}

/** A formula in a line is its source when it is clicked; one with a line of its own has buttons. */
export function Formula({ text, display, open }) {
  const place = useRef()
  const { drawn, why } = useFormula(place, text, display, open)
  const [source, setSource] = useState(false)
  const plain = !drawn || source
  const written = html`<code class="formula-source" hidden=${!plain}>${shown(text)}</code>`
  const picture = html`<span class="formula-drawn" ref=${place} hidden=${plain} tabindex=${display ? 0 : null}></span>`
  const failed = why && html`<span class="soft tiny">${shown(` This formula could not be drawn: ${why}`)}</span>`
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
    aria-label=${`Show the source of the ${what}`}
    title=${source ? 'Show it drawn' : 'Show the source'}
    aria-pressed=${source}
    onClick=${() => onSource(!source)}
  >
    <${Icon} name="source" size="15" />
  </button>
  <${CopyButton} text=${text} label=${`Copy the source of the ${what}`} />
</span>`

const LONGEST = 30_000
const HIGHEST = 3000
/** Milliseconds that a diagram may take; the first one also fetches what draws it. */
const PATIENCE = 20_000

/** Whether an element is near what is looked at: frames of others are not kept. */
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

/** The frame gets the text once it is there, and tells its size or what is wrong; nothing else is taken from it. */
function Frame({ text, dark, height, onDrawn, onFailed }) {
  const frame = useRef()
  useEffect(() => {
    const late = setTimeout(() => onFailed('It takes too long.'), PATIENCE)
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
    title="Diagram; its source is behind the button above"
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
  const [why, setWhy] = useState(text.length > LONGEST ? 'It is too long.' : '')
  useEffect(() => void drawnStyle(), [])
  const plain = source || why || !height
  return html`<div class="diagram" ref=${place}>
    ${plain && html`<${Code} text=${text} language=${language} />`}
    ${why && html`<p class="soft tiny">${shown(`This diagram could not be drawn: ${why}`)}</p>`}
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
