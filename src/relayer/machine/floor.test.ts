import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { policy, prepared, queued, seen, signed } from '../../../test/model/nonceJobs.js'
import { estimateGasFees, maxTransactionCostWei } from '../../chains/evm/gasFees.js'
import { type EvmJobTx, REFUSED_BY_NODES } from '../../registry/outbox.js'
import { applyJobEvent, type SpendPolicy } from './index.js'
import type { EvmJob } from './job.js'
import { planEvmJobStep } from './nonce.js'

const GWEI = 10n ** 9n
const GAS = 100_000n

interface Pool {
  floorWei: bigint
  baseFeeWei: bigint
}

/** Steps a job against a mempool that accepts no tip under its floor. @returns the job, and the number of attempts */
function offerUntilTaken(
  pool: Pool,
  within: SpendPolicy,
  most: number,
): { job: EvmJob; sent: number } {
  const fresh = estimateGasFees(pool.baseFeeWei, [GWEI])
  let job = queued
  let sent = 0
  for (let step = 0; step < 3 * most; step++) {
    const view = seen({ nowMs: job.nextMs, prepared: { ...prepared, gas: GAS, fees: fresh } })
    const action = planEvmJobStep(job, view, within)
    if (action.do === 'sign') {
      const { fees, gas, purpose, valueWei } = action
      const hash = `0x${job.txs.length}` as const
      const about = { hash, raw: hash, purpose, gas, valueWei, sentBlock: null, isRejected: false }
      const tx: EvmJobTx = { ...about, ...fees }
      job = applyJobEvent(job, { is: 'signed', nonce: 3, tx }, view)
      continue
    }
    if (action.do !== 'broadcast') break
    const { tx } = action
    sent += 1
    const isTaken =
      tx.maxPriorityFeePerGas >= pool.floorWei && tx.maxFeePerGas >= pool.baseFeeWei + pool.floorWei
    if (isTaken) return { job: applyJobEvent(job, { is: 'sent', hash: tx.hash }, view), sent }
    job = applyJobEvent(job, { is: 'refused', hash: tx.hash, reason: REFUSED_BY_NODES }, view)
  }
  return { job, sent }
}

const isWithin = (job: EvmJob, { gasPriceCapWei, spendCapWei }: SpendPolicy): boolean =>
  job.txs.every(
    (tx) =>
      tx.maxFeePerGas <= gasPriceCapWei &&
      maxTransactionCostWei(tx.gas, tx, tx.valueWei) <= spendCapWei,
  )

describe('a pool that takes no tip below 30 gwei, where recent blocks show 1', () => {
  const bounds: SpendPolicy = { ...policy, gasPriceCapWei: 100n * GWEI, spendCapWei: 10n ** 17n }
  const pool = { floorWei: 30n * GWEI, baseFeeWei: GWEI }

  it('takes the transaction after few offers', () => {
    const { job, sent } = offerUntilTaken(pool, bounds, 30)
    expect(job.state).toBe('sent')
    expect(sent).toBeLessThanOrEqual(7)
    expect(job.txs.at(-1)!.maxPriorityFeePerGas).toBeLessThan(60n * GWEI)
  })

  it.each<[string, Partial<SpendPolicy>]>([
    ['the cap on the price of gas', { gasPriceCapWei: 29n * GWEI }],
    ['the cap of the job', { spendCapWei: GAS * 29n * GWEI }],
  ])('gets nothing above %s, and then a cancel', (_, change) => {
    const within = { ...bounds, ...change }
    const { job, sent } = offerUntilTaken(pool, within, 30)
    expect(job.state).toBe('signed')
    expect(isWithin(job, within)).toBe(true)
    expect(sent).toBeGreaterThan(4)
    const view = seen({ nowMs: job.nextMs, prepared: { ...prepared, gas: GAS, fees: job.txs[0]! } })
    expect(planEvmJobStep(job, view, within)).toMatchObject({
      do: 'record',
      event: { is: 'failed', failure: { class: 'revert', reason: REFUSED_BY_NODES } },
    })
  })
})

it('any floor under the caps is reached within them', () => {
  const gwei = fc.bigInt({ min: 1n, max: 10_000n }).map((amount) => amount * GWEI)
  fc.assert(
    fc.property(gwei, gwei, gwei, fc.boolean(), (floorWei, baseFeeWei, room, isJobs) => {
      const capWei = baseFeeWei + floorWei + room
      const gasPriceCapWei = isJobs ? 10n ** 30n : capWei
      const spendCapWei = isJobs ? GAS * capWei + queued.valueWei : 10n ** 40n
      const within: SpendPolicy = { gasPriceCapWei, spendCapWei }
      const { job } = offerUntilTaken({ floorWei, baseFeeWei }, within, 120)
      // a job whose first estimate is above its own cap waits for lower fees and has sent nothing
      if (job.state === 'queued') return
      expect(job.state).toBe('sent')
      expect(isWithin(job, within)).toBe(true)
    }),
    { numRuns: 300 },
  )
})

it.each(['unreachable', 'rate', 'http_429'])(
  'no price is raised while no node answers, however often: %s',
  (reason) => {
    let job = signed
    for (let n = 0; n < 12; n++)
      job = applyJobEvent(job, { is: 'refused', hash: '0x1', reason }, seen())
    expect(job.txs.map(({ isRejected }) => isRejected)).toEqual([false])
  },
)
