// Pages of Halocline in the side bar and in editor tabs. Their frames and requests are relayed to the Python side.
const { randomUUID } = require('node:crypto')
const vscode = require('vscode')
const { folderPaths } = require('./backend')
const { NotInstalled, NotTrusted } = require('./command')

const { Uri, ViewColumn, l10n, window } = vscode
const VIEW = 'halocline.chat'
const TAB = 'halocline.tab'

class Pages {
  constructor(backend, context) {
    this.backend = backend
    this.context = context
    this.side = null
    this.tabs = new Set()
    /** Messages for the next page that is ready. */
    this.kept = []
    this.byName = new Map()
    backend.on('page/message', ({ page, text }) => this.byName.get(page)?.send({ type: 'text', text }))
    backend.on('page/closed', ({ page, code }) => this.byName.get(page)?.send({ type: 'closed', code }))
    context.subscriptions.push(
      backend.onEnd(() => this.all().forEach((page) => page.send({ type: 'closed', code: 1006 }))),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.all().forEach((page) => page.load())),
      vscode.workspace.onDidChangeWorkspaceFolders(() => backend.notify('editor/folders', { folders: folderPaths() })),
    )
  }

  all() {
    return [...(this.side ? [this.side] : []), ...this.tabs]
  }

  show(view) {
    const page = (this.side = new Page(this, view.webview))
    view.onDidDispose(() => {
      if (this.side === page) this.side = null
      page.leave()
    })
    return page.load()
  }

  openTab() {
    const place = { viewColumn: ViewColumn.Beside, preserveFocus: false }
    return this.showTab(window.createWebviewPanel(TAB, 'Halocline', place, { enableFindWidget: true }))
  }

  showTab(panel) {
    panel.iconPath = Uri.joinPath(this.context.extensionUri, 'media', 'icon.svg')
    const page = new Page(this, panel.webview)
    this.tabs.add(page)
    panel.onDidDispose(() => {
      this.tabs.delete(page)
      page.leave()
    })
    return page.load()
  }

  async focus() {
    await vscode.commands.executeCommand(`${VIEW}.focus`)
    this.side?.tell({ type: 'focus' })
  }

  /** Show a place of the page, such as ['task', id]. */
  go(words) {
    return this.tell({ type: 'go', words }, { type: 'focus' })
  }

  /** Put text into the composer. */
  insert(text) {
    return this.tell({ type: 'insert', text })
  }

  /** Show the page and tell it something as soon as it can hear. */
  async tell(...messages) {
    await vscode.commands.executeCommand(`${VIEW}.focus`)
    if (this.side?.isReady) messages.forEach((message) => this.side.send(message))
    else this.kept.push(...messages)
  }

  /** Open a link to the extension: `/new?prompt=TEXT` writes the prompt, which the person sends; `/task?id=ID`. */
  async follow(uri) {
    const given = new URLSearchParams(uri.query)
    if (uri.path === '/new') {
      await this.go([])
      if (given.get('prompt')) await this.insert(given.get('prompt').slice(0, 20_000))
    } else if (uri.path === '/task' && /^[\w-]{1,64}$/.test(given.get('id') ?? ''))
      await this.go(['task', given.get('id')])
    else window.showWarningMessage(l10n.t('Halocline does not know this link: {0}', uri.path))
  }
}

/** One webview. */
class Page {
  constructor(pages, webview) {
    this.pages = pages
    this.backend = pages.backend
    this.webview = webview
    this.name = ''
    this.isReady = false
    webview.onDidReceiveMessage((message) => this.take(message))
  }

  /** Show the page; what went wrong, if it cannot be shown. */
  async load() {
    this.isReady = false
    this.webview.options = { enableScripts: true, localResourceRoots: [] }
    this.webview.html = renderWaiting(l10n.t('Starting Halocline…'))
    try {
      const { folder, page } = await this.backend.start()
      const place = Uri.file(folder)
      this.webview.options = { enableScripts: true, localResourceRoots: [place] }
      const base = this.webview.asWebviewUri(place).toString()
      this.webview.html = page
        .replaceAll('{base}', base)
        .replaceAll('{source}', this.webview.cspSource)
        .replace('{place}', this.place)
    } catch (error) {
      this.failure = error
      this.webview.html = renderError(error)
    }
  }

  /** Where a page was last: VS Code forgets what is in a view when its window is loaded again. */
  get place() {
    const kept = this.pages.context.workspaceState.get('place', '')
    return /^#[\w/%.~-]*$/.test(kept) ? kept : ''
  }

  leave() {
    if (!this.name) return
    this.pages.byName.delete(this.name)
    this.backend.notify('page/close', { page: this.name })
  }

  send(message) {
    this.webview.postMessage(message)
  }

  async take(message) {
    switch (message?.type) {
      case 'open':
        return this.connect(message.page)
      case 'message':
        return this.backend.notify('page/message', { page: message.page, text: message.text })
      case 'close':
        return this.backend.notify('page/close', { page: message.page })
      case 'fetch':
        return this.fetch(message)
      case 'place':
        return this.pages.context.workspaceState.update('place', message.hash)
      case 'reload':
        return this.load()
      case 'ready':
        this.isReady = true
        if (this === this.pages.side) for (const one of this.pages.kept.splice(0)) this.send(one)
        return undefined
      case 'show':
        return showFile(message)
      case 'edit':
        return this.backend.request('edit/show', { task: message.task, request: message.request })
      case 'install':
        return (await require('./install').install(this.pages.context)) && this.load()
      case 'choose':
        return (await require('./command').chooseCommand()) && this.load()
      case 'again':
        return this.load()
      case 'trust':
        return vscode.commands.executeCommand('workbench.trust.manage')
      case 'copy':
        return vscode.env.clipboard.writeText(`${this.failure.message}\n${this.failure.details ?? ''}`)
      case 'log':
        return this.backend.log.show()
    }
  }

  async connect(name) {
    this.name = name
    this.pages.byName.set(name, this)
    try {
      await this.backend.ask('page/open', { page: name })
      this.send({ type: 'opened' })
    } catch {
      this.send({ type: 'closed', code: 1006 }) // the page tries again, and says meanwhile that it is not connected
    }
  }

  async fetch({ id, path, method, body }) {
    try {
      const answer = await this.backend.ask('page/fetch', { path, method, body })
      this.send({ type: 'fetched', id, answer })
    } catch (error) {
      this.send({ type: 'fetched', id, problem: error.message })
    }
  }
}

/** Open a file at a line, from 1. */
async function showFile({ path, line }) {
  const at = new vscode.Position(Math.max(0, (line ?? 1) - 1), 0)
  try {
    await window.showTextDocument(Uri.file(path), { selection: new vscode.Range(at, at), preview: true })
  } catch (error) {
    window.showWarningMessage(error.message)
  }
}

const escapeHtml = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`)

const document = (policy, body) =>
  `<!doctype html><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-plain'; ${policy}">` +
  `<style nonce="plain">body{font:var(--vscode-font-size) var(--vscode-font-family);padding:16px;line-height:1.5}` +
  'pre{white-space:pre-wrap;overflow-wrap:anywhere;background:var(--vscode-textCodeBlock-background);padding:8px;max-height:50vh;overflow:auto}' +
  'button{font:inherit;color:var(--vscode-button-foreground);background:var(--vscode-button-background);border:1px solid var(--vscode-contrastBorder,transparent);padding:6px 12px;margin:0 8px 8px 0;cursor:pointer}' +
  `button.other{color:var(--vscode-button-secondaryForeground);background:var(--vscode-button-secondaryBackground)}</style>${body}`

const renderWaiting = (text) => document('', `<p role="status">${escapeHtml(text)}</p>`)

function renderError(error) {
  const nonce = randomUUID()
  const button = (name, text, kind = '') => `<button data-does="${name}" class="${kind}">${escapeHtml(text)}</button>`
  const install = error instanceof NotInstalled
  const buttons =
    error instanceof NotTrusted
      ? button('trust', l10n.t('Trust This Folder…'))
      : (install ? button('install', l10n.t('Install')) : button('again', l10n.t('Try Again'))) +
        button('choose', l10n.t('Choose the Command…'), 'other') +
        (install ? button('again', l10n.t('Try Again'), 'other') : button('copy', l10n.t('Copy'), 'other')) +
        button('log', l10n.t('Show Log'), 'other')
  const body =
    `<p>${escapeHtml(error.message)}</p>${error.details ? `<pre>${escapeHtml(error.details)}</pre>` : ''}<p>${buttons}</p>` +
    `<script nonce="${nonce}">const editor = acquireVsCodeApi();` +
    "addEventListener('click', ({ target }) => target.dataset.does && editor.postMessage({ type: target.dataset.does }))</script>"
  return document(`script-src 'nonce-${nonce}'`, body)
}

module.exports = { Pages }
