import { pino } from 'pino'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { ChainUnavailableError } from '../../src/chains/chain.js'
import { LostLeadershipError } from '../../src/db/journal/head.js'
import { createListener, notifyNetwork } from '../../src/db/pg/notify.js'
import { WorkerLoops } from '../../src/ops/loops.js'
import { outboxProblems } from '../../src/relayer/report.js'
import { runRelayer } from '../../src/relayer/run.js'
import type { SolanaRelayer } from '../../src/relayer/solanaRelayer.js'
import { createSolanaRelayerChain } from '../../src/relayer/solanaRelayer.js'
import { useWorld } from '../support/useWorld.js'
import { LAMPORTS, startPaymentWorld } from './paymentWorld.js'

const CONFIRMED = 4
const PARKED = 5
const QUEUED = 0
const SENT = 2
const SETTLE = 6
const REFUND = 7

const world = useWorld(() => startPaymentWorld())
beforeEach(() => {
  world.bridge.aheadMs = 0
})

const keptLamports = async () => {
  const account = await world.connection.getAccountInfo(world.registrar.state, 'confirmed')
  return world.registrar.decodeState(account!.data).keptLamports
}

describe('a payment whose name was won', () => {
  it('is settled, together with others, and its payer gets the rent back', async () => {
    const paid = [
      await world.pay('won-a'),
      await world.pay('won-b', { payer: 1 }),
      await world.pay('won-c'),
    ]
    const payer = await world.restart()
    expect(await payer.step()).toBe('idle')
    await world.deliver()
    const kept = await keptLamports()
    const balance = await world.balance(paid[1]!.payer)
    const signing = await world.restart()
    const alive = vi.fn()
    await signing.step(alive)
    expect(
      alive,
      'a cluster that hangs may take the time limit of a step for a few transactions',
    ).toHaveBeenCalled()
    await world.finish(signing)
    expect(await keptLamports()).toBe(kept + 3n * LAMPORTS)
    expect(await world.balance(paid[1]!.payer)).toBeGreaterThan(balance)
    const { rows } = await world.bridge.pool.query('SELECT DISTINCT txs FROM jobs WHERE kind = 6')
    expect(rows).toHaveLength(1)
    await world.watch()
    for (const [i, one] of paid.entries()) {
      const name = `payment ${i}`
      expect(await world.stored(one), name).toMatchObject({ state: 'done', outcome: 'released' })
      expect(await world.payout(one), name).toEqual({
        state: CONFIRMED,
        kind: SETTLE,
        reason: null,
        failures: 0,
      })
      expect(await world.closings(one), name).toBe(1)
    }
  })
})

describe('a settlement that is queued', () => {
  it('is taken back while the hub’s outcome is not known any more', async () => {
    const paid = await world.pay('rewound')
    await world.deliver()
    const dry = await world.restart({ signer: world.signerWith({ balance: async () => 0n }) })
    await dry.step()
    expect(await world.payout(paid)).toMatchObject({ state: QUEUED, kind: SETTLE })
    // a rewind of the hub deletes the outcome too
    const { pool } = world.bridge
    const { rows } = await pool.query('DELETE FROM received WHERE guid = $1 RETURNING *', [
      paid.messageId,
    ])
    await dry.step()
    expect(await world.payout(paid)).toBeUndefined()
    const { guid, tx_hash: txHash, block, log_index: logIndex, bids } = rows[0]
    await pool.query(
      'INSERT INTO received (network, guid, tx_hash, block, log_index, bids, confirmed) VALUES (0, $1, $2, $3, $4, $5, true)',
      [guid, txHash, block, logIndex, bids],
    )
    await world.finish(await world.restart())
    expect(await world.payout(paid)).toMatchObject({ state: CONFIRMED, kind: SETTLE })
    expect(await world.closings(paid)).toBe(1)
  })
})

describe('a payment that is owed back', () => {
  it('for a name that is paid twice, and once more from a spoke, is refunded', async () => {
    const first = await world.pay('wanted')
    const second = await world.pay('wanted', { payer: 1 })
    await world.deliver()
    const spoke = await world.bridge.send(2, ['sought'])
    await world.deliver()
    const third = await world.pay('sought', { payer: 2 })
    await world.deliver()
    expect(await world.bridge.executions(spoke)).toBe(1)
    const before = [await world.balance(second.payer), await world.balance(third.payer)]
    const rent = BigInt(await world.connection.getMinimumBalanceForRentExemption(104))
    await world.finish(await world.restart())
    expect(await world.payout(first)).toMatchObject({ state: CONFIRMED, kind: SETTLE })
    expect(await world.balance(second.payer)).toBe(before[0]! + LAMPORTS + rent)
    expect(await world.balance(third.payer)).toBe(before[1]! + LAMPORTS + rent)
    const { rows } = await world.bridge.pool.query('SELECT DISTINCT txs FROM jobs WHERE kind = 7')
    expect(rows).toHaveLength(1)
    // a second refund is not accepted by the program
    const again = await world.signer.sign('refund', [await world.stored(second)], 0)
    expect(await world.signer.send(again.raw)).toBe('payment_not_held')
    expect(await world.closings(second)).toBe(1)
  })

  it('since it keeps to no quote of ours is refunded, and never delivered', async () => {
    const paid = await world.pay('foreign', { foreign: true })
    await world.deliver()
    expect(await world.bridge.executions(`0x${paid.messageId.toString('hex')}`)).toBe(0)
    await world.finish(await world.restart())
    expect(await world.payout(paid)).toMatchObject({ state: CONFIRMED, kind: REFUND })
    expect(await world.closings(paid)).toBe(1)
  })

  it('under a quote that is paid again gives each payment back once', async () => {
    const first = await world.pay('again', { foreign: true })
    const payer = await world.restart()
    await world.finish(payer)
    const second = await world.pay('again', { again: first })
    expect(second.sequence).toBeGreaterThan(first.sequence)
    // the first refund is queued again, as if its outcome had never been seen
    await world.bridge.pool.query(
      "UPDATE jobs SET state = 0, txs = '[]' WHERE kind = 7 AND subject = $1",
      [first.messageId],
    )
    await payer.step()
    expect(await world.payout(first)).toMatchObject({ state: CONFIRMED })
    await world.finish(payer)
    expect(await world.payout(second)).toMatchObject({ state: CONFIRMED })
    expect([await world.closings(first), await world.closings(second)]).toEqual([1, 1])
  })

  it('is parked when somebody else with the key has settled it', async () => {
    const paid = await world.pay('elsewhere', { foreign: true })
    const tx = await world.signer.sign('settle', [await world.stored(paid)], 0)
    expect(await world.signer.send(tx.raw)).toBeNull()
    await expect.poll(() => world.closings(paid)).toBe(1)
    const payer = await world.restart()
    await payer.step()
    expect(await world.payout(paid)).toMatchObject({ state: QUEUED, reason: 'closed_unseen' })
    await world.watch()
    world.bridge.aheadMs = 10_000
    await world.finish(await world.restart())
    expect(await world.payout(paid)).toMatchObject({ state: PARKED, reason: 'settled_elsewhere' })
  })
})

describe('a payment whose name was won, and that its payer may take back before long', () => {
  const WEEK_MS = 7 * 86_400_000
  /** Lamports that no fee may leave the authority less than. */
  const RENT = 890_880n
  const alarmsOf = (payer: SolanaRelayer) =>
    outboxProblems(
      { network: 'mainnet', missingKeys: [], relayers: [payer.state] },
      Date.now() + world.bridge.aheadMs,
    ).map(({ alarm }) => alarm)

  it('is settled before older payments are refunded, while there are fees for one transaction', async () => {
    const older = await world.pay('older', { foreign: true })
    const won = await world.pay('short-of-time', { payer: 1 })
    await world.deliver()
    world.bridge.aheadMs = 0.79 * WEEK_MS
    const early = await world.restart({ signer: world.signerWith({ balance: async () => 0n }) })
    await early.step()
    expect(alarmsOf(early)).not.toContain('ClusterdPaymentsShortOfTime')
    expect(await world.payout(won)).toMatchObject({ state: QUEUED, kind: SETTLE })

    world.bridge.aheadMs = 0.85 * WEEK_MS
    const balance = async () => RENT + world.signer.maxFee
    const payer = await world.restart({ signer: world.signerWith({ balance }) })
    await payer.step()

    expect(alarmsOf(payer)).toContain('ClusterdPaymentsShortOfTime')
    expect(await world.payout(won)).toMatchObject({ state: SENT, kind: SETTLE })
    expect(await world.payout(older)).toMatchObject({
      state: QUEUED,
      kind: REFUND,
      reason: 'insufficient_funds',
    })
    const funded = await world.restart()
    await world.finish(funded)
    expect(await world.stored(won)).toMatchObject({ outcome: 'released' })
    expect(await world.stored(older)).toMatchObject({ outcome: 'refused' })
    expect(alarmsOf(funded)).not.toContain('ClusterdPaymentsShortOfTime')
  }, 60_000)

  it('is an alarm where somebody else with the key refunds it', async () => {
    const won = await world.pay('refunded-by-key')
    await world.deliver()
    const dry = await world.restart({ signer: world.signerWith({ balance: async () => 0n }) })
    await dry.step()
    expect(dry.state.refusedNames, 'refunds of ours do not count').toBe(0)

    const tx = await world.signer.sign('refund', [await world.stored(won)], 0)
    expect(await world.signer.send(tx.raw)).toBeNull()
    await expect.poll(() => world.closings(won)).toBe(1)
    await world.watch()
    expect(await world.stored(won)).toMatchObject({ state: 'done', outcome: 'refused' })

    const payer = await world.restart()
    await payer.step()
    expect(payer.state.refusedNames).toBe(1)
    expect(alarmsOf(payer)).toContain('ClusterdNamesRefused')
    world.bridge.aheadMs = WEEK_MS + 3_600_000
    const later = await world.restart()
    await later.step()
    expect(later.state.refusedNames, 'its payer could have taken it back by now').toBe(0)
  })
})

describe('a transaction that expires', () => {
  it('unseen is signed anew, only once it can land no more', async () => {
    const paid = await world.pay('expired', { foreign: true })
    const signatures: string[] = []
    const payer = await world.restart({
      signer: world.signerWith({
        async sign(...asked) {
          const tx = await world.signer.sign(...asked)
          signatures.push(tx.hash)
          return tx
        },
        // the first transaction is lost on its way
        send: async (raw) => (signatures.length < 2 ? null : world.signer.send(raw)),
      }),
    })
    await payer.step()
    expect(await payer.step()).toBe('waiting')
    expect(signatures).toHaveLength(1)
    await expect
      .poll(async () => {
        await payer.step()
        return (await world.payout(paid))?.reason
      }, WAIT)
      .toBe('expired')
    world.bridge.aheadMs = 10_000
    await world.finish(payer)
    expect(signatures).toHaveLength(2)
    expect(await world.payout(paid)).toMatchObject({ state: CONFIRMED, failures: 1 })
    expect(await world.closings(paid)).toBe(1)
    const [lost] = await world.signer.statuses([signatures[0]!]).then(({ statuses }) => statuses)
    expect(lost).toBeNull()
  }, 60_000)
})
const WAIT = { timeout: 40_000, interval: 200 }

describe('a running payer', () => {
  it('waits for a cluster that is away, pays, and shows itself', async () => {
    await world.bridge.release()
    const { pool, postgres } = world.bridge
    const logged: { level: number; msg: string }[] = []
    const stopping = new AbortController()
    let isAway = true
    const { signal } = stopping
    const loops = new WorkerLoops()
    const listener = createListener({ url: postgres.url, signal, loops, onError: () => {} })
    const run = runRelayer({
      missingKeys: [],
      loops,
      listener,
      leases: pool,
      pool,
      network: 'mainnet',
      delivers: false,
      signal,
      log: pino(
        { level: 'debug' },
        { write: (line: string) => void logged.push(JSON.parse(line)) },
      ),
      chains: [
        createSolanaRelayerChain({
          signer: world.signer,
          releaseAfterMs: 1,
          pollMs: 60_000,
          open: async () => {
            if (isAway) throw new ChainUnavailableError('chain "solana": no RPC URL answers')
            return { chain: world.chain }
          },
        }),
      ],
    })
    const paid = await world.pay('run', { foreign: true })
    await expect
      .poll(() => logged.some(({ msg }) => msg.startsWith('a step of the relayer failed')), WAIT)
      .toBe(true)
    isAway = false
    await expect
      .poll(async () => {
        // a poll interval would never end here: only notifications wake the payer
        await notifyNetwork(pool, 'mainnet')
        await world.watch()
        return logged.some(({ msg }) => msg === 'refunded a payment')
      }, WAIT)
      .toBe(true)
    expect(await world.closings(paid)).toBe(1)
    await expect
      .poll(() => run.state()?.relayers[0], WAIT)
      .toMatchObject({ open: expect.any(Array) })
    stopping.abort()
    await run.done
    expect(JSON.stringify(logged)).not.toContain(world.solana.relayAuthority.secretKey)
  })
})

describe('a deposed payer', () => {
  it('writes nothing', async () => {
    const old = await world.restart()
    const paid = await world.pay('deposed', { foreign: true })
    const next = await world.restart()
    await expect(old.step()).rejects.toThrow(LostLeadershipError)
    expect(await world.payout(paid)).toBeUndefined()
    await world.finish(next)
    expect(await world.closings(paid)).toBe(1)
  })
})

describe('a payer killed at every step', () => {
  it.each([
    // the transaction lands after the broadcast: only its confirmation follows
    // the code is the same for both: a settlement dies where its money is at stake
    { kind: 'settle', points: ['signed', 'broadcast'] },
    { kind: 'refund', points: ['queued', 'sign', 'signed', 'broadcast', 'confirmed'] },
    { kind: 'refund', points: ['sent'] },
  ])(
    'of a $kind, $points, does it once',
    async ({ kind, points }) => {
      const paid = await world.pay(`killed-${points.length}-${kind}`, {
        foreign: kind === 'refund',
      })
      if (kind === 'settle') await world.deliver()
      for (const point of points) expect(await world.die(`payout.${point}`), point).toBe('SIGKILL')
      await world.finish(await world.restart())
      expect(await world.payout(paid)).toMatchObject({
        state: CONFIRMED,
        kind: kind === 'settle' ? SETTLE : REFUND,
      })
      await world.watch()
      expect(await world.stored(paid)).toMatchObject({ state: 'done' })
      expect(await world.closings(paid)).toBe(1)
    },
    120_000,
  )
})
