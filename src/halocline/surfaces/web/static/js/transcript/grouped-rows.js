// Rows as the transcript shows them: items in chunks. Pure.

/** Rows in a chunk. */
export const CHUNK = 4

const QUIET = new Set(['read', 'search'])

/** Adjacent rows as one item. The same rows keep the same object. */
const known = new WeakMap()
function joinGroup(type, rows) {
  const old = known.get(rows[0])
  const same =
    old && old.type === type && old.rows.length === rows.length && old.rows.every((row, at) => row === rows[at])
  if (same) return old
  const item = { type, rows }
  known.set(rows[0], item)
  return item
}

const isQuiet = (row) =>
  row.type === 'call_row' && QUIET.has(row.kind) && row.status === 'completed' && !row.approval && !row.lanes

/** Calls that have a row of their own besides: a to-do list that was accepted, a question, a plan that asks one. */
const TOLD = {
  update_todos: (row) => row.status === 'completed',
  ask_followup_question: (row) => !row.status || row.status === 'completed',
  plan_mode_respond: (row) =>
    row.arguments?.options?.length > 0 && (!row.status || (row.status === 'completed' && !row.ends_turn)),
}
const isReported = (row) => row.type === 'call_row' && Boolean(TOLD[row.name]?.(row))

/**
 * Read-only calls grouped into one line, and likewise rows that a rewind left behind. An item stands at a row's number
 * `at` and covers the rows from `begin` until `end`, hidden ones too. Rows that are not here part groups.
 * @returns {{ at: number, begin: number, end: number, row: any }[]}
 */
export function groupRows(all) {
  /** @type {{ at: number, begin: number, end: number, sort: string, rows: any[] }[]} */
  const items = []
  let last = null
  all.forEach((row, at) => {
    if (!row) last = null
    if (!row || isReported(row)) return
    const sort = row.left ? 'left_row' : isQuiet(row) ? 'group_row' : ''
    if (sort && last?.sort === sort) {
      last.rows.push(row)
      last.end = at + 1
    } else {
      last = { at, begin: last ? last.end : at, end: at + 1, sort, rows: [row] }
      items.push(last)
    }
  })
  return items.map(({ sort, rows, ...place }) => ({ ...place, row: rows.length > 1 ? joinGroup(sort, rows) : rows[0] }))
}

/** Items by the number of their chunk, so that other rows that come or go do not move those that are there. */
export const inChunks = (items) => Map.groupBy(items, ({ at }) => Math.floor(at / CHUNK))
