// Code: blocks, and lines of colored pieces. Colored once the grammar is loaded, plain before that and when very long.
import { Component, html, useEffect, useState } from './ui.js'
import { shown } from './format.js'
import { Icon } from './icons.js'
import { definePart } from './parts.js'

const FILES = {
  bash: 'bash sh shell zsh console',
  c: 'c h',
  cpp: 'cpp c++ cc hpp',
  csharp: 'csharp cs',
  css: 'css',
  diff: 'diff patch',
  dockerfile: 'dockerfile docker',
  go: 'go golang',
  ini: 'ini toml cfg',
  java: 'java',
  javascript: 'javascript js jsx mjs cjs',
  json: 'json jsonc',
  kotlin: 'kotlin kt',
  lua: 'lua',
  makefile: 'makefile make mk',
  markdown: 'markdown md',
  php: 'php',
  python: 'python py pyi',
  ruby: 'ruby rb',
  rust: 'rust rs',
  scss: 'scss',
  sql: 'sql',
  swift: 'swift',
  typescript: 'typescript ts tsx',
  xml: 'xml html svg vue',
  yaml: 'yaml yml',
}
const LANGUAGES = new Map(
  Object.entries(FILES).flatMap(([file, names]) => names.split(' ').map((name) => [name, file])),
)

const known = new Set()
const loadCore = definePart(() => import('../../vendor/highlight/core.js'))
const loadGrammar = (file) => definePart(() => import(`../../vendor/highlight/${file}.js`))()

/** The grammar of a language name or a path's extension; empty if there is none. */
export const languageOf = (name) =>
  LANGUAGES.get(name.toLowerCase()) ?? LANGUAGES.get(name.toLowerCase().split('.').at(-1)) ?? ''

async function learn(file) {
  const [{ default: hljs }, grammar] = await Promise.all([loadCore(), loadGrammar(file)])
  if (!known.has(file)) hljs.registerLanguage(file, grammar.default)
  known.add(file)
  highlight = (text, language) => hljs.highlight(text, { language, ignoreIllegals: true }).value
}
let highlight = (_text, _language) => ''

/** A text as markup of its own, escaped; its grammar is loaded. */
export const colorText = (text, file) => highlight(text, file)

/** A language's grammar once loaded; else empty. */
export function useLanguage(language) {
  const file = languageOf(language ?? '')
  const [, again] = useState(0)
  useEffect(() => {
    if (file && !known.has(file))
      learn(file).then(
        () => again((n) => n + 1),
        () => {},
      )
  }, [file])
  return known.has(file) ? file : ''
}

const PIECES = /<span class="([^"]*)">|(<\/span>)|([^<]+)/g
const ENTITIES = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }

/**
 * The lines of a text, each as pieces [text, class]. Pure but for the grammar, which is loaded.
 * @returns {[string, string][][]}
 */
export function colorLines(text, file) {
  /** @type {[string, string][][]} */
  const lines = [[]]
  const open = []
  const before = openedBefore(text, file)
  for (const [, begun, ended, markup] of colorText(before + text, file).matchAll(PIECES)) {
    if (begun != null) open.push(begun)
    else if (ended) open.pop()
    else
      markup
        .replace(/&(amp|lt|gt|quot|#x27);/g, (_, name) => ENTITIES[name])
        .split('\n')
        .forEach((piece, at) => {
          if (at) lines.push([])
          if (piece) lines.at(-1).push([piece, open.at(-1) ?? ''])
        })
  }
  return before ? lines.slice(1) : lines
}

const BLOCK_COMMENTS = new Set('c cpp csharp css go java javascript kotlin php rust scss swift typescript'.split(' '))

/** A line that opens the text or comment in which lines of a file begin, if only its end is among them. Pure. */
export function openedBefore(text, file) {
  if (file === 'python')
    for (const quotes of ['"""', "'''"]) {
      const parts = text.split(quotes)
      if (parts.length % 2 === 0 && /(^|\n)[ \t]*$/.test(parts[0]) && /^[ \t]*(\n|$)/.test(parts[1]))
        return `${quotes}\n`
    }
  if (BLOCK_COMMENTS.has(file)) {
    const end = /^[ \t]*\*.*\*\/|^[ \t]*\*\//m.exec(text)
    if (end && !text.slice(0, end.index).includes('/*')) return '/*\n'
  }
  return ''
}

const LONGEST = 200_000
const LINES = 240
const PIECE = 60

/** Some lines of code. highlight.js returns its own markup around text that it escaped. */
class Piece extends Component {
  shouldComponentUpdate({ text, file }) {
    return text !== this.props.text || file !== this.props.file
  }
  render({ text, file }) {
    const plain = shown(text)
    return file
      ? html`<span class="piece" dangerouslySetInnerHTML=${{ __html: colorText(plain, file) }} />`
      : html`<span class="piece">${plain}</span>`
  }
}

/** Code split into pieces if it is long or growing, so that a new line costs no more than in short code. */
function pieces(text, open) {
  const lines = text.split('\n')
  if (lines.length <= LINES && !(open && lines.length > PIECE)) return [text]
  const found = []
  for (let at = 0; at < lines.length; at += PIECE) {
    const end = at + PIECE < lines.length ? '\n' : ''
    found.push(lines.slice(at, at + PIECE).join('\n') + end)
  }
  return found
}

export function copy(text, button) {
  navigator.clipboard?.writeText(text).then(() => {
    button.dataset.done = 'yes'
    setTimeout(() => delete button.dataset.done, 1200)
  })
}

export const CopyButton = ({ text, label = 'Copy' }) => html`<button
  class="icon-button copy"
  aria-label=${label}
  title=${label}
  onClick=${(e) => copy(text, e.currentTarget)}
>
  <${Icon} name="copy" size="15" />
</button>`

export function Code({ text, language, open }) {
  const here = useLanguage(language)
  const file = text.length > LONGEST ? '' : here
  return html`<figure class="code">
    <figcaption>
      <span class="soft tiny">${language || 'text'}</span>
      ${!open && html`<${CopyButton} text=${text} label="Copy code" />`}
    </figcaption>
    <pre tabindex="0">
      <code class="hljs">
        ${pieces(text, open).map((piece, at) => html`<${Piece} key=${at} text=${piece} file=${file} />`)}
      </code>
    </pre>
  </figure>`
}
