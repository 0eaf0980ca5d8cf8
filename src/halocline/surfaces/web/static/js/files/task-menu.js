// The menu of a task, in the list and in its header: rename, favorite, fork, export, delete with undo.
import { html, useEffect, useLayoutEffect, useRef, useState } from '../lib/ui.js'
import { saveExport } from '../lib/fetch-files.js'
import { printTask } from './print-task.js'
import { act, send } from '../lib/connection.js'
import { complain, go, refresh, route, toast } from '../state/store.js'
import { Icon } from '../lib/icons.js'

const label = (task, what) => send('label', { task, ...what }).then(refresh, complain)

async function remove(info) {
  await act('delete', { task: info.task })
  if (route.value[1] === info.task) go()
  refresh()
  toast(`Deleted: ${info.name || info.title}`, {
    undo: () => act('undelete', { task: info.task }).then(refresh, complain),
    seconds: 12,
  })
}

async function fork(info) {
  go('task', await act('fork', { task: info.task, at: 0 }))
  refresh()
}

const save = (info, form) => saveExport(info.task, form).catch(complain)

export default function TaskMenu({ info, x, y, from, onClose }) {
  const box = useRef()
  const [renaming, setRenaming] = useState(false)
  const close = () => {
    onClose()
    from?.focus()
  }
  useLayoutEffect(() => {
    const { width, height } = box.current.getBoundingClientRect()
    box.current.style.left = `${Math.max(4, Math.min(x, innerWidth - width - 4))}px`
    box.current.style.top = `${Math.max(4, Math.min(y, innerHeight - height - 4))}px`
    box.current.querySelector('input, button')?.focus()
  }, [renaming])
  useEffect(() => {
    const closeOutside = (event) => !box.current.contains(event.target) && onClose()
    addEventListener('pointerdown', closeOutside)
    return () => removeEventListener('pointerdown', closeOutside)
  }, [])
  function handleKey(event) {
    const all = [...box.current.querySelectorAll('[role=menuitem]')]
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (event.key === 'Escape') close()
    else if (renaming || (event.key === 'Tab' && (close(), true))) return
    else if (by) all[(all.indexOf(document.activeElement) + by + all.length) % all.length].focus()
    else if (event.key === 'Home' || event.key === 'End') all.at(event.key === 'Home' ? 0 : -1).focus()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  /** @type {[string, string, () => any, boolean?][]} */
  const items = [
    ['Rename…', 'edit', () => setRenaming(true), true],
    [
      info.favourite ? 'Remove from favorites' : 'Add to favorites',
      'star',
      () => label(info.task, { favourite: !info.favourite }),
    ],
    ['Fork', 'branch', () => fork(info).catch(complain)],
    ['Print…', 'file', () => printTask(info.task)],
    ['Export as Markdown', 'file', () => save(info, 'md')],
    ['Export as HTML', 'globe', () => save(info, 'html')],
    ['Export as JSON Lines', 'list', () => save(info, 'jsonl')],
    ['Delete', 'trash', () => remove(info).catch(complain)],
  ]
  const keep = (event) => {
    event.preventDefault()
    label(info.task, { name: box.current.querySelector('input').value.trim() })
    close()
  }
  if (renaming)
    return html`<div class="task-menu" ref=${box} onKeyDown=${handleKey}>
      <form class="row nowrap" onSubmit=${keep}>
        <input class="field" aria-label="Task name" value=${info.name || info.title} maxlength="120" />
        <button class="button primary" type="submit">Save</button>
      </form>
    </div>`
  return html`<div
    class="task-menu"
    role="menu"
    aria-label=${`Task ${info.name || info.title}`}
    ref=${box}
    onKeyDown=${handleKey}
  >
    ${items.map(
      ([text, icon, action, stays]) => html`<button
        key=${text}
        role="menuitem"
        tabindex="-1"
        class=${text === 'Delete' ? 'menu-item bad' : 'menu-item'}
        onClick=${() => (stays || close(), action())}
      >
        <${Icon} name=${icon} size="15" /> ${text}
      </button>`,
    )}
  </div>`
}
