import fs from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { Network } from '../../src/registry/network.js'
import { checkedCopyOf } from '../../src/testing/anvilState.js'
import {
  createDatabase,
  type Stack,
  type StackOptions,
  startPostgres,
  startStack,
  until,
} from '../../src/testing/index.js'
import { isAlive } from '../../src/testing/processes.js'
import { freshName, freshWallet, sendRegistration } from '../support/world.js'

const BLOCK_MS = 200

let base: string
const running: { stop(): Promise<void> }[] = []

async function start<N extends Network>(options: StackOptions<N> = {}): Promise<Stack<N>> {
  const stack = await startStack({ blockMs: BLOCK_MS, seeds: false, ...options })
  running.push(stack)
  return stack
}

async function register(stack: Stack): Promise<string> {
  const tx = await sendRegistration(await freshWallet('mainnet', stack), [{ name: freshName() }], 'mainnet', stack)
  await until.status(stack, tx, 'finalized')
  return tx
}

beforeAll(() => {
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'clusterd-stack-'))
})

afterEach(async () => {
  for (const part of running.splice(0).reverse()) await part.stop()
})

afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

describe('startStack', { timeout: 180_000 }, () => {
  it('lets a test kill and restart each part, and goes on', async () => {
    const stack = await start({ home: path.join(base, 'parts') })
    const first = await register(stack)

    const daemonPid = stack.daemon.pid
    await stack.daemon.kill('SIGKILL')
    expect(stack.daemon.isRunning()).toBe(false)
    await stack.daemon.restart({ LOG_LEVEL: 'debug' })
    expect(stack.daemon.pid).not.toBe(daemonPid)
    await until.status(stack, first, 'finalized')

    const chain = stack.anvils['1']!
    const rpcUrl = chain.rpcUrl
    await chain.stop()
    await chain.restart()
    expect(chain.rpcUrl).toBe(rpcUrl)
    await register(stack)

    await stack.postgres?.restart()
    await until.ready(stack)
    await register(stack)
    expect(stack.daemon.logs()).toContain('clusterd is up')
  })

  it('is one network where only one is asked for, in a folder that it removes', async () => {
    const stack = await start({ networks: ['testnet'] })
    expect(Object.keys(stack.networks)).toEqual(['testnet'])
    const pids = [stack.daemon.pid, stack.postgres!.pid, stack.anvils['11155111']!.pid]
    await stack.stop()
    expect(pids.filter(isAlive)).toEqual([])
    expect(fs.existsSync(stack.home)).toBe(false)
  })

  it('uses a database that it is given, and leaves it running', async () => {
    const server = await startPostgres({ dataDir: path.join(base, 'given') })
    running.push(server)
    const stack = await start({ networks: ['mainnet'], databaseUrl: await createDatabase(server.url, 'given') })
    expect(stack.postgres).toBeUndefined()
    await stack.stop()
    expect(isAlive(server.pid)).toBe(true)
  })

  it('tells that a part has died', async () => {
    const stack = await start({ networks: ['mainnet'] })
    process.kill(stack.daemon.pid, 'SIGKILL')
    expect(await stack.failed).toContain('the daemon has ended')
  })

  it('says what to delete when a chain has lost a registration that the journal holds', async () => {
    const home = path.join(base, 'behind')
    const stack = await start({ home })
    const state = path.join(home, 'anvil', '1.json')
    await stack.anvils['1']!.restart() // its state is in the file now
    const old = fs.readFileSync(state)
    await until.ready(stack)
    await register(stack)
    await stack.stop()
    for (const file of [state, checkedCopyOf(state)]) fs.writeFileSync(file, old)
    await expect(start({ home })).rejects.toThrow(/A local chain is behind the journal .*: delete .*behind to begin/)
  })
})
