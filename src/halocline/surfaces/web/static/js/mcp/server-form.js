// The form to add or edit an MCP server: a program, a URL, or pasted JSON. Values of variables are write-only.
import { html, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { toast } from '../state/store.js'
import { base, shown } from '../lib/format.js'
import { useAction } from '../widgets/page-frame.js'
import { Labelled, Trouble } from '../widgets/form.js'
import { useUnsent } from '../widgets/use-draft.js'
import { splitCommand, splitLines, parsePairs, parsePasted, quoteWord, unquoteWord } from './parse-servers.js'

const KINDS = [
  ['program', 'Local program'],
  ['address', 'Remote URL'],
  ['paste', 'Paste JSON'],
]
const EMPTY = { command: '', args: '', env: '', url: '', headers: '', cwd: '', timeout: '' }

function fieldsOf(config) {
  if (!config) return EMPTY
  return {
    ...EMPTY,
    command: config.command ? quoteWord(config.command) : '',
    args: (config.args ?? []).map(quoteWord).join('\n'),
    env: (config.env ?? []).join('\n'),
    url: config.url ?? '',
    headers: (config.headers ?? []).join('\n'),
    cwd: config.cwd ?? '',
    timeout: String(config.timeout ?? ''),
  }
}

/** The entry for the file. */
function entryOf(kind, fields) {
  /** @type {Record<string, any>} */
  const given =
    kind === 'program'
      ? {
          ...splitCommand(fields.command, splitLines(fields.args).map(unquoteWord)),
          env: parsePairs(fields.env, '='),
        }
      : { url: fields.url.trim(), headers: parsePairs(fields.headers, ':') }
  if (kind === 'program' && fields.cwd.trim()) given.cwd = fields.cwd.trim()
  if (Number(fields.timeout)) given.timeout = Number(fields.timeout)
  return given
}

/** The changes to an existing server: removed fields are null; a bare variable name keeps its value. */
function changesOf(kind, fields, config) {
  const given = { cwd: null, ...entryOf(kind, fields) }
  const before = { cwd: null, ...entryOf(kind, fieldsOf(config)) }
  const changes = Object.fromEntries(
    Object.entries(given).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])),
  )
  for (const name of ['env', 'headers']) {
    if (!(name in given)) continue
    const kept = splitLines(fields[name]).filter((line) => !/[=:]/.test(line))
    const gone = (config[name] ?? []).filter((one) => !(one in given[name]) && !kept.includes(one))
    changes[name] = { ...given[name], ...Object.fromEntries(gone.map((one) => [one, null])) }
    if (!Object.keys(changes[name]).length) delete changes[name]
  }
  return changes
}

/** What is being entered, kept as a draft until it is saved: [its parts, functions that change them, forget]. */
function useServerDraft(draft, old, config) {
  const [kind, setKind, forgetKind] = useUnsent(`${draft} kind`, config?.url ? 'address' : 'program')
  const [name, setName, forgetName] = useUnsent(`${draft} name`, old)
  const [fields, setFields, forgetFields] = useUnsent(draft, fieldsOf(config))
  const [text, setText, forgetText] = useUnsent(`${draft} text`, '')
  const found = kind === 'paste' && text.trim() ? parsePasted(text, name.trim()) : { servers: {}, problem: '' }
  const setField = (what) => (e) => setFields({ ...fields, [what]: e.target.value })
  const forgetDraft = () => [forgetKind, forgetName, forgetFields, forgetText].forEach((one) => one())
  return { kind, setKind, name, setName, fields, setField, text, setText, found, forgetDraft }
}

function isComplete({ kind, name, fields, found }, old) {
  if (kind === 'paste') return Object.keys(found.servers).length > 0
  return (old || name.trim()) && (kind === 'program' ? fields.command.trim() : /^https?:\/\//.test(fields.url.trim()))
}

/** The servers that saving writes, by name. */
const listServers = ({ kind, name, fields, found }, old) =>
  kind === 'paste' ? found.servers : { [old || name.trim()]: entryOf(kind, fields) }

export function ServerForm({ workspace, name: old = '', config = null, done }) {
  const draft = useServerDraft(`server ${workspace} ${old}`, old, config)
  const { kind, fields, setField, forgetDraft } = draft
  const [project, setProject] = useState(false)
  const [save, busy, error] = useAction(async () => {
    if (old) {
      await act('mcp_set', { workspace, name: old, changes: changesOf(kind, fields, config) })
      forgetDraft()
      toast(`${old} updated.`)
      return done(old)
    }
    const servers = listServers(draft, '')
    for (const [one, entry] of Object.entries(servers))
      await act('mcp_add', { workspace, name: one, config: entry, project })
    forgetDraft()
    const names = Object.keys(servers)
    toast(`Added ${names.join(', ')}. Test it to see its tools.`)
    return done(names[0])
  })
  const ready = isComplete(draft, old)
  const keep = old ? ' A bare name keeps its value.' : ''
  return html`<form class="pile" onSubmit=${(e) => (e.preventDefault(), ready && save())} autocomplete="off">
    ${!old && html`<${NameFields} ...${draft} />`}
    ${kind === 'program' && html`<${ProgramFields} fields=${fields} setField=${setField} keep=${keep} />`}
    ${kind === 'address' && html`<${AddressFields} fields=${fields} setField=${setField} keep=${keep} />`}
    ${kind === 'paste' && html`<${PasteField} ...${draft} />`}
    ${
      kind !== 'paste' &&
      html`<${Labelled} id="timeout-new" label="Call timeout (seconds)" note="Default: 60.">
        <input
          class="field test-model"
          id="timeout-new"
          inputmode="numeric"
          value=${fields.timeout}
          onInput=${setField('timeout')}
        />
      </${Labelled}>`
    }
    ${
      !old &&
      html`<fieldset class="setting">
        <legend>Available to</legend>
        <div class="pick-some">
          <label class="pick-one">
            <input type="radio" name="whom" checked=${!project} onChange=${() => setProject(false)} /> Me, in all
            folders
          </label>
          <label class="pick-one">
            <input type="radio" name="whom" checked=${project} onChange=${() => setProject(true)} /> Everyone in
            ${' '}${base(workspace)}
          </label>
        </div>
      </fieldset>`
    }
    ${ready && html`<${WillRun} kind=${kind} servers=${listServers(draft, old)} />`}
    ${
      project &&
      /[=:]\s*[^\s$]/.test(kind === 'program' ? fields.env : kind === 'address' ? fields.headers : '') &&
      html`<p class="warn">
        These values are saved in the project’s file, where others can read them. Use NAME=\${NAME} to read them from
        each person’s environment.
      </p>`
    }
    <${Trouble} error=${error} />
    <div class="row">
      <button class="button primary" type="submit" disabled=${!ready || busy}>${old ? 'Save' : 'Add server'}</button>
    </div>
  </form>`
}

const NameFields = ({ kind, setKind, name, setName }) => html`
  <h2>Add a server</h2>
  <fieldset class="setting">
    <legend>Type</legend>
    <div class="pick-some">
      ${KINDS.map(
        ([value, text]) => html`<label key=${value} class="pick-one">
          <input type="radio" name="kind" checked=${kind === value} onChange=${() => setKind(value)} /> ${text}
        </label>`,
      )}
    </div>
  </fieldset>
  <${Labelled}
    id="server-name"
    label="Name"
    note=${kind === 'paste' ? 'Only if the JSON has no name.' : 'Up to 100 letters and signs, as menus show it.'}
  >
    <input
      class="field"
      id="server-name"
      value=${name}
      onInput=${(e) => setName(e.target.value)}
      spellcheck=${false}
    />
  </${Labelled}>
`

const Area = ({ id, label, note, rows = 2, fields, setField, ...more }) =>
  html`<${Labelled} id=${id} label=${label} note=${note}>
    <textarea
      class="field mono"
      id=${id}
      rows=${rows}
      spellcheck=${false}
      aria-describedby=${`${id}-note`}
      value=${fields[id]}
      onInput=${setField(id)}
      ...${more}
    ></textarea>
  </${Labelled}>`

const ProgramFields = ({ fields, setField, keep }) => html`
  <${Labelled} id="command" label="Command">
    <input
      class="field mono"
      id="command"
      placeholder="npx"
      value=${fields.command}
      onInput=${setField('command')}
      spellcheck=${false}
    />
  </${Labelled}>
  <${Area}
    id="args"
    label="Arguments"
    note="One per line, passed as is, without a shell."
    rows=${3}
    placeholder=${'-y\n@playwright/mcp'}
    fields=${fields}
    setField=${setField}
  />
  <${Area}
    id="env"
    label="Environment variables"
    note=${`NAME=value, one per line. NAME=\${NAME} reads it from your environment.${keep}`}
    fields=${fields}
    setField=${setField}
  />
  <${Labelled} id="cwd" label="Working folder" note="Default: the task’s folder.">
    <input class="field mono" id="cwd" value=${fields.cwd} onInput=${setField('cwd')} spellcheck=${false} />
  </${Labelled}>
`

const AddressFields = ({ fields, setField, keep }) => html`
  <${Labelled} id="url" label="URL">
    <input
      class="field mono"
      id="url"
      type="url"
      placeholder="https://…"
      value=${fields.url}
      onInput=${setField('url')}
      spellcheck=${false}
    />
  </${Labelled}>
  <${Area}
    id="headers"
    label="Headers"
    note=${`Name: value, one per line. Not needed if you sign in.${keep}`}
    fields=${fields}
    setField=${setField}
  />
`

const PasteField = ({ text, setText, found }) => html`<${Labelled}
  id="paste"
  label="JSON"
  note="The mcpServers object, or one server from it."
  error=${found.problem}
>
  <textarea
    class="field mono"
    id="paste"
    rows="10"
    spellcheck=${false}
    aria-describedby="paste-note"
    value=${text}
    onInput=${(e) => setText(e.target.value)}
    placeholder='{ "mcpServers": { "name": { "command": "…" } } }'
  ></textarea>
</${Labelled}>`

/** What starts with the next task, as it will be run. */
const WillRun = ({ kind, servers }) => html`<div>
  <span class="soft tiny">
    ${kind === 'address' ? 'Connects' : 'Runs or connects'} from the next task on:
  </span>
  <code class="run-line">
    ${Object.entries(servers)
      .map(([one, entry]) =>
        shown(`${one}: ${entry.url ?? [entry.command, ...(entry.args ?? [])].map(quoteWord).join(' ')}`),
      )
      .join('\n')}
  </code>
</div>`
