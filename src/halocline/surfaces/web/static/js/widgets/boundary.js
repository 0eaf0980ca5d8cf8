// The one place that catches what throws while it is drawn: some words stand there instead, and all around it lives.
import { Component, html } from '../lib/ui.js'

const HELP = {
  row: 'The rest of the task is not affected.',
  part: 'The rest of the page is not affected.',
  view: 'Nothing is lost. If it happens again, reload the page.',
}

/** Draw the children. What threw is drawn again when asked, and when `of`, which it shows, is another. */
export class Boundary extends Component {
  static getDerivedStateFromError = (error) => ({ error })

  componentWillReceiveProps({ of }) {
    if (of !== this.props.of) this.setState({ error: null })
  }

  componentDidCatch(error) {
    console.error(error)
  }

  render({ children, what = 'part', of, close }, { error }) {
    if (!error) return children
    const again = () => this.setState({ error: null })
    const details = [`This ${what} could not be drawn`, of?.type, window.early.base, error?.stack ?? error]
    return html`<div class="undrawn" role="alert" data-card=${what === 'row' || null} tabindex="-1">
      <span class="grow"><strong>This ${what} could not be drawn.</strong> ${HELP[what]}</span>
      <button type="button" class="button small" onClick=${again}>Try again</button>
      <${Copy} text=${details.filter(Boolean).join('\n')} />
      ${
        close
          ? html`<button type="button" class="button small" onClick=${close}>Close</button>`
          : what === 'view' && html`<a class="button small" href="#/">New task</a>`
      }
    </div>`
  }
}

class Copy extends Component {
  render({ text }, { done }) {
    const copy = () => navigator.clipboard?.writeText(text).then(() => this.setState({ done: true }))
    return html`<button type="button" class="button small" onClick=${copy}>${done ? 'Copied' : 'Copy details'}</button>`
  }
}
