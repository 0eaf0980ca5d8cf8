// Hooks: programs that run at certain moments, whether they do, and how they fared.
import { html } from '../../ui.js'
import { seconds, shown, when } from '../../format.js'
import { Answer, Empty, useQuery } from './frame.js'
import { Badge } from './form.js'

const SOURCES = { user: 'yours', project: 'the project’s', managed: 'the administrator’s' }

export function Hooks({ workspace }) {
  const hooks = useQuery('hooks', { workspace })
  const runs = useQuery('hook_runs', { workspace })
  const last = (hook) =>
    runs.value?.find((run) => run.hook === hook.name && (run.moment === hook.moment || !hook.moment))
  return html`<div class="page-body">
    <${Answer} of=${hooks} what="the hooks">
      ${(list) =>
        list.length
          ? html`<ul class="items lines">
            ${list.map(
              (hook, at) => html`<${Hook} key=${at} hook=${hook} run=${last(hook)} known=${Boolean(runs.value)} />`,
            )}
          </ul>`
          : html`<${Empty} title="No hooks are set up.">
            A program in <code>.halocline/hooks</code>, named as its moment (such as <code>PreToolUse</code>), can look
            at each call, refuse it, or add words.
          </${Empty}>`}
    </${Answer}>
    <p class="soft tiny">
      Settings of hooks: <a href="#/settings/Hooks">how long they may take, and what their failure means</a>.
    </p>
  </div>`
}

const Hook = ({ hook, run, known }) => html`<li class="entry">
  <div class="row">
    <strong class="grow">
      ${shown(hook.event)}
      ${hook.matcher && html` <code class="soft tiny">${shown(hook.matcher)}</code>`}
    </strong>
    <${Badge}>${SOURCES[hook.source] ?? hook.source}</${Badge}>
    ${hook.inert ? html`<${Badge} kind="warn">does not run</${Badge}>` : html`<${Badge} kind="good">runs</${Badge}>`}
  </div>
  <code class="run-line tiny">${shown((hook.words ?? []).join(' ') || hook.name)}</code>
  ${hook.inert && html`<p class="warn tiny">It does not run: ${shown(hook.inert)}</p>`}
  <p class="soft tiny">
    ${
      run
        ? html`
          Ran last ${when(run.at)}, <span class=${run.status === 'failed' || run.exit_code ? 'bad' : ''}>
            ${shown(run.status)}
            ${run.exit_code ? ` with exit code ${run.exit_code}` : ''}
          </span>, ${seconds(run.seconds)} · <a href=${`#/task/${run.task}`}>the task</a>
          ${run.said ? html`<span class="block">${shown(run.said)}</span>` : ''}
        `
        : known
          ? 'Has not run in the newest tasks of this folder.'
          : ''
    }
    ${hook.timeout ? ` May take ${hook.timeout} s.` : ''} <span class="mono">${shown(hook.file)}</span>
  </p>
</li>`
