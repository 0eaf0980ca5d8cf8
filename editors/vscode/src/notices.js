// The status bar, and notifications for a task that needs the person or ends while the window is not in front.
const vscode = require('vscode')

const { l10n, window } = vscode

class Notices {
  constructor(backend, item) {
    this.item = item
    this.before = {}
    backend.on('status', ({ tasks }) => this.take(tasks))
    this.end = backend.onEnd(() => this.take({}))
  }

  take(tasks) {
    const all = Object.entries(tasks)
    const count = (status) => all.filter(([, one]) => one.status === status).length
    const [asks, runs] = [count('asks'), count('runs')]
    const icon = asks ? '$(bell-dot)' : runs ? '$(loading~spin)' : '$(hubot)'
    const [, newest] = all.at(-1) ?? []
    const context = newest?.context == null ? '' : ` ${Math.round(newest.context * 100)} %`
    const cost = newest?.cost ? ` $${newest.cost.toFixed(2)}` : ''
    this.item.text = `${icon} Halocline${asks ? ` ${asks}` : ''}${context}${cost}`
    this.item.backgroundColor = asks ? new vscode.ThemeColor('statusBarItem.warningBackground') : undefined
    const says = { asks: l10n.t('needs you'), runs: l10n.t('works'), rests: l10n.t('rests') }
    this.item.tooltip =
      all.map(([, one]) => `${one.title || l10n.t('Untitled')}: ${says[one.status]}`).join('\n') ||
      l10n.t('Open Halocline')
    for (const [task, one] of all) this.notify(task, one, this.before[task]?.status)
    this.before = tasks
  }

  async notify(task, { title, status }, before) {
    const isWanted = vscode.workspace.getConfiguration('halocline').get('notify')
    if (!isWanted || window.state.focused || status === before) return
    const name = title || l10n.t('A task')
    const text =
      status === 'asks'
        ? l10n.t('{0} needs you.', name)
        : before === 'runs' && status === 'rests'
          ? l10n.t('{0} ended.', name)
          : ''
    if (!text) return
    const show = l10n.t('Show')
    if ((await window.showInformationMessage(text, show)) === show)
      await vscode.commands.executeCommand('halocline.focus')
  }

  dispose() {
    this.end.dispose()
  }
}

module.exports = { Notices }
