// Third-party servers from the configured registry. Nothing is installed before you see what it runs.
import { html, signal, useRef, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { toast } from '../state/store.js'
import { base, shown } from '../lib/format.js'
import { Markdown } from '../lib/markdown.js'
import { Answer, Dialog, Empty, useAction, useQuery } from '../widgets/page-frame.js'
import { Badge, Labelled, Trouble } from '../widgets/form.js'

const CATEGORIES = ['browser', 'database', 'files', 'git', 'search', 'cloud', 'docs', 'design', 'monitoring', 'chat']
const SECRET = /key|token|secret|password/i
const SORTS = {
  '': 'Registry order',
  name: 'Name',
  newest: 'Newest',
  stars: 'Most stars',
  downloads: 'Most downloads',
}
const asked = signal({ words: '', category: '', sort: '' })

export function Market({ workspace, done }) {
  const [text, setText] = useState(asked.value.words)
  const [plan, setPlan] = useState(null)
  const wish = asked.value
  const wanted = Boolean(wish.words || wish.category)
  return html`<div class="pile">
    <h2>Find a server</h2>
    <p class="soft">
      Third-party servers from the MCP registry. They are not reviewed; you see what a server runs before you add it.
    </p>
    <form
      class="row"
      role="search"
      onSubmit=${(e) => (e.preventDefault(), (asked.value = { ...wish, words: text.trim(), category: text.trim() === wish.words ? wish.category : '' }))}
    >
      <input
        class="field grow test-model"
        type="search"
        aria-label="Search the registry"
        placeholder="github, postgres, …"
        value=${text}
        onInput=${(e) => setText(e.target.value)}
      />
      <select
        class="field"
        aria-label="Sort by"
        value=${wish.sort}
        onChange=${(e) => (asked.value = { ...wish, sort: e.target.value })}
      >
        ${Object.entries(SORTS).map(([name, text]) => html`<option key=${name} value=${name}>${text}</option>`)}
      </select>
      <button class="button primary" type="submit">Search</button>
    </form>
    <div class="row" role="group" aria-label="Categories">
      ${CATEGORIES.map(
        (one) => html`<button
          key=${one}
          class=${`chip${wish.category === one ? ' on' : ''}`}
          aria-pressed=${wish.category === one}
          onClick=${() => (setText(''), (asked.value = { ...wish, words: '', category: wish.category === one ? '' : one }))}
        >
          ${one}
        </button>`,
      )}
    </div>
    ${wanted && html`<${Found} key=${JSON.stringify(wish)} wish=${wish} choose=${setPlan} />`}
    ${plan && html`<${Install} of=${plan} workspace=${workspace} onClose=${() => setPlan(null)} done=${done} />`}
  </div>`
}

function Found({ wish, choose }) {
  const found = useQuery('registry', {
    words: wish.words,
    ...(wish.category && { category: wish.category }),
    ...(wish.sort && { sort: wish.sort }),
  })
  return html`<${Answer} of=${found} what="the registry">
    ${(list) =>
      list.length
        ? html`<ul class="items lines">
          ${list.map(
            (one) => html`<li key=${one.name} class="entry">
              <div class="row">
                <strong class="grow">${shown(one.title || one.name)}</strong>
                <span class="soft tiny">${shown(one.version ?? '')}</span>
                <button class="button small" onClick=${() => choose(one)}>
                  Details
                  <span class="hidden-text"> ${shown(one.name)}</span>
                </button>
              </div>
              <p class="soft tiny">${shown(one.about ?? one.description ?? '')}</p>
              <p class="tiny soft mono">
                ${shown(one.name)} ${one.stars > 0 && `· ${one.stars} stars `}
                ${one.downloads > 0 && `· ${one.downloads} downloads `}
                ${(one.tags ?? []).map((tag) => html`<${Badge} key=${tag}>${shown(tag)}</${Badge}>`)}
                ${one.is_deprecated && html`<${Badge} kind="warn">deprecated</${Badge}>`}
              </p>
            </li>`,
          )}
        </ul>`
        : html`<${Empty} title=${`No results for ‘${wish.words || wish.category}’.`}>
          Try fewer words, or add a server manually.
        </${Empty}>`}
  </${Answer}>`
}

function Install({ of, workspace, onClose, done }) {
  const [values, setValues] = useState({})
  const [typed, setTyped] = useState({})
  const [option, setOption] = useState(1)
  const [name, setName] = useState(of.name.split('/').at(-1))
  const [project, setProject] = useState(false)
  const plan = useQuery('registry_plan', { name: of.name, values, workspace })
  const readme = useQuery('registry_readme', { name: of.name })
  const given = Object.fromEntries(Object.entries(typed).filter(([, value]) => value))
  const meanings = useRef({})
  for (const one of plan.value?.ways ?? []) for (const [name, meaning] of one.wanted) meanings.current[name] ||= meaning
  const [install, busy, error] = useAction(async () => {
    const added = await act('mcp_install', {
      name: of.name,
      workspace,
      way: option,
      values: given,
      called: name.trim(),
      project,
    })
    toast(`Added ${added}. Test it to see its tools.`)
    onClose()
    done(added)
  })
  return html`<${Dialog}
    title=${shown(of.title || of.name)}
    wide
    onClose=${onClose}
    foot=${html`
      <button class="button primary" disabled=${busy || !plan.value?.ways.length || !name.trim()} onClick=${install}>
        Add server
      </button>
      <button class="button" onClick=${onClose}>Cancel</button>
    `}
  >
    <div class="pile">
      <p>${shown(of.about ?? of.description ?? '')}</p>
      ${
        /^https?:/.test(of.page ?? '') &&
        html`<p class="tiny">
          Website: <a href=${of.page} target="_blank" rel="noreferrer noopener">${shown(of.page)}</a>
        </p>`
      }
      <${Answer} of=${plan} what="install options">
        ${({ ways, bundles = [] }) => html`
          ${
            bundles.length > 0 &&
            html`<p class="soft">
              Also available as a bundle. Install it in a
              terminal: <code>halo mcp install ${shown(of.name)}</code>
            </p>`
          }
          <${Options} options=${ways} chosen=${option} choose=${setOption} />
          <${Variables}
            wanted=${ways[option - 1]?.wanted ?? []}
            meanings=${meanings.current}
            typed=${typed}
            setTyped=${setTyped}
            onLeave=${() => setValues(Object.fromEntries(Object.entries(given).filter(([name]) => !SECRET.test(name))))}
          />
        `}
      </${Answer}>
      <${Labelled} id="called" label="Name">
        <input
          class="field"
          id="called"
          value=${name}
          onInput=${(e) => setName(e.target.value)}
          spellcheck=${false}
        />
      </${Labelled}>
      <div class="pick-some">
        <label class="pick-one">
          <input type="radio" name="market-whom" checked=${!project} onChange=${() => setProject(false)} /> For me
        </label>
        <label class="pick-one">
          <input type="radio" name="market-whom" checked=${project} onChange=${() => setProject(true)} /> For everyone
          in ${base(workspace)}
        </label>
      </div>
      ${
        project &&
        Object.keys(given).length > 0 &&
        html`<p class="warn">
          These values are saved in the project’s file, where others can read them. Leave keys empty to read them from
          each person’s environment.
        </p>`
      }
      <${Trouble} error=${error} />
      ${readme.value && html`<details open><summary>README</summary><${Markdown} text=${readme.value} /></details>`}
    </div>
  </${Dialog}>`
}

/** The install options of a server: `chosen` counts from 1. */
const Options = ({ options, chosen, choose }) => html`
  ${!options.length && html`<p class="warn">No install option works from here.</p>`}
  <fieldset class="setting">
    <legend>${!options.length ? '' : options.length > 1 ? 'Install option' : 'Runs or connects to'}</legend>
    ${options.map(
      (one, at) => html`<label key=${at} class="pick-one">
        ${
          options.length > 1 &&
          html`<input type="radio" name="way" checked=${chosen === at + 1} onChange=${() => choose(at + 1)} />`
        }
        <code class="run-line grow">${shown(one.runs)}</code>
      </label>`,
    )}
  </fieldset>
  ${options[chosen - 1]?.barred && html`<p class="warn">${shown(options[chosen - 1].barred)}</p>`}
`

/** Fields for the values that an option wants, and for those that were typed before. */
const Variables = ({ wanted, meanings, typed, setTyped, onLeave }) => html`
  ${wanted.length > 0 && html`<p class="soft tiny">Required values:</p>`}
  ${[...new Set([...wanted.map(([name]) => name), ...Object.keys(typed)])].map(
    (name) => html`<${Labelled}
      key=${name}
      id=${`want-${name}`}
      label=${shown(name)}
      note=${shown(meanings[name] ?? '') || 'Leave empty to read it from your environment.'}
    >
      <input
        class="field mono"
        id=${`want-${name}`}
        type=${SECRET.test(name) ? 'password' : 'text'}
        autocomplete="off"
        value=${typed[name] ?? ''}
        onInput=${(e) => setTyped({ ...typed, [name]: e.target.value })}
        onBlur=${onLeave}
      />
    </${Labelled}>`,
  )}
`
