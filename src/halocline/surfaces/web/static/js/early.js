// What must not wait for the modules. A classic script. Light or dark as this browser chose, so that nothing flashes; the
// key of the address becomes a cookie, and the line is opened: what it hears is kept until line.js takes over.
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
  const open = () =>
    new WebSocket(`${location.protocol === 'https:' ? 'wss:' : 'ws:'}//${location.host}/live?page=${page}`)
  const enter = () =>
    fetch('/enter', { method: 'POST', body: key, credentials: 'same-origin' }).then((answer) => answer.ok)
  const early = { page, open, socket: null, said: [], closed: null }
  // A server that is away says nothing of keys.
  early.entered = key ? enter().catch(() => true) : Promise.resolve(true)
  early.entered.then((isIn) => {
    if (!isIn) return
    early.socket = open()
    early.socket.onmessage = (message) => early.said.push(message)
    early.socket.onclose = (event) => (early.closed = event)
  })
  window.early = early
}
