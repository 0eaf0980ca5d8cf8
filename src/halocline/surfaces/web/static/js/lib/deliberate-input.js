// Guards decisions against input meant for something else: a key counts only after a quiet moment since the decision
// appeared and since the key before it, a button only once you could have seen it.
import { useEffect, useState } from './ui.js'

export const SILENCE = 700
/** Milliseconds of silence after a key that could start a word. */
export const ALONE = 300

let last = -Infinity
let quiet = Infinity
let byKey = false

/** Listen before all others. Keys that only move the focus do not count as typing. */
export function watchTyping() {
  const isTyping = ({ key }) => key.length === 1 || key === 'Enter' || key === 'Backspace' || key === 'Delete'
  addEventListener(
    'keydown',
    (event) => {
      byKey = true
      if (!isTyping(event)) return
      const now = performance.now()
      quiet = event.repeat ? 0 : now - last
      last = now
    },
    true,
  )
  addEventListener('pointerdown', () => (byKey = false), true)
}

/** True if the current input stands alone: a pointer press, or a key after silence. */
export const isDeliberate = () => !byKey || quiet >= SILENCE

/** Run `action` unless more is typed right away. */
export function runAlone(action) {
  const at = last
  setTimeout(() => at === last && action(), ALONE)
}

/** True once `what` was in view for a quiet moment, so that it can be decided. */
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
