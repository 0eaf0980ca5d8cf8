// The edits of one reply, decided together: what those behind the waiting one will ask, and what was decided of each. The
// server answers for them, and only where an edit asks for exactly what was shown here.
import { signal, useEffect } from '../lib/ui.js'
import { act, query } from '../lib/connection.js'
import { complain, toast } from '../state/store.js'
import { count } from '../lib/format.js'
import { approveCall } from './approve.js'
import { isSeen } from './whole-call.js'

/** By the key of a request: {at, total, ahead: [{row, decision}]}. The request of a row ahead is the mark of what it shows. */
const known = signal({})
const NONE = { at: 0, total: 0, ahead: [] }

export const editsOf = (task, request) => known.value[task.keyOf(request)] ?? NONE

async function look(task, { approval: { request, reason } }) {
  const found = { ...NONE, ...(await query('edits_ahead', { task: task.id, request })) }
  for (const { row } of found.ahead) if (row.approval.reason === reason) row.approval.reason = '' // is said once
  known.value = { ...known.peek(), [task.keyOf(request)]: found }
}

/** The edits of the reply, for as long as this one waits. */
export function useEdits(task, row) {
  const { request, diffs, agent, decision } = row.approval
  const key = task.keyOf(request)
  const wanted = diffs?.length > 0 && !agent && !decision
  useEffect(() => void (wanted && !known.peek()[key] && look(task, row).catch(() => {})), [key, wanted])
  return editsOf(task, request)
}

/** Decide edits that wait behind this one, by their marks: 'allow_once', 'reject_once', or '' to take it back. */
export async function decideAhead(task, row, decisions) {
  const isTaken = await act('decide_ahead', { task: task.id, request: row.approval.request, decisions })
  await look(task, row)
  if (!isTaken) toast('These edits changed or were decided elsewhere meanwhile. Look at them again.')
  return isTaken
}

/** Approve all edits of the reply but those that were refused; shows what was not in view instead. */
export async function approveAll(task, row) {
  const left = editsOf(task, row.approval.request).ahead.filter((one) => !one.decision)
  if (![row, ...left.map((one) => one.row)].every((one) => isSeen(task, one))) return
  const decisions = Object.fromEntries(
    left.map((one) => [one.row.approval.request, /** @type {const} */ ('allow_once')]),
  )
  try {
    if (await decideAhead(task, row, decisions)) await approveCall(task, row)
  } catch (error) {
    complain(error)
  }
}

/** The button that approves all; empty where there are no others. */
export function labelAll(task, request) {
  const { ahead } = editsOf(task, request)
  const left = ahead.filter((one) => !one.decision).length
  return left
    ? `Approve ${left === ahead.length ? 'all' : 'the'} ${left + 1}${left === ahead.length ? '' : ' left'}`
    : ''
}

/** `3 edits in 2 files`. */
export function countEdits(row, ahead) {
  const files = new Set(
    [row, ...ahead.map((one) => one.row)].flatMap((one) => one.approval.diffs.map((diff) => diff.path)),
  )
  return `${count(ahead.length + 1, 'edit')} in ${count(files.size, 'file')}`
}
