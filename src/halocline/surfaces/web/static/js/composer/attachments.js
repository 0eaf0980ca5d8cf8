// Attachments of a prompt: pasted, dropped or picked files and images, and long pasted texts, shown as a chip in the
// text. By task, until it is sent; only texts survive a reload.
import { signal } from '../lib/ui.js'
import { request } from '../lib/connection.js'
import { toast } from '../state/store.js'
import { keepValue } from '../lib/preferences.js'
import { size, thousands } from '../lib/format.js'

const LARGEST = 32 * 2 ** 20 // as the server's guard
const MOST = 20
const LONG_LINES = 10 // as surfaces/cli/input/pasting.py
const LONG_TEXT = 2000

/** {place: [{key, name, bytes, file, parts, sees, state: sending | there | refused, problem, blob}]} */
export const files = signal({})
/** {place: {chip: text}} */
export const pasted = keepValue('pasted', {})

const ofPlace = (place) => files.value[place] ?? []
const setFiles = (place, how) => (files.value = { ...files.value, [place]: how(ofPlace(place)) })
const put = (place, key, what) =>
  setFiles(place, (all) => all.map((one) => (one.key === key ? { ...one, ...what } : one)))

export const removeFile = (place, key) => setFiles(place, (all) => all.filter((one) => one.key !== key))

/** Attach files and upload each at once. `where` is {task} or {workspace, model}. */
export function attach(place, where, list) {
  for (const file of list) {
    if (ofPlace(place).length >= MOST)
      return void toast(`Up to ${MOST} files per prompt. Send these first.`, { kind: 'error' })
    if (file.size > LARGEST) {
      toast(
        `${file.name} is ${size(file.size)}; the limit is ${size(LARGEST)}. Put it in the folder and mention it with @.`,
        { kind: 'error' },
      )
      continue
    }
    const one = {
      key: Math.random().toString(36).slice(2),
      name: file.name || 'picture.png',
      bytes: file.size,
      file,
      state: 'sending',
    }
    setFiles(place, (all) => [...all, one])
    upload(place, where, one)
  }
}

async function upload(place, where, one) {
  const args = new URLSearchParams({
    name: one.name,
    ...(where.task ? { task: where.task } : { workspace: where.workspace, model: where.model }),
  })
  try {
    const answer = await request(`/upload?${args}`, { method: 'POST', body: one.file })
    const said = await answer.json()
    if (!answer.ok) throw Object.assign(new Error(said.text), said)
    const picture = said.parts.find((part) => part.type === 'image')
    const { parts, sees } = said
    put(place, one.key, { state: 'there', parts, sees, blob: picture?.blob, media: picture?.media_type })
  } catch (error) {
    put(place, one.key, {
      state: 'refused',
      problem: error.hint
        ? `${error.text} ${error.hint}`
        : error.text || 'Upload failed. Check that the server is running.',
    })
  }
}

/** Upload all again for another model, which may or may not accept images. */
export function attachAgain(place, where) {
  for (const one of ofPlace(place)) if (one.file) (put(place, one.key, { state: 'sending' }), upload(place, where, one))
}

/** The text to insert for a pasted text: itself, or a chip if it is long. */
export function chipFor(place, text) {
  const lines = text.split('\n').length
  if (lines <= LONG_LINES && text.length <= LONG_TEXT) return text
  const what = lines > LONG_LINES ? `${lines} lines` : `${thousands(text.length)} characters`
  const mine = pasted.value[place] ?? {}
  let chip = `[pasted ${what}]`
  for (let number = 2; (mine[chip] ?? text) !== text; number++) chip = `[pasted ${what}, ${number}]`
  pasted.value = { ...pasted.value, [place]: { ...mine, [chip]: text } }
  return chip
}

export const chipsIn = (place, typed) =>
  Object.entries(pasted.value[place] ?? {}).filter(([chip]) => typed.includes(chip))

/** True if no file is uploading or rejected; otherwise a prompt waits. */
export const isReady = (place) => ofPlace(place).every((one) => one.state === 'there')

/** Remove and return the attachments, in the order of the text. */
export function takeParts(place, typed) {
  const texts = chipsIn(place, typed)
    .sort((a, b) => typed.indexOf(a[0]) - typed.indexOf(b[0]))
    .map(([chip, text]) => ({ type: 'note', text: `${chip}\n${text}`, source: 'pasted' }))
  const before = { files: ofPlace(place), texts: pasted.value[place] }
  const parts = [...texts, ...before.files.filter((one) => one.state === 'there').flatMap((one) => one.parts)]
  setFiles(place, () => [])
  const { [place]: _, ...others } = pasted.value
  pasted.value = others
  const back = () => {
    setFiles(place, () => before.files)
    if (before.texts) pasted.value = { ...pasted.value, [place]: before.texts }
  }
  return { parts, back }
}
