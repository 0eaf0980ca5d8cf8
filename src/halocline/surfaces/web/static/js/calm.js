// What was meant for something else decides nothing: a key counts only in silence since what it decides appeared and
// since the key before it, a button only once a person could have seen it.
import { useEffect, useState } from './ui.js'

export const SILENCE = 700
/** Milliseconds of silence behind a key that could be the beginning of a word. */
export const ALONE = 300

let last = -Infinity
let quiet = Infinity
let byKey = false

/** Listen before all others. Keys that only move the focus are no typing. */
export function watchTyping() {
  const typed = ({ key }) => key.length === 1 || key === 'Enter' || key === 'Backspace' || key === 'Delete'
  addEventListener(
    'keydown',
    (event) => {
      byKey = true
      if (!typed(event)) return
      const now = performance.now()
      quiet = event.repeat ? 0 : now - last
      last = now
    },
    true,
  )
  addEventListener('pointerdown', () => (byKey = false), true)
}

/** Whether what a person does now stands alone: a press of the pointer, or a key after silence. */
export const isMeant = () => !byKey || quiet >= SILENCE

/** Do this when nothing more is typed right away. */
export function whenAlone(deed) {
  const at = last
  setTimeout(() => at === last && deed(), ALONE)
}

/** Whether something has been there for so long, in silence, that it can be decided about. */
export function useArmed(what) {
  const [armed, setArmed] = useState(null)
  useEffect(() => {
    if (!what) return undefined
    let timer = 0
    const look = (left) => {
      timer = setTimeout(() => {
        const rest = last + SILENCE - performance.now()
        if (rest > 0) look(rest)
        else setArmed(what)
      }, left)
    }
    look(SILENCE)
    return () => clearTimeout(timer)
  }, [what])
  return Boolean(what) && armed === what
}
