// Prints a task as a document: its export, whole and light, without the page around it. What the browser's own menu
// prints is taken at the moment it asks, so the request must not wait for its turn.
import { complain } from '../state/store.js'

const { early } = window
let opened = ''
let wanted = null
let shown = null

/** The export of a task, asked for at once; null, with a word why, if it does not come. */
function fetchNow(task) {
  const text = ask(task)
  if (!text) complain({ text: 'The task did not load for printing.', hint: 'Try again once you are online.' })
  return text
}

function ask(task) {
  const asked = new XMLHttpRequest()
  asked.open('GET', `/export/${task}.html`, false)
  asked.setRequestHeader('x-halocline-key', early.pageKey())
  try {
    asked.send()
  } catch {
    return null
  }
  return asked.status === 200 ? asked.responseText : null
}

/** Put the document beside the page, which print rules hide for it. */
function showDocument() {
  const text = wanted ?? (opened && !early.isEditor && fetchNow(opened))
  if (!text) return
  const [style, rules] = /<style>([^]*?)<\/style>/.exec(text)
  const given = new DOMParser().parseFromString(text.replace(style, ''), 'text/html')
  given.querySelectorAll('details').forEach((one) => (one.open = true))
  shown = Object.assign(document.createElement('div'), { className: 'printed' })
  const inside = shown.attachShadow({ mode: 'open' })
  const sheet = new CSSStyleSheet() // the page's policy forbids styles within a document
  sheet.replaceSync(rules.replaceAll(/:root|(?<=^| )body(?= \{)/gm, ':host'))
  inside.adoptedStyleSheets = [sheet]
  inside.append(...given.body.childNodes)
  document.body.append(shown)
}

function hideDocument() {
  shown?.remove()
}

addEventListener('beforeprint', showDocument)
addEventListener('afterprint', hideDocument)

/** The task that the browser's own menu prints; '' for none: then the page is printed. */
export const setPrinted = (task) => (opened = task)

/** Print a task, also one that is not open. It is wanted only as long as `print` takes, which may tell no event. */
export function printTask(task) {
  if (early.isEditor)
    return complain({ text: 'Editors cannot print.', hint: 'Export the task as HTML and print that.' })
  wanted = fetchNow(task)
  if (wanted) print()
  wanted = null
}
