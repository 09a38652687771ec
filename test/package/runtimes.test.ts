import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, transform } from 'esbuild'
import { chromium as playwright } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { buildClientPackage } from '../../scripts/client-package.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { bid, freshName, randomAddress, randomHash, startApi } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { CHROMIUM_ARGS, findChromium } from '../e2e/browser.js'
import { readEpoch } from '../support/epoch.js'
import { useFolder } from '../support/folder.js'
import { serve } from '../support/httpServer.js'
import { useWorld } from '../support/useWorld.js'
import { fileIn, installRuntimes } from './runtimes/installed.js'
import { bundleForReactNative } from './runtimes/reactNative.js'

/** Runs the packed client in each runtime, against one service: the cases of runtimes/exercise.mjs. */

const ROOT = join(import.meta.dirname, '../..')
const DEADLINE_MS = 90_000
const runtimes = await installRuntimes()
const chromium = findChromium()
const app = useFolder()
const keys = logKeysOfSeeds([randomBytes(32)])
const known = { address: randomAddress(), name: freshName(), tx: randomHash() }

interface Result {
  passed: string[]
  failed: string[]
  cases: number
}

const world = useWorld(async () => {
  const api = await startApi()
  await api.append('mainnet', [
    bid({ from: known.address, name: known.name, tx: known.tx }),
    ...Array.from({ length: 600 }, () => bid({ from: known.address, name: freshName() })),
  ])
  const epoch = await readEpoch(api.pool, 'mainnet', 'index')
  const ctx = { pool: api.pool, network: 'mainnet', epoch } as const
  const worker = createTransparencyLogWorker(ctx, { domain: 'names.example', keys })
  while ((await worker.step(AbortSignal.timeout(DEADLINE_MS), () => {})) !== 'idle');
  return api
})

/** Answers nothing, redirects, and has an empty page. */
const others = useWorld(() =>
  serve((request, response) => {
    if (request.url!.startsWith('/moved'))
      response.writeHead(302, { location: `${world.url}/v1/networks`, ...ANY_ORIGIN }).end()
    if (request.url === '/page') response.setHeader('content-type', 'text/html').end('<body>')
  }),
)
const ANY_ORIGIN = { 'access-control-allow-origin': '*' }

/** What the cases need to know, with a wallet of its own. */
function configOf(more: object = {}) {
  const seed = randomBytes(32)
  return {
    url: world.url,
    silentUrl: others.url,
    movedUrl: `${others.url}/moved`,
    key: keys[0]!.publicKey.toString('base64'),
    wallet: { seed: seed.toString('hex'), address: solanaAccount(seed).address },
    known,
    missing: freshName(),
    ...more,
  }
}

const PROGRAM = {
  esm: `
import * as client from 'clusterd-client'
import * as verify from 'clusterd-client/verify'
import { ed25519 } from '@noble/curves/ed25519.js'
import { exercise } from './exercise.mjs'
export const run = (config) => exercise({ ...client, ...verify, ed25519 }, config)
`,
  cjs: `
const client = require('clusterd-client')
const verify = require('clusterd-client/verify')
const { ed25519 } = require('@noble/curves/ed25519.js')
const { exercise } = require('./exercise.cjs')
exports.run = (config) => exercise({ ...client, ...verify, ed25519 }, config)
`,
}
const PRINT = `run(JSON.parse(process.env.CONFIG)).then((result) => {
  console.log(JSON.stringify(result))
  process.exit(0)
})`
const FILES = {
  'package.json': '{ "private": true }',
  'program.mjs': PROGRAM.esm,
  'main.mjs': `import { run } from './program.mjs'\n${PRINT}`,
  'program.cjs': PROGRAM.cjs,
  'main.cjs': `const { run } = require('./program.cjs')\n${PRINT}`,
  'jest.config.cjs': `module.exports = { testMatch: ['**/*.jest.cjs'], moduleFileExtensions: ['js', 'cjs', 'json'] }`,
  'client.jest.cjs': `
const { run } = require('./program.cjs')
test('the client', async () => {
  process.stdout.write(JSON.stringify(await run(JSON.parse(process.env.CONFIG))) + '\\n')
}, ${DEADLINE_MS})
`,
  'worker.mjs': `
import { run } from './program.mjs'
export default {
  fetch: async (request) => new Response(JSON.stringify(await run(await request.json())))
}`,
  'page.mjs': `
import { run } from './program.mjs'
globalThis.run = run
`,
  'native.program.js': `
const { run } = require('./program.cjs')
run(globalThis.config).then((result) => {
  console.log(JSON.stringify(result))
  quit()
})
`,
}

/** What applications add to older React Native, and older signals where a test asks for them. */
const NATIVE_SET_UP = `
if (globalThis.config.hasOldSignals) Object.assign(globalThis, require('abort-controller'))
if (typeof TextEncoder === 'undefined') require('fast-text-encoding')
if (typeof atob === 'undefined') {
  const { decode, encode } = require('base-64')
  Object.assign(globalThis, { atob: decode, btoa: encode })
}
`

/** A project that has the package, without npm. */
beforeAll(async () => {
  const modules = join(app, 'node_modules')
  await buildClientPackage(join(modules, 'clusterd-client'))
  for (const scope of ['@noble', '@scure'])
    symlinkSync(join(ROOT, 'node_modules', scope), join(modules, scope))
  for (const [name, text] of Object.entries(FILES)) writeFileSync(join(app, name), text)
  const exercise = readFileSync(join(import.meta.dirname, 'runtimes/exercise.mjs'), 'utf8')
  writeFileSync(join(app, 'exercise.mjs'), exercise)
  const { code } = await transform(exercise, { format: 'cjs', platform: 'node' })
  writeFileSync(join(app, 'exercise.cjs'), code)
})

/** Runs a program of the project. @returns the result that it prints as a line of JSON */
async function runs(
  program: string,
  args: readonly string[],
  { config = configOf(), env = {} }: { config?: object; env?: Record<string, string> } = {},
) {
  const all = { ...process.env, ...env, CONFIG: JSON.stringify(config), NODE_OPTIONS: '' }
  const child = spawn(program, args, { cwd: app, env: all, timeout: DEADLINE_MS })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (output += data))
  await once(child, 'close')
  const line = output.split('\n').find((one) => one.startsWith('{"passed"'))
  if (!line) throw new Error(`${program} ${args.join(' ')} printed: ${output.slice(0, 2_000)}`)
  return JSON.parse(line) as Result
}

function expectAll({ passed, failed, cases }: Result): void {
  expect(failed).toEqual([])
  expect(passed).toHaveLength(cases)
}

describe('the client runs in', () => {
  it('this Node, as ES modules', async () => {
    expectAll(await runs(process.execPath, ['main.mjs']))
  })

  it('this Node, as CommonJS', async () => {
    expectAll(await runs(process.execPath, ['main.cjs']))
  })

  it.runIf(chromium)('Chromium, on a page without a secure context', async () => {
    await bundle('page.mjs', 'page.js', ['browser'])
    // a name makes the origin insecure, and its address lets it reach the service
    const args = [...CHROMIUM_ARGS, '--host-resolver-rules=MAP names.example 127.0.0.1']
    const browser = await playwright.launch({ executablePath: chromium!, args })
    try {
      const page = await browser.newPage()
      await page.goto(`http://names.example:${new URL(others.url).port}/page`)
      expect(await page.evaluate('typeof crypto.subtle')).toBe('undefined')
      await page.addScriptTag({ content: readFileSync(join(app, 'page.js'), 'utf8') })
      expectAll(await page.evaluate(`run(${JSON.stringify(configOf())})`))
    } finally {
      await browser.close()
    }
  })
})

describe.runIf(runtimes)('the client runs in', () => {
  const installed = (path: string) => join(runtimes!, 'node_modules', path)

  it.each(['node-22', 'node-24', 'node-26'])('%s, as both', async (name) => {
    expectAll(await runs(installed(`${name}/bin/node`), ['main.mjs']))
    expectAll(await runs(installed(`${name}/bin/node`), ['main.cjs']))
  })

  it('Jest', async () => {
    expectAll(await runs(process.execPath, [installed('jest/bin/jest.js'), '--rootDir', app]))
  })

  it('Deno', async () => {
    const deno = fileIn(runtimes!, '@deno', 'deno')
    const options = ['--allow-all', '--node-modules-dir=manual', '--no-lock']
    expectAll(await runs(deno, ['run', ...options, 'main.mjs']))
  })

  it('Bun', async () => {
    expectAll(await runs(fileIn(runtimes!, '@oven', 'bin/bun'), ['run', 'main.mjs']))
  })

  it.each(['2024-09-01', '2026-11-01'])('workerd, of %s', async (compatibilityDate) => {
    await bundle('worker.mjs', 'worker.js', ['workerd', 'worker', 'browser'])
    const port = await chooseFreePort()
    writeFileSync(join(app, 'config.capnp'), workerConfig(port, compatibilityDate))
    const workerd = fileIn(runtimes!, '@cloudflare', 'bin/workerd')
    const child = spawn(workerd, ['serve', 'config.capnp'], { cwd: app, stdio: 'pipe' })
    let output = ''
    child.stderr.on('data', (data) => (output += data))
    try {
      const url = `http://127.0.0.1:${port}`
      await expect
        .poll(() =>
          fetch(url).then(
            () => true,
            () => output,
          ),
        )
        .toBe(true)
      const response = await fetch(url, { method: 'POST', body: JSON.stringify(configOf()) })
      expectAll((await response.json()) as Result)
    } finally {
      child.kill('SIGKILL')
    }
  })
})

describe.runIf(runtimes)('the client runs in the JavaScript of React Native', () => {
  const native = (file: string) => join(import.meta.dirname, 'runtimes/native', file)

  beforeAll(async () => {
    await bundleForReactNative(runtimes!, {
      program: join(app, 'native.program.js'),
      setUp: NATIVE_SET_UP,
      outfile: join(app, 'native.js'),
    })
    const files = [native('node.cjs'), './native.js'].map((file) => JSON.stringify(file))
    const requires = files.map((file) => `require(${file})`)
    const main = ['globalThis.config = JSON.parse(process.env.CONFIG)', ...requires]
    writeFileSync(join(app, 'native.main.cjs'), main.join('\n'))
  })

  it.each([
    { name: 'of 0.88', hasOldSignals: false },
    { name: 'of before, whose signals have no reason', hasOldSignals: true },
  ])('$name', async ({ hasOldSignals }) => {
    const config = configOf({ followsRedirects: true, hasOldSignals })
    expectAll(await runs(process.execPath, ['native.main.cjs'], { config }))
  })

  it('in Hermes of 2022, with the answers that it had in Node', async () => {
    const config = configOf({ followsRedirects: true })
    const env = { RECORDS: join(app, 'records.json') }
    expectAll(await runs(process.execPath, ['native.main.cjs'], { config, env }))
    const records = readFileSync(env.RECORDS, 'utf8')
    const parts = [native('modules.js'), native('hermes.js'), join(app, 'native.js')]
    const texts = [
      `var records = ${records}, config = ${JSON.stringify(config)}`,
      ...parts.map((file) => readFileSync(file, 'utf8')),
    ]
    writeFileSync(join(app, 'hermes.js'), texts.join(';\n'))
    const hermes = join(runtimes!, 'node_modules/hermes-engine-cli/linux64-bin/hermes')
    expectAll(
      await runs(hermes, ['-w', '-Xes6-promise', '-Xmicrotask-queue', 'hermes.js'], { config }),
    )
  })
})

const bundle = (entry: string, outfile: string, conditions: string[]) =>
  build({
    absWorkingDir: app,
    entryPoints: [entry],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    conditions,
  })

const workerConfig = (port: number, compatibilityDate: string) => `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = (
      modules = [(name = "worker", esModule = embed "worker.js")],
      compatibilityDate = "${compatibilityDate}",
    )),
    (name = "internet", network = (allow = ["public", "private", "local"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "main")],
);
`
