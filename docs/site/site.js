// Search, theme and menu. What is searched is in search.js, which is loaded when a person begins to search.
const root = document.documentElement
const base = document.currentScript.dataset.root
const MOST = 12
const AROUND = 70
const THEMES = { '': 'Auto', light: 'Light', dark: 'Dark' }

root.classList.add('live')
root.dataset.theme = localStorage.getItem('theme') ?? ''

function normalize(text) {
  return text.toLowerCase()
}

function score([, title, heading, text], words) {
  let sum = 0
  for (const word of words) {
    const places = [title, heading, text].map((place) => normalize(place).indexOf(word))
    if (places.every((place) => place < 0)) return 0
    const [inTitle, inHeading, inText] = places.map((place) => place >= 0)
    sum += 8 * inTitle + 6 * inHeading + inText + (inTitle && !heading ? 4 : 0)
  }
  return sum
}

function search(query) {
  const words = normalize(query).split(/\s+/).filter(Boolean)
  const rows = words.length ? (window.searchRows ?? []) : []
  const found = rows.map((row) => [score(row, words), row]).filter(([points]) => points)
  return {
    words,
    rows: found
      .sort((one, other) => other[0] - one[0])
      .slice(0, MOST)
      .map(([, row]) => row),
  }
}

function snippet(text, words) {
  const at = Math.max(0, normalize(text).indexOf(words.find((word) => normalize(text).includes(word)) ?? ''))
  const part = text.slice(Math.max(0, at - AROUND), at + 2 * AROUND)
  const shown = document.createElement('small')
  const pattern = new RegExp(`(${words.map((word) => word.replace(/[^\w]/g, '\\$&')).join('|')})`, 'i')
  for (const [place, piece] of part.split(pattern).entries()) {
    const node = place % 2 ? document.createElement('mark') : document.createTextNode(piece)
    if (place % 2) node.textContent = piece
    shown.append(node)
  }
  return shown
}

function show(box, query) {
  const { words, rows } = search(query)
  const links = rows.map(([address, title, heading, text]) => {
    const link = document.createElement('a')
    link.href = base + address
    const name = document.createElement('b')
    name.textContent = heading && heading !== title ? `${title} › ${heading}` : title
    link.append(name, snippet(text, words))
    return link
  })
  box.replaceChildren(...(links.length ? links : ['Nothing found.']))
  box.hidden = !words.length
}

function load() {
  if (load.begun) return load.begun
  const script = document.createElement('script')
  script.src = `${base}search.js`
  load.begun = new Promise((resolve) => script.addEventListener('load', resolve))
  document.head.append(script)
  return load.begun
}

function startSearch(form, input, box) {
  const update = () => load().then(() => show(box, input.value))
  input.addEventListener('focus', load)
  input.addEventListener('input', update)
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    update().then(() => box.querySelector('a')?.click())
  })
  document.addEventListener('keydown', (event) => {
    const links = [input, ...box.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') box.hidden = true
    else if (event.key === '/' && at !== 0) input.focus()
    else if (step && at >= 0 && !box.hidden) links[at + step]?.focus()
    else return
    event.preventDefault()
  })
  document.addEventListener('click', (event) => {
    if (!box.contains(event.target) && event.target !== input) box.hidden = true
  })
}

function startTheme(button) {
  const names = Object.keys(THEMES)
  const label = () => (button.textContent = THEMES[root.dataset.theme])
  button.setAttribute('aria-label', 'Colors: automatic, light or dark')
  button.addEventListener('click', () => {
    root.dataset.theme = names[(names.indexOf(root.dataset.theme) + 1) % names.length]
    localStorage.setItem('theme', root.dataset.theme)
    label()
  })
  label()
}

document.addEventListener('DOMContentLoaded', () => {
  const find = (selector) => document.querySelector(selector)
  startSearch(find('header form'), find('header input'), find('.found'))
  startTheme(find('.theme'))
  find('.menu').addEventListener('click', (event) => {
    const shown = find('nav').classList.toggle('shown')
    event.target.setAttribute('aria-expanded', shown)
    scrollTo(0, 0)
  })
})
