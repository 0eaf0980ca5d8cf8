// Deciding about a call: as it was shown, with the choices in its diff, or with what the person began to write.
import { signal } from '../lib/ui.js'
import { complain } from '../state/store.js'
import { count } from '../lib/format.js'
import { choicesOf, judgeChoices } from './edit-choices.js'
import { isSeen } from './whole-call.js'

/** What a person has begun for a request, by its key: {form: '', always, reject or edit; note; text}. The same in card and dock. */
const drafts = signal({})
const EMPTY = { form: '', note: '', text: null }
export const draftOf = (task, request) => drafts.value[task.keyOf(request)] ?? EMPTY
export function setDraft(task, request, more) {
  const key = task.keyOf(request)
  drafts.value = { ...drafts.value, [key]: { ...(drafts.peek()[key] ?? EMPTY), ...more } }
}

/** Edit conflicts by the key of a request: only files that changed since the edit was shown. */
const conflicts = signal({})
export const conflictOf = (task, request) => conflicts.value[task.keyOf(request)]
export const setConflict = (task, request, found) =>
  (conflicts.value = { ...conflicts.value, [task.keyOf(request)]: found })

export const sendDecision = (task, request, decision, more = {}) =>
  task.send('resolve_approval', { request, decision, ...more }).catch(complain)

/** What approving a call does now, with the choices in its diff. */
export const judgeApproval = (task, row) =>
  judgeChoices(task.whole(row), row.approval.diffs ?? [], choicesOf(task, row.approval.request).value)

/** Approve a call as shown, with the choices in its diff. Returns false if nothing was sent. */
export async function approveCall(task, row, { note = '', content = [] } = {}) {
  if (!row?.approval || row.approval.decision) return false
  if (conflictOf(task, row.approval.request) || !isSeen(task, row)) return false
  const effect = judgeApproval(task, row)
  const more = { note: [note, effect.note].filter(Boolean).join('\n\n'), content }
  if (effect.verdict === 'rejected') await sendDecision(task, row.approval.request, 'reject_once', more)
  else
    await sendDecision(task, row.approval.request, 'allow_once', {
      ...more,
      ...(effect.arguments && { arguments: effect.arguments }),
      ...(effect.refused && { refused: effect.refused }),
    })
  return true
}

/** The button's label, which always matches what it does. */
export function labelApprove(task, row) {
  const { verdict, accepted, total, note } = judgeApproval(task, row)
  if (verdict === 'rejected') return 'Reject with feedback'
  if (verdict === 'as it is') return note ? 'Approve with comments' : 'Approve'
  return accepted === total ? 'Approve with edits' : `Approve ${accepted} of ${count(total, 'change')}`
}

/** The argument that can be edited whole: [name, label, button]. Partial edits are made in the diff. */
export function findEditable(row) {
  if (row.kind === 'execute' && typeof row.arguments?.command === 'string') return ['command', 'Command', 'Run command']
  if (row.name === 'write_to_file' && typeof row.arguments?.content === 'string')
    return ['content', 'New content of the file', 'Write file']
  return null
}

/** Start editing the first hunk of the card's diff. */
function toHunk(row) {
  const hunk = document.querySelector(`[data-call="${CSS.escape(row.call)}"] [data-hunk]`)
  hunk?.scrollIntoView({ block: 'center' })
  hunk?.focus()
  hunk?.dispatchEvent(new KeyboardEvent('keydown', { key: 'e', bubbles: true, cancelable: true }))
}

/** Open a form of the docked decision; partial edits start in the diff. */
export function openForm(task, row, form) {
  if (form === 'edit' && !findEditable(row)) toHunk(row)
  else if (form !== 'always' || isSeen(task, row)) setDraft(task, row.approval.request, { form })
}
