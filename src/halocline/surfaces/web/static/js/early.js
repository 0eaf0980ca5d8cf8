// What must not wait for the modules. A classic script. Light or dark as this browser chose, so that nothing flashes; the
// key of the address becomes a session, and the line is opened: what it hears is kept until line.js takes over. A session
// is a cookie and a key of this page: other servers of this machine get the cookie, too, but never what is kept here.
try {
  const theme = JSON.parse(localStorage.getItem('halo theme'))
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Nothing is kept here, or it makes no sense: the system decides.
}
{
  const words = location.hash.slice(1)
  const key = words.startsWith('/') ? '' : words
  if (key) history.replaceState(null, '', `${location.pathname}#/`)
  const page = (sessionStorage.page ??= crypto.getRandomValues(new Uint32Array(4)).join('-')) // of this tab, also when it is loaded again
  const KEPT = 'halo page key'
  let own = '' // where this browser keeps nothing
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
      // It holds for as long as the page is open.
    }
  }
  const open = () =>
    new WebSocket(`${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/live?page=${page}`, [
      'halocline',
      pageKey() || 'none',
    ])
  const enter = async (given) => {
    const answer = await fetch('/enter', { method: 'POST', body: given, credentials: 'same-origin' })
    if (answer.ok) keep((await answer.json()).key)
    return answer.ok
  }
  const early = { page, open, enter, pageKey, socket: null, said: [], closed: null }
  // A server that is away says nothing of keys.
  early.entered = key ? enter(key).catch(() => true) : Promise.resolve(true)
  early.entered.then((isIn) => {
    if (!isIn) return
    early.socket = open()
    early.socket.onmessage = (message) => early.said.push(message)
    early.socket.onclose = (event) => (early.closed = event)
  })
  window.early = early
}
