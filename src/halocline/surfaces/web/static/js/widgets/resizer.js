// The bar between two panes: drag it, or move it with the arrow keys; a double click or Enter gives the usual width back.
import { html, useRef } from '../lib/ui.js'

const STEP = 16

/**
 * `width` is a stored signal in pixels, 0 for the usual one; `side` is where its pane is.
 * @param {{
 *   label: string, side: 'left' | 'right', width: import('../../vendor/signals.js').Signal<number>,
 *   least: number, most: () => number
 * }} pane
 */
export function Resizer({ label, side, width, least, most }) {
  const bar = useRef()
  const dragged = useRef(false)
  const set = (pixels) => (width.value = Math.round(Math.max(least, Math.min(most(), pixels))))
  const edge = () => {
    const { left, width: thickness } = bar.current.getBoundingClientRect()
    return left + thickness / 2
  }
  const now = () => (side === 'left' ? edge() : innerWidth - edge())
  const keys = {
    ArrowLeft: () => set(now() + (side === 'left' ? -STEP : STEP)),
    ArrowRight: () => set(now() + (side === 'left' ? STEP : -STEP)),
    Home: () => set(least),
    End: () => set(most()),
    Enter: () => (width.value = 0),
  }
  function handleKey(event) {
    if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    event.stopPropagation()
    keys[event.key]()
  }
  function begin(event) {
    event.currentTarget.setPointerCapture(event.pointerId)
    dragged.current = true
  }
  return html`<div
    ref=${bar}
    class=${`resizer ${side}`}
    role="separator"
    aria-orientation="vertical"
    aria-label=${label}
    aria-valuemin=${least}
    aria-valuemax=${most()}
    aria-valuenow=${width.value || least}
    aria-valuetext=${width.value ? `${width.value} pixels` : 'usual width'}
    tabindex="0"
    onKeyDown=${handleKey}
    onPointerDown=${begin}
    onPointerMove=${({ clientX }) => dragged.current && set(side === 'left' ? clientX : innerWidth - clientX)}
    onPointerUp=${() => (dragged.current = false)}
    onPointerCancel=${() => (dragged.current = false)}
    onDblClick=${() => (width.value = 0)}
  ></div>`
}
