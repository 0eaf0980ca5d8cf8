// Images and exports, fetched over HTTP. A tag's own request cannot carry the page's key, so they are fetched here and
// used as object URLs.
import { useEffect, useState } from './ui.js'
import { request } from './connection.js'

const pictures = new Map()
const MOST = 200

async function fetchBlob(path) {
  const answer = await request(path)
  if (answer.ok) return answer.blob()
  const refused = await answer.json().catch(() => ({ text: 'The download failed.' }))
  throw Object.assign(new Error(refused.text), refused)
}

const fetchFile = async (path) => URL.createObjectURL(await fetchBlob(path))

function pictureOf(blob) {
  const name = blob.replace(/^sha256:/, '')
  if (!pictures.has(name)) {
    pictures.set(name, fetchFile(`/blob/${name}`))
    pictures.get(name).catch(() => pictures.delete(name))
    if (pictures.size > MOST) pictures.delete(pictures.keys().next().value)
  }
  return pictures.get(name)
}

/** The object URL of an image; null until it is loaded, or if that fails. */
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
  const href = await fetchFile(`/export/${name}`)
  Object.assign(document.createElement('a'), { href, download: name }).click()
  setTimeout(() => URL.revokeObjectURL(href), 60_000)
}
