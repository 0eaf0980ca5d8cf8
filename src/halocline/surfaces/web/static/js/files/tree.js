// The folders of a task, with marks on what the task changed. Each is listed when it is opened.
import { html, classes, useEffect, useState } from '../lib/ui.js'
import { query } from '../lib/connection.js'
import { base, shown, thousands } from '../lib/format.js'
import { Icon } from '../lib/icons.js'
/** @import { FolderEntries } from '../../../types/protocol' */

/** Absolute paths of what the task changed, and of the folders above. */
function changedPlaces(task) {
  const files = new Set(
    task.facts.changed.map((path) => (path.startsWith('/') ? path : `${task.facts.workspace}/${path}`)),
  )
  const folders = new Set()
  for (const file of files)
    for (let at = file.lastIndexOf('/'); at > 0; at = file.lastIndexOf('/', at - 1)) folders.add(file.slice(0, at))
  return { files, folders }
}

function Folder({ task, path, here, changed, onOpen, level }) {
  const [state, setState] = useState({ /** @type {FolderEntries} */ found: null, error: null })
  useEffect(() => {
    let isHere = true
    query('tree', { task: task.id, path }).then(
      (found) => isHere && setState({ found, error: null }),
      (error) => isHere && setState({ found: null, error }),
    )
    return () => (isHere = false)
  }, [task.id, path])
  const { found, error } = state
  if (error) return html`<li role="none"><p class="soft tiny pad">${error.text ?? error.message}</p></li>`
  if (!found) return null
  if (!found.entries.length) return html`<li role="none"><p class="soft tiny pad">Empty</p></li>`
  return html`
    ${found.entries.map(
      ({ name, is_folder: isFolder }) => html`<${Entry}
        key=${name}
        task=${task}
        name=${name}
        place=${`${found.place}/${name}`}
        isFolder=${isFolder}
        here=${here}
        changed=${changed}
        onOpen=${onOpen}
        level=${level}
      />`,
    )}
    ${found.more > 0 && html`<li role="none"><p class="soft tiny pad">${thousands(found.more)} more not listed</p></li>`}
  `
}

function Entry({ task, name, place, isFolder, here, changed, onOpen, level }) {
  const isAbove = isFolder && (here?.startsWith(`${place}/`) ?? false)
  const [open, setOpen] = useState(isAbove)
  const isChanged = isFolder ? changed.folders.has(place) : changed.files.has(place)
  return html`<li role="treeitem" aria-level=${level} aria-expanded=${isFolder ? open : null} aria-selected=${here === place}>
    <button
      class=${classes('tree-entry', here === place && 'here', isChanged && 'changed')}
      data-item
      tabindex="-1"
      style=${{ '--level': level }}
      onClick=${() => (isFolder ? setOpen(!open) : onOpen(place))}
    >
      <span class=${classes('chevron', open && 'open', !isFolder && 'file')} aria-hidden="true">
        <${Icon} name=${isFolder ? 'chevron' : 'file'} size="14" />
      </span>
      <span class="cut">${shown(name)}</span>
      ${isChanged && html`<span class="tree-mark" title="Changed by this task">${isFolder ? '•' : 'M'}<span class="hidden-text"> changed</span></span>`}
    </button>
    ${
      open &&
      html`<ul role="group">
        <${Folder} task=${task} path=${place} here=${here} changed=${changed} onOpen=${onOpen} level=${level + 1} />
      </ul>`
    }
  </li>`
}

/** Keys of a tree: up and down, right opens, left closes or goes up. One entry is in the order of tabs. */
function moveFocus(event) {
  const all = [...event.currentTarget.querySelectorAll('[data-item]')]
  const at = all.indexOf(event.target)
  if (at < 0 || event.ctrlKey || event.metaKey || event.altKey) return
  const item = event.target.closest('[role=treeitem]')
  const isOpen = item.getAttribute('aria-expanded')
  const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1 }[event.key]
  if (to != null) focus(all, all[Math.max(0, Math.min(all.length - 1, to))])
  else if (event.key === 'ArrowRight' && isOpen === 'false') event.target.click()
  else if (event.key === 'ArrowRight' && isOpen === 'true') focus(all, all[at + 1])
  else if (event.key === 'ArrowLeft' && isOpen === 'true') event.target.click()
  else if (event.key === 'ArrowLeft')
    focus(all, item.parentElement.closest('[role=treeitem]')?.querySelector('[data-item]'))
  else return
  event.preventDefault()
}

function focus(all, one) {
  if (!one) return
  for (const item of all) item.tabIndex = item === one ? 0 : -1
  one.focus()
}

export function Tree({ task, begin, here, onOpen }) {
  task.version.value
  const changed = changedPlaces(task)
  const roots = begin ? [begin] : [task.facts.workspace, ...task.facts.roots]
  return html`<ul
    class="tree"
    role="tree"
    aria-label="Files of the task"
    tabindex="0"
    onKeyDown=${moveFocus}
    onFocus=${(e) => e.target === e.currentTarget && focus([], e.currentTarget.querySelector('.here, [data-item]'))}
  >
    ${
      roots.length > 1
        ? roots.map(
            (root) => html`<${Entry}
              key=${root}
              task=${task}
              name=${base(root)}
              place=${root}
              isFolder
              here=${here}
              changed=${changed}
              onOpen=${onOpen}
              level=${1}
            />`,
          )
        : html`<${Folder} task=${task} path=${roots[0]} here=${here} changed=${changed} onOpen=${onOpen} level=${1} />`
    }
  </ul>`
}
