import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chooseFreePort } from '../../src/testing/processes/ports.js'
import { spawnChild, type WatchedChild } from '../../src/testing/processes/processes.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { useFolder } from '../support/folder.js'

/** The rehearsal of docs/run/deploying.md: its lines, run as they stand there. */
const folder = useFolder()
const page = readFileSync('docs/run/deploying.md', 'utf8')
const [walk, register] = page
  .split('<!-- a test runs this block -->\n')
  .slice(1)
  .map((text) => text.split('```')[1]!.replace(/^\w+\n/, ''))

const STOP_GRACE_MS = 20_000
const STEP_MS = 120_000
const running: WatchedChild[] = []
const env: NodeJS.ProcessEnv = {
  ...process.env,
  DATABASE_URL: undefined,
  CLUSTERD_CHAINS: undefined,
  CLUSTERD_CHILD: undefined,
}
let cli: { command: string; args: string[] }
let api: string

beforeAll(async () => {
  cli = await programCommand('cli')
  env.PORT = String(await chooseFreePort())
  env.OPS_PORT = String(await chooseFreePort())
  api = `http://127.0.0.1:${env.PORT}`
})
afterAll(async () => {
  for (const child of running.toReversed()) await endGroup(child)
})

/** Ends a program and those that it started. */
async function endGroup(child: WatchedChild): Promise<void> {
  if (child.hasExited()) return
  process.kill(-child.pid, 'SIGTERM')
  await child.end('SIGCONT', STOP_GRACE_MS)
}

async function run(name: string, command: string, args: string[]) {
  const child = await spawnChild({
    command,
    args,
    env,
    cwd: folder,
    logFile: join(folder, `${name}.log`),
  })
  running.push(child)
  return { child, output: () => readFileSync(child.logFile, 'utf8') }
}

/** Waits until a program has printed a text. @throws Error with its output where it ends before */
async function untilPrinted({ child, output }: Awaited<ReturnType<typeof run>>, text: string) {
  const hasPrinted = () => {
    if (child.hasExited()) throw new Error(output())
    return output().includes(text)
  }
  await expect.poll(() => hasPrinted() || output(), { timeout: STEP_MS, interval: 200 }).toBe(true)
}

it('goes from an empty folder to a name that a spoke has registered', async () => {
  expect(page).toContain('cd rehearsal\nclusterd rehearse ')
  const chains = await run('rehearse', cli.command, [...cli.args, 'rehearse'])
  await untilPrinted(chains, 'clusterd init --rehearsal')

  const clusterd = [cli.command, ...cli.args].map((word) => `'${word}'`).join(' ')
  expect(walk).toMatch(/\nclusterd start\n$/)
  const script = `set -eu; clusterd() { ${clusterd} "$@"; }\n${walk}`
  const deployment = await run('walk', 'bash', ['-c', script])
  const isReady = async () => {
    if (deployment.child.hasExited()) throw new Error(deployment.output())
    return fetch(`http://127.0.0.1:${env.OPS_PORT}/ready`).then(
      ({ status }) => status,
      () => deployment.output(),
    )
  }
  await expect.poll(isReady, { timeout: STEP_MS, interval: 200 }).toBe(200)
  expect(deployment.output()).toMatch(/\n\d+ as desired, 0 not\n/)
  expect(deployment.output()).not.toMatch(/^BAD/m)

  writeFileSync(join(folder, 'register.mjs'), register!.replace('http://127.0.0.1:3000', api))
  const registration = await run('register', process.execPath, ['register.mjs'])
  await registration.child.exited
  expect(registration.output(), deployment.output()).toMatch(/finalized\n$/)
  const name = await fetch(`${api}/v1/names?testnet=true`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '[{"name":"rehearsed"}]',
  })
  expect(await name.json()).toMatchObject([{ name: 'rehearsed', type: 'evm' }])
  expect(chains.output()).toContain('delivered the message of 0x')
  for (const { child } of [deployment, chains]) await endGroup(child)
  expect(existsSync(join(folder, 'rehearsal.json'))).toBe(false)
}, 300_000)
