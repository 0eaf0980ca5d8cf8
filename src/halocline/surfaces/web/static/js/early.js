// A classic script within the document, for what must not wait for the modules. Sets the theme, so that nothing flashes;
// exchanges the key in the address for a session; opens the connection and buffers its messages until connection.js
// takes over. A session is a cookie and a key of this page: other servers on this machine receive the cookie too, but
// never the stored key. A session ends with the server; a non-extractable key pair signs this browser in again.
try {
  const theme = JSON.parse(localStorage.getItem('halo theme'))
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Nothing stored, or invalid: follow the system.
}
{
  const words = location.hash.slice(1)
  const key = words.startsWith('/') ? '' : words
  if (key) history.replaceState(null, '', `${location.pathname}#/`)
  const base = new URL(document.currentScript.dataset.base, location.origin).href
  const page = (sessionStorage.page ??= crypto.getRandomValues(new Uint32Array(4)).join('-')) // per tab
  const KEPT = 'halo page key'
  let own = '' // where storage is unavailable
  const pageKey = () => {
    try {
      return localStorage.getItem(KEPT) || own
    } catch {
      return own
    }
  }
  const keep = (given) => {
    own = given
    try {
      localStorage.setItem(KEPT, given)
    } catch {
      // Kept only while the page is open.
    }
  }
  const open = () =>
    new WebSocket(`${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/live?page=${page}`, [
      'halocline',
      pageKey() || 'none',
    ])
  const ECDSA = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const base64 = (data) => btoa(String.fromCharCode(...new Uint8Array(data)))
  const askStore = (mode, ask) =>
    new Promise((resolve, reject) => {
      const opening = indexedDB.open('halocline', 1)
      opening.onupgradeneeded = () => opening.result.createObjectStore('keys')
      opening.onerror = () => reject(opening.error)
      opening.onsuccess = () => {
        const asked = ask(opening.result.transaction('keys', mode).objectStore('keys'))
        asked.onerror = () => reject(asked.error)
        asked.onsuccess = () => (opening.result.close(), resolve(asked.result))
      }
    })
  const keptPair = () => askStore('readonly', (keys) => keys.get('own'))
  const publicKey = async (pair) => crypto.subtle.exportKey('raw', pair.publicKey)
  const ownPair = async () => {
    const kept = await keptPair()
    if (kept) return kept
    const made = await crypto.subtle.generateKey(ECDSA, false, ['sign'])
    await askStore('readwrite', (keys) => keys.put(made, 'own'))
    return made
  }
  const post = async (given) => {
    const answer = await fetch('/enter', { method: 'POST', body: JSON.stringify(given), credentials: 'same-origin' })
    if (answer.ok) keep((await answer.json()).key)
    return answer.ok
  }
  /** Keep a key pair of this browser, with which it signs in after a restart of the server. */
  const register = async () => {
    const body = base64(await publicKey(await ownPair()))
    await fetch('/browser', {
      method: 'POST',
      body,
      headers: { 'x-halocline-key': pageKey() },
      credentials: 'same-origin',
    })
  }
  const enter = async (given) => {
    const isIn = await post({ key: given })
    if (isIn && crypto.subtle) register().catch(() => {})
    return isIn
  }
  const sign = async () => {
    const known = await fetch('/session', { headers: { 'x-halocline-key': pageKey() }, credentials: 'same-origin' })
    if (known.ok) return true // another tab signed in first
    const pair = await keptPair()
    if (!pair) return false
    const { challenge } = await (await fetch('/enter', { credentials: 'same-origin' })).json()
    const text = new TextEncoder().encode(`halocline enter ${location.host} ${challenge}`)
    const signature = base64(await crypto.subtle.sign(ECDSA, pair.privateKey, text))
    const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', await publicKey(pair)))
    const browser = Array.from(sum.slice(0, 6), (byte) => byte.toString(16).padStart(2, '0')).join('')
    return post({ browser, challenge, signature })
  }
  const signIn = async () =>
    Boolean(crypto.subtle && navigator.locks && (await navigator.locks.request('halo enter', sign)))
  /** @type {Early} */
  const early = {
    page,
    base,
    open,
    enter,
    signIn,
    pageKey,
    socket: null,
    said: [],
    closed: null,
    entered: null,
    refused: false,
  }
  // An unreachable server says nothing about the key.
  early.entered = key
    ? enter(key)
        .then((isIn) => isIn || ((early.refused = true), signIn()))
        .catch(() => true)
    : Promise.resolve(true)
  early.entered.then((isIn) => {
    if (!isIn) return
    early.socket = open()
    early.socket.onmessage = (message) => early.said.push(message)
    early.socket.onclose = (event) => (early.closed = event)
  })
  window.early = early

  // The page's first files are asked for again when a request fails, as parts.js does with all others.
  let pause = 300
  const askAgain = (failed) => {
    const copy = document.createElement(failed.localName)
    for (const { name, value } of failed.attributes) copy.setAttribute(name, value)
    failed.replaceWith(copy)
  }
  const watchFirst = ({ target }) => {
    if (!target.dataset || target.dataset.first === undefined) return
    setTimeout(askAgain, pause, target)
    pause = Math.min(2 * pause, 10_000)
  }
  addEventListener('error', watchFirst, true)
}
