// The approvals sheet: the four approval modes and what each allows, permissions, rules, and why approval was needed.
import { html, classes, useEffect, useState } from '../lib/ui.js'
import { act, query, welcome } from '../lib/connection.js'
import { nameDecision, nameOther } from '../state/other-clients.js'
import { announcement, closeSheet, complain, go, openSheet, toast, usual } from '../state/store.js'
import { asSentence, clock, count, nameEffect, shown } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import { grantText } from './decision.js'
import { Confirm } from '../widgets/confirm-looser.js'
import { Sheet } from '../widgets/sheet.js'
import { Switches } from './approval-switches.js'
import { ROWS } from '../state/permission-rows.js'

const MODES = [
  ['ask', 'Ask', 'Reads files in the folder. Asks before edits, commands and web access.'],
  ['accept-edits', 'Edits', 'Edits files in the folder without asking. Asks before commands.'],
  ['auto', 'Auto', 'Edits the folder, and runs commands in a full sandbox. Asks about the rest.'],
  ['yolo', 'Full access', 'Hardly ever asks. Every command runs as you. Use it only on a disposable machine.'],
]
const nameOf = (mode) => MODES.find(([one]) => one === mode)[1]
const WORDS = { allow: ['Allow', 'check', 'good'], ask: ['Ask', 'question', 'warn'], deny: ['Deny', 'cross', 'bad'] }

function Cell({ what }) {
  if (!what) return html`<td class="soft">–</td>`
  const [text, icon, tone] = WORDS[what]
  return html`<td class=${tone}><${Icon} name=${icon} size="14" /> ${text}</td>`
}

function Grid({ grid, name }) {
  return html`<table class="policy-grid">
    <caption class="hidden-text">Permissions in ${name}</caption>
    <thead>
      <tr><th scope="col">${name}</th><th scope="col">In the folder</th><th scope="col">Outside</th></tr>
    </thead>
    <tbody>
      ${ROWS.map(
        ([title, inside, outside]) => html`<tr key=${inside}>
          <th scope="row">${title}</th>
          <${Cell} what=${grid[inside]} />
          <${Cell} what=${grid[outside]} />
        </tr>`,
      )}
    </tbody>
  </table>`
}

const DECISIONS = { allow: 'would run without approval', ask: 'would need approval', deny: 'would be denied' }
const sourceOf = {
  user: 'your rules',
  project: 'the project’s rules',
  managed: 'your organization',
  grant: 'always allowed',
}

/** Explains the decision for one command. */
function Why({ workspace, approvals, mode, first }) {
  const [command, setCommand] = useState(first)
  const [found, setFound] = useState(null)
  const [problem, setProblem] = useState('')
  const ask = (e) => {
    e?.preventDefault()
    if (!command.trim()) return
    query('explain', { workspace, command, mode, ...(approvals ? { approval_mode: approvals } : {}) }).then(
      (one) => (setFound(one), setProblem('')),
      (error) => (setFound(null), setProblem(error.text ?? error.message)),
    )
  }
  useEffect(() => first && ask(), [])
  return html`<form class="why" onSubmit=${ask}>
    <label for="why">Would a command need approval?</label>
    <div class="row nowrap">
      <input
        id="why"
        class="field mono grow"
        value=${command}
        placeholder="rm -rf build"
        onInput=${(e) => setCommand(e.target.value)}
        spellcheck="false"
        autocomplete="off"
      />
      <button class="button" type="submit">Explain</button>
    </div>
    <div role="status">
      ${problem && html`<p class="bad tiny">${problem}</p>`}
      ${
        found &&
        html`
          <p class=${WORDS[found.decision]?.[2]}>
            <strong>This ${DECISIONS[found.decision] ?? found.decision}.</strong>
            ${' '}${shown(found.reason)}${' '}
            ${found.rule && html`<span class="soft tiny">(rule ${shown(found.rule)})</span>`}
          </p>
          ${
            found.parts?.length > 0 &&
            html`<ul class="plain-list tiny">
              ${found.parts.map(
                (part, at) => html`<li key=${at}>
                  <code>${shown(part.text)}</code> <span class="soft">${shown(part.reason || nameEffect(part.effect))}</span>
                </li>`,
              )}
            </ul>`
          }
        `
      }
    </div>
  </form>`
}

function Asked({ task }) {
  const all = task.facts.waiting.filter((one) => one.kind === 'approval')
  if (!all.length) return null
  return html`<section>
    <h3>Why approval is needed</h3>
    ${all.map(
      (asked) => html`<div class="card asked" key=${asked.request}>
        <strong class="mono">${shown(asked.title)}</strong>
        <p>${shown(asSentence(asked.reason))}${asked.rule && html` <span class="soft tiny">(rule ${shown(asked.rule)})</span>`}</p>
        ${
          asked.grant &&
          html`<p class="soft tiny">
            <em>Always allow…</em> would allow <code>${shown(grantText(asked.grant))}</code>
            ${asked.wider && html`, or <code>${shown(grantText(asked.wider))}</code>`}.
          </p>`
        }
      </div>`,
    )}
  </section>`
}

const DONE = [
  ['read', 'read', 'reads'],
  ['search', 'search', 'searches'],
  ['edit', 'edit', 'edits'],
  ['delete', 'deletion', 'deletions'],
  ['move', 'move', 'moves'],
  ['execute', 'command', 'commands'],
  ['fetch', 'fetch', 'fetches'],
]

/** Calls without approval in this task, by kind. */
function Unasked({ task }) {
  const all = DONE.filter(([kind]) => task.facts.unasked[kind])
  if (!all.length) return null
  return html`<p class="small unasked">
    Auto-approved in this task:
    ${' '}${all.map(([kind, one, many]) => count(task.facts.unasked[kind], one, many)).join(', ')}.
  </p>`
}

function Decided({ task }) {
  const all = task.facts.decided.slice(-8).reverse()
  if (!all.length) return null
  const nameOwner = (one) =>
    one.by === 'user'
      ? nameOther(one.client) || 'here'
      : one.by === 'nobody'
        ? 'because no one could answer'
        : one.by === 'message'
          ? 'by a message'
          : one.by === 'judge'
            ? 'by the judge'
            : 'with its turn'
  return html`<section>
    <h3>Recent decisions</h3>
    <ul class="plain-list tiny">
      ${all.map(
        (one) => html`<li key=${one.request}>
          ${nameDecision(one)} ${nameOwner(one)}, ${clock(one.at)}
        </li>`,
      )}
    </ul>
  </section>`
}

const listConditions = ({ decision, name, source, reason, ...rest }) =>
  Object.entries(rest)
    .map(
      ([key, value]) =>
        `${key} ${Array.isArray(value) ? value.map((one) => (Array.isArray(one) ? one.join('|') : one)).join(' ') : value}`,
    )
    .join('; ') || 'everything'

const isKept = (rule, workspace) => rule.source === 'grant' && (!rule.workspace || rule.workspace === workspace)

/** Permissions given with "Always allow", by task, project and everywhere; each can be revoked. */
function GrantCard({ known, task, workspace, again }) {
  const kept = known.rules.filter((rule) => isKept(rule, workspace))
  const places = [
    [
      'In this task',
      known.grants.map((one) => ({
        key: JSON.stringify(one.grant),
        what: grantText(one.grant),
        kind: one.grant.kind,
        about: `${clock(one.at)}${nameOther(one.client) && `, ${nameOther(one.client)}`}${one.note ? `: “${one.note}”` : ''}`,
        undo: () => task.send('take_back', { grant: one.grant }),
      })),
    ],
    ['In this project', kept.filter((rule) => rule.workspace).map(line)],
    ['Everywhere', kept.filter((rule) => !rule.workspace).map(line)],
  ]
  const back = (one) =>
    one
      .undo()
      .then(
        (done) => (
          again(),
          toast(done === false ? 'Already revoked.' : 'Permission revoked. You will be asked again.')
        ),
        complain,
      )
  if (!places.some(([, all]) => all.length))
    return html`<section>
      <h3>Always allowed</h3>
      <p class="soft">None yet. Choose <em>Always allow…</em> on a request.</p>
    </section>`
  return html`<section>
    <h3>Always allowed</h3>
    ${places
      .filter(([, all]) => all.length)
      .map(
        ([title, all]) => html`
          <h4 class="group-title" key=${title}>${title}</h4>
          <ul class="plain-list">
            ${all.map(
              (one) => html`<li key=${one.key} class="rule-line">
                <code class="grow">${shown(one.what)}</code>
                ${' '}
                <span class="soft tiny">${shown([one.kind, one.about].filter(Boolean).join(' · '))}</span>
                <button class="button small" aria-label=${`Revoke ${one.what}`} onClick=${() => back(one)}>
                  Revoke
                </button>
              </li>`,
            )}
          </ul>
        `,
      )}
    <p class="soft tiny">Task permissions end with the task.</p>
  </section>`
}

const describeGrant = ({ argv, command, hosts = [], paths = [], mcp = [], kinds = [] }) =>
  argv?.length
    ? `${argv.map((one) => (Array.isArray(one) ? one.join('|') : one)).join(' ')} …`
    : command || [...hosts, ...paths, ...[mcp].flat()].join(', ') || `every ${kinds.join(', ')}`

const line = (rule) => ({
  key: rule.name,
  what: describeGrant(rule),
  kind: (rule.kinds ?? []).join(', '),
  about: rule.reason,
  undo: () => act('take_out', { rule }),
})

function Rules({ known, workspace }) {
  const { problems = [] } = known
  const rules = known.rules.filter((rule) => !isKept(rule, workspace))
  return html`<section>
    <h3>Rules</h3>
    ${problems.map((problem) => html`<p class="bad tiny" key=${problem}>${shown(problem)}</p>`)}
    ${
      rules.length
        ? html`<ul class="plain-list">
          ${rules.map(
            (rule, at) => html`<li key=${at} class="rule-line">
              <span class=${classes('tiny', WORDS[rule.decision]?.[2])}>
                ${WORDS[rule.decision]?.[0] ?? rule.decision}
              </span>
              ${' '}
              <code class="grow">${shown(listConditions(rule))}</code>
              ${' '}
              <span class="soft tiny">${sourceOf[rule.source] ?? rule.source} · ${shown(rule.name ?? '')}</span>
            </li>`,
          )}
        </ul>`
        : html`<p class="soft">No rules besides the mode’s own.</p>`
    }
    <p class="soft tiny">
      Edit rules in <code>.halocline/policy.toml</code> in this folder or <code>policy.toml</code> in Halocline’s
      home. Test them with <code>halo policy test</code>. ${
        workspace && html`<button class="link" onClick=${() => (closeSheet(), go('rules'))}>Instructions</button>`
      }
    </p>
  </section>`
}

/** True if a mode asks less than another. */
const isLooser = (mode, than) =>
  MODES.findIndex(([one]) => one === mode) > MODES.findIndex(([one]) => one === (than || 'ask'))

/** The warning before a looser mode. */
const describeRisk = (mode, task) =>
  [
    MODES.find(([one]) => one === mode)[2],
    mode === 'yolo' && 'Commands cannot be undone: checkpoints restore only files in the folder.',
    task ? 'Applies to this task from its next call.' : 'Applies to the next task.',
  ]
    .filter(Boolean)
    .join(' ')

export default function Policy({ task = null, choice = null, command = '', wanted = '' }) {
  task?.version.value
  const [known, setKnown] = useState(null)
  const [problem, setProblem] = useState('')
  const approvals = task?.facts.approvals || choice?.value.approval_mode || usual.value.approval_mode || ''
  const [seen, setSeen] = useState(approvals || 'ask')
  const workspace = task?.facts.workspace ?? (choice?.value.workspace || welcome.value?.workspaces[0])
  const again = () =>
    task && query('policy', { task: task.id }).then(setKnown, (error) => setProblem(error.text ?? error.message))
  useEffect(() => void again(), [task?.facts.decided.length, task?.facts.permissions_at, approvals])
  const [asked, setAsked] = useState(isLooser(wanted, approvals) ? wanted : '')
  const set = (mode) => {
    setAsked('')
    if (task) return task.send('set_policy', { approval_mode: mode }).catch(complain)
    announcement.value = `Approvals for the next task: ${nameOf(mode)}`
    choice.value = { ...choice.value, approval_mode: mode }
  }
  const choose = (mode) => {
    setSeen(mode)
    if (isLooser(mode, approvals)) setAsked(mode)
    else set(mode)
  }
  useEffect(() => void (wanted && !isLooser(wanted, approvals) && set(wanted)), [])
  const grid = known?.modes.find((one) => one.mode === seen)?.grid
  return html`<${Sheet}
    title=${task ? 'Approvals' : 'Approvals for the next task'}
    wide
    className=${approvals === 'yolo' ? 'full-access' : ''}
  >
    ${task?.facts.mode === 'plan' && html`<p class="warn" role="status">Plan mode is on: it denies all that changes anything. The rest applies in act mode.</p>`}
    <fieldset class="mode-choices">
      <legend class="hidden-text">Approval mode</legend>
      ${MODES.map(
        ([mode, name, about]) => html`<label
          key=${mode}
          class=${classes('mode-choice', mode === (asked || approvals) && 'on', mode === 'yolo' && 'risky')}
        >
          <input
            type="radio"
            name="approvals"
            value=${mode}
            checked=${mode === (asked || approvals)}
            data-first=${mode === (approvals || 'ask') ? '' : null}
            onChange=${() => choose(mode)}
            onFocus=${() => setSeen(mode)}
          />
          <span><strong>${name}</strong><span class="soft tiny block">${about}</span></span>
        </label>`,
      )}
    </fieldset>
    ${
      asked &&
      html`<${Confirm}
        title=${`Switch to ${nameOf(asked)}?`}
        about=${describeRisk(asked, task)}
        yes=${`Switch to ${nameOf(asked)}`}
        risky=${asked === 'yolo'}
        onYes=${() => set(asked)}
        onNo=${() => setAsked('')}
      />`
    }
    ${
      approvals === 'yolo' &&
      html`<p class="banner-bad" role="status">
        <${Icon} name="warn" size="16" /> Full access: nothing needs approval, and commands cannot be undone.
        Checkpoints restore only files in the folder.
      </p>`
    }
    <p class="soft tiny">
      Applies to ${task ? 'this task' : 'the next task'}. Change the default for new tasks in <button class="link" onClick=${() => (closeSheet(), go('settings'))}>Settings</button>.
    </p>
    ${known?.switches && html`<${Switches} task=${task} all=${known.switches} again=${again} />`}
    ${task && html`<${Unasked} task=${task} />`}
    ${task && html`<${Asked} task=${task} />`}
    ${grid && html`<${Grid} grid=${grid} name=${nameOf(seen)} />`}
    ${problem && html`<p class="bad">${problem}</p>`}
    <${Why}
      workspace=${workspace}
      approvals=${seen}
      mode=${task?.facts.mode ?? choice?.value.mode ?? 'act'}
      first=${command}
    />
    ${known && html`<${GrantCard} known=${known} task=${task} workspace=${workspace} again=${again} />`}
    ${known && html`<${Rules} known=${known} workspace=${workspace} />`}
    ${task && html`<${Decided} task=${task} />`}
  </${Sheet}>`
}

/** Open the sheet with an explanation for a command. */
export const why = (task, command) => openSheet('policy', { task, command })
