// The MCP page: configured servers of a folder, one in detail, a form for a new one, and the registry.
import { html, signal } from '../lib/ui.js'
import { go } from '../state/store.js'
import { count, shown, tokens } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
import {
  Answer,
  Cleared,
  Empty,
  Filter,
  Links,
  Page,
  Panes,
  PlacePicker,
  fits,
  intoList,
  placeNow,
  useQuery,
} from '../widgets/page-frame.js'
import { Server, failedTests } from './server.js'
import { ServerForm } from './server-form.js'
import { Market } from './registry.js'

const words = signal('')
export const OWNERS = { user: 'yours', project: 'the project’s', cline: 'Cline’s', managed: 'the administrator’s' }
const hasFailed = (one) => one.state === 'on' && one.tools == null && failedTests.value[one.name]
const dotOf = (one) =>
  one.state === 'problem' || hasFailed(one) ? 'failed' : one.state === 'on' && one.tools != null ? 'done' : ''

function describeServer(one) {
  const offer =
    one.tools == null
      ? one.state === 'on'
        ? hasFailed(one)
          ? 'test failed'
          : 'not started yet'
        : ''
      : `${count(one.tools, 'tool')}, ${tokens(one.tokens)} tokens`
  return [one.state === 'problem' ? 'error' : one.state, offer, OWNERS[one.owner] ?? one.owner]
    .filter(Boolean)
    .join(' · ')
}

export default function Mcp({ path }) {
  const workspace = placeNow()
  const found = useQuery('mcp', { workspace })
  const [name = ''] = path
  return html`<${Page}
    title="MCP servers"
    actions=${html`
      <${PlacePicker} />
      <a class="button small" href="#/mcp/+find"><${Icon} name="search" size="14" /> Find</a>
      <a class="button small" href="#/mcp/+add"><${Icon} name="plus" size="14" /> Add</a>
    `}
  >
    <${Answer} of=${found} what="the servers">
      ${(all) => html`<${Panes}
        label="Servers"
        back="#/mcp"
        rest="Select a server to see its tools, output and permissions."
        list=${html`<${ServerList} ...${all} name=${name} />`}
        detail=${name && html`<${Detail} servers=${all.servers} name=${name} workspace=${workspace} again=${found.again} />`}
      />`}
    </${Answer}>
  </${Page}>`
}

function ServerList({ servers, problems, is_off: off, name }) {
  const list = servers.filter((one) => fits(words.value, one.name, describeServer(one), one.runs))
  const total = servers.reduce((sum, one) => sum + (one.state === 'on' ? (one.tokens ?? 0) : 0), 0)
  return html`
    ${
      off &&
      html`<div class="pane-card warn-card">
        <strong>MCP servers are turned off.</strong>
        <a href="#/settings/Tools/mcp.enabled">Open setting mcp.enabled</a>
      </div>`
    }
    ${problems.map((text) => html`<div key=${text} class="pane-card error-card" role="alert">${shown(text)}</div>`)}
    ${
      servers.length > 0 &&
      html`<${Filter}
        label="Filter servers"
        value=${words.value}
        onInput=${(text) => (words.value = text)}
        onKeyDown=${intoList}
      />`
    }
    ${
      list.length > 0 &&
      html`<${Links}
        label="Servers"
        here=${name}
        entries=${list.map((one) => ({ key: one.name, href: `#/mcp/${encodeURIComponent(one.name)}`, title: shown(one.name), text: describeServer(one), dot: dotOf(one), off: one.state === 'off' }))}
      />`
    }
    ${servers.length > 0 && !list.length && html`<${Cleared} words=${words.value} clear=${() => (words.value = '')} />`}
    ${
      total > 0 &&
      html`<p class="soft tiny">
        Enabled servers add about ${tokens(total)} tokens to each request, unless tool search is on.
      </p>`
    }
    ${
      !servers.length &&
      html`<${Empty} title="No MCP servers yet.">
        They give the model more tools, such as an issue tracker or a database.
        <p><a href="#/mcp/+find">Find one</a> or <a href="#/mcp/+add">add one manually</a>.</p>
      </${Empty}>`
    }
  `
}

/** One server, or the way to a new one. */
function Detail({ servers, name, workspace, again }) {
  const showAdded = (added) => (again(), go('mcp', added))
  if (name === '+add') return html`<${ServerForm} workspace=${workspace} done=${showAdded} />`
  if (name === '+find') return html`<${Market} workspace=${workspace} done=${showAdded} />`
  const here = servers.find((one) => one.name === name)
  if (here)
    return html`<${Server}
      key=${workspace + here.name}
      of=${here}
      workspace=${workspace}
      changed=${again}
    />`
  return html`<${Empty} title=${`No server named ${shown(name)} here.`}>
    <a href="#/mcp">All servers</a>
  </${Empty}>`
}
