// Actions of the history page: label, delete with undo, fork; and labels for task data.
import { html } from '../lib/ui.js'
import { act, send } from '../lib/connection.js'
import { complain, go, refresh, toast } from '../state/store.js'
import { count, DAYS, MONTHS, shown, truncate } from '../lib/format.js'

const STARTS = '\x02'
const ENDS = '\x03'

export const STATUS = {
  end_turn: ['done', 'Done'],
  partly: ['', 'Partly done'],
  rewound: ['', 'Rewound'],
  error: ['failed', 'Failed'],
  cancelled: ['', 'Stopped'],
  unfinished: ['', 'Unfinished'],
  max_tokens: ['failed', 'Cut off'],
  max_turn_requests: ['', 'Stopped at a limit'],
  refusal: ['failed', 'Refused'],
}
export const statusOf = (info) => STATUS[info.status]?.[1] ?? info.status
export const titleOf = (info) => shown(info.name || info.title || 'Untitled')

/** A search snippet with matches highlighted. */
export const Snippet = ({ text }) =>
  text.split(STARTS).map((part, at) => {
    const end = at ? part.indexOf(ENDS) : -1
    return end < 0
      ? shown(part)
      : [html`<mark key=${at}>${shown(part.slice(0, end))}</mark>`, shown(part.slice(end + 1))]
  })

/** A relative day, from a time in seconds. */
export function formatDay(at) {
  const then = new Date(at * 1000)
  const days = Math.round((new Date().setHours(0, 0, 0, 0) - new Date(at * 1000).setHours(0, 0, 0, 0)) / 86_400_000)
  if (days <= 0) return 'Today'
  if (days === 1) return 'Yesterday'
  if (days < 7) return DAYS[then.getDay()]
  if (days < 31) return days < 14 ? 'Last week' : `${Math.floor(days / 7)} weeks ago`
  return `${MONTHS[then.getMonth()]} ${then.getFullYear()}`
}

/** Rename, favorite or tag a task. */
export async function label(info, what) {
  try {
    await send('label', { task: info.task, ...what })
    refresh()
    return true
  } catch (error) {
    complain(error)
    return false
  }
}

/** Move tasks to the trash, and offer undo. */
export async function discard(infos, changed) {
  const gone = []
  for (const info of infos) {
    try {
      await act('delete', { task: info.task })
      gone.push(info)
    } catch (error) {
      complain({ ...error, text: (error.text ?? error.message).replace(`Task ${info.task}`, `‘${titleOf(info)}’`) })
    }
  }
  if (gone.length) {
    const what = gone.length === 1 ? `‘${truncate(titleOf(gone[0]), 60)}’` : count(gone.length, 'task')
    toast(`Deleted ${what}.`, { undo: () => bringBack(gone, changed), seconds: 15 })
  }
  refresh()
  changed()
}

export async function bringBack(infos, changed) {
  for (const info of infos) await act('undelete', { task: info.task }).catch(complain)
  toast(`Restored ${count(infos.length, 'task')}.`)
  refresh()
  changed()
}

export async function forkOf(info) {
  try {
    go('task', await act('fork', { task: info.task, at: 0 }))
    toast('Forked. The original task is unchanged.')
    refresh()
  } catch (error) {
    complain(error)
  }
}
