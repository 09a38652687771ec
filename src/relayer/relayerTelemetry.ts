import type { OpenJobCount } from '../db/outbox/stats.js'
import type { ProblemWithAlarm } from '../ops/alarms.js'
import type { Network } from '../registry/primitives/network.js'

/** State of one chain's relayer, as shown to the operator. */
export interface RelayerState {
  network: Network
  /** Label of the chain. */
  chain: string
  readonly kind: RelayerTelemetry
  /** `open`: counts of the chain's unfinished jobs. */
  stats: { open: readonly OpenJobCount[] } | null
  /** Balance of the paying account, in the smallest unit of the chain's coin. */
  balance: bigint | null
  /** Payments that were refused although their names are registered. */
  refusedNames: number
}

interface RelayerGauge<State> {
  readonly name: string
  readonly help: string
  /** Null where the relayer has no value. */
  value(state: State): number | null
}

/** A problem of a relayer. Its text does not name the network. */
export interface RelayerProblem extends Pick<ProblemWithAlarm, 'alarm' | 'text'> {
  /** True if jobs wait because of the problem, so that their waiting is no problem of its own. */
  readonly stopsJobs: boolean
}

/** The account that pays for sent transactions, as the operator's page shows it. */
interface PayingAccount {
  readonly account: string
  /** Balance in coins, as text. */
  readonly balance: string
  /** Maximum cost of the transactions signed today (UTC), in coins. Null where spending is not counted. */
  readonly signedToday: string | null
  /** Days for which the balance lasts. Null where this is not estimated. */
  readonly lastsDays: number | null
  readonly isLow: boolean
}

/** Metrics, problems and paying account of a chain family's relayers, in addition to the common `RelayerState`. */
export interface RelayerTelemetry<State extends RelayerState = RelayerState> {
  readonly gauges: readonly RelayerGauge<State>[]
  problems(state: State): readonly RelayerProblem[]
  /** @param balance in the smallest unit of the chain's coin */
  account(state: State, balance: bigint): PayingAccount
}
