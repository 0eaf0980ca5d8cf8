// The light bulb: fix and explain problems, explain and improve a selection.
const { CodeAction, CodeActionKind, l10n } = require('vscode')

function provide(document, range, { diagnostics }) {
  const make = (title, kind, command, ...given) =>
    Object.assign(new CodeAction(title, kind), {
      command: { title, command: `halocline.${command}`, arguments: [document.uri, range, ...given] },
    })
  const problems = diagnostics.map(({ message }) => message)
  if (problems.length)
    return [
      Object.assign(make(l10n.t('Fix with Halocline'), CodeActionKind.QuickFix, 'fix', problems), {
        diagnostics: [...diagnostics],
      }),
      make(l10n.t('Explain with Halocline'), CodeActionKind.QuickFix, 'explain', problems),
    ]
  if (range.isEmpty) return []
  return [
    make(l10n.t('Explain with Halocline'), CodeActionKind.RefactorRewrite, 'explain'),
    make(l10n.t('Improve with Halocline'), CodeActionKind.RefactorRewrite, 'improve'),
  ]
}

module.exports = { provide }
