// The extension: registers what VS Code shows of Halocline. Nothing runs before its first use.
const vscode = require('vscode')

/** A part of the extension that is loaded when it is first used. */
function lazily(load) {
  let loaded
  return () => (loaded ??= load())
}

/** The connection to `halo editor`, with what serves its requests. */
function startBackend(context, status) {
  const { Backend } = require('./src/backend')
  const { Diffs } = require('./src/diffs')
  const { OpenFiles } = require('./src/open_files')
  const { Notices } = require('./src/notices')
  const { Terminals } = require('./src/terminals')
  const { Threads } = require('./src/threads')
  const made = new Backend(context)
  const terminals = new Terminals()
  context.subscriptions.push(made, new OpenFiles(made), new Notices(made, status))
  made.diffs = new Diffs(made)
  made.threads = new Threads(made)
  const problems = lazily(() => {
    const { Problems } = require('./src/problems')
    const all = new Problems()
    context.subscriptions.push(all)
    return all
  })
  made.on('terminals/latest', () => terminals.list())
  made.on('problems/check', (given) => problems().check(given))
  made.on('problems/shown', () => require('./src/problems').listShown())
  made.on('file/read', (given) => require('./src/open_texts').read(given))
  made.on('file/write', (given) => require('./src/open_texts').write(given))
  context.subscriptions.push(made.diffs, made.threads, terminals)
  // Other editors with VS Code's extensions may lack this part of the API.
  if (vscode.lm?.selectChatModels) {
    const { LanguageModels } = require('./src/language_models')
    context.subscriptions.push(new LanguageModels(made))
  }
  return made
}

function showStatus(context) {
  const status = vscode.window.createStatusBarItem('halocline', vscode.StatusBarAlignment.Right, 90)
  Object.assign(status, { name: 'Halocline', text: '$(hubot) Halocline', command: 'halocline.focus' })
  status.tooltip = vscode.l10n.t('Open Halocline')
  status.show()
  context.subscriptions.push(status)
  return status
}

function registerCommands(context, backend, pages) {
  const register = (name, run) => context.subscriptions.push(vscode.commands.registerCommand(`halocline.${name}`, run))
  const action =
    (name) =>
    (...given) =>
      require('./src/actions')[name]({ backend: backend(), pages: pages() }, ...given)

  register('focus', () => pages().focus())
  register('newTask', () => pages().go([]))
  register('openInTab', () => pages().openTab())
  register('history', () => pages().go(['history']))
  register('mcp', () => pages().go(['mcp']))
  register('settings', () => pages().go(['settings']))
  for (const name of ['addSelection', 'addFile', 'addTerminalSelection', 'addProblems', 'explain', 'fix', 'improve'])
    register(name, action(name))
  for (const name of ['explainCell', 'improveCell', 'generateCell', 'commitMessage', 'stopCommitMessage'])
    register(name, action(name))
  register('storeKey', () => require('./src/keys').storeKey(context, backend()))
  register('removeKey', () => require('./src/keys').removeKey(context, backend()))
  register('install', () =>
    require('./src/install')
      .install(context)
      .then((done) => done && backend().restart()),
  )
  register('chooseCommand', () =>
    require('./src/command')
      .chooseCommand()
      .then((isNew) => isNew && backend().restart()),
  )
  register('restart', () => backend().restart())
  register('showLog', () => backend().log.show())
  register('acceptEdit', (uri) => backend().diffs.decide(uri, true))
  register('rejectEdit', (uri) => backend().diffs.decide(uri, false))
  register('rejectEditWithReason', (uri) => backend().diffs.rejectWithReason(uri))
  register('reply', (given) => backend().threads.reply(given))
  register('addThread', (thread) => pages().insert(backend().threads.quote(thread)))
  register('closeThread', (thread) => backend().threads.remove(thread))
}

function registerViews(context, pages) {
  const { languages, window } = vscode
  context.subscriptions.push(
    window.registerWebviewViewProvider('halocline.chat', { resolveWebviewView: (view) => pages().show(view) }),
    window.registerWebviewPanelSerializer('halocline.tab', {
      deserializeWebviewPanel: async (panel) => pages().showTab(panel),
    }),
    window.registerUriHandler({ handleUri: (uri) => pages().follow(uri) }),
    languages.registerCodeActionsProvider(
      [{ scheme: 'file' }, { scheme: 'vscode-notebook-cell' }],
      { provideCodeActions: (...given) => require('./src/code_actions').provide(...given) },
      { providedCodeActionKinds: [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.RefactorRewrite] },
    ),
  )
}

function activate(context) {
  const status = showStatus(context)
  const backend = lazily(() => startBackend(context, status))
  const pages = lazily(() => {
    const { Pages } = require('./src/pages')
    return new Pages(backend(), context)
  })
  registerCommands(context, backend, pages)
  registerViews(context, pages)
}

module.exports = { activate }
