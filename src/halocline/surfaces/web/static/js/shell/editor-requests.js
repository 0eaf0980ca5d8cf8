// What an editor asks of the page, and what a page asks of its editor. Loaded only inside one.
import { compose } from '../composer/quote.js'
import { go } from '../state/store.js'

const { early } = window

function handleRequest({ detail }) {
  switch (detail?.type) {
    case 'insert':
      compose(detail.text)
      break
    case 'go':
      go(...detail.words)
      break
    case 'focus':
      document.querySelector('.composer textarea')?.focus()
  }
}

/** Serve the editor, which sends what it kept until now. */
export function serve() {
  addEventListener('editor', /** @type {EventListener} */ (/** @type {unknown} */ (handleRequest)))
  early.tell('ready')
}
