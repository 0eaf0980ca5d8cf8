"""A small extension for the tests of the test lane: a view, a tab, commands, an edit to approve, a status bar item."""

import json
from pathlib import Path

ID, CONTAINER, VIEW = "tests.tiny", "Tiny", "tiny.view"
PACKAGE = {
    "name": "tiny",
    "displayName": "Tiny",
    "description": "Shows one line.",
    "publisher": "tests",
    "license": "Apache-2.0",
    "version": "1.2.3",
    "engines": {"vscode": "^1.100.0"},
    "main": "./extension.js",
    "icon": "media/icon.png",
    "contributes": {
        "commands": [
            {"command": "tiny.greet", "title": "Greet", "category": "Tiny"},
            {"command": "tiny.panel", "title": "Open Tab", "category": "Tiny"},
            {"command": "tiny.propose", "title": "Propose Edit", "category": "Tiny"},
            {"command": "tiny.ask", "title": "Ask", "category": "Tiny"},
            {"command": "tiny.accept", "title": "Accept", "icon": "$(check)"},
        ],
        "menus": {"editor/title": [{"command": "tiny.accept", "when": "isInDiffEditor", "group": "navigation"}]},
        "viewsContainers": {"activitybar": [{"id": "tiny", "title": CONTAINER, "icon": "media/icon.svg"}]},
        "views": {"tiny": [{"type": "webview", "id": VIEW, "name": "Line", "icon": "media/icon.svg"}]},
    },
}
SCRIPT = """
const vscode = require('vscode')
exports.activate = (context) => {
  const { window, commands, Uri, ViewColumn, StatusBarAlignment } = vscode
  const render = (webview, line) => {
    webview.options = { enableScripts: true, localResourceRoots: [Uri.joinPath(context.extensionUri, 'media')] }
    const style = webview.asWebviewUri(Uri.joinPath(context.extensionUri, 'media', 'line.css'))
    const script = webview.asWebviewUri(Uri.joinPath(context.extensionUri, 'media', 'line.js'))
    const rule = `default-src 'none'; style-src ${webview.cspSource}; script-src ${webview.cspSource}`
    webview.html = `<!doctype html><html><head><meta http-equiv="Content-Security-Policy" content="${rule}">
      <link rel="stylesheet" href="${style}"><script src="${script}" defer></script></head>
      <body><p id="line">${line}</p><input aria-label="Say"></body></html>`
  }
  const status = window.createStatusBarItem('tiny.status', StatusBarAlignment.Left, 100)
  const greet = async (name = 'you') => {
    status.text = `Hello, ${name}`
    status.show()
    return window.showInformationMessage(`Hello, ${name}`, 'Again')
  }
  let proposed
  context.subscriptions.push(
    status,
    window.registerWebviewViewProvider('tiny.view', {
      resolveWebviewView: (view) => render(view.webview, 'in the side bar'),
    }),
    commands.registerCommand('tiny.greet', async () => { if (await greet()) await greet('again') }),
    commands.registerCommand('tiny.panel', () =>
      render(window.createWebviewPanel('tiny.panel', 'Tiny tab', ViewColumn.Active).webview, 'in a tab')),
    commands.registerCommand('tiny.propose', () => {
      const folder = vscode.workspace.workspaceFolders[0].uri
      proposed = Uri.joinPath(folder, 'proposed.txt')
      return commands.executeCommand('vscode.diff', Uri.joinPath(folder, 'before.txt'), proposed, 'before ↔ proposed')
    }),
    commands.registerCommand('tiny.ask', async () => {
      const answer = await window.showQuickPick(['red', 'green'], { placeHolder: 'Which colour?' })
      await greet(`${answer} ${await window.showInputBox({ prompt: 'How much?' })}`)
    }),
    commands.registerCommand('tiny.accept', async () => {
      const text = (await vscode.workspace.openTextDocument(proposed)).getText()
      await window.tabGroups.close(window.tabGroups.activeTabGroup.activeTab)
      window.showInformationMessage(`Accepted ${text.trim().split('\\n').join(', ')}`)
    }),
  )
}
"""
FILES = {
    "package.json": json.dumps(PACKAGE, indent=2),
    "extension.js": SCRIPT,
    "README.md": "# Tiny\n",
    "LICENSE": "None.\n",
    "media/line.css": "#line { color: var(--vscode-foreground) }\n",
    "media/line.js": "document.documentElement.dataset.ready = 'yes'\n",
    "media/icon.svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M1 1h7v7H1z"/></svg>\n',
    "media/icon.png": "not looked at\n",
}


def write_tiny_extension(folder: Path) -> Path:
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
