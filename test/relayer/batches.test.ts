import { type Hex, parseEther } from 'viem'
import { describe, expect, it } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { type EvmJobTx, MAX_JOBS_PER_BATCH } from '../../src/registry/outbox.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { REPLACE_AFTER_BLOCKS } from '../../src/relayer/machine/index.js'
import { executeOperatorJobAction } from '../../src/relayer/operatorActions.js'
import { MINIMUM_WEI } from '../support/bridgeWorld.js'
import { die } from '../support/kill.js'
import { holdBlocks } from '../support/miner.js'
import { insertPayment } from '../support/payments.js'
import { useBridge } from '../support/useBridge.js'

const world = useBridge()

let count = 0
/** Payments for fresh names. @returns their ids, in order */
async function pay(amounts: readonly bigint[]): Promise<Hex[]> {
  const ids: Hex[] = []
  for (const amountWei of amounts)
    ids.push(toHex(await insertPayment(world.pool, { name: `b-${count++}`, amountWei })))
  return ids
}
const payments = (size: number) => pay(Array<bigint>(size).fill(MINIMUM_WEI))
/** The jobs of payments, in their order: jobs are made as the payments' transactions stand in a block. */
const jobsOf = async (ids: readonly Hex[]) => {
  const jobs = await world.jobs()
  return ids.flatMap((id) => jobs.filter(({ payment }) => payment && toHex(payment.id) === id))
}
const executions = (ids: readonly Hex[]) => Promise.all(ids.map((id) => world.executions(id)))
const once = (ids: readonly Hex[]) => ids.map(() => 1)
const setLimit = (weiPerDay: bigint) =>
  world.hub.walletClient(9).writeContract({
    address: world.contracts.hub,
    abi: hubAbi,
    functionName: 'setDeliverLimit',
    args: [weiPerDay],
  })
const txsOf = (jobs: readonly { txs: readonly EvmJobTx[] }[]) =>
  jobs.flatMap(({ txs }) => txs.map(({ hash }) => hash))

describe('payments that wait together', () => {
  it('are delivered by one transaction, each once', async () => {
    const relayer = await world.restart()
    const ids = await payments(3)
    const nonce = await world.nonce()
    await world.finish(relayer)
    const jobs = await jobsOf(ids)
    expect(jobs.map(({ state, reason }) => [state, reason])).toEqual(
      ids.map(() => ['confirmed', null]),
    )
    expect(txsOf(jobs)).toHaveLength(1)
    expect(jobs.map(({ batch }) => batch)).toEqual([null, jobs[0]!.id, jobs[0]!.id])
    expect(await executions(ids)).toEqual(once(ids))
    expect(await world.nonce()).toBe(nonce + 1)
  })

  it('fill transactions of a bounded size', async () => {
    const relayer = await world.restart()
    const most = MAX_JOBS_PER_BATCH.deliver!
    const ids = await payments(most + 3)
    const nonce = await world.nonce()
    await world.finish(relayer)
    expect(await executions(ids)).toEqual(once(ids))
    expect(await world.nonce()).toBe(nonce + 2)
  })

  it('do not wait with one that is backed off', async () => {
    const [first] = await payments(1)
    await world.run(await world.restart({ hub: { maxGasPriceWei: '1' } }))
    const waits = { state: 'queued', reason: 'gas_price_above_cap' }
    expect(await jobsOf([first!])).toMatchObject([waits])
    const later = await payments(2)
    const relayer = await world.restart()
    await world.run(relayer)
    expect(await executions(later)).toEqual([1, 1])
    expect(await jobsOf([first!])).toMatchObject([waits])
    world.aheadMs = 10_000
    await world.finish(relayer)
    expect(await executions([first!])).toEqual([1])
  })

  it('are cancelled once all that a transaction delivers is taken back, and go on where one is not', async () => {
    const relayer = await world.restart()
    await holdBlocks(world.hub)
    const ids = await payments(2)
    await world.run(relayer)
    const reclaim = (id: Hex) =>
      world.pool.query('UPDATE payments SET outcome = 3 WHERE id = $1', [
        Buffer.from(id.slice(2), 'hex'),
      ])
    await reclaim(ids[0]!)
    await world.run(relayer)
    expect(await jobsOf(ids)).toMatchObject(ids.map(() => ({ state: 'sent' })))
    await reclaim(ids[1]!)
    expect(await world.run(relayer)).toContain('deliver failed')
    await world.hub.test.dropTransaction({ hash: (await jobsOf(ids))[0]!.txs[0]!.hash })
    await world.hub.test.mine({ blocks: REPLACE_AFTER_BLOCKS })
    expect(await world.run(relayer)).toContain('deliver cancelled')
    await world.hub.test.setAutomine(true)
    await world.finish(relayer)
    const parked = { state: 'parked', reason: 'reclaimed', nonce: null }
    expect(await jobsOf(ids)).toMatchObject([parked, parked])
    expect(await executions(ids)).toEqual([0, 0])
    await relayer.step()
    expect(relayer.state.nonceGaps).toBe(0)
  })

  it('go each alone once the hub refuses them: a bid above the limit of a day is parked, the others get through', async () => {
    const relayer = await world.restart()
    const before = await world.hub.public.readContract({
      address: world.contracts.hub,
      abi: hubAbi,
      functionName: 'deliverLimit',
    })
    await setLimit(parseEther('5'))
    const ids = await pay([MINIMUM_WEI, parseEther('6'), MINIMUM_WEI])
    await world.run(relayer)
    const outcome = async () =>
      (await jobsOf(ids)).map(({ state, reason, alone }) => [state, reason, alone])
    expect((await outcome())[1]).toEqual(['parked', 'above_deliver_limit', true])
    world.aheadMs = 10_000
    await world.finish(relayer)
    expect(await outcome()).toEqual([
      ['confirmed', null, true],
      ['parked', 'above_deliver_limit', true],
      ['confirmed', null, true],
    ])
    expect(await executions(ids)).toEqual([1, 0, 1])

    await setLimit(before)
    await executeOperatorJobAction(world.pool, 'resume', (await jobsOf(ids))[1]!.id)
    await world.finish(relayer)
    expect(await executions(ids)).toEqual([1, 1, 1])
  })

  it('are free again when an operator parks what carries them, and none of them is parked', async () => {
    const relayer = await world.restart()
    await holdBlocks(world.hub)
    const ids = await payments(3)
    await world.run(relayer)
    const jobs = await jobsOf(ids)
    const lead = jobs.find(({ others }) => others.length > 0)
    const follower = jobs.find(({ batch }) => batch === lead!.id)
    const change = executeOperatorJobAction(world.pool, 'park', follower!.id)
    await expect(change).rejects.toThrow(
      `Job ${follower!.id} is batched with job ${lead!.id}: change that one.`,
    )
    await executeOperatorJobAction(world.pool, 'park', lead!.id)
    await world.hub.test.dropTransaction({ hash: (await jobsOf(ids))[0]!.txs[0]!.hash })
    await world.hub.test.mine({ blocks: 2 })
    await world.hub.test.setAutomine(true)
    await world.finish(relayer)
    expect(await executions(ids)).toEqual(jobs.map(({ id }) => (id === lead!.id ? 0 : 1)))
    await executeOperatorJobAction(world.pool, 'resume', lead!.id)
    await world.finish(relayer)
    expect(await executions(ids)).toEqual([1, 1, 1])
  })

  it.each(['queued', 'signed', 'broadcast', 'included', 'confirmed'])(
    'are delivered once by a relayer killed at relay.%s',
    async (point) => {
      await world.finish(await world.restart())
      const ids = await payments(2)
      const mines = point === 'included' || point === 'confirmed'
      if (!mines) await holdBlocks(world.hub)
      expect(await die(world, `relay.${point}`, { mines })).toBe('SIGKILL')
      await world.hub.test.setAutomine(true)
      await world.finish(await world.restart())
      expect(await executions(ids)).toEqual([1, 1])
      expect((await jobsOf(ids)).map(({ state }) => state)).toEqual(['confirmed', 'confirmed'])
    },
    120_000,
  )
})
