// Draws diagrams: one sandboxed frame turns them into SVG, one after another, and can do nothing else. The page shows the
// SVG as an image, in which nothing runs and nothing is loaded.
import { request } from './connection.js'

/** Time limit of a diagram in milliseconds; the first also loads the library. */
const PATIENCE = 20_000
/** After this time without a diagram, the frame and its library are removed. */
const IDLE = 60_000
const LARGEST = 4_000_000
const MOST = 100

const pictures = new Map()
/** @type {Promise<any>} */
let last = Promise.resolve()
let opened = null
let idle = 0
let number = 0

/** The first message of a frame that `fits`. */
function hear(frame, fits) {
  return new Promise((resolve, reject) => {
    const end = () => (clearTimeout(late), removeEventListener('message', handleMessage))
    const late = setTimeout(() => (end(), close(), reject(new Error('it takes too long'))), PATIENCE)
    function handleMessage({ source, data }) {
      if (source === frame.contentWindow && data && fits(data)) (end(), resolve(data))
    }
    addEventListener('message', handleMessage)
  })
}

async function open() {
  const frame = document.createElement('iframe')
  frame.className = 'drawing-frame'
  frame.title = 'Draws diagrams'
  frame.tabIndex = -1
  frame.ariaHidden = 'true'
  frame.setAttribute('sandbox', 'allow-scripts')
  // An editor's view has no server to load a document from.
  if (window.early.isEditor) frame.srcdoc = await (await request('/diagram')).text()
  else frame.src = '/diagram'
  document.body.append(frame)
  await hear(frame, (data) => data.ready)
  return frame
}

function close() {
  opened = null
  document.querySelector('.drawing-frame')?.remove()
}

function closeFailed(error) {
  close()
  throw error
}

async function buildPicture(text, dark) {
  clearTimeout(idle)
  try {
    const frame = await (opened ??= open().catch(closeFailed))
    const id = ++number
    const answer = hear(frame, (data) => data.id === id)
    frame.contentWindow.postMessage({ id, text, dark }, '*')
    const { svg, width, height, about, error } = await answer
    if (typeof svg !== 'string' || !(width > 0 && height > 0)) throw new Error(`${error ?? 'it is empty'}`)
    if (svg.length > LARGEST) throw new Error('it is too large')
    return { src: `data:image/svg+xml,${encodeURIComponent(svg)}`, width, height, about: `${about ?? ''}` }
  } finally {
    idle = setTimeout(close, IDLE)
  }
}

/** Draw a diagram; returns the address, size and description of its image. Rejects with the reason if it cannot. */
export function draw(text, dark) {
  const key = `${dark} ${text}`
  if (!pictures.has(key)) {
    const drawn = last.then(() => buildPicture(text, dark))
    last = drawn.catch(() => pictures.delete(key))
    pictures.set(key, drawn)
    if (pictures.size > MOST) pictures.delete(pictures.keys().next().value)
  }
  return pictures.get(key)
}
