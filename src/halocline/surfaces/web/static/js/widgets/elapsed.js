// Times: a running timer, and when something was.
import { html, useEffect, useState } from '../lib/ui.js'
import { formatTime, seconds, when } from '../lib/format.js'

/** Elapsed time, updated every second. */
export function Elapsed({ since }) {
  const [, tick] = useState(0)
  useEffect(() => {
    const timer = setInterval(() => tick((n) => n + 1), 1000)
    return () => clearInterval(timer)
  }, [])
  const lasted = Math.max(0, Date.now() / 1000 - since)
  return html`<span class="tiny soft call-time">${lasted >= 1 ? seconds(Math.round(lasted)) : ''}</span>`
}

/** When something was said: the time today, else the day; all of it on hover. */
export const Time = ({ at }) =>
  at &&
  html`<time class="soft tiny" dateTime=${new Date(at * 1000).toISOString()} title=${formatTime(at)}>
    ${when(at)}
  </time>`
