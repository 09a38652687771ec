import type { Hex } from 'viem'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { findChain } from '../../src/db/chains/chains.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { rewindJournal } from '../../src/db/journal/rewind/index.js'
import { type RewindTarget, removeNewestChainRows } from '../../src/db/journal/rewind/rows.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { checkRewindTarget } from '../../src/indexer/evm/rewindPoint.js'
import { JOB_STATE } from '../../src/registry/outbox.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { die } from '../support/kill.js'
import { holdBlocks } from '../support/miner.js'
import { useWorld } from '../support/useWorld.js'
import { startCommunityWorld } from './communityWorld.js'

const at = useWorld(() => startCommunityWorld(['club']))
beforeAll(() => at.configure('club', { prices: [at.price('1', 1_000n), at.price('8453', 1_000n)] }))
beforeEach(async () => {
  at.world.aheadMs = 0
  await at.world.hub.test.setAutomine(true)
})

const outcomeOf = (tx: Hex) => at.outcomeOf(tx)
const timesRefused = async (id: Hex | null, on: '1' | '8453' = '1') =>
  (await at.refusals(on)).filter((one) => one === id).length
const blockOf = async (id: Hex): Promise<number> => {
  const sql = 'SELECT block FROM payments WHERE id = $1'
  return (await at.pool.query<{ block: number }>(sql, [fromHex(id)])).rows[0]!.block
}

/** Pays twice for a name. The first payment buys it. */
async function bothPay(name: string) {
  const first = await at.pay({ on: '1', name })
  await at.judge()
  const second = await at.pay({ on: '8453', name, by: 4 })
  await at.judge()
  return [first, second] as const
}

it('a payment that a reorg removes is forgotten, and returns with another id', async () => {
  const { tx, id } = await at.pay({ name: 'reorged' })
  await at.world.index()
  expect(await at.status(tx)).toMatchObject({ status: 'pending' })
  const { hub } = at.world
  const { timestamp } = await hub.public.getBlock()
  const request = hub.public.request as (call: {
    method: string
    params: unknown[]
  }) => Promise<unknown>
  await request({ method: 'anvil_rollback', params: [1] })
  await hub.test.dropTransaction({ hash: tx })
  // the id depends on the time of its block
  await hub.test.setNextBlockTimestamp({ timestamp: timestamp + 60n })
  await hub.test.mine({ blocks: 2 })
  await at.world.index()
  const { rows } = await at.pool.query('SELECT FROM payments WHERE id = $1', [fromHex(id!)])
  expect(rows).toEqual([])
  const again = await at.pay({ name: 'reorged' })
  expect(again.id).not.toBe(id)
  await at.judge()
  expect(await outcomeOf(again.tx)).toBe('finalized')
})

describe('a relayer killed', () => {
  it.each(['relay.broadcast', 'relay.sent'])('at %s refuses the payment once', async (point) => {
    const { tx, id } = await at.pay({ name: point.replace('.', '-'), amount: 1n })
    // appended and queued in one transaction, so nothing can happen in between
    expect(await at.judge()).toMatchObject({ payments: 1 })
    await holdBlocks(at.world.hub)
    expect(await die(at.world, point)).toBe('SIGKILL')
    await at.world.hub.test.setAutomine(true)
    at.world.aheadMs = 10_000
    await at.giveBack()
    expect(await outcomeOf(tx)).toBe('invalid underpaid refused')
    expect(await timesRefused(id)).toBe(1)
  })
})

describe('a rewind', () => {
  const targetOf = async (label: '1' | '8453', block: number): Promise<RewindTarget> => {
    const row = (await findChain(at.pool, 'mainnet', label))!
    return checkRewindTarget(at.pool, at.chains.find((one) => one.label === label)!, row, block)
  }
  async function rewindTo(label: '1' | '8453', block: number): Promise<void> {
    const target = await targetOf(label, block)
    const dry = await rewindJournal(at.pool, target, { apply: false })
    expect(await rewindJournal(at.pool, target, { apply: true })).toEqual(dry)
    await at.world.releaseIndex()
  }
  const rowsOf = async (name: string): Promise<[{ seq: number }]> => {
    const sql = 'SELECT seq FROM community_names WHERE network = 0 AND name = $1'
    return (await at.pool.query(sql, [name])).rows as [{ seq: number }]
  }
  const deliveryOf = async (id: Hex) =>
    (await at.world.jobs()).find(
      ({ kind, subject }) => kind === 'refuse' && subject && toHex(subject) === id,
    )

  it('has a returning payment judged again', async () => {
    const { tx, id } = await at.pay({ on: '8453', name: 'again' })
    await at.judge()
    // its entry may be appended between the search for entries and the lock
    const target = await targetOf('8453', await blockOf(id!))
    const { rows } = await at.pool.query('SELECT epoch FROM leaders WHERE network = 0 AND role = 0')
    expect(
      await inTransaction(at.pool, (client) =>
        removeNewestChainRows(client, target, rows[0].epoch),
      ),
    ).toBe(false)
    await rewindTo('8453', await blockOf(id!))
    expect(await at.ownerOf('club', 'again')).toBeNull()
    await at.judge()
    expect(await outcomeOf(tx)).toBe('finalized')
    expect(await at.ownerOf('club', 'again')).toBe(at.addressOf(1))
  })

  it('lets a released payment buy its name again, at any time', async () => {
    const { tx, id } = await at.pay({ on: '8453', name: 'spent' })
    await at.judge()
    await at.giveBack({ releaseAfterMs: 0 })
    await rewindTo('8453', await blockOf(id!))
    expect(await at.ownerOf('club', 'spent')).toBeNull()
    await at.confirm()
    expect(await at.judgeOf({ nowMs: () => Date.now() + 6.5 * 86_400_000 }).step()).toMatchObject({
      payments: 1,
    })
    expect(await at.status(tx)).toMatchObject({ status: 'finalized', payout: 'released' })
    expect(await at.ownerOf('club', 'spent')).toBe(at.addressOf(1))
  })

  it('gives no name for a refunded payment, even if a rewind removes the earlier payment', async () => {
    const [first, second] = await bothPay('twice')
    await at.giveBack()
    expect(await outcomeOf(second.tx)).toBe('lost_bid name_taken refused')
    await rewindTo('1', await blockOf(first.id!))
    expect(await at.ownerOf('club', 'twice')).toBeNull()
    expect(await outcomeOf(second.tx)).toBe('invalid requirements_not_met refused')
    await at.judge()
    expect(await at.ownerOf('club', 'twice')).toBe(at.addressOf(1))
    expect(await timesRefused(second.id, '8453')).toBe(1)
  })

  it('deletes refusals that are only queued, so the second payer then has the name', async () => {
    const [first, second] = await bothPay('queued')
    expect(await deliveryOf(second.id!)).toMatchObject({ state: 'queued' })
    await rewindTo('1', await blockOf(first.id!))
    expect(await deliveryOf(second.id!)).toBeUndefined()
    expect(await at.ownerOf('club', 'queued')).toBe(at.addressOf(4))
    await at.judge()
    expect(await outcomeOf(first.tx)).toBe('lost_bid name_taken held')
    await at.giveBack()
    expect([await timesRefused(first.id), await timesRefused(second.id, '8453')]).toEqual([1, 0])
  })

  it('gives no name for a payment that was left to its payer at a replaced contract', async () => {
    const [first, second] = await bothPay('left')
    const leave = `UPDATE jobs SET state = 5, reason = 'below_refusal_cost', alone = true WHERE subject = $1`
    await at.pool.query(leave, [fromHex(second.id!)])
    await rewindTo('1', await blockOf(first.id!))
    // nobody could release it: the payer could reclaim the community's money, and keep the name
    expect(await at.ownerOf('club', 'left')).toBeNull()
    expect(await outcomeOf(second.tx)).toBe('invalid requirements_not_met reclaim')
    await at.judge()
    expect(await at.ownerOf('club', 'left')).toBe(at.addressOf(1))
  })

  it('keeps a refusal that holds a nonce, parked or not, since its transaction may be mined', async () => {
    const [first, second] = await bothPay('signed')
    await at.giveBack()
    await at.pool.query('UPDATE payments SET outcome = NULL WHERE id = $1', [fromHex(second.id!)])
    const { id } = (await deliveryOf(second.id!))!
    const setState = (state: keyof typeof JOB_STATE) =>
      at.pool.query('UPDATE jobs SET state = $2 WHERE id = $1', [id, JOB_STATE[state]])
    await setState('parked')
    await rewindTo('1', await blockOf(first.id!))
    expect(await deliveryOf(second.id!)).toMatchObject({ state: 'parked' })
    expect(await at.ownerOf('club', 'signed')).toBeNull()
    await setState('confirmed')
    await at.judge()
    expect(await at.ownerOf('club', 'signed')).toBe(at.addressOf(1))
  })

  it('changes nothing where a payment is refunded meanwhile, since it could then get its name for free', async () => {
    const [first, second] = await bothPay('meanwhile')
    const target = await targetOf('1', await blockOf(first.id!))
    const writer = await at.pool.connect()
    // makes the switch wait
    await writer.query('BEGIN')
    await writer.query('SELECT FROM journal_heads FOR SHARE')
    const failed = rewindJournal(at.pool, target, { apply: true })
    const rewinding = expect(failed).rejects.toThrow('was refunded meanwhile: run it again')
    // an entry is folded with the refunds of its time
    const folded = () => at.pool.query('SELECT FROM rewind_mainnet.journal_heads WHERE seq > 0')
    await expect.poll(folded, { timeout: 30_000 }).toMatchObject({ rowCount: 1 })
    await at.world.run(await at.world.restart({ label: '8453' }))
    expect(await deliveryOf(second.id!)).not.toMatchObject({ state: 'queued' })
    await writer.query('COMMIT')
    writer.release()
    await rewinding
    expect(await at.ownerOf('club', 'meanwhile')).toBe(at.addressOf(1))
    await rewindTo('1', await blockOf(first.id!))
    expect(await at.ownerOf('club', 'meanwhile')).toBeNull()
    await at.judge()
    await at.giveBack()
    expect(await at.ownerOf('club', 'meanwhile')).toBe(at.addressOf(1))
    expect(await timesRefused(second.id, '8453')).toBe(1)
  })

  it('frees names by no sequence number of the generation before', async () => {
    // its entry is left out, so each later entry has a smaller number in the new generation
    const early = await at.pay({ on: '8453', name: 'early' })
    await at.judge()
    const thief = await at.pay({ name: 'renumbered', by: 3 })
    await at.judge()
    const [{ seq: freed }] = await rowsOf('renumbered')
    const second = await at.pay({ name: 'renumbered', by: 4 })
    await at.judge()
    expect(await outcomeOf(second.tx), 'not refused yet').toBe('lost_bid name_taken held')
    await at.endByKey('refuse', thief.id)
    const third = await at.pay({ name: 'renumbered', by: 5 })
    await at.judge()
    expect(await outcomeOf(third.tx), 'the name was free again').toBe('finalized')

    await rewindTo('8453', await blockOf(early.id!))

    // in the new generation the refused payment buys nothing. So the second payment has the name, with the number that
    // the third one's entry refers to.
    expect(await rowsOf('renumbered')).toMatchObject([{ seq: freed }])
    expect(await at.ownerOf('club', 'renumbered')).toBe(at.addressOf(4))
    expect(await outcomeOf(thief.tx)).toBe('invalid requirements_not_met refused')
    expect(await outcomeOf(second.tx)).toBe('finalized')
    expect(await outcomeOf(third.tx)).toBe('lost_bid name_taken held')
    await at.judge()
    await at.giveBack()
    expect(await outcomeOf(third.tx)).toBe('lost_bid name_taken refused')
    expect(await timesRefused(second.id), 'who has the name has paid for it').toBe(0)
    const { live, rebuilt } = await replayJournal(at.pool, 'mainnet')
    expect(rebuilt).toBe(live)
  })

  it('has a refund checked again when its payment returns', async () => {
    const { tx, id } = await at.pay({ name: 'refused-before', amount: 1n })
    await at.judge()
    await at.giveBack()
    await rewindTo('1', await blockOf(id!))
    expect(await at.pool.query('SELECT FROM payments WHERE id = $1', [fromHex(id!)])).toMatchObject(
      {
        rowCount: 0,
      },
    )
    const relayer = await at.world.restart()
    await at.world.run(relayer)
    expect(await deliveryOf(id!)).toMatchObject({ state: 'confirmed', payment: null })
    await at.judge()
    expect(await deliveryOf(id!)).toMatchObject({ state: 'included' })
    await at.giveBack()
    expect(await outcomeOf(tx)).toBe('invalid underpaid refused')
    expect(await timesRefused(id)).toBe(1)
  })

  it('has a refusal checked again whose block is read again', async () => {
    const { tx, id } = await at.pay({ name: 'refused-again', amount: 1n })
    await at.judge()
    await at.giveBack()
    const { included } = (await deliveryOf(id!))!
    await rewindTo('1', included!.block)
    expect(await deliveryOf(id!)).toMatchObject({ state: 'included' })
    // the chain may have lost it
    const { rows } = await at.pool.query('SELECT outcome FROM payments WHERE id = $1', [
      fromHex(id!),
    ])
    expect(rows).toEqual([{ outcome: null }])
    await at.judge()
    await at.giveBack()
    expect(await outcomeOf(tx)).toBe('invalid underpaid refused')
    expect(await timesRefused(id)).toBe(1)
  })
})

it('the journal rebuilds to the same state', async () => {
  const { live, rebuilt } = await replayJournal(at.pool, 'mainnet')
  expect(rebuilt).toBe(live)
})
