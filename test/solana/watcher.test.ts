import { spawn } from 'node:child_process'
import {
  ComputeBudgetProgram,
  PublicKey,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { describe, expect, it } from 'vitest'
import { subscribeToNode } from '../../src/chains/rpc/subscriptions.js'
import { ChainMismatchError } from '../../src/db/chains/chains.js'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { testProgram } from '../setup/built.js'
import { waitForSolanaConfirmation } from '../support/sendSolana.js'
import type { WatcherOrder } from './child.js'
import { useSolanaWorld } from './solanaWorld.js'
import { notFinalized, registerOrder, settle, without } from './support.js'

const world = await useSolanaWorld()

const shown = async () =>
  (await world.rows()).map(({ sequence, name, verdict }) => ({ sequence, name, verdict }))
const last = async (n: number) => (await shown()).slice(-n)
const count = async () => (await world.rows()).length
const cursor = async () =>
  (await world.hub.pool.query('SELECT signature, sequence FROM payment_cursors')).rows[0]
const register = (name: string, index = 0, changes = {}) =>
  registerOrder(world, name, index, changes)
const HONOURED = 1
const FOREIGN = 2

describe('payments on Solana', () => {
  it('are indexed: direct, several in one transaction, through another program, versioned; but not a failed one', async () => {
    const payer = world.payer(0)
    await world.pay(payer, 'alone')
    await world.pay(payer, 'two-a', 'two-b')
    await world.send(payer, world.throughCaller(register('called')))
    // the second instruction asks for a quote that has expired: nothing of the transaction counts
    await world.send(payer, register('reverted-a'), register('reverted-b', 0, { expiresAt: 1n }))
    await versioned('versioned')
    await world.send(payer, world.throughCaller(register('last-a')), register('last-b'))
    const watcher = await world.watcher()
    expect(await settle(watcher)).toMatchObject([{ kind: 'took', payments: 7 }, { kind: 'idle' }])
    const names = ['alone', 'two-a', 'two-b', 'called', 'versioned', 'last-a', 'last-b']
    expect(await shown()).toEqual(
      names.map((name, i) => ({ sequence: i + 1, name, verdict: HONOURED })),
    )
    for (const { name, paid_ms: paidMs } of await world.rows())
      expect(Math.abs(paidMs - Date.now()), name).toBeLessThan(60_000)
    expect(watcher.state).toMatchObject({ isCaughtUp: true, lastError: null, halted: null })
  })

  it('are listed at a quiet poll only where the program has counted one, or after a while', async () => {
    let nowMs = Date.now()
    const watcher = await world.watcher({ nowMs: () => nowMs })
    await settle(watcher)
    const lists = () => world.proxy.counts.get('getSignaturesForAddress') ?? 0
    const before = lists()
    expect(await watcher.step(false)).toMatchObject({ kind: 'idle' })
    expect(lists()).toBe(before)
    nowMs += 5_000
    await watcher.step(false)
    expect(lists()).toBeGreaterThan(before)
    await world.pay(world.payer(0), 'quiet')
    expect(await watcher.step(false)).toMatchObject({ kind: 'took', payments: 1 })
    const then = lists()
    // set back
    nowMs -= 3_600_000
    await watcher.step(false)
    expect(lists()).toBeGreaterThan(then)
  })

  it('that keep to no quote of ours are foreign', async () => {
    const payer = world.payer(1)
    const { terms, id } = world.quoted(payer.publicKey, 'cheap')
    const { registrar } = world
    await world.send(payer, registrar.register({ ...terms, lamports: 1n }, id))
    await world.send(
      payer,
      registrar.register({ ...terms, expiresAt: 2n ** 63n - 1n }, Buffer.alloc(32, 9)),
    )
    await settle(await world.watcher())
    expect(await last(2)).toMatchObject([{ verdict: FOREIGN }, { verdict: FOREIGN }])
  })

  it('are known once, however often a watcher starts, and settlements close them', async () => {
    const before = await count()
    const paid = await world.pay(world.payer(2), 'closed-a')
    const { terms, id } = world.quoted(world.payer(2).publicKey, 'closed-b')
    await world.send(world.payer(2), world.registrar.register(terms, id))
    await settle(await world.watcher())
    const relay = keypairOfAccount(world.solana.relayAuthority)
    const key = { quoteId: id, payer: world.payer(2).publicKey, sequence: BigInt(await count()) }
    await world.send(relay, world.registrar.refund(relay.publicKey, [key]))
    expect(paid).not.toBe('')
    expect(await settle(await world.watcher())).toMatchObject([
      { kind: 'took', payments: 0, outcomes: 1 },
      { kind: 'idle' },
    ])
    await settle(await world.watcher())
    expect((await world.rows()).slice(before).map(({ settled }) => settled)).toEqual([false, true])
  })

  it('are all found again from nothing, with what became of them', async () => {
    const before = await world.rows()
    await world.hub.pool.query('DELETE FROM payments')
    await world.hub.pool.query('DELETE FROM payment_cursors')
    const { proxy } = world
    proxy.counts.clear()
    await settle(await world.watcher())
    expect(await world.rows()).toEqual(before)
    expect(proxy.counts.get('getTransaction')).toBeGreaterThanOrEqual(9)
  })

  it('need no logs, which anybody can have cut', async () => {
    await world.pay(world.payer(0), 'cut-a', 'cut-b')
    await world.send(world.payer(0), world.throughCaller(register('cut-c')))
    world.proxy.alter = (method, _, result) => {
      if (method !== 'getTransaction') return result
      const tx = result as { meta: object }
      return { ...tx, meta: { ...tx.meta, logMessages: ['Log truncated'] } }
    }
    await settle(await world.watcher())
    expect((await last(3)).map(({ name }) => name)).toEqual(['cut-a', 'cut-b', 'cut-c'])
    expect(await last(1)).toMatchObject([{ verdict: HONOURED, sequence: await count() }])
  })

  it('whose transaction a node lists late are missed, looked for and found; the cursor waits', async () => {
    let nowMs = Date.now()
    const watcher = await world.watcher({ nowMs: () => nowMs })
    await settle(watcher)
    const hidden = await world.pay(world.payer(0), 'late')
    await world.pay(world.payer(0), 'after')
    world.proxy.alter = without(hidden)
    const before = await cursor()
    const { sequence } = before
    expect((await settle(watcher)).at(-1)).toMatchObject({
      kind: 'missing',
      text: expect.stringContaining(`the transactions of ${sequence} for names`),
      isAlarm: false,
    })
    expect((await last(1))[0]!.name).toBe('after')
    expect(await cursor()).toEqual(before)
    nowMs += 61_000
    expect(await watcher.step()).toMatchObject({ kind: 'missing', isAlarm: true })
    expect(watcher.state.lastError).toContain(`counts ${sequence + 2} for names`)
    world.proxy.alter = null
    nowMs += 6_000
    expect((await settle(watcher)).map(({ kind }) => kind)).toEqual(['took', 'idle'])
    expect(watcher.state.lastError).toBeNull()
    expect((await last(2)).map(({ name }) => name)).toEqual(['late', 'after'])
    await world.pay(world.payer(0), 'cursor-goes-on')
    await settle(watcher)
    expect((await cursor()).sequence).toBe(sequence + 3)
  })

  it('whose transaction has no meta yet, or is gone, wait for it', async () => {
    const watcher = await world.watcher()
    await world.pay(world.payer(0), 'no-meta')
    const before = await count()
    for (const answer of [null, 'no meta'] as const) {
      world.proxy.alter = (method, _, result) =>
        method === 'getTransaction' ? answer && { ...(result as object), meta: null } : result
      await expect(watcher.step(), `${answer}`).rejects.toThrow(/not there yet/)
      expect(await count(), `${answer}`).toBe(before)
    }
    world.proxy.alter = null
    await new Promise((resolve) => setTimeout(resolve, 300))
    await settle(await world.watcher())
    expect((await last(1))[0]!.name).toBe('no-meta')
  })
})

describe('what is not finalized', () => {
  it('is pending, may vanish, and is confirmed once its slot is', async () => {
    const { connection } = world
    const watcher = await world.watcher({ commitment: 'finalized' })
    await settle(watcher)
    const known = await count()
    const slot = await connection.getSlot('confirmed')
    world.proxy.alter = notFinalized(slot, known)
    const signature = await world.pay(world.payer(0), 'tail')
    expect(await watcher.step()).toEqual({ kind: 'idle', unconfirmed: 1 })
    expect((await world.rows()).at(-1)).toMatchObject({ name: 'tail', confirmed: false })
    const fork = without(signature)
    world.proxy.alter = (...asked) => fork(asked[0], asked[1], notFinalized(slot, known)(...asked))
    expect(await watcher.step()).toEqual({ kind: 'idle', unconfirmed: 0 })
    expect(await count()).toBe(known)
    world.proxy.alter = notFinalized(slot, known)
    await watcher.step()
    world.proxy.alter = null
    expect(await watcher.step()).toMatchObject({ kind: 'took', payments: 1 })
    expect((await world.rows()).at(-1)).toMatchObject({ name: 'tail', confirmed: true })
  })

  it('is not written any more when another leads', async () => {
    const watcher = await world.watcher({ commitment: 'finalized' })
    await settle(watcher)
    const known = await count()
    world.proxy.alter = notFinalized(await world.connection.getSlot('confirmed'), known)
    await world.pay(world.payer(0), 'other-tail')
    await world.hub.pool.query('UPDATE leaders SET epoch = epoch + 1 WHERE network = 0')
    await expect(watcher.step()).rejects.toThrow(LostLeadershipError)
    expect(await count()).toBe(known)
    world.proxy.alter = null
    await settle(await world.watcher())
    expect((await last(1))[0]!.name).toBe('other-tail')
  })
})

describe('a watcher', () => {
  it('fails while the cluster is away, and goes on where it was', async () => {
    const watcher = await world.watcher()
    await settle(watcher)
    await world.pay(world.payer(0), 'outage')
    world.proxy.isDown = true
    await expect(watcher.step()).rejects.toThrow(/no RPC URL answers/)
    expect(watcher.state.lastError).toMatch(/no RPC URL answers/)
    world.proxy.isDown = false
    await new Promise((resolve) => setTimeout(resolve, 300))
    expect(await settle(watcher)).toMatchObject([{ kind: 'took', payments: 1 }, { kind: 'idle' }])
  })

  it('goes on from the cursor where it moved unseen, as by a commit whose answer was lost', async () => {
    const watcher = await world.watcher()
    await settle(watcher)
    await world.pay(world.payer(0), 'unseen')
    await settle(await world.watcher())
    await expect(watcher.step()).rejects.toThrow('it has moved')
    expect(await settle(watcher)).toMatchObject([{ kind: 'idle' }])
    await world.pay(world.payer(0), 'after-it')
    expect((await settle(watcher))[0]).toMatchObject({ kind: 'took', payments: 1 })
    expect((await last(2)).map(({ name }) => name)).toEqual(['unseen', 'after-it'])
  })

  it('writes nothing any more when another leads', async () => {
    const watcher = await world.watcher()
    await settle(watcher)
    await world.hub.pool.query('UPDATE leaders SET epoch = epoch + 1 WHERE network = 0')
    await world.pay(world.payer(0), 'other-leader')
    await expect(watcher.step()).rejects.toThrow(LostLeadershipError)
    await settle(await world.watcher())
    expect((await last(1))[0]!.name).toBe('other-leader')
  })

  it('is woken by the program’s logs, also after its socket dropped', async () => {
    let wakeups = 0
    let wake: () => void = () => {}
    const params = [{ mentions: [world.solana.programId] }, { commitment: 'confirmed' }]
    const stop = subscribeToNode({
      urls: ['ws://127.0.0.1:1', world.solana.wsUrl],
      requests: [{ method: 'logsSubscribe', params }],
      onNotification: () => {
        wakeups += 1
        wake()
      },
      onEnd: () => {},
    })
    // the first URL leads nowhere: one warning, then the second URL
    for (let i = 0; i < 40 && wakeups < 2; i++) {
      await world.pay(world.payer(1), `rung-${i}`)
      await new Promise<void>((resolve) => {
        wake = resolve
        setTimeout(resolve, 200)
      })
    }
    stop()
    expect(wakeups).toBeGreaterThan(1)
    await settle(await world.watcher())
  })

  it.each(['before_transaction', 'before_commit', 'after_commit'])(
    'that is killed at solana.%s loses and doubles nothing',
    async (point) => {
      await settle(await world.watcher())
      const before = await count()
      await world.pay(world.payer(3), `killed-${point}-a`)
      await world.pay(world.payer(3), `killed-${point}-b`)
      expect(await die(`solana.${point}`)).toBe('SIGKILL')
      await settle(await world.watcher())
      expect((await last(2)).map(({ name }) => name)).toEqual([
        `killed-${point}-a`,
        `killed-${point}-b`,
      ])
      expect(await count()).toBe(before + 2)
    },
  )
})

describe('a cluster', () => {
  it('of another genesis than the database was filled from is refused', async () => {
    const genesisHash = PublicKey.default.toBase58()
    await expect(world.open({ genesisHash })).rejects.toThrow(ChainMismatchError)
  })

  it('that was never reached is opened later', async () => {
    world.proxy.isDown = true
    const programId = world.payer(0).publicKey.toBase58()
    const source = await world.open({ programId })
    expect(source.chain.chain).toBeNull()
    await expect(source.open()).rejects.toThrow(/no RPC URL answers/)
    world.proxy.isDown = false
    await new Promise((resolve) => setTimeout(resolve, 600))
    const { chain } = await source.open()
    expect(source.chain.chain).toBe(chain)
  })
})

/** A version 0 transaction that pays. */
async function versioned(name: string): Promise<void> {
  const payer = world.payer(0)
  const { blockhash } = await world.connection.getLatestBlockhash()
  const instructions = [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 100_000 }),
    register(name),
  ]
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions,
  })
  const tx = new VersionedTransaction(message.compileToV0Message())
  tx.sign([payer])
  await waitForSolanaConfirmation(world.connection, [
    await world.connection.sendTransaction(tx, { skipPreflight: true }),
  ])
}

/** Runs a watcher in a process of its own until it dies at a fail point. @returns the signal that ended it */
async function die(failpoint: string): Promise<string | null> {
  const { hub, solana, proxy, feeds } = world
  const order: WatcherOrder = {
    databaseUrl: hub.postgres.url,
    solana: { programId: solana.programId, startSlot: solana.startSlot },
    rpcUrl: proxy.url,
    feeds,
    failpoint,
  }
  const program = await testProgram('test/solana/child')
  const spawned = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  return new Promise((resolve) => spawned.on('exit', (_code, signal) => resolve(signal)))
}
