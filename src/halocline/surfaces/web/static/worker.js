// Service worker: caches the page's own files for a reload while the server is unreachable. Network first, so nothing
// stale is shown while the server responds; nothing but the page and its files is ever cached.
const KEPT = 'halocline-page'

const isPage = (url) => url.origin === location.origin && (url.pathname === '/' || url.pathname.startsWith('/static/'))
const plain = (url) => url.origin + url.pathname

self.addEventListener('install', () => self.skipWaiting())
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()))

self.addEventListener('message', (event) => {
  const wanted = (event.data?.keep ?? [])
    .map((address) => new URL(address, location.origin))
    .filter(isPage)
    .map(plain)
  const kept = caches.open(KEPT).then((cache) => Promise.all(wanted.map((url) => cache.add(url).catch(() => {}))))
  event.waitUntil(kept.then(() => event.source?.postMessage('kept')))
})

self.addEventListener('fetch', (event) => {
  const url = new URL(event.request.url)
  if (event.request.method !== 'GET' || !isPage(url)) return
  event.respondWith(
    fetch(event.request).catch(async (error) => {
      const kept = await caches.match(plain(url))
      if (kept) return kept
      throw error
    }),
  )
})
