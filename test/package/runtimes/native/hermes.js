/**
 * React Native's native half in Hermes' command line, which has no network and no clock: each request gets the answer
 * that node.cjs recorded for it (`records`), and timers fire in the order of their time.
 */
const timers = []
let nowMs = 0
let lastTimer = 0
const tick = globalThis.setTimeout

globalThis.setTimeout = (run, delayMs = 0, ...args) => {
  const timer = { id: ++lastTimer, dueMs: nowMs + delayMs, run: () => run(...args) }
  timers.push(timer)
  tick(fireNext)
  return timer.id
}
globalThis.clearTimeout = (id) => {
  const index = timers.findIndex((timer) => timer.id === id)
  if (index >= 0) timers.splice(index, 1)
}

function fireNext() {
  const next = timers.reduce((a, b) => (b.dueMs < a.dueMs ? b : a), timers[0])
  if (!next) return
  globalThis.clearTimeout(next.id)
  nowMs = Math.max(nowMs, next.dueMs)
  next.run()
}

globalThis.performance = { now: () => nowMs }
globalThis.console = { log: print, error: print, warn: print }

globalThis.installNativeModules(({ method, url, body }, done) => {
  const key = `${method} ${url} ${body || ''}`
  const found = globalThis.records.filter((record) => record.key === key)
  // the last answer to a request is repeated
  if (found.length > 1) globalThis.records.splice(globalThis.records.indexOf(found[0]), 1)
  if (found.length > 0) globalThis.setTimeout(() => done(null, found[0].answer), 1)
  return () => done('aborted')
})
