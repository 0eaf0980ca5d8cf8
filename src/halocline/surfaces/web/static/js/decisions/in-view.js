// Which requests can be decided on their card because its end, with the buttons, is in view.
import { html, signal, useEffect, useRef, useState } from '../lib/ui.js'

/** By the key of a request. */
const inView = signal({})

/** Milliseconds after which a card that is not in view counts as out of view: a new one takes a moment to be drawn. */
const SETTLED = 300

export const isInView = (task, request) => Boolean(inView.value[task.keyOf(request)])

/** True once a request's card has been out of view for a moment. */
export function useOutOfView(task, request) {
  const [out, setOut] = useState(null)
  const key = task.keyOf(request)
  const isHere = isInView(task, request)
  useEffect(() => {
    const timer = setTimeout(() => setOut(isHere ? null : key), isHere ? 0 : SETTLED)
    return () => clearTimeout(timer)
  }, [key, isHere])
  return !isHere && out === key
}

/** Marks the end of a card that decides a request. */
export function InView({ task, request }) {
  const of = task.keyOf(request)
  const here = useRef()
  useEffect(() => {
    const set = (is) => Boolean(inView.peek()[of]) !== is && (inView.value = { ...inView.peek(), [of]: is })
    const watch = new IntersectionObserver((all) => set(all.at(-1).isIntersecting))
    watch.observe(here.current)
    return () => (watch.disconnect(), set(false))
  }, [of])
  return html`<i class="end" ref=${here}></i>`
}
