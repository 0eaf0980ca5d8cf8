// All tasks in their groups, as the server's board has them: one model for the sidebar, the board and a task's header.
import { effect, signal } from '../lib/ui.js'
import { query, standing } from '../lib/connection.js'
import { base } from '../lib/format.js'
/** @import { BoardAnswer, BoardRow } from '../../../types/protocol' */

const PAUSE = 2000
export const TITLES = { 'needs you': 'Needs you', running: 'Running', 'cut short': 'Cut short', ended: 'Ended' }
const DOTS = { 'needs you': 'asks', running: 'runs', 'cut short': 'failed' }

/** The board: {groups, rows}, or null until the server told it. */
export const listed = signal(/** @type {{ groups: string[], rows: BoardRow[] } | null} */ (null))

/** @param {BoardRow} row */
export const dotOf = (row) => DOTS[row.group] ?? (row.is_good ? 'done' : row.is_bad ? 'failed' : '')

/** @param {string} task */
export const rowOf = (task) => listed.value?.rows.find((row) => row.task === task)

/** The rows that count as tasks: not those below another, which asks what they ask. @param {BoardRow[]} rows */
export function tasksOf(rows) {
  const there = new Set(rows.map((row) => row.task))
  return rows.filter((row) => !there.has(row.parent))
}

/** Where a task works: its folder, or its worktree with its repository. @param {BoardRow} row */
export const placeOf = (row) => (row.worktree ? `${row.repository} ⎇ ${row.worktree}`.trim() : base(row.folder))

/** @param {BoardAnswer} answer */
function take({ groups, order, rows }, known) {
  for (const row of rows) known.set(row.task, row)
  listed.value = { groups, rows: order.map((task) => known.get(task)).filter(Boolean) }
}

/** Ask again as soon as an answer came, which the server gives once something changed. */
function follow(revision, known) {
  query('board', { revision }).then(
    (answer) => {
      if (answer.revision !== revision) take(answer, known)
      follow(answer.revision, known)
    },
    () => setTimeout(() => follow(0, new Map()), PAUSE),
  )
}

/** Start following, once connected. */
export function followBoard() {
  let isFollowing = false
  effect(() => {
    if (standing.value !== 'open' || isFollowing) return
    isFollowing = true
    follow(0, new Map())
  })
}
