#!/bin/bash
set -e
cat > client.js <<'EOF'
'use strict'

const AGAIN = [429, 502, 503, 504]

// Calls a service. `send` takes a request and returns a promise of { status, headers, body }; `sleep` takes milliseconds.
class Client {
  constructor(send, sleep = (time) => new Promise((done) => setTimeout(done, time))) {
    this.send = send
    this.sleep = sleep
  }

  async call(request) {
    const attempts = request.attempts ?? 4
    const isSafe = String(request.method ?? '').toUpperCase() !== 'POST' || Boolean(request.key)
    for (let attempt = 1, wait = 100; ; attempt++, wait = Math.min(wait * 2, 2000)) {
      let answer, error
      try {
        answer = await this.send(request)
      } catch (caught) {
        error = caught
        if (!isSafe || attempt >= attempts) throw error
      }
      if (answer && answer.status < 400) return answer.body
      if (answer) {
        const again = AGAIN.includes(answer.status) && (isSafe || answer.status === 429)
        if (!again || attempt >= attempts) throw new CallError(answer.status)
      }
      const after = answer?.headers?.['retry-after']
      await this.sleep(/^\d+$/.test(String(after ?? '')) ? Number(after) * 1000 : wait)
    }
  }
}

class CallError extends Error {
  constructor(status) {
    super(`the service answered ${status}`)
    this.status = status
  }
}

module.exports = { Client, CallError }
EOF
