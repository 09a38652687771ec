import type { OpenJobs } from '../../db/outbox/stats.js'
import type { Problem } from '../../ops/alarms.js'
import type { OutboxState } from './metrics.js'

/** Below this the relay authority's balance is low: fees of 2,000 transactions. */
export const LOW_BALANCE_LAMPORTS = 10_000_000n
export const DAY_MS = 86_400_000
/** A balance that lasts for less is low. */
export const LOW_RUNWAY_MS = 3 * DAY_MS
/** Age from which a job that waits is an alarm. */
const OLD_JOB_MS = 3_600_000

/** Facts of a network's outbox that an operator has to know; the same that the alarms' rules find. */
export function outboxProblems({ network, relayers, payer }: OutboxState, nowMs: number): Problem[] {
  const problems: Problem[] = []
  const found = (holds: boolean, alarm: Problem['alarm'], text: string) => {
    if (holds) problems.push({ alarm, text: `${network}: ${text}` })
  }
  for (const { chain, stuck, nonceGaps, nonceClaimed, runwayMs, signer } of relayers) {
    const on = `on chain "${chain}"`
    const [oldest] = stuck ?? []
    found(
      oldest !== undefined,
      'ClusterdPacketsStuck',
      `packets that have not reached the hub: ${stuck?.length}, the oldest is ${oldest}`,
    )
    found(nonceGaps > 0, 'ClusterdNonceGap', `nonces of ${signer} that are missing ${on}: ${nonceGaps}`)
    found(
      nonceClaimed !== null,
      'ClusterdNonceClaimed',
      `the chain counts ${nonceClaimed} transactions of ${signer} ${on}`,
    )
    found(runwayMs !== null && runwayMs < LOW_RUNWAY_MS, 'ClusterdRelayerRunsDry', `${signer} runs dry ${on}`)
  }
  for (const state of [...relayers, payer])
    for (const jobs of state?.stats?.open ?? []) problems.push(...jobProblems(jobs, network, nowMs))
  if (!payer) return problems
  const lamports = payer.balance
  const owed = payer.stats?.owed.count ?? 0
  found(
    lamports !== null && lamports < LOW_BALANCE_LAMPORTS,
    'ClusterdRelayAuthorityRunsDry',
    `${lamports} lamports are left`,
  )
  found(owed > 0, 'ClusterdRefundsOwed', `refunds that are owed on Solana: ${owed}`)
  return problems
}

function jobProblems({ kind, state, count, oldestMs }: OpenJobs, network: string, nowMs: number): Problem[] {
  const is = (alarm: Problem['alarm'], text: string): Problem[] => [{ alarm, text: `${network}: ${text}` }]
  if (state === 'parked') return is('ClusterdJobsParked', `parked jobs of the kind ${kind}: ${count}`)
  const minutes = Math.floor((nowMs - oldestMs) / 60_000)
  return nowMs - oldestMs > OLD_JOB_MS
    ? is('ClusterdJobsWait', `a job of the kind ${kind} has been ${state} for ${minutes} min`)
    : []
}
