// What is given along with a prompt: files and pictures that were pasted, dropped or picked, and long pasted texts, which
// stand in the text as a chip. By task, until it is sent; only texts survive a reload.
import { signal } from './ui.js'
import { request } from './line.js'
import { toast } from './store.js'
import { kept } from './prefs.js'
import { size, thousands } from './format.js'

const LARGEST = 32 * 2 ** 20 // as the server's guard
const MOST = 20
const LONG_LINES = 10 // as surfaces/cli/input/pasting.py
const LONG_TEXT = 2000

/** {place: [{key, name, bytes, file, parts, state: sending | there | refused, problem, blob}]} */
export const files = signal({})
/** {place: {chip: text}} */
export const pasted = kept('pasted', {})

const ofPlace = (place) => files.value[place] ?? []
const setFiles = (place, how) => (files.value = { ...files.value, [place]: how(ofPlace(place)) })
const put = (place, key, what) =>
  setFiles(place, (all) => all.map((one) => (one.key === key ? { ...one, ...what } : one)))

export const removeFile = (place, key) => setFiles(place, (all) => all.filter((one) => one.key !== key))

/** Take files in: each is sent to the server at once. `where` is {task} or {workspace, model}. */
export function attach(place, where, list) {
  for (const file of list) {
    if (ofPlace(place).length >= MOST)
      return void toast(`A prompt takes ${MOST} files. Send these first.`, { kind: 'error' })
    if (file.size > LARGEST) {
      toast(
        `${file.name} has ${size(file.size)}; up to ${size(LARGEST)} can be given. Put it into the folder and mention it by @.`,
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
    const picture = said.find((part) => part.type === 'image')
    put(place, one.key, { state: 'there', parts: said, blob: picture?.blob, media: picture?.media_type })
  } catch (error) {
    put(place, one.key, {
      state: 'refused',
      problem: error.hint ? `${error.text} ${error.hint}` : error.text || 'It could not be sent. Is the server there?',
    })
  }
}

/** Send all again, for another model: whether it sees pictures decides what becomes of them. */
export function attachAgain(place, where) {
  for (const one of ofPlace(place)) if (one.file) (put(place, one.key, { state: 'sending' }), upload(place, where, one))
}

/** What is typed in the place of a pasted text: itself, or the chip of a long one. */
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

/** Whether something is still on its way or was refused: then a prompt waits. */
export const isReady = (place) => ofPlace(place).every((one) => one.state === 'there')

/** The parts that go along with what was typed, in its order; they are then no longer here. */
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
