// Once something is decided, its buttons are gone: the focus moves to the message field.
import { useLayoutEffect } from '../lib/ui.js'

/** Focus the message field when what had the focus in `box` is gone. A browser says nothing of a button that it disables. */
export function useFocusAfter(box, isOpen = true) {
  useLayoutEffect(() => {
    if (!isOpen) return undefined
    const here = box.current
    let had = here.contains(document.activeElement)
    const noteTaken = () => (had = true)
    const noteLost = ({ relatedTarget: next }) => next && !here.contains(next) && (had = false)
    here.addEventListener('focusin', noteTaken)
    here.addEventListener('focusout', noteLost)
    return () => {
      here.removeEventListener('focusin', noteTaken)
      here.removeEventListener('focusout', noteLost)
      if (had)
        requestAnimationFrame(() => {
          const now = document.activeElement
          if (now === document.body || now.disabled) document.querySelector('.composer textarea')?.focus()
        })
    }
  }, [isOpen])
}
