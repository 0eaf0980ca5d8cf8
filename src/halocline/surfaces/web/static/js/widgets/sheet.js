// Dialogs on top of the page: native ones, which trap focus; the opener restores it. The first focus is the element
// with `data-first`, else the title, so that a screen reader announces it.
import { html, classes, useEffect, useRef, style } from '../lib/ui.js'
import { closeBeside, closeSheet, isRoomy, showDialog } from '../state/store.js'
import { closeOnBack } from '../state/back.js'
import { Icon } from '../lib/icons.js'

/** A bare dialog, closed by Esc or a press outside. */
export function Modal({ title, className = '', children, onClose = closeSheet }) {
  const box = useRef()
  useEffect(() => {
    style('static/js/widgets/sheets.css')
    const gone = showDialog(box.current)
    const closed = closeOnBack(onClose)
    const first = box.current.querySelector('[data-first]') ?? box.current.querySelector('h2')
    first?.focus()
    return () => (gone(), closed())
  }, [])
  return html`<dialog
    class=${classes('sheet', className)}
    ref=${box}
    aria-label=${title}
    onCancel=${(e) => (e.preventDefault(), onClose())}
    onMouseDown=${(e) => e.target === box.current && onClose()}
  >
    ${children}
  </dialog>`
}

/** A column beside the chat, for what is looked at while the agent works. */
function Column({ title, className, children }) {
  const box = useRef()
  useEffect(() => {
    style('static/js/widgets/sheets.css')
    box.current.querySelector('h2').focus()
  }, [])
  return html`<aside class=${classes('beside', className)} ref=${box} aria-label=${title}>${children}</aside>`
}

/** A dialog with head, body and a foot for actions; `back` returns to the view before. `docks` makes it a column while
 *  there is room. */
export function Sheet({
  title,
  wide = false,
  docks = false,
  children,
  foot = null,
  back = null,
  className = '',
  onClose = docks ? closeBeside : closeSheet,
}) {
  const Box = docks && isRoomy.value ? Column : Modal
  return html`<${Box} title=${title} className=${classes(wide && 'wide', className)} onClose=${onClose}>
    <div class="sheet-head">
      ${
        back &&
        html`<button class="icon-button" aria-label="Back" title="Back" onClick=${back}>
          <${Icon} name="back" size="16" />
        </button>`
      }
      <h2 tabindex="-1" class="cut">${title}</h2>
      <button class="icon-button" aria-label="Close" onClick=${onClose}><${Icon} name="close" /></button>
    </div>
    <div class="sheet-body">${children}</div>
    ${foot && html`<div class="sheet-foot">${foot}</div>`}
  </${Box}>`
}
