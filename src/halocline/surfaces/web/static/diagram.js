// Runs in the sandboxed frame: draws the diagram that the page sends. Links are inert, as nothing may leave the frame.
'use strict'
const say = (what) => parent.postMessage(what, '*')
addEventListener('click', (event) => event.preventDefault(), true)
addEventListener('submit', (event) => event.preventDefault(), true)

addEventListener('message', async (event) => {
  if (event.source !== parent || typeof event.data?.text !== 'string') return
  const { text, dark } = event.data
  document.documentElement.className = dark ? 'dark' : 'light'
  mermaid.initialize({
    startOnLoad: false,
    securityLevel: 'strict',
    theme: dark ? 'dark' : 'neutral',
    htmlLabels: false,
    flowchart: { htmlLabels: false },
    maxTextSize: 30_000,
    maxEdges: 400,
    suppressErrorRendering: true,
    fontFamily: 'system-ui, sans-serif',
    secure: [
      'secure',
      'securityLevel',
      'startOnLoad',
      'maxTextSize',
      'maxEdges',
      'suppressErrorRendering',
      'htmlLabels',
      'flowchart',
      'fontFamily',
      'themeCSS',
      'theme',
      'look',
      'layout',
      'dompurifyConfig',
    ],
  })
  try {
    const { svg } = await mermaid.render('drawn', text)
    const place = document.getElementById('place')
    place.innerHTML = svg
    const tell = () => say({ height: place.getBoundingClientRect().height })
    new ResizeObserver(tell).observe(place)
    tell()
  } catch (error) {
    say({ error: String(error?.message ?? error) })
  }
})
say({ ready: true })
