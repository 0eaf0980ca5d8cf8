// What the server gives beside frames: pictures and exports. A request of a tag cannot carry the page's key, so they are
// fetched here, and shown and saved from where the browser keeps them.
import { useEffect, useState } from './ui.js'
import { request } from './line.js'

const pictures = new Map()
const MOST = 200

async function fetched(path) {
  const answer = await request(path)
  if (answer.ok) return URL.createObjectURL(await answer.blob())
  const refused = await answer.json().catch(() => ({ text: 'The server did not give it.' }))
  throw Object.assign(new Error(refused.text), refused)
}

function pictureOf(blob) {
  const name = blob.replace(/^sha256:/, '')
  if (!pictures.has(name)) {
    pictures.set(name, fetched(`/blob/${name}`))
    pictures.get(name).catch(() => pictures.delete(name))
    if (pictures.size > MOST) pictures.delete(pictures.keys().next().value)
  }
  return pictures.get(name)
}

/** The address of a picture that is kept; null until it is here, and when it cannot be had. */
export function usePicture(image) {
  const [address, setAddress] = useState(null)
  useEffect(() => {
    let wanted = true
    pictureOf(image.blob).then(
      (found) => wanted && setAddress(found),
      () => {},
    )
    return () => (wanted = false)
  }, [image.blob])
  return address
}

/** Save an export of a task; `form` is md, html or jsonl. */
export async function saveExport(task, form) {
  const name = `${task}.${form}`
  const href = await fetched(`/export/${name}`)
  Object.assign(document.createElement('a'), { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
