// Rule files in order, with cost and scope; which apply to a path; a form for a new one.
import { editConfigFile } from '../files/config-editor.js'
import { html, classes, useState } from '../lib/ui.js'
import { act } from '../lib/connection.js'
import { complain, go, toast } from '../state/store.js'
import { base, count, shown, tokens } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { Markdown } from '../lib/markdown.js'
import {
  Answer,
  Cleared,
  Dialog,
  Empty,
  Filter,
  Panes,
  fits,
  intoList,
  useAction,
  useQuery,
  useRoving,
} from '../widgets/page-frame.js'
import { Badge, Facts, Labelled, Switch, Trouble } from '../widgets/form.js'
import { useDraft } from '../widgets/use-draft.js'

const LETTERS = 4 // per token, approximately
const countTokens = (file) => Math.ceil(file.size / LETTERS)
const OWNERS = { managed: 'the administrator’s', person: 'yours', project: 'the project’s' }

export function RuleFiles({ workspace, path }) {
  const found = useQuery('rules', { workspace })
  return html`<${Answer} of=${found} what="the rules">
    ${(rules) => html`<${Rules} ...${rules} workspace=${workspace} path=${path} again=${found.again} />`}
  </${Answer}>`
}

function Rules({ files, places, is_on: on, examples, workspace, path, again }) {
  const [words, setWords] = useState('')
  const [asked, setAsked] = useState('')
  const why = useQuery(asked ? 'rule_why' : '', { workspace, path: asked })
  const [making, setMaking] = useState(false)
  const active = files.filter((one) => !one.inert)
  const always = active.filter((one) => one.holds === 'always')
  const list = [...active, ...files.filter((one) => one.inert)].filter((one) =>
    fits(words, one.path, one.holds, one.inert),
  )
  const here = files.find((one) => one.path === path)
  const verdicts = asked && why.value ? new Map(why.value.map((one) => [one.path, one])) : null
  return html`
    <${Panes}
      label="Rules"
      back="#/rules/files"
      rest="Select a file to read it or turn it on or off."
      list=${html`
        ${
          !on &&
          html`<div class="pane-card warn-card">
            <strong>Rules are turned off.</strong>
            <a href="#/settings/Prompt/rules">Open setting rules</a>
          </div>`
        }
        <div class="row">
          <div class="grow">
            <${Filter} label="Filter rules" value=${words} onInput=${setWords} onKeyDown=${intoList} />
          </div>
          <button class="button small" onClick=${() => setMaking(true)}>
            <${Icon} name="plus" size="14" /> New
          </button>
          <button class="button small" onClick=${() => editConfigFile(workspace, { done: again })}>
            Edit files…
          </button>
        </div>
        <p class="soft tiny">
          ${always.length ? `${count(always.length, 'file')} always ${always.length === 1 ? 'applies' : 'apply'}: about ${tokens(always.reduce((sum, one) => sum + countTokens(one), 0))} tokens per request.` : 'No file always applies.'}
        </p>
        <${Why} asked=${asked} ask=${setAsked} why=${why} />
        ${
          list.length
            ? html`<${Files} list=${list} order=${active} here=${path} verdicts=${verdicts} />`
            : words
              ? html`<${Cleared} words=${words} clear=${() => setWords('')} />`
              : html`<${Empty} title="No rules yet.">
                A file such as <code>AGENTS.md</code> in the project gives the model instructions.
                <p><button class="link" onClick=${() => setMaking(true)}>Create one</button></p>
              </${Empty}>`
        }
        <details>
          <summary class="tiny">Searched locations</summary>
          <ul class="plain tiny mono">${places.map((one) => html`<li key=${one}>${shown(one)}</li>`)}</ul>
        </details>
      `}
      detail=${here && html`<${RuleFile} key=${workspace + here.path} of=${here} workspace=${workspace} changed=${again} />`}
    />
    ${
      making &&
      html`<${NewRule}
        workspace=${workspace}
        examples=${examples}
        onClose=${() => setMaking(false)}
        done=${() => (setMaking(false), again())}
      />`
    }
  `
}

/** Which files apply to a path. */
function Why({ asked, ask, why }) {
  const [text, setText] = useState(asked)
  return html`
    <form class="row" onSubmit=${(e) => (e.preventDefault(), ask(text.trim()))}>
      <input
        class="field grow test-model mono"
        aria-label="Path of a file to check"
        placeholder="Which apply to src/app.py?"
        value=${text}
        onInput=${(e) => setText(e.target.value)}
        spellcheck=${false}
      />
      <button class="button small" type="submit" disabled=${!text.trim()}>Check</button>
      ${
        asked &&
        html`<button class="button small quiet" type="button" onClick=${() => (setText(''), ask(''))}>Clear</button>`
      }
    </form>
    ${asked && why.error && html`<p class="bad tiny" role="alert">${shown(why.error.text)} ${shown(why.error.hint)}</p>`}
    ${
      asked &&
      why.value &&
      html`<p class="tiny" role="status">
        ${count(why.value.filter((one) => one.holds).length, 'file')} of ${why.value.length}
        ${' '}
        ${why.value.filter((one) => one.holds).length === 1 ? 'applies' : 'apply'} to <code>${shown(asked)}</code>.
      </p>`
    }
  `
}

function Files({ list, order, here, verdicts }) {
  const roving = useRoving()
  return html`<ol class="items" aria-label="Rule files in order" ...${roving}>
    ${list.map((one) => {
      const verdict = verdicts?.get(one.path)
      return html`<li key=${one.path}>
        <a
          class=${classes('item', one.path === here && 'here', (one.inert || (verdicts && !verdict?.holds)) && 'off')}
          href=${`#/rules/files/${encodeURIComponent(one.path)}`}
          data-item
          aria-current=${one.path === here ? 'true' : null}
        >
          <span class="order" aria-hidden="true">${one.inert ? '–' : order.indexOf(one) + 1}</span>
          <span class="grow">
            <span class="cut block">${shown(one.path)}</span>
            <span class="soft tiny block">
              ${
                verdict
                  ? html`
                    <b class=${verdict.holds ? 'good' : ''}>${verdict.holds ? 'applies' : 'does not apply'}</b>: ${shown(verdict.reason)}
                  `
                  : one.inert
                    ? html`off: ${shown(one.inert)}`
                    : shown(one.holds)
              } · ${OWNERS[one.of] ?? one.of}
            </span>
          </span>
          <span class="soft tiny one-line">~${tokens(countTokens(one))}</span>
        </a>
      </li>`
    })}
  </ol>`
}

function RuleFile({ of, workspace, changed }) {
  const text = useQuery('rule_text', { workspace, path: of.path })
  const off = /(switched|turned) off/i.test(of.inert)
  const managed = of.of === 'managed'
  const toggle = (on) =>
    act(on ? 'rule_on' : 'rule_off', { workspace, path: of.path }).then(() => {
      toast(`${of.path} is ${on ? 'on' : 'off'} from the next task on.`, { undo: () => toggle(!on) })
      changed()
    }, complain)
  return html`<article>
    <div class="row"><h2 class="grow">${shown(base(of.path))}</h2><${Badge}>${OWNERS[of.of] ?? of.of}</${Badge}></div>
    <${Switch} label=${off ? 'Off' : 'On'} on=${!off} disabled=${managed} onChange=${toggle} />
    ${managed && html`<p class="soft tiny">Set by your administrator. It cannot be turned off.</p>`}
    ${of.inert && !off && html`<div class="pane-card warn-card">Not in use: ${shown(of.inert)}</div>`}
    ${of.remarks.map((text) => html`<div key=${text} class="pane-card warn-card">${shown(text)}</div>`)}
    <${Facts}
      of=${[
        ['Applies', shown(of.holds)],
        ['Cost', `about ${tokens(countTokens(of))} tokens`],
        ['File', html`<span class="mono tiny">${shown(of.file)}</span>`],
      ]}
    />
    <div class="row">
      <h3 class="grow">Content</h3>
      ${
        !managed &&
        html`<button
          class="button small"
          onClick=${() => editConfigFile(workspace, { path: of.file, done: () => (text.again(), changed()) })}
        >
          Edit
        </button>`
      }
    </div>
    <${Answer} of=${text} what="the file">
      ${(said) =>
        said.trim()
          ? html`<div class="pane-card"><${Markdown} text=${said} /></div>`
          : html`<p class="soft">Empty file.</p>`}
    </${Answer}>
  </article>`
}

function NewRule({ workspace, examples, onClose, done }) {
  const [name, setName, forgetName] = useDraft(`rule ${workspace}`)
  const [own, setOwn] = useState(false)
  const [paths, setPaths, forgetPaths] = useDraft(`rule paths ${workspace}`)
  const [example, setExample] = useState('')
  const [make, busy, error] = useAction(async () => {
    const made = await act('rule_new', {
      workspace,
      name: name.trim(),
      own,
      example,
      paths: paths
        .split('\n')
        .map((line) => line.trim())
        .filter(Boolean),
    })
    forgetName()
    forgetPaths()
    toast(`Created ${made}.`)
    done()
    go('rules', 'files')
    editConfigFile(workspace, { path: made, done })
  })
  return html`<${Dialog} title="New rule file" onClose=${onClose}>
    <form class="pile" onSubmit=${(e) => (e.preventDefault(), make())}>
      <${Labelled} id="example" label="Template">
        <select class="field" id="example" value=${example} onChange=${(e) => setExample(e.target.value)}>
          <option value="">Empty file</option>
          ${Object.entries(examples ?? {}).map(
            ([one, title]) => html`<option key=${one} value=${one}>${one}: ${title}</option>`,
          )}
        </select>
      </${Labelled}>
      <${Labelled}
        id="rule-name"
        label="Name"
        note=${example ? `Default: ${example}` : 'Letters, digits, dots and dashes.'}
      >
        <input
          class="field"
          id="rule-name"
          value=${name}
          onInput=${(e) => setName(e.target.value)}
          spellcheck=${false}
        />
      </${Labelled}>
      <fieldset class="setting">
        <legend>Location</legend>
        <div class="pick-some">
          <label class="pick-one">
            <input type="radio" name="own" checked=${!own} onChange=${() => setOwn(false)} /> In ${base(workspace)}, for
            everyone
          </label>
          <label class="pick-one">
            <input type="radio" name="own" checked=${own} onChange=${() => setOwn(true)} /> For me, in all folders
          </label>
        </div>
      </fieldset>
      <${Labelled}
        id="paths"
        label="Only for these files"
        note="Patterns such as src/**/*.py, one per line. Empty: always applies."
      >
        <textarea
          class="field mono"
          id="paths"
          rows="2"
          value=${paths}
          onInput=${(e) => setPaths(e.target.value)}
          spellcheck=${false}
        ></textarea>
      </${Labelled}>
      <${Trouble} error=${error} />
      <div class="row">
        <button class="button primary" type="submit" disabled=${busy || !(name.trim() || example)}>Create</button>
        <button class="button quiet" type="button" onClick=${onClose}>Cancel</button>
      </div>
    </form>
  </${Dialog}>`
}
