import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPool } from '../../src/db/pg/pool.js'
import { receiptOf } from '../../src/testing/chains/receipt.js'
import { type EventItem, startStack, until } from '../../src/testing/index.js'
import { askReady } from '../../src/testing/processes/daemonProcess.js'
import { waitFor } from '../../src/testing/processes/processes.js'
import { reorg } from '../support/miner.js'
import { useWorld } from '../support/useWorld.js'
import { addressWord, ask, freshName, freshWallet, hubOf, nameWord, readOwner, registerOn } from '../support/world.js'

const DEADLINE_MS = 30_000

const stack = useWorld(() => startStack({ chains: ['1'], seeds: false, blockMs: 200 }))
let pool: pg.Pool

/** A daemon as in production, whose hub has no policy of its own, over a chain that mines only when a test says so. */
beforeAll(async () => {
  pool = createPool({ url: stack.databaseUrl, max: 2, applicationName: 'test' })
  await hub().test.setIntervalMining({ interval: 0 })
  const file = JSON.parse(readFileSync(join(stack.home, 'chains.json'), 'utf8'))
  const chains = file.chains.map(({ confirmation: _, ...chain }: { confirmation: object }) => chain)
  const path = join(stack.home, 'chains-by-default.json')
  writeFileSync(path, JSON.stringify({ ...file, chains }))
  await stack.daemon.restart({ CLUSTERD_CHAINS: path })
})
afterAll(() => pool?.end())

const hub = () => hubOf('mainnet', stack)
const finalized = async () => (await hub().reader.getBlock({ blockTag: 'finalized' })).number

/** Waits until the daemon has indexed the newest block. */
async function followed(): Promise<void> {
  const head = await hub().reader.getBlock()
  const hash = Buffer.from(head.hash.slice(2), 'hex')
  const isHeld = async () => (await pool.query('SELECT 1 FROM tail_blocks WHERE hash = $1', [hash])).rowCount === 1
  expect(await waitFor(isHeld, DEADLINE_MS)).toBe(true)
}

async function mine(): Promise<void> {
  await hub().test.mine({ blocks: 1 })
  await followed()
}

/** Sends a registration and mines its block. */
async function register(name: string): Promise<{ tx: Hex; block: bigint; owner: Hex }> {
  const account = await freshWallet('mainnet', stack)
  const tx = await registerOn('1', account, [{ name }], stack)
  await mine()
  return { tx, block: (await receiptOf(hub().reader, tx)).blockNumber, owner: addressWord(account.address) }
}

async function expectPending(tx: Hex, name: string): Promise<void> {
  expect((await ask('GET', `/v1/names/register/tx/${tx}`, undefined, stack)).body).toMatchObject({ status: 'pending' })
  expect((await ask('GET', `/v1/clusters/name/${name}`, undefined, stack)).status).toBe(404)
  const { items } = (await ask<{ items: EventItem[] }>('GET', '/v1/events', undefined, stack)).body
  expect(JSON.stringify(items)).not.toContain(name)
}

describe('a daemon with the default policy of its hub', () => {
  it('says nothing terminal of a registration before the chain has finalized its block', async () => {
    const name = freshName()
    const { tx, block } = await register(name)
    while ((await finalized()) < block) {
      await expectPending(tx, name)
      await mine()
    }
    await until.status(stack, tx, 'finalized')
    expect((await ask('GET', `/v1/clusters/name/${name}`, undefined, stack)).status).toBe(200)
  })

  it('follows a reorg above the finalized block, whose name goes to the new branch’s bid', async () => {
    const name = freshName()
    const lost = await register(name)
    await mine()
    expect(await finalized()).toBeLessThan(lost.block)
    await reorg(hub(), 2)
    await followed()
    const { tx, block, owner } = await register(name)
    while ((await finalized()) < block) {
      await expectPending(tx, name)
      await mine()
    }
    await until.status(stack, tx, 'finalized')
    expect(await readOwner(nameWord(name), 'mainnet', stack)).toBe(owner)
    const gone = await ask<{ status: string }>('GET', `/v1/names/register/tx/${lost.tx}`, undefined, stack)
    expect(['not_found', 'pending']).toContain(gone.body.status)
    expect((await askReady(stack.ops)).problems).toEqual([])
  })
})
