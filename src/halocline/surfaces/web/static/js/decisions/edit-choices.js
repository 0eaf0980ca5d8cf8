// Choices in the diff of an edit that waits for approval: rejected hunks, changed text, comments on lines. They become
// the tool's arguments where that is exact; otherwise the edit is rejected with the choices as a note: an approval
// never does anything but what is shown.
import { signal } from '../lib/ui.js'
import { firstChange, hunksOf, side } from '../lib/diff.js'

const EMPTY = { rejected: {}, texts: {}, comments: [], draft: null }
/** By the key of a request. */
const known = new Map()
const MOST = 50
/** Lines of a hunk that are quoted to the agent. */
const LONGEST = 40

/** The choices about one request: {rejected: {key: true}, texts: {key: text}, comments: [{path, line, text}]}. */
export function choicesOf(task, request) {
  const key = task.keyOf(request)
  if (!known.has(key)) known.set(key, signal(EMPTY))
  if (known.size > MOST) known.delete(known.keys().next().value)
  return known.get(key)
}

export const keyOf = (file, hunk) => `${file}.${hunk}`

export function toggleHunk(choices, key) {
  const rejected = { ...choices.value.rejected }
  if (rejected[key]) delete rejected[key]
  else rejected[key] = true
  choices.value = { ...choices.value, rejected }
}

/** The places of a file's changes; one place for a file without any, which is only moved. */
const partsOf = (diff, file) => {
  const hunks = hunksOf(diff.text)
  return (hunks.length ? hunks : [null]).map((hunk, at) => ({ diff, hunk, key: keyOf(file, at) }))
}

export const isLeftOut = (choices, diff, file) => partsOf(diff, file).every(({ key }) => choices.value.rejected[key])

/** Leave out all changes of a file, or take all again. */
export function toggleFile(choices, diff, file) {
  const rejected = { ...choices.value.rejected }
  const out = !isLeftOut(choices, diff, file)
  for (const { key } of partsOf(diff, file))
    if (out) rejected[key] = true
    else delete rejected[key]
  choices.value = { ...choices.value, rejected }
}

export function rewriteHunk(choices, key, text) {
  const texts = { ...choices.value.texts }
  if (text == null) delete texts[key]
  else texts[key] = text
  choices.value = { ...choices.value, texts }
}

/** A comment in progress: a decision includes it as it is. */
export function draftComment(choices, one) {
  choices.value = { ...choices.value, draft: one }
}

export function keepDraft(choices) {
  const { draft: one, comments } = choices.value
  if (one?.text.trim()) choices.value = { ...choices.value, draft: null, comments: [...comments, trimText(one)] }
}

const trimText = (one) => ({ ...one, text: one.text.trim() })

export function removeComment(choices, one) {
  choices.value = { ...choices.value, comments: choices.value.comments.filter((other) => other !== one) }
}

const DIVISIBLE = new Set(['write_to_file', 'replace_in_file', 'apply_patch'])
/** True for an edit that can be accepted in part. The arguments of an agent's call are not in this task. */
export const isDivisible = (row) => DIVISIBLE.has(row.name) && !row.approval?.agent

/** The effect of approving now: {verdict: 'as it is' | 'changed' | 'rejected', arguments?, refused?, accepted, total,
    note}. Whole files that are left out are `refused`, which is always exact. Pure. */
export function judgeChoices(row, diffs, { rejected, texts, comments: kept, draft: one }) {
  const comments = one?.text.trim() ? [...kept, trimText(one)] : kept
  const all = diffs.flatMap(partsOf)
  const refused = all.filter(({ key }) => rejected[key])
  const other = all.filter(
    ({ key, hunk }) => hunk && !rejected[key] && texts[key] != null && texts[key] !== side(hunk, 'new').join('\n'),
  )
  const note = noteOf(refused, comments)
  /** @type {{ verdict?: string, accepted: number, total: number, note: string, arguments?: Record<string, any>,
      refused?: string[] }} */
  const count = { accepted: all.length - refused.length, total: all.length, note }
  if (!refused.length && !other.length) return { verdict: 'as it is', ...count }
  if (refused.length === all.length) return { verdict: 'rejected', ...count }
  const whole = diffs.filter((diff, file) => partsOf(diff, file).every(({ key }) => rejected[key]))
  if (!other.length && refused.every(({ diff }) => whole.includes(diff)))
    return { verdict: 'changed', refused: whole.map((diff) => diff.path), ...count, note: noteOf([], comments) }
  const given = adaptArguments(row, diffs, { rejected, texts })
  if (given) return { verdict: 'changed', arguments: given, ...count }
  return {
    verdict: 'rejected',
    ...count,
    accepted: 0,
    note: noteOf(
      refused,
      comments,
      other.map((one) => ({ ...one, text: texts[one.key] })),
    ),
  }
}

function quoteHunk(hunk) {
  const lines = hunk.lines.filter((line) => line.sign !== ' ').map((line) => `${line.sign} ${line.text}`)
  return lines.length > LONGEST
    ? [...lines.slice(0, LONGEST), `… and ${lines.length - LONGEST} more lines`].join('\n')
    : lines.join('\n')
}

function noteOf(refused, comments, other = []) {
  return [
    ...refused.map(({ diff, hunk }) =>
      hunk ? `Rejected in ${diff.path}, line ${firstChange(hunk)}:\n${quoteHunk(hunk)}` : `Rejected: ${diff.path}`,
    ),
    ...other.map(
      ({ diff, hunk, text }) => `In ${diff.path}, instead of the change at line ${firstChange(hunk)}:\n${text}`,
    ),
    ...comments.map(({ path, line, text }) => `About ${path}, line ${line}: ${text}`),
  ].join('\n\n')
}

/** The same tool's arguments for only the chosen parts; null where that is not exact. Pure. */
function adaptArguments(row, diffs, chosen) {
  const files = diffs.map((diff, file) => ({
    diff,
    hunks: hunksOf(diff.text).map((hunk, at) => ({ hunk, ...chooseLines(hunk, keyOf(file, at), chosen) })),
  }))
  if (files.some(({ hunks }) => !hunks.length || hunks.some(({ hunk }) => !hunk.whole || hunk.bare))) return null
  const make = { write_to_file: buildContent, replace_in_file: buildBlocks, apply_patch: buildPatch }[row.name]
  return make?.(row.arguments ?? {}, files) ?? null
}

/** The lines to put in a hunk's place, and whether they are the old ones. */
function chooseLines(hunk, key, { rejected, texts }) {
  if (rejected[key]) return { lines: side(hunk, 'old'), out: true }
  const text = texts[key]
  return { lines: text == null ? side(hunk, 'new') : text === '' ? [] : text.split('\n'), out: false }
}

/** The content with the chosen lines in place of changed hunks. */
function buildContent(given, [{ hunks }]) {
  if (typeof given.content !== 'string' || given.content.includes('\r')) return null
  const lines = given.content.split('\n')
  for (const { hunk, lines: put } of [...hunks].reverse()) {
    const at = hunk.newCount ? hunk.newStart - 1 : hunk.newStart
    const there = side(hunk, 'new')
    if (there.some((line, n) => lines[at + n] !== line)) return null
    lines.splice(at, there.length, ...put)
  }
  return { ...given, content: lines.join('\n') }
}

const MARKER = /^(?:[-<]{3,} SEARCH>?|={3,}>?|[+>]{3,} REPLACE>?)[ \t]*$/

/** A search/replace block for each accepted hunk, with its context lines. */
function buildBlocks(given, [{ diff, hunks }]) {
  const taken = hunks.filter(({ out }) => !out)
  if (diff.text.includes('--- /dev/null') || taken.some(({ hunk }) => !hunk.oldCount)) return null
  const put = taken.map(({ hunk, lines }) => [side(hunk, 'old'), lines])
  if (put.flat(2).some((line) => MARKER.test(line))) return null
  const text = put
    .map(([old, now]) => ['------- SEARCH', ...old, '=======', ...now, '+++++++ REPLACE'].join('\n'))
    .join('\n')
  return { path: given.path, diff: `${text}\n` }
}

function buildPatch(given, files) {
  if (given.folder || /^\*\*\* Move to:/m.test(given.input ?? '')) return null
  const sections = []
  for (const { diff, hunks } of files) {
    const taken = hunks.filter(({ out }) => !out)
    if (!taken.length) continue
    if (diff.text.startsWith('--- /dev/null'))
      sections.push(`*** Add File: ${diff.path}`, ...taken[0].lines.map((line) => `+${line}`))
    else if (/^\+\+\+ \/dev\/null$/m.test(diff.text)) sections.push(`*** Delete File: ${diff.path}`)
    else if (taken.some(({ hunk }) => !hunk.oldCount)) return null
    else sections.push(`*** Update File: ${diff.path}`, ...taken.flatMap(patchHunk))
  }
  return { ...given, input: ['*** Begin Patch', ...sections, '*** End Patch'].join('\n') }
}

/** A hunk of a patch with its chosen lines. */
function patchHunk({ hunk, lines }) {
  const same = lines.length === side(hunk, 'new').length && side(hunk, 'new').every((line, at) => line === lines[at])
  if (same) return ['@@', ...hunk.lines.map((line) => line.sign + line.text)]
  return ['@@', ...side(hunk, 'old').map((line) => `-${line}`), ...lines.map((line) => `+${line}`)]
}
