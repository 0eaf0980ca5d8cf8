'use strict'

// Calls a service. `send` takes a request and returns a promise of { status, headers, body }; `sleep` takes milliseconds.
class Client {
  constructor(send, sleep = (time) => new Promise((done) => setTimeout(done, time))) {
    this.send = send
    this.sleep = sleep
  }

  async call(request) {
    const answer = await this.send(request)
    if (answer.status >= 400) throw new CallError(answer.status)
    return answer.body
  }
}

class CallError extends Error {
  constructor(status) {
    super(`the service answered ${status}`)
    this.status = status
  }
}

module.exports = { Client, CallError }
