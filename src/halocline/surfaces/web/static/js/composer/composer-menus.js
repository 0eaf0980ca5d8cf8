// The composer's extras: menus, attachments, earlier prompts, stashed text. Their modules are loaded on first use.
import { signal, useRef, useState } from '../lib/ui.js'
import { parseBegun } from './mentions.js'
import { keepValue, said } from '../lib/preferences.js'
import { complain, toast } from '../state/store.js'
import { definePart } from '../lib/parts.js'

export const loadMenu = definePart(() => import('./suggestion-menu.js'))
const loadAttach = definePart(() => import('./attachments.js'))
let menuNow = null
let attachNow = null
/** True once the attachments module is loaded; until then there are none. */
const attachThere = signal(false)

async function attachModule() {
  attachNow ??= await loadAttach()
  attachThere.value = true
  return attachNow
}

/** The attached files of a task. */
export const attachmentsOf = (place) => (attachThere.value ? (attachNow.files.value[place] ?? []) : [])

/** The menu of a field: call `look` after each key, `take` with each key; `choose(offer, from)` inserts one. */
export function useMenu(field, place, choose) {
  const [isOpen, setOpen] = useState(false)
  const latest = useRef()
  latest.current = choose
  const close = () => {
    menuNow?.close()
    setOpen(false)
  }
  const findBegun = () => {
    const box = field.current
    return box && box.selectionStart === box.selectionEnd ? parseBegun(box.value.slice(0, box.selectionStart)) : null
  }
  async function look() {
    if (!findBegun()) return close()
    setOpen(true)
    if (!menuNow) menuNow = await loadMenu()
    const now = findBegun() // more may have been typed since
    if (!now) return close()
    await menuNow.look(now, place, (offer) => {
      close()
      latest.current(offer, now.from)
    })
  }
  const take = (event) => {
    if (!isOpen || !menuNow?.take(event)) return false
    if (event.key === 'Escape') setOpen(false)
    return true
  }
  return {
    isOpen,
    look: () => look().catch(complain),
    close,
    take,
    nameChosen: () => (isOpen ? (menuNow?.nameChosen() ?? null) : null),
  }
}

const unifyLineEnds = (text) => text.replace(/\r\n?/g, '\n')

/** Handlers of paste, drop and the file dialog. */
export function useAttaching(place, where, insert) {
  const attachFiles = async (list) => (await attachModule()).attach(place, where, list)
  return {
    paste(event) {
      const files = [...event.clipboardData.files]
      if (files.length) return (attachFiles(files), true)
      const text = unifyLineEnds(event.clipboardData.getData('text/plain'))
      if (text.length <= 400 && text.split('\n').length <= 10) return false // too short for a chip
      attachModule().then(
        (module) => insert(module.chipFor(place, text)),
        () => insert(text),
      )
      return true
    },
    drop(data) {
      if (data.files.length) return attachFiles([...data.files])
      const text = data.getData('text/uri-list') || data.getData('text/plain')
      if (text) insert(text)
      return undefined
    },
    pick() {
      const input = Object.assign(document.createElement('input'), { type: 'file', multiple: true })
      input.onchange = () => attachFiles([...input.files])
      input.click()
    },
    /** The parts to send with a text; null if a file is not ready. */
    async takeParts(text) {
      if (!text.includes('[pasted ') && !attachmentsOf(place).length) return { parts: [], back() {} }
      const module = await attachModule()
      return module.isReady(place) ? module.takeParts(place, text) : null
    },
    /** Delete a chip like one character. */
    cutBefore(box) {
      if (box.selectionStart !== box.selectionEnd) return false
      const chip = /\[pasted [^\]\n]+\] ?$/.exec(box.value.slice(0, box.selectionStart))
      if (!chip) return false
      box.setRangeText('', chip.index, box.selectionStart, 'end')
      return true
    },
  }
}

/** The texts of a task's prompts, but for those that the page has only the beginning of. */
export const listPrompts = (facts) => (facts?.prompts ?? []).filter((one) => !one.is_cut).map((one) => one.text)

/** Earlier prompts with the arrow keys: up from the first line, down from the last. */
export function useRecall(field, facts, write) {
  const at = useRef({ back: 0, draft: '', shown: '' })
  return (key) => {
    const box = field.current
    const state = at.current
    const all = [...new Set([...said.value, ...listPrompts(facts)])].filter(Boolean)
    if (state.back && box.value !== state.shown) state.back = 0
    if (key === 'ArrowUp' && box.value && !state.back) return false
    if (!state.back && key === 'ArrowDown') return false
    if (state.back && key === 'ArrowUp' && box.value.slice(0, box.selectionStart).includes('\n')) return false
    const back = Math.min(all.length, Math.max(0, state.back + (key === 'ArrowUp' ? 1 : -1)))
    if (back === state.back) return Boolean(state.back)
    state.back = back
    state.shown = back ? all[all.length - back] : ''
    write(state.shown, key === 'ArrowUp' ? 0 : state.shown.length)
    return true
  }
}

const aside = keepValue('aside', [])

/** Stash the text, or restore the latest stash. */
export function useStash(field, write) {
  return () => {
    const text = field.current.value
    if (text.trim()) {
      aside.value = [...aside.value, text].slice(-20)
      write('')
      toast('Text stashed. Press the same keys in an empty box to restore it.')
    } else if (aside.value.length) {
      write(aside.value.at(-1))
      aside.value = aside.value.slice(0, -1)
    } else toast('No stashed text.')
  }
}
