import { formatEther, type Hex } from 'viem'
import type { OpenJobCount, SignerStats } from '../db/outbox/stats.js'
import { DAY_MS, LOW_RUNWAY_MS, type ProblemWithAlarm } from '../ops/alarms.js'
import type { RelayerState, RelayerTelemetry } from './relayerTelemetry.js'

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
      per: 'network',
      read: ({ stuck }) => stuck?.length ?? null,
    },
    {
      name: 'clusterd_relayer_nonce_gaps',
      help: "Nonces of the relayer's signer that nothing under way holds and that block later ones",
      per: 'chain',
      read: ({ nonceGaps }) => nonceGaps,
    },
    {
      name: 'clusterd_relayer_nonce_claims',
      help: "1 while the signer's transaction count is so far above the stored nonce that an operator has to confirm it",
      per: 'chain',
      read: ({ nonceClaimed }) => Number(nonceClaimed !== null),
    },
    {
      name: 'clusterd_relayer_balance_wei',
      help: "Balance of the relayer's signer",
      per: 'chain',
      read: ({ balance }) => (balance === null ? null : Number(balance)),
    },
    {
      name: 'clusterd_relayer_signed_today_wei',
      help: 'Most that today’s (UTC) signatures may cost',
      per: 'chain',
      read: ({ stats }) => stats && Number(stats.signedTodayWei),
    },
    {
      name: 'clusterd_relayer_runway_seconds',
      help: 'How long the balance lasts if as much is spent as in the last 24 hours, +Inf while nothing was, 0 while a job waits for funds',
      per: 'chain',
      read({ balance, runwayMs }) {
        if (balance === null) return null
        return runwayMs === null ? Number.POSITIVE_INFINITY : runwayMs / 1_000
      },
    },
  ],
  problems({ chain, stuck, nonceGaps, nonceClaimed, runwayMs, signer }) {
    const on = `on chain "${chain}"`
    const problems: ProblemWithAlarm[] = []
    if (stuck && stuck.length > 0)
      problems.push({
        alarm: 'ClusterdPacketsStuck',
        text: `packets not at the hub: ${stuck.length}, first ${stuck[0]}`,
      })
    if (nonceGaps > 0)
      problems.push({
        alarm: 'ClusterdNonceGap',
        text: `nonces of ${signer} that are missing ${on}: ${nonceGaps}`,
      })
    if (nonceClaimed !== null)
      problems.push({
        alarm: 'ClusterdNonceClaimed',
        text: `the chain counts ${nonceClaimed} uses of ${signer} ${on}`,
      })
    if (isLow(runwayMs))
      problems.push({ alarm: 'ClusterdRelayerRunsDry', text: `${signer} runs dry ${on}` })
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
