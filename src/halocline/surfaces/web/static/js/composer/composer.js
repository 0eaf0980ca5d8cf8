// The composer. Enter sends, or queues while the agent works; Ctrl+Enter sends to the running turn. While the agent
// asks, a message is the answer. Text is never lost: the draft is saved as you type, sent text until the server has it.
import { html, classes, useEffect, useRef, useState } from '../lib/ui.js'
import { useArmed } from '../lib/deliberate-input.js'
import { act } from '../lib/connection.js'
import { complain, openSheet, written } from '../state/store.js'
import { matches, on } from '../state/shortcut-keys.js'
import { outbox } from '../state/outbox.js'
import { draftOf, drafts, setDraft, usedModel } from '../lib/preferences.js'
import { attachmentsOf, loadMenu, useMenu, useAttaching, useRecall, useStash } from './composer-menus.js'
import { isSlashCommand, submitPrompt } from './submit-prompt.js'
import { Bar } from './composer-bar.js'
import { Lazy } from '../widgets/lazy.js'
import Strip from './unsent-strip.js'
import { definePart } from '../lib/parts.js'

const loadChips = definePart(() => import('./chips.js'))
const loadInstead = definePart(() => import('./answer-or-prompt.js'))

/** Letters that fill the field whatever its width: measuring them takes longer than all else that a key does. */
const FULL = 20_000

function fitHeight(box) {
  const most = innerHeight * 0.4
  if (box.value.length < FULL) box.style.height = 'auto'
  box.style.height = `${box.value.length < FULL ? Math.min(box.scrollHeight, most) : most}px`
}

/** The text field of a task: its text, saved as a draft, and functions that change it. */
function useField(id) {
  const field = useRef()
  const [typed, setTyped] = useState('')
  const saveText = () => {
    const box = field.current
    setDraft(id, box.value)
    setTyped(box.value)
    fitHeight(box)
  }
  const writeText = (text, at = text.length) => {
    const box = field.current
    box.value = text
    box.setSelectionRange(at, at)
    saveText()
  }
  const insertText = (text) => {
    const box = field.current
    box.focus()
    // Prefer the browser's own insertion, which supports undo.
    if (!document.execCommand?.('insertText', false, text))
      box.setRangeText(text, box.selectionStart, box.selectionEnd, 'end')
    saveText()
  }
  useEffect(() => {
    const kept = draftOf(id)
    if (kept || field.current.value) writeText(kept) // measuring an empty field would lay out the page
  }, [id])
  useEffect(() => {
    // A rejection after a reload returns text to the draft, and a tab that was closed may have left some.
    const kept = draftOf(id)
    if (kept !== field.current.value && document.activeElement !== field.current) writeText(kept)
  }, [drafts.value[id]])
  useEffect(() => {
    if (!written.value) return
    const { text, instead } = written.value
    written.value = null
    const before = instead ? '' : field.current.value
    writeText(before ? `${before.replace(/\s*$/, '')}\n${text}` : text)
    field.current.focus()
  }, [written.value])
  return { field, typed, saveText, writeText, insertText }
}

/** Mode, approvals and model of a task, or of the next one, and how to change them. */
function useModes(task, choice, usual) {
  const facts = task?.facts
  const mode = facts?.mode || choice?.value.mode || usual.mode || 'act'
  const approvals = facts?.approvals || choice?.value.approval_mode || usual.approval_mode || ''
  const model = facts?.model || choice?.value.model || usual.model || ''
  const setMode = (next) =>
    task ? task.send('set_mode', { mode: next }).catch(complain) : (choice.value = { ...choice.value, mode: next })
  const setModel = async (name) => {
    if (task) await act('change_model', { task: task.id, model: name }).catch(complain)
    else choice.value = { ...choice.value, model: name }
    usedModel(name)
  }
  useEffect(() => on('mode', () => setMode(mode === 'act' ? 'plan' : 'act')), [mode, task?.id])
  return { mode, approvals, model, setMode, setModel }
}

// Files are taken wherever they are dropped, but in a dialog; a browser would leave the page for them.
const takesDrop = ({ target, dataTransfer: { types } }) =>
  types.includes('Files')
    ? !target.closest?.('dialog')
    : types.includes('text/uri-list') && Boolean(target.closest?.('.composer'))

/** True while something is dragged that the composer takes; `take` gets what is dropped. */
function useDropping(take) {
  const [isOver, setOver] = useState(false)
  const handlers = useRef(null)
  const judge = (event) => {
    const takes = takesDrop(event)
    if (takes || event.dataTransfer.types.includes('Files')) event.preventDefault()
    return takes
  }
  handlers.current = {
    dragover: (event) => setOver(judge(event)),
    dragleave: (event) => event.relatedTarget || setOver(false),
    drop(event) {
      setOver(false)
      if (judge(event)) take(event.dataTransfer)
    },
  }
  useEffect(() => {
    const hand = (event) => handlers.current[event.type](event)
    const kinds = ['dragover', 'dragleave', 'drop']
    for (const kind of kinds) document.addEventListener(kind, hand)
    return () => kinds.forEach((kind) => document.removeEventListener(kind, hand))
  }, [])
  return isOver
}

/** Handles the keys of the field: send, earlier prompts, stash, and what an open menu takes. */
function useKeys({ task, field, menu, attaching, writeText, saveText }, submit) {
  const recall = useRecall(field, task?.facts, writeText)
  const stash = useStash(field, writeText)
  return (event) => {
    if (event.isComposing || event.keyCode === 229 || menu.take(event)) return
    const box = event.target
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) submit(event.ctrlKey || event.metaKey)
    else if (matches('search-prompts', event))
      openSheet('recall', { task, write: (text) => (writeText(text), field.current.focus()) })
    else if (matches('stash', event)) stash()
    else if (event.key === 'Backspace' && attaching.cutBefore(box)) saveText()
    else if (!(event.key === 'ArrowUp' || event.key === 'ArrowDown') || event.shiftKey || !recall(event.key)) return
    event.preventDefault()
  }
}

const KeyHint = ({ asked, facts }) => html`<span class="hidden-text" id="composer-keys">
  Enter ${asked ? 'answers' : facts?.running ? (facts.parent ? '' : 'queues, Ctrl+Enter ') + 'sends to the running turn' : 'sends'}. @ mentions,
  / opens commands, ! runs a shell command, # and a space saves a note.
</span>`

/** @param {any} of */
export function Composer({ task = null, choice = null, usual = {}, workspace = '', placeholder, onSend }) {
  task?.version.value
  const id = task?.id ?? 'new'
  const facts = task?.facts
  const { mode, approvals, model, setMode, setModel } = useModes(task, choice, usual)
  // Text typed before the request could be seen is not an answer to it.
  const first = facts?.waiting[0]
  const asked = useArmed(first && task.keyOf(first.request)) ? first : null
  const question = asked?.kind === 'question' ? asked : null
  const where = task ? { task: task.id } : { workspace, model }
  const { field, typed, saveText, writeText, insertText } = useField(id)
  const menu = useMenu(field, { task, workspace }, (offer, from) => {
    field.current.setRangeText(offer.put, from, field.current.selectionStart, 'end')
    saveText()
    if (offer.goesOn) menu.look()
  })
  const attaching = useAttaching(id, where, insertText)
  const dragged = useDropping(attaching.drop)
  const isStarting = useRef(false)
  const given = attachmentsOf(id).length > 0
  const place = { task, id, facts, choice, workspace, asked, question, given, onSend, isStarting }
  const parts = { field, menu, attaching, writeText, saveText }
  const submit = (steering, how) => submitPrompt({ ...place, ...parts }, steering, how)
  const handleKey = useKeys({ task, ...parts }, submit)
  const cutText = (text) => writeText(field.current.value.replace(text, '').replace(/ {2,}/g, ' '))
  const answers = asked && (typed.trim() || given) && !isSlashCommand(typed) && typed[0] !== '!'
  const waits = facts?.queue.length || outbox.value.some((one) => one.place === id)

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
      onKeyDown=${handleKey}
      data-given=${given}
      onInput=${() => (saveText(), menu.look())}
      onClick=${menu.look}
      onBlur=${menu.close}
      onPaste=${(event) => attaching.paste(event) && event.preventDefault()}
      spellcheck="true"
      autocomplete="off"
      aria-autocomplete="list"
      aria-controls=${menu.isOpen ? 'composer-menu' : null}
      aria-activedescendant=${menu.nameChosen()}
      aria-describedby="composer-keys"
    ></textarea>
    <${KeyHint} asked=${asked} facts=${facts} />
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
        onCut=${cutText}
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
      running=${Boolean(facts?.running)}
      setMode=${setMode}
      onFiles=${attaching.pick}
      onStart=${(text) => (insertText(text), menu.look())}
      onSend=${submit}
    />
  </div>`
}
