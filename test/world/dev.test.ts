import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readWorld, type World } from '../../src/testing/index.js'
import {
  identifyProcess,
  isProcessAlive,
  waitForCondition,
} from '../../src/testing/processes/processes.js'
import { programCommand } from '../../src/testing/processes/programs.js'
import { until } from '../../src/testing/until.js'
import { queryOn } from '../support/database.js'
import { useFolder } from '../support/folder.js'
import { ask, freshName, freshWallet, sendRegistration } from '../support/world.js'

/** A world is up in 8 s alone, and took more than 60 s beside other worlds on a machine that stalled. */
const READY_MS = 150_000

const base = useFolder()
const started: ChildProcess[] = []

afterAll(async () => {
  for (const child of started) child.kill('SIGTERM')
  await waitForCondition(
    () => started.every((child) => child.exitCode !== null || child.signalCode !== null),
    10_000,
  )
})

/** A home that no earlier try has used. */
const freshHome = (name: string) => fs.mkdtempSync(path.join(base, `${name}-`))

interface Run {
  child: ChildProcess
  output: () => string
}

/** `clusterd dev` in a home folder. */
async function dev(
  home: string,
  env: Record<string, string> = {},
  flags: string[] = [],
): Promise<Run> {
  const { PORT, OPS_PORT, DATABASE_URL, ...rest } = process.env
  const { command, args } = await programCommand('cli')
  const child = spawn(command, [...args, 'dev', ...flags], {
    env: { ...rest, CLUSTERD_HOME: home, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  started.push(child)
  let text = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (data) => (text += data))
  return { child, output: () => text }
}

/** Waits for the summary; the world as the file describes it then. */
async function ready({ child, output }: Run, home: string): Promise<World> {
  const isUp = () => output().includes('Ctrl-C ends everything') || child.exitCode !== null
  if (!(await waitForCondition(isUp, READY_MS)) || child.exitCode !== null)
    throw new Error(`no world: ${output()}`)
  return readWorld(home)!
}

/** Processes of a world by what their command lines say, without its launcher and the guard. */
function processesOf({ pid }: ChildProcess): Map<string, number> {
  const kinds = ['anvil', 'postgres', 'surfpoolChild', 'start']
  const found = fs.readdirSync('/proc').flatMap((entry) => {
    const { parentPid, commandLine = '' } = identifyProcess(Number(entry)) ?? {}
    const kind = parentPid === pid && kinds.find((one) => commandLine.includes(one))
    const chain = /--chain-id (\d+)/.exec(commandLine)?.[1] ?? ''
    return kind ? [[kind + chain, Number(entry)] as const] : []
  })
  return new Map(found)
}

/** The networks without what is another one after every start. */
function evmOf({ networks }: World): object {
  return Object.values(networks).map(({ hub, spokes }) => ({ hub, spokes }))
}

async function ended(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  if (child.exitCode === null && child.signalCode === null)
    await new Promise((resolve) => child.once('exit', resolve))
  return { code: child.exitCode, signal: child.signalCode }
}

// Generous: several worlds start, perhaps beside other tests on a busy machine.
describe('clusterd dev', { timeout: 480_000 }, () => {
  it('runs beside another, refuses what is taken, goes on after kill -9, ends in time with a hung part', async () => {
    const home = freshHome('killed')
    const two = freshHome('two')
    const first = await dev(home)
    const beside = await dev(two, {}, ['--limits'])
    const [before, other] = await Promise.all([ready(first, home), ready(beside, two)])
    expect(before.api).not.toBe(other.api)
    const answers = await Promise.all([before, other].map(({ api }) => fetch(`${api}/v1/networks`)))
    expect(answers.map(({ headers }) => headers.has('ratelimit-policy'))).toEqual([false, true])
    const account = await freshWallet('testnet', before)
    const name = freshName()
    const tx = await sendRegistration(account, [{ name }], 'testnet', before)
    await until.status(before, tx, 'finalized', { testnet: true })
    const viewed = () => queryOn(before.databaseUrl, 'SELECT name FROM registry_v1.names')
    await expect.poll(viewed, { timeout: 20_000 }).toContainEqual({ name })
    const checked = await ask('POST', '/v1/names/register/check?testnet=true', [name], other)
    expect(checked.body).toEqual([{ name, isAvailable: true }])

    const inUse = await dev(home)
    expect((await ended(inUse.child)).code).toBe(1)
    expect(inUse.output()).toMatch(
      /^clusterd: A world already runs in .*: stop it, or set CLUSTERD_HOME/m,
    )
    const port = new URL(before.api).port
    const taken = await dev(freshHome('three'), { PORT: port })
    expect((await ended(taken.child)).code).toBe(1)
    expect(taken.output()).toContain(`clusterd: Port ${port} is taken: set PORT to a free one.`)
    const besides = [...processesOf(beside.child).values()]
    beside.child.kill('SIGINT')
    expect(await ended(beside.child)).toEqual({ code: 0, signal: null })
    expect(besides.filter(isProcessAlive)).toEqual([])
    expect(readWorld(two)).toBeUndefined()

    const shown = await fetch(before.api, { headers: { accept: 'text/html' } })
    expect(await shown.text()).toContain('/test-wallet.js"')
    const children = processesOf(first.child)
    expect(children.size).toBe(7 + (before.networks.mainnet.solana ? 1 : 0))
    // the chains write their states when their launcher is gone; daemon and Solana's node go on
    for (const pid of [first.child.pid!, children.get('postgres')!]) process.kill(pid, 'SIGKILL')
    await ended(first.child)

    const second = await dev(home)
    const after = await ready(second, home)
    expect(evmOf(after)).toEqual(evmOf(before))
    // Surfpool forgets its chain: a fresh program, so that no old data is mistaken for new
    const [was, is] = [before, after].map(({ networks }) => networks.mainnet.solana?.programId)
    if (was !== undefined) expect(is).not.toBe(was)
    expect(after.seeds).toEqual(before.seeds)
    await until.status(after, tx, 'finalized', { testnet: true })
    const { body } = await ask(
      'GET',
      `/v1/names/address/${account.address}?testnet=true`,
      undefined,
      after,
    )
    expect(body).toMatchObject({ clusterName: name })
    const again = await sendRegistration(account, [{ name: freshName() }], 'testnet', after)
    await until.status(after, again, 'finalized', { testnet: true })

    expect([...children.values()].filter(isProcessAlive)).toEqual([])
    const running = processesOf(second.child)
    expect([...running.keys()].sort()).toEqual([...children.keys()].sort())
    process.kill([...running].find(([kind]) => kind.startsWith('anvil'))![1], 'SIGSTOP')
    second.child.kill('SIGTERM')
    const startedMs = performance.now()
    expect(await ended(second.child)).toEqual({ code: 1, signal: null })
    expect(performance.now() - startedMs).toBeLessThan(10_000)
    expect(second.output()).toContain('clusterd: a part of the world hangs, and is killed.')
    expect(await waitForCondition(() => ![...running.values()].some(isProcessAlive), 10_000)).toBe(
      true,
    )
  })
})
