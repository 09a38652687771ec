import { formatEther, type Hex } from 'viem'
import type { OpenJobCount, SignerStats } from '../db/outbox/stats.js'
import { type AlarmName, DAY_MS, LOW_RUNWAY_MS } from '../ops/alarms.js'
import type { RelayerProblem, RelayerState, RelayerTelemetry } from './relayerTelemetry.js'

export interface EvmRelayerState extends RelayerState {
  /** Address of the account that signs and pays. Null without a key. */
  signer: Hex | null
  stats: (SignerStats & { open: readonly OpenJobCount[] }) | null
  /**
   * Guids of messages that the hub has not received in time, oldest first, limited in number. Null where no messages
   * are delivered.
   */
  stuck: readonly Hex[] | null
  nonceGaps: number
  /**
   * The signer's transaction count on the chain, where it is so far above the stored count that an operator has to
   * confirm it.
   */
  nonceClaimed: number | null
  /** How long the balance lasts at a day's spending, ms. Null: no spending. 0: a job waits for funds. */
  runwayMs: number | null
}

/**
 * Metrics, problems and paying account of relayers on EVM chains, whose transactions are valid until their nonce is
 * used.
 */
export const EVM_TELEMETRY: RelayerTelemetry<EvmRelayerState> = {
  gauges: [
    {
      name: 'clusterd_stuck_packets',
      help: 'Packets confirmed at their source that the hub has not received in the configured time',
      value: ({ stuck }) => stuck?.length ?? null,
    },
    {
      name: 'clusterd_relayer_balance_wei',
      help: "Balance of the relayer's signer",
      value: ({ balance }) => (balance === null ? null : Number(balance)),
    },
    {
      name: 'clusterd_relayer_signed_today_wei',
      help: 'Most that today’s (UTC) signatures may cost',
      value: ({ stats }) => stats && Number(stats.signedTodayWei),
    },
    {
      name: 'clusterd_relayer_runway_seconds',
      help: 'How long the balance lasts if as much is spent as in the last 24 hours, +Inf while nothing was, 0 while a job waits for funds',
      value({ balance, runwayMs }) {
        if (balance === null) return null
        return runwayMs === null ? Number.POSITIVE_INFINITY : runwayMs / 1_000
      },
    },
  ],
  problems({ chain, stuck, nonceGaps, nonceClaimed, runwayMs, signer }) {
    const on = `on chain "${chain}"`
    const problems: RelayerProblem[] = []
    const add = (alarm: AlarmName, text: string, stopsJobs: boolean) =>
      problems.push({ alarm, text, stopsJobs })
    if (stuck && stuck.length > 0)
      add(
        'ClusterdPacketsStuck',
        `packets not at the hub: ${stuck.length}, first ${stuck[0]}`,
        false,
      )
    if (nonceGaps > 0)
      add('ClusterdNonceGap', `nonces of ${signer} that are missing ${on}: ${nonceGaps}`, true)
    if (nonceClaimed !== null)
      add('ClusterdNonceClaimed', `the chain counts ${nonceClaimed} uses of ${signer} ${on}`, true)
    // a balance that is low, but not used up, stops no job
    if (isLow(runwayMs)) add('ClusterdRelayerRunsDry', `${signer} runs dry ${on}`, runwayMs === 0)
    return problems
  },
  account: ({ signer, stats, runwayMs }, balance) => ({
    account: signer ?? '',
    balance: shortEther(balance),
    signedToday: shortEther(stats?.signedTodayWei ?? 0n),
    lastsDays: runwayMs === null ? null : Math.floor(runwayMs / DAY_MS),
    isLow: isLow(runwayMs),
  }),
}

const isLow = (runwayMs: number | null): boolean => runwayMs !== null && runwayMs < LOW_RUNWAY_MS

/** Formats wei as coins with six significant digits. */
const shortEther = (wei: bigint): string => String(Number(Number(formatEther(wei)).toPrecision(6)))
