/**
 * React Native's native half in Node: requests go out by `node:http`. Removes the globals that Hermes does not have.
 * The answers are kept for a run in Hermes (hermes.js), in the file of RECORDS.
 */
const { Buffer } = require('node:buffer')
const { writeFileSync } = require('node:fs')
const http = require('node:http')
const { runInNewContext } = require('node:vm')
require('./modules.js')

const KEPT = [
  // of Node itself, of Hermes, and of React Native's timers
  ...['globalThis', 'global', 'console', 'process', 'performance', 'queueMicrotask'],
  ...['atob', 'btoa', 'TextEncoder', 'installNativeModules', 'config'],
  ...['setTimeout', 'clearTimeout', 'setInterval', 'clearInterval', 'setImmediate'],
]
const { URL } = globalThis
const records = []

function send(request, done) {
  const { method, url, headers, body } = request
  const sent = http.request(url, { method, headers }, (response) => {
    const { statusCode, headers: received } = response
    // iOS and Android follow redirects
    if (statusCode >= 300 && statusCode < 400)
      return send({ ...request, url: new URL(received.location, url).href }, done)
    const chunks = []
    response.on('data', (chunk) => chunks.push(chunk))
    response.on('end', () => {
      const bytes = Buffer.concat(chunks)
      const base64 = bytes.toString('base64')
      const answer = { status: statusCode, headers: received, url, text: String(bytes), base64 }
      records.push({ key: `${method} ${url} ${body || ''}`, answer })
      done(null, answer)
    })
  })
  sent.on('error', (error) => done(error.message))
  sent.end(body)
  return () => sent.destroy()
}

if (process.env.RECORDS)
  process.on('exit', () => writeFileSync(process.env.RECORDS, JSON.stringify(records)))

const language = runInNewContext('Object.getOwnPropertyNames(globalThis)')
for (const name of Object.getOwnPropertyNames(globalThis))
  if (!KEPT.includes(name) && !language.includes(name)) delete globalThis[name]

globalThis.quit = () => process.exit(0)
globalThis.installNativeModules(send)
