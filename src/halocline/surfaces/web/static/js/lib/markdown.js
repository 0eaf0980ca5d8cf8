// Renders a model's Markdown. The browser never parses any of it as HTML: a few harmless tags are drawn without their
// attributes and all others shown as text, images become links, and links lead only to the web or to a mail address.
// Complete blocks are drawn once; the last one, while it is written, is redrawn at most a quarter of the time and grows
// as plain text in between.
import { Component, h, html } from './ui.js'
import { Marked } from '../../vendor/marked.js'
import { shown } from './format.js'
import { Code } from './code.js'
import { FileName, placeIn } from './file-name.js'
import { FORMULAS } from './find-formulas.js'
import { FOOTNOTES, Note, notesIn, Reference } from './footnotes.js'
import { Diagram, Formula } from './drawn-blocks.js'

const DETAILS =
  /^<details(?: open)?>\s*(?:<summary>([^<]*(?:<\/?\w+>[^<]*)*?)<\/summary>)?([^]*?)<\/details>[ \t]*(?:\n|$)/
const FOLDS = {
  name: 'details',
  level: 'block',
  start: (text) => text.match(/^<details/m)?.index,
  tokenizer(raw) {
    const found = DETAILS.exec(raw)
    if (!found) return undefined
    const title = this.lexer.inlineTokens((found[1] ?? 'Details').trim())
    return { type: 'details', raw: found[0], title, tokens: this.lexer.blockTokens(found[2], []) }
  },
}
const marked = new Marked({ extensions: [...FORMULAS, ...FOOTNOTES, FOLDS] })
// The first search compiles an expression: each rule in a task of its own, and before a reply is drawn.
const RULES = Object.values(marked.Lexer.rules).flatMap(({ gfm }) => Object.values(gfm))
for (const rule of RULES) setTimeout(() => '- a'.search(rule))
for (const text of ['`a`', '- a *b*']) setTimeout(() => marked.lexer(text))

const SCHEMES = /^(https?:|mailto:)/i
const UNFOLDS = /^<details(?: open)?>/
const FENCE = /^ {0,3}(`{3,}|~{3,})/
const LIST = /^ {0,3}([-*+]|\d{1,9}[.)])\s/

/** Offsets where independent blocks end: blank lines outside fences, lists and indented text. */
function cuts(text, from = 0) {
  const ends = []
  let fence = ''
  let at = from
  let blank = -1
  let inList = false
  let inFold = false
  let first = true
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    if (end < 0) break // an incomplete line may still become a fence or an item
    const line = text.slice(at, end)
    if (fence) {
      const close = FENCE.exec(line)
      if (close && close[1][0] === fence[0] && close[1].length >= fence.length && !line.trim().slice(close[1].length))
        fence = ''
    } else if (inFold) inFold = !line.includes('</details>')
    else if (!line.trim()) {
      if (blank < 0) blank = end + 1
    } else {
      const indented = /^(\s{2,}|\t)/.test(line)
      if (blank >= 0 && !indented && !(inList && LIST.test(line))) {
        ends.push(blank)
        inList = false
        first = true
      }
      if (first) inList = LIST.test(line)
      first = false
      blank = -1
      fence = FENCE.exec(line)?.[1] ?? ''
      inFold = UNFOLDS.test(line) && !line.includes('</details>')
    }
    at = end + 1
  }
  return ends
}

// The only HTML that is drawn: these tags, without attributes, and only where they are closed again.
const TAGS = new Set(['sub', 'sup', 'kbd', 'mark', 'u', 'ins', 's', 'small'])
const OPENING = /^<([a-z]+)>$/i
const BREAK = /^<br\s*\/?>$/i

/** Inline content. A harmless tag holds what stands before the tag that closes it; a tag without one is text. */
function inner(tokens = []) {
  const drawn = []
  const open = new Set() // not looked for again
  for (let at = 0; at < tokens.length; at++) {
    const name = tokens[at].type === 'html' ? OPENING.exec(tokens[at].raw)?.[1].toLowerCase() : ''
    const Tag = TAGS.has(name) && !open.has(name) ? name : ''
    const end = Tag ? tokens.findIndex((one, n) => n > at && one.raw.toLowerCase() === `</${Tag}>`) : -1
    if (Tag && end < 0) open.add(Tag)
    if (end < 0) drawn.push(inline(tokens[at], at))
    else {
      drawn.push(html`<${Tag} key=${at}>${inner(tokens.slice(at + 1, end))}</${Tag}>`)
      at = end
    }
  }
  return drawn
}

function inline(token, at) {
  switch (token.type) {
    case 'text':
    case 'escape':
      return token.tokens ? inner(token.tokens) : shown(unescape(token.text))
    case 'strong':
      return html`<strong key=${at}>${inner(token.tokens)}</strong>`
    case 'em':
      return html`<em key=${at}>${inner(token.tokens)}</em>`
    case 'del':
      return html`<del key=${at}>${inner(token.tokens)}</del>`
    case 'codespan':
      return codespan(unescape(token.text), at)
    case 'br':
      return html`<br key=${at} />`
    case 'link':
      return link(token.href, inner(token.tokens), at)
    case 'image':
      return link(token.href, `[image: ${shown(token.text || token.href)}]`, at)
    case 'formula':
      return html`<${Formula} key=${at} text=${token.text} display=${token.display} open=${token.open} />`
    case 'footnote_reference':
      return token.isKnown ? html`<${Reference} key=${at} name=${token.name} />` : shown(token.raw)
    case 'checkbox':
      return html`<span key=${at} aria-hidden="true">${token.checked ? '☑ ' : '☐ '}</span>`
    default:
      return token.type === 'html' && BREAK.test(token.raw) ? html`<br key=${at} />` : shown(token.raw)
  }
}

function codespan(text, at) {
  const place = placeIn(text)
  const plain = html`<code key=${at}>${shown(text)}</code>`
  return place ? html`<${FileName} key=${at} text=${text} ...${place}>${plain}<//>` : plain
}

function link(address, content, at) {
  const place = address && !SCHEMES.test(address) ? placeIn(address) : null
  if (place) return html`<${FileName} key=${at} text=${address} ...${place}>${content}<//>`
  if (!SCHEMES.test(address ?? ''))
    return html`<span key=${at}>${content} <span class="soft">(${shown(address ?? '')})</span></span>`
  return html`<a key=${at} href=${address} target="_blank" rel="noreferrer noopener" title=${address}>${content}</a>`
}

const ENTITIES = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'" }
const unescape = (text) => text.replace(/&(?:amp|lt|gt|quot|#39);/g, (entity) => ENTITIES[entity])

const CALLOUT = /^\[!(note|tip|important|warning|caution)\](?:\n|$)/i

/** A quotation, or what GitHub draws of one that begins with `[!NOTE]`. */
function quote({ tokens }, at) {
  const [first, ...others] = tokens
  const kind = CALLOUT.exec(first?.tokens?.[0]?.text ?? '')
  if (!kind) return html`<blockquote key=${at} dir="auto">${tokens.map(block)}</blockquote>`
  const [begun, ...rest] = first.tokens
  const said = { ...begun, text: begun.text.slice(kind[0].length), tokens: undefined }
  const name = kind[1].toLowerCase()
  return html`<blockquote key=${at} dir="auto" class=${`callout ${name}`}>
    <p><strong>${name[0].toUpperCase() + name.slice(1)}</strong></p>
    ${[{ ...first, tokens: [said, ...rest] }, ...others].map(block)}
  </blockquote>`
}

const fold = ({ title, tokens }, at) => html`<details key=${at} dir="auto">
  <summary>${inner(title)}</summary>
  ${tokens.map(block)}
</details>`

function block(token, at) {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading': {
      const Tag = token.level ? `h${token.level}` : 'p'
      return html`<${Tag} key=${at} dir="auto" class=${`md-h md-h${token.depth}`}>${inner(token.tokens)}</${Tag}>`
    }
    case 'paragraph':
      return html`<p key=${at} dir="auto">${inner(token.tokens)}</p>`
    case 'text':
      return html`<span key=${at}>${token.tokens ? inner(token.tokens) : shown(unescape(token.text))}</span>`
    case 'code': {
      const language = (token.lang ?? '').split(/\s/, 1)[0]
      const Kind = language === 'mermaid' && !token.open ? Diagram : Code
      return html`<${Kind} key=${at} text=${token.text} language=${language} open=${token.open} />`
    }
    case 'blockquote':
      return quote(token, at)
    case 'details':
      return fold(token, at)
    case 'list': {
      const items = token.items.map(
        (item, n) =>
          html`<li key=${n} class=${item.task ? 'task-item' : null}>
            ${item.task && !item.tokens.some((t) => t.type === 'checkbox' || t.tokens?.[0]?.type === 'checkbox') ? (item.checked ? '☑ ' : '☐ ') : ''}
            ${item.tokens.map(block)}
          </li>`,
      )
      return token.ordered
        ? html`<ol key=${at} dir="auto" start=${token.start || 1}>${items}</ol>`
        : html`<ul key=${at} dir="auto">${items}</ul>`
    }
    case 'formula':
    case 'checkbox':
      return inline(token, at)
    case 'table':
      return html`<div key=${at} class="table-box" tabindex="0" role="group" aria-label="Table">
        <table>
          <thead>
            <tr>${token.header.map((cell, n) => html`<th key=${n} dir="auto" class=${cell.align}>${inner(cell.tokens)}</th>`)}</tr>
          </thead>
          <tbody>
            ${token.rows.map(
              (row, r) => html`<tr key=${r}>
                ${row.map((cell, n) => html`<td key=${n} dir="auto" class=${cell.align}>${inner(cell.tokens)}</td>`)}
              </tr>`,
            )}
          </tbody>
        </table>
      </div>`
    case 'footnote':
      return html`<${Note} key=${at} name=${token.name}>${token.tokens.map(block)}<//>`
    case 'hr':
      return html`<hr key=${at} />`
    default:
      return html`<p key=${at} class="raw">${shown(token.raw)}</p>`
  }
}

/** The depth of the first heading, or 0. */
const firstDepth = (text) => /^ {0,3}(#{1,6})\s/m.exec(text)?.[1].length ?? 0

/** `first` is the depth of the text's first heading. The page's own headings are the first two levels, and no level
 *  below them is skipped, whatever the text uses. `notes` are the names of the whole text's footnotes. */
function tokensOf(text, open, first, notes) {
  const tokens = marked.lexer(text)
  const names = new Set(notes.split(' '))
  if (notes)
    marked.walkTokens(tokens, (token) => {
      if (token.type === 'footnote_reference') token.isKnown = names.has(token.name)
    })
  for (const token of tokens) if (token.type === 'heading') token.level = token.depth > (first || token.depth) ? 4 : 3
  const last = tokens.at(-1)
  if (open && last?.type === 'code') last.open = true
  if (open) marked.walkTokens(tokens, (token) => void (token.type === 'formula' && (token.open = true)))
  return tokens
}

/** A block. While it is written, it is redrawn at most a fifth of the time and grows as plain text in between; the cost
 *  is measured at each draw. It stays the same element once complete. */
class Block extends Component {
  constructor() {
    super()
    this.drawn = ''
    this.next = 0
    this.nodes = null
  }
  shouldComponentUpdate({ text, open, notes }) {
    return text !== this.props.text || open !== this.props.open || notes !== this.props.notes
  }
  componentDidMount() {
    this.componentDidUpdate()
  }
  componentDidUpdate() {
    if (!this.began) return
    const now = performance.now()
    this.next = now + 4 * Math.max(now - this.began, 4)
    this.began = 0
  }
  render({ text, first, open, notes }) {
    const now = performance.now()
    if (!open || now >= this.next || !text.startsWith(this.drawn)) {
      this.nodes = tokensOf(text, open, first, notes).map(block)
      this.drawn = text
      this.began = now
    }
    const rest = text.slice(this.drawn.length)
    return rest ? addTail(this.nodes, html`<span class="tail">${shown(rest)}</span>`, this.drawn) : this.nodes
  }
}

/** Put plain text behind blocks: into the last one, if that is a paragraph without an end, so that no word is broken. */
function addTail(nodes, tail, drawn) {
  const last = nodes.at(-1)
  if (last?.type !== 'p' || /\n\s*\n$/.test(drawn)) return [...nodes, tail]
  return [...nodes.slice(0, -1), h('p', { ...last.props, key: last.key }, last.props.children, tail)]
}

export class Markdown extends Component {
  constructor() {
    super()
    this.text = ''
    this.ends = []
  }
  shouldComponentUpdate(next) {
    return next.text !== this.props.text || next.draft !== this.props.draft
  }
  render({ text, draft }) {
    if (!text.startsWith(this.text)) {
      this.ends = []
      this.first = 0
    }
    const begin = this.ends.at(-1) ?? 0
    this.ends = [...this.ends, ...cuts(text, begin)]
    this.text = text
    this.first ||= firstDepth(text)
    const notes = notesIn(text)
    const parts = []
    let from = 0
    const add = (part, open) => {
      const own = part.includes('[^') ? notes : ''
      parts.push(html`<${Block} key=${from} text=${part} first=${this.first} open=${open} notes=${own} />`)
    }
    for (const end of this.ends) {
      add(text.slice(from, end), false)
      from = end
    }
    const rest = text.slice(from)
    if (rest) add(rest, Boolean(draft))
    return html`<div class="md">${parts}</div>`
  }
}
