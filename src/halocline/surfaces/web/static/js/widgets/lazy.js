// A view whose module (its `default`) is loaded when first shown.
import { effect, html, useEffect, useState } from '../lib/ui.js'
import { standing } from '../lib/connection.js'
import { watchFailed } from '../lib/parts.js'
import { Boundary } from './boundary.js'

const loaded = new Map()

export function Lazy({ load, close, ...props }) {
  const [attempt, setAttempt] = useState(0)
  const [failed, setFailed] = useState(-1)
  const view = loaded.get(load)
  const tryAgain = () => setAttempt((number) => number + 1)
  useEffect(() => {
    if (view) return undefined
    let here = true
    load().then(
      (module) => {
        loaded.set(load, module.default)
        setTimeout(() => here && tryAgain()) // drawn in a task of its own, not in the one that ran the module
      },
      () => here && setFailed(attempt),
    )
    return () => (here = false)
  }, [load, attempt])
  if (view) return html`<${Boundary} what="view" of=${props.row} close=${close}><${view} ...${props} /><//>`
  return failed < 0 ? null : html`<${Failed} tryAgain=${tryAgain} busy=${failed < attempt} close=${close} />`
}

function Failed({ tryAgain, busy, close }) {
  useEffect(() => watchFailed(tryAgain), [])
  useEffect(() => {
    let wasOpen = standing.peek() === 'open'
    return effect(() => {
      const isOpen = standing.value === 'open'
      if (isOpen && !wasOpen) tryAgain()
      wasOpen = isOpen
    })
  }, [])
  return html`<div class="undrawn" role="alert">
    <span class="grow">This part of the page did not load.</span>
    <button type="button" class="button small" disabled=${busy} onClick=${tryAgain}>Try again</button>
    ${close && html`<button type="button" class="button small" onClick=${close}>Close</button>`}
  </div>`
}
