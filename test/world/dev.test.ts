import { type ChildProcess, spawn } from 'node:child_process'
import fs from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

// Generous: several worlds start, perhaps beside other tests on a busy machine. The tests follow each other: they share
// two worlds, one of which is killed and started again.
describe('clusterd dev', { timeout: 480_000 }, () => {
  const home = freshHome('killed')
  const otherHome = freshHome('other')
  const name = freshName()
  let first: Run
  let other: Run
  let world: World
  let otherWorld: World
  let account: Awaited<ReturnType<typeof freshWallet>>
  let tx: string

  beforeAll(async () => {
    first = await dev(home)
    other = await dev(otherHome, {}, ['--limits'])
    ;[world, otherWorld] = await Promise.all([ready(first, home), ready(other, otherHome)])
  }, 480_000)

  const register = async (by: World, registered: string) => {
    const sent = await sendRegistration(account, [{ name: registered }], 'testnet', by)
    await until.status(by, sent, 'finalized', { testnet: true })
    return sent
  }

  it('has rate limits by its flag', async () => {
    const hasLimits = async ({ api }: World) =>
      (await fetch(`${api}/v1/networks`)).headers.has('ratelimit-policy')
    expect(await hasLimits(world)).toBe(false)
    expect(await hasLimits(otherWorld)).toBe(true)
  })

  it('runs beside another world, which does not see its registrations', async () => {
    account = await freshWallet('testnet', world)
    tx = await register(world, name)
    const { body } = await ask('POST', '/v1/names/register/check?testnet=true', [name], otherWorld)
    expect(body).toEqual([{ name, isAvailable: true }])
  })

  it('has its registrations in the SQL views', async () => {
    const viewed = () => queryOn(world.databaseUrl, 'SELECT name FROM registry_v1.names')
    await expect.poll(viewed, { timeout: 20_000 }).toContainEqual({ name })
  })

  it('refuses a home in which a world runs', async () => {
    const { child, output } = await dev(home)
    expect((await ended(child)).code).toBe(1)
    expect(output()).toMatch(
      /^clusterd: A world already runs in .*: stop it, or set CLUSTERD_HOME/m,
    )
  })

  it('refuses a port that is taken', async () => {
    const { port } = new URL(world.api)
    const { child, output } = await dev(freshHome('port'), { PORT: port })
    expect((await ended(child)).code).toBe(1)
    expect(output()).toContain(`clusterd: Port ${port} is taken: set PORT to a free one.`)
  })

  it('serves pages with the test wallet', async () => {
    const page = await fetch(world.api, { headers: { accept: 'text/html' } })
    expect(await page.text()).toContain('/test-wallet.js"')
  })

  it('ends all its processes on Ctrl-C, and removes the file that describes it', async () => {
    const processes = [...processesOf(other.child).values()]
    other.child.kill('SIGINT')
    expect(await ended(other.child)).toEqual({ code: 0, signal: null })
    expect(processes.filter(isProcessAlive)).toEqual([])
    expect(readWorld(otherHome)).toBeUndefined()
  })

  describe('after kill -9 of the world and its database', () => {
    let killed: Map<string, number>
    let second: Run
    let after: World

    beforeAll(async () => {
      killed = processesOf(first.child)
      // the chains write their states when their launcher is gone; daemon and Solana's node go on
      for (const pid of [first.child.pid!, killed.get('postgres')!]) process.kill(pid, 'SIGKILL')
      await ended(first.child)
      second = await dev(home)
      after = await ready(second, home)
    }, 480_000)

    it('has the chains, contracts and seeds of before, and another program on Solana', () => {
      expect(evmOf(after)).toEqual(evmOf(world))
      expect(after.seeds).toEqual(world.seeds)
      // Surfpool forgets its chain: a fresh program, so that no old data is mistaken for new
      const [was, is] = [world, after].map(({ networks }) => networks.mainnet.solana?.programId)
      if (was !== undefined) expect(is).not.toBe(was)
    })

    it('knows the registrations of before, and takes new ones', async () => {
      await until.status(after, tx, 'finalized', { testnet: true })
      const path = `/v1/names/address/${account.address}?testnet=true`
      const { body } = await ask('GET', path, undefined, after)
      expect(body).toMatchObject({ clusterName: name })
      await register(after, freshName())
    })

    it('leaves none of the killed world’s processes, and runs as many', () => {
      expect(killed.size).toBe(7 + (world.networks.mainnet.solana ? 1 : 0))
      expect([...killed.values()].filter(isProcessAlive)).toEqual([])
      expect([...processesOf(second.child).keys()].sort()).toEqual([...killed.keys()].sort())
    })

    it('ends in time where a part hangs, which it kills', async () => {
      const processes = processesOf(second.child)
      process.kill([...processes].find(([kind]) => kind.startsWith('anvil'))![1], 'SIGSTOP')
      second.child.kill('SIGTERM')
      const startedMs = performance.now()
      expect(await ended(second.child)).toEqual({ code: 1, signal: null })
      expect(performance.now() - startedMs).toBeLessThan(10_000)
      expect(second.output()).toContain('clusterd: a part of the world hangs, and is killed.')
      const areGone = () => ![...processes.values()].some(isProcessAlive)
      expect(await waitForCondition(areGone, 10_000)).toBe(true)
    })
  })
})
