// The composer. Enter sends, or queues while the agent works; Ctrl+Enter sends to the running turn. While the agent
// asks, a message is the answer. Text is never lost: the draft is saved as you type, sent text until the server has it.
import { html, classes, useEffect, useRef, useState } from '../lib/ui.js'
import { useArmed } from '../lib/deliberate-input.js'
import { act } from '../lib/connection.js'
import { announcement, complain, openSheet, toast, written } from '../state/store.js'
import { matches, on } from '../state/shortcut-keys.js'
import { enqueue, steer as steerInto } from '../state/queue.js'
import { outbox } from '../state/outbox.js'
import { draftOf, drafts, remember, setDraft, usedModel } from '../lib/preferences.js'
import { takesSteering } from '../state/task.js'
import { attachmentsOf, loadMenu, useMenu, useAttaching, useRecall, useStash } from './composer-menus.js'
import { isNote } from './mentions.js'
import { answer } from '../decisions/answers.js'
import { Bar } from './composer-bar.js'
import { Lazy } from '../lib/lazy.js'
import Strip from './unsent-strip.js'

const loadChips = () => import('./chips.js')
const loadInstead = () => import('./answer-or-prompt.js')
const ONE_OF_OURS = /^\/[a-z][\w-]*(\s|$)/i

/** @param {any} of */
export function Composer({ task = null, choice = null, usual = {}, workspace = '', placeholder, onSend }) {
  task?.version.value
  const id = task?.id ?? 'new'
  const field = useRef()
  const starting = useRef(false)
  const [typed, setTyped] = useState('')
  const [dragged, setDragged] = useState(false)
  const f = task?.facts
  const running = Boolean(f?.running)
  const mode = f?.mode || choice?.value.mode || usual.mode || 'act'
  const approvals = f?.approvals || choice?.value.approval_mode || usual.approval_mode || ''
  const model = f?.model || choice?.value.model || usual.model || ''
  // Text typed before the request could be seen is not an answer to it.
  const first = f?.waiting[0]
  const asked = useArmed(first?.request) ? first : null
  const question = asked?.kind === 'question' ? asked : null
  const where = task ? { task: task.id } : { workspace, model }
  const place = { task, workspace }

  const write = (text, at = text.length) => {
    const box = field.current
    box.value = text
    box.setSelectionRange(at, at)
    changed()
  }
  const changed = () => {
    const box = field.current
    setDraft(id, box.value)
    setTyped(box.value)
    box.style.height = 'auto'
    box.style.height = `${Math.min(box.scrollHeight, innerHeight * 0.4)}px`
  }
  const insert = (text) => {
    const box = field.current
    box.focus()
    // Prefer the browser's own insertion, which supports undo.
    if (!document.execCommand?.('insertText', false, text))
      box.setRangeText(text, box.selectionStart, box.selectionEnd, 'end')
    changed()
  }
  const menu = useMenu(field, place, (offer, from) => {
    const box = field.current
    const to = box.selectionStart
    box.setRangeText(offer.put, from, to, 'end')
    changed()
    if (offer.goesOn) menu.look()
  })
  const attaching = useAttaching(id, where, insert)
  const recall = useRecall(field, f, write)
  const stash = useStash(field, write)

  useEffect(() => {
    write(draftOf(id))
  }, [id])
  useEffect(() => {
    // A rejection after a reload returns text to the draft, and a tab that was closed may have left some.
    const kept = draftOf(id)
    if (kept !== field.current.value && document.activeElement !== field.current) write(kept)
  }, [drafts.value[id]])
  useEffect(() => {
    if (!written.value) return
    const { text, instead } = written.value
    written.value = null
    const before = instead ? '' : field.current.value
    write(before ? `${before.replace(/\s*$/, '')}\n${text}` : text)
    field.current.focus()
  }, [written.value])

  /** Send the text; `later` queues it despite a pending request, `yes` approves that with the text as a note. */
  async function submit(steering, { later = false, yes = false } = {}) {
    steering ||= f?.parent || (asked && !later) // a sub-agent has only one turn
    const text = field.current.value.trim()
    if (starting.current || (!text && !attachmentsOf(id).length)) return
    menu.close()
    if (ONE_OF_OURS.test(text) && (await import('./slash-commands.js')).answered(text, { task, choice }))
      return void (remember(text), write(''))
    if (text[0] === '!' && !given)
      return void (remember(text),
      write(''),
      import('./own-commands.js')
        .then((own) => own.run(text.slice(1), task, onSend))
        .catch((error) => (complain(error), field.current && write(text))))
    if (isNote(text) && !given)
      return void (remember(text),
      write(''),
      import('./notes.js')
        .then((note) => note.keep(text, task ? f.workspace : workspace))
        .catch((error) => (complain(error), field.current && write(text))))
    if (question && !later && !attachmentsOf(id).length)
      return void (write(''), remember(text), answer(task, question.request, text))
    const taken = await attaching.taken(text)
    if (!taken)
      return void toast('An attachment is not ready or was rejected. Wait for it or remove it.', { kind: 'error' })
    if (yes && !(await (await loadInstead()).approveWith(task, asked, text, taken))) return taken.back()
    const clear = () => ((starting.current = false), field.current ? write('') : setDraft(id, ''))
    if (task) clear()
    else starting.current = true // the text stays until it is stored
    if (yes) return void remember(text)
    announcement.value = running
      ? steering
        ? asked
          ? 'Sent as your answer'
          : 'Sent to the running turn'
        : 'Queued'
      : 'Sent'
    try {
      if (running && !steering) await enqueue(task, text, taken.parts)
      else if (f && takesSteering(f)) await steerInto(task, text, taken.parts)
      else {
        remember(text)
        await onSend([...(text ? [{ type: 'text', text }] : []), ...taken.parts], clear)
      }
    } catch (error) {
      starting.current = false
      complain(error)
      taken.back()
      const now = field.current?.value
      if (field.current) write(now && now.trim() !== text ? `${text}\n${now}` : text)
      else setDraft(id, text)
    }
  }

  const setMode = (next) =>
    task ? task.send('set_mode', { mode: next }).catch(complain) : (choice.value = { ...choice.value, mode: next })
  const setModel = async (name) => {
    if (task) await act('change_model', { task: task.id, model: name }).catch(complain)
    else choice.value = { ...choice.value, model: name }
    usedModel(name)
  }
  useEffect(() => on('mode', () => setMode(mode === 'act' ? 'plan' : 'act')), [mode, id])

  function pressed(event) {
    if (event.isComposing || event.keyCode === 229 || menu.take(event)) return
    const box = event.target
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) submit(event.ctrlKey || event.metaKey)
    else if (matches('search-prompts', event))
      openSheet('recall', { task, write: (text) => (write(text), field.current.focus()) })
    else if (matches('stash', event)) stash()
    else if (event.key === 'Backspace' && attaching.cutBefore(box)) changed()
    else if (!(event.key === 'ArrowUp' || event.key === 'ArrowDown') || event.shiftKey || !recall(event.key)) return
    event.preventDefault()
  }
  const pasted = (event) => attaching.paste(event) && event.preventDefault()
  // Files are taken wherever they are dropped, but in a dialog; a browser would leave the page for them.
  const takesDrop = ({ target, dataTransfer: { types } }) =>
    types.includes('Files')
      ? !target.closest?.('dialog')
      : types.includes('text/uri-list') && Boolean(target.closest?.('.composer'))
  const dragging = useRef(null)
  dragging.current = {
    dragover(event) {
      const takes = takesDrop(event)
      setDragged(takes)
      if (takes || event.dataTransfer.types.includes('Files')) event.preventDefault()
    },
    dragleave: (event) => event.relatedTarget || setDragged(false),
    drop(event) {
      const takes = takesDrop(event)
      setDragged(false)
      if (takes || event.dataTransfer.types.includes('Files')) event.preventDefault()
      if (takes) attaching.drop(event.dataTransfer)
    },
  }
  useEffect(() => {
    const heard = (event) => dragging.current[event.type](event)
    const kinds = ['dragover', 'dragleave', 'drop']
    for (const kind of kinds) document.addEventListener(kind, heard)
    return () => kinds.forEach((kind) => document.removeEventListener(kind, heard))
  }, [])
  const cut = (text) => write(field.current.value.replace(text, '').replace(/ {2,}/g, ' '))
  const given = attachmentsOf(id).length > 0
  const answers = asked && (typed.trim() || given) && !ONE_OF_OURS.test(typed) && typed[0] !== '!'
  const waits = f?.queue.length || outbox.value.some((one) => one.place === id)

  return html`<div
    class=${classes('composer', approvals === 'yolo' && 'full-access', dragged && 'dragged')}
  >
    ${waits && html`<${Strip} task=${task} id=${id} />`}
    ${menu.isOpen && html`<${Lazy} load=${loadMenu} />`}
    <label class="hidden-text" for="composer">Message</label>
    <textarea
      id="composer"
      ref=${field}
      rows="1"
      placeholder=${dragged ? 'Drop files here' : question ? 'Your answer' : asked ? 'Or say what to do instead' : placeholder}
      onKeyDown=${pressed}
      data-given=${given}
      onInput=${() => (changed(), menu.look())}
      onClick=${menu.look}
      onBlur=${menu.close}
      onPaste=${pasted}
      spellcheck="true"
      autocomplete="off"
      aria-autocomplete="list"
      aria-controls=${menu.isOpen ? 'composer-menu' : null}
      aria-activedescendant=${menu.meant()}
      aria-describedby="composer-keys"
    ></textarea>
    <span class="hidden-text" id="composer-keys">
      Enter ${asked ? 'answers' : running ? (f.parent ? '' : 'queues, Ctrl+Enter ') + 'sends to the running turn' : 'sends'}. @ mentions,
      / opens commands, ! runs a shell command, # and a space saves a note.
    </span>
    ${
      (given || typed.length > 900 || /^(?:[/!]|# )|@|\[p/.test(typed)) &&
      html`<${Lazy}
        load=${loadChips}
        field=${field}
        task=${task}
        place=${id}
        typed=${typed}
        model=${model}
        where=${where}
        onModel=${setModel}
        onCut=${cut}
      />`
    }
    ${answers && html`<${Lazy} load=${loadInstead} task=${task} asked=${asked} submit=${submit} />`}
    <${Bar}
      task=${task}
      asked=${asked}
      choice=${choice}
      mode=${mode}
      approvals=${approvals}
      model=${model}
      running=${running}
      setMode=${setMode}
      onFiles=${attaching.pick}
      onStart=${(text) => (insert(text), menu.look())}
      onSend=${submit}
    />
  </div>`
}
