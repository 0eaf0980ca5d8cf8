// Parts of the page that are loaded on first use. A request may fail: it is made again, and no failure is remembered.
const PAUSES = [300, 1500]
const LONGEST = 30_000

const waitFor = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds))

/** Pass a while, or until the network is back. */
const waitOrConnect = (milliseconds) =>
  Promise.race([waitFor(milliseconds), new Promise((done) => addEventListener('online', done, { once: true }))])

async function loadPatiently(load) {
  for (const pause of PAUSES) {
    try {
      return await load()
    } catch {
      await waitFor(pause)
    }
  }
  return load()
}

/** A part of the page that did not load. */
export class Unloaded extends Error {
  constructor() {
    super('A part of the page did not load. Try again when the connection is back.')
  }
}

/** Wrap `() => import(…)`, as every import on first use is: it is asked for once, and again after it failed. */
export function definePart(load) {
  let loading = null
  return () =>
    (loading ??= loadPatiently(load).catch(() => {
      loading = null
      throw new Unloaded()
    }))
}

/** Load a stylesheet; resolves once it is applied or has failed. One that failed is asked for until it is there. */
export function loadStyle(href) {
  if (document.querySelector(`link[href="${href}"]`)) return Promise.resolve()
  return new Promise((done) => askForStyle(href, done, PAUSES[0]))
}

function askForStyle(href, done, pause) {
  const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href, onload: done })
  link.onerror = async () => {
    done()
    await waitOrConnect(pause)
    link.remove()
    askForStyle(href, done, Math.min(2 * pause, LONGEST))
  }
  document.head.append(link)
}

/** Call `again` when a part that failed may load: after a while, and when the network is back. Returns how to stop. */
export function watchFailed(again) {
  let isWanted = true
  let pause = 2 * PAUSES[1]
  async function watch() {
    while (isWanted) {
      await waitOrConnect(pause)
      pause = Math.min(2 * pause, LONGEST)
      if (isWanted) again()
    }
  }
  watch()
  return () => (isWanted = false)
}
