// A view whose module (its `default`) is loaded when first shown.
import { effect, html, useEffect, useState } from '../lib/ui.js'
import { standing } from '../lib/connection.js'
import { watchFailed } from '../lib/parts.js'

const loaded = new Map()

export function Lazy({ load, ...props }) {
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
  if (view) return html`<${view} ...${props} />`
  return failed < 0 ? null : html`<${Failed} tryAgain=${tryAgain} busy=${failed < attempt} />`
}

function Failed({ tryAgain, busy }) {
  useEffect(() => watchFailed(tryAgain), [])
  useEffect(() => {
    let wasOpen = standing.peek() === 'open'
    return effect(() => {
      const isOpen = standing.value === 'open'
      if (isOpen && !wasOpen) tryAgain()
      wasOpen = isOpen
    })
  }, [])
  return html`<p class="pad bad" role="alert">
    This part of the page did not load.${' '}
    <button type="button" class="button small" disabled=${busy} onClick=${tryAgain}>Try again</button>
  </p>`
}
