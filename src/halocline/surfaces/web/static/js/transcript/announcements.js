// Screen reader announcements of the current task: requests, decisions, mode changes and ends of turns. Only changes,
// once each, and nothing of the past.
import { useEffect, useRef } from '../lib/ui.js'
import { count } from '../lib/format.js'
import { announcement } from '../state/store.js'
import { nameDecision } from '../state/other-clients.js'
import { APPROVAL_NAMES } from '../composer/composer-bar.js'
import { REASONS } from './turn-end.js'

/** Milliseconds within which changes are announced together, as each announcement replaces the last. */
const TOGETHER = 150

const describeRequest = ({ kind, question, title }) =>
  kind === 'question' ? `Question: ${question}` : `Approval needed: ${title}`

function describeEnd(f) {
  const files = f.turns.at(-1)?.files ?? 0
  const why = f.last.reason === 'error' ? f.error?.text || f.last.text : ''
  const failed = f.last.failed.length > 0 && `${f.last.failed.join(' and ')} failed`
  return [REASONS[f.last.reason] ?? f.last.reason, failed, why, files && `${count(files, 'file')} changed`]
    .filter(Boolean)
    .join('. ')
}

/** The announcements for a change of state. Pure. */
function describeChanges(before, now, f) {
  const last = now.decided > before.decided ? f.decided.at(-1) : null
  const fresh = last && last.by !== 'interrupt' ? [nameDecision(last)] : [] // the end of the turn says that
  if (now.approvals !== before.approvals) fresh.push(`Approvals: ${APPROVAL_NAMES[now.approvals] ?? now.approvals}`)
  if (now.mode !== before.mode) fresh.push(`Mode: ${now.mode}`)
  if (now.key === before.key) return fresh
  if (f.waiting.length) return [...fresh, describeRequest(f.waiting[0])]
  if (f.cutOff) return [...fresh, 'Interrupted: its process ended']
  return f.running || now.ended <= before.ended ? fresh : [...fresh, describeEnd(f)]
}

const standing = ({ waiting, running, last, decided, approvals, mode }) => ({
  approvals,
  mode,
  key: waiting[0]?.request ?? (running ? 'runs' : `ended ${last?.seq}`),
  ended: last?.seq ?? 0,
  decided: decided.length,
})

export function Announcements({ task }) {
  task.version.value
  const told = useRef(null)
  const late = useRef({ parts: [], timer: 0 })
  const drawn = task.ready.value ? standing(task.facts) : null
  useEffect(() => {
    if (!drawn) return
    const now = standing(task.facts) // they may have changed since they were drawn
    const before = told.current ?? { ...now, key: task.facts.waiting.length ? '' : now.key }
    told.current = now
    const one = late.current
    one.parts.push(...describeChanges(before, now, task.facts))
    if (one.parts.length)
      one.timer ||= setTimeout(() => {
        announcement.value = one.parts.join('. ')
        late.current = { parts: [], timer: 0 }
      }, TOGETHER)
  }, [drawn?.key, drawn?.decided, drawn?.approvals, drawn?.mode])
  useEffect(() => () => clearTimeout(late.current.timer), [])
  return null
}
