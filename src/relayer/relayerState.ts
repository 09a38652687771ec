import { formatUnits, type Hex } from 'viem'
import type { OpenJobCount } from '../db/outbox/stats.js'
import {
  type AlarmName,
  DAY_MS,
  LOW_BALANCE_LAMPORTS,
  LOW_RUNWAY_MS,
  type ProblemWithAlarm,
} from '../ops/alarms.js'
import type { Network } from '../registry/primitives/network.js'

const DECIMALS_OF_UNIT = { wei: 18, lamports: 9 } as const

/** Rent of an account without data, lamports. Fees must leave the relayer's account at least this much. */
export const EMPTY_ACCOUNT_RENT_LAMPORTS = 890_880n

/** State of one chain's relayer, from which alarms, metrics and the operator's page are made. */
export interface RelayerState {
  network: Network
  /** Label of the chain. */
  chain: string
  /** Smallest unit of the chain's coin. */
  unit: keyof typeof DECIMALS_OF_UNIT
  /** Account that signs and pays. On EVM chains its address, null without a key. On Solana always `relay authority`. */
  account: string | null
  /** Counts of the chain's unfinished jobs. Null before the first statistics, as are the next three fields. */
  open: readonly OpenJobCount[] | null
  balance: bigint | null
  /** Maximum cost of the transactions signed today (UTC). Null where spending is not counted. */
  signedToday: bigint | null
  /**
   * How long the balance lasts at a day's spending, ms. Null: no spending, or not estimated. 0: the balance is 0, or a
   * job waits for funds.
   */
  runwayMs: number | null
  /** Number of payments that were refused although their names are registered. */
  refusedNames: number
  /**
   * Guids of messages that the hub has not received in time and that have no unfinished job, oldest first, at most
   * `MAX_STUCK_MESSAGES`. Null where no messages are delivered.
   */
  stuck: readonly Hex[] | null
  /** Number of the account's lost nonces, which block later nonces. Counted up to `MAX_LOST_NONCES`. */
  nonceGaps: number
  /**
   * The account's transaction count on the chain, where it is so far above the stored count that an operator has to
   * confirm it. Null otherwise.
   */
  nonceClaimed: number | null
}

/** Fields of a relayer's state whose values are known when the relayer starts. */
export type RelayerIdentity = Pick<RelayerState, 'chain' | 'unit' | 'account' | 'stuck'>

interface RelayerGauge {
  readonly name: string
  readonly help: string
  /** Null where the relayer has no value. */
  value(state: RelayerState): number | null
}

const createBalanceReader =
  (unit: RelayerState['unit']) =>
  (state: RelayerState): number | null =>
    state.unit === unit && state.balance !== null ? Number(state.balance) : null

/** Metrics of relayers, each with the labels network and chain. */
export const RELAYER_GAUGES: readonly RelayerGauge[] = [
  {
    name: 'clusterd_stuck_packets',
    help: 'Packets confirmed at their source that the hub has not received in the configured time',
    value: ({ stuck }) => stuck?.length ?? null,
  },
  {
    name: 'clusterd_relayer_balance_wei',
    help: "Balance of the relayer's signer",
    value: createBalanceReader('wei'),
  },
  {
    name: 'clusterd_relayer_signed_today_wei',
    help: 'Most that today’s (UTC) signatures may cost',
    value: ({ signedToday }) => (signedToday === null ? null : Number(signedToday)),
  },
  {
    name: 'clusterd_relayer_runway_seconds',
    help: 'How long the balance lasts if as much is spent as in the last 24 hours, +Inf while nothing was, 0 while a job waits for funds',
    value({ unit, balance, runwayMs }) {
      if (unit !== 'wei' || balance === null) return null
      return runwayMs === null ? Number.POSITIVE_INFINITY : runwayMs / 1_000
    },
  },
  {
    name: 'clusterd_relay_authority_lamports',
    help: 'Balance of the relay authority on Solana',
    value: createBalanceReader('lamports'),
  },
]

/** A problem of a relayer. Its text does not name the network. */
interface RelayerProblem extends Pick<ProblemWithAlarm, 'alarm' | 'text'> {
  /** True if jobs wait because of the problem, so that their waiting is no problem of its own. */
  readonly stopsJobs: boolean
}

/** Problems of a relayer's account, nonces and messages. */
export function relayerProblems(state: RelayerState): RelayerProblem[] {
  const { chain, unit, account, balance, runwayMs, stuck, nonceGaps, nonceClaimed } = state
  const on = `of ${account} on chain "${chain}"`
  const problems: RelayerProblem[] = []
  const add = (alarm: AlarmName, text: string, stopsJobs: boolean) =>
    problems.push({ alarm, text, stopsJobs })
  if (stuck && stuck.length > 0)
    add('ClusterdPacketsStuck', `packets not at the hub: ${stuck.length}, first ${stuck[0]}`, false)
  if (nonceGaps > 0) add('ClusterdNonceGap', `nonces ${on} that are missing: ${nonceGaps}`, true)
  if (nonceClaimed !== null)
    add('ClusterdNonceClaimed', `the chain counts ${nonceClaimed} uses ${on}`, true)
  // a balance that is low, but not used up, stops no job
  if (isBalanceLow(state) && unit === 'wei')
    add('ClusterdRelayerRunsDry', `the balance ${on} runs dry`, runwayMs === 0)
  if (isBalanceLow(state) && unit === 'lamports')
    add(
      'ClusterdRelayAuthorityRunsDry',
      `${balance} lamports are left`,
      balance! <= EMPTY_ACCOUNT_RENT_LAMPORTS,
    )
  return problems
}

const isBalanceLow = ({ unit, balance, runwayMs }: RelayerState): boolean =>
  unit === 'wei'
    ? runwayMs !== null && runwayMs < LOW_RUNWAY_MS
    : balance !== null && balance < LOW_BALANCE_LAMPORTS

/** Cells of the paying account on the operator's page. */
export function payingAccountCells(state: RelayerState, balance: bigint) {
  const { unit, account, signedToday, runwayMs } = state
  const coins = (amount: bigint) => formatUnits(amount, DECIMALS_OF_UNIT[unit])
  return {
    account: account ?? '',
    balance: shortenCoins(coins(balance)),
    isLow: isBalanceLow(state),
    signedToday: signedToday === null ? '' : shortenCoins(coins(signedToday)),
    lastsDays: runwayMs === null ? '' : Math.floor(runwayMs / DAY_MS),
  }
}

/** Shortens coins to six significant digits. */
const shortenCoins = (coins: string): string => String(Number(Number(coins).toPrecision(6)))
