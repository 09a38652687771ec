import type { Network } from '../registry/primitives/network.js'
import { type AlarmName, FINALITY_ALARM_MS, type ProblemWithAlarm } from './alarms.js'
import type { LoopStage } from './stages.js'

/**
 * Why the newest confirmed logs are trusted: they match the running hash that the contracts keep (`proved`), two nodes
 * returned equal logs (`compared`), or one node returned them (`trusted`). Mirrored data is trusted because of the
 * signed log (`snapshot`) until the hub has confirmed the owner of each name.
 */
type Trust = 'proved' | 'compared' | 'trusted' | 'snapshot'

/** Why the newest confirmed logs are trusted, and the number of nodes that gave the answers that `trust` rests on. */
export interface LogTrustBasis {
  trust: Trust
  nodes: number
}

/** State of a chain and of its indexer, as the indexing process sees it. Times are Unix ms. */
export interface ChainState {
  network: Network
  label: string
  /** Number of the chain in the database. */
  chain: number
  latest: number | null
  confirmed: number | null
  /**
   * Time of the newest header. After the catch-up it stands still while confirmed blocks can't be proved. Where no
   * headers are read: the time at which the head last rose.
   */
  headMs: number | null
  /** Time of the newest finalized header. Null where blocks are confirmed by their depth. */
  confirmedMs: number | null
  /** Usual time between blocks. Null while it is unknown. */
  blockMs: number | null
  /** EVM: the first block that is not in the journal. Solana: the slot after `confirmed`. */
  nextBlock: number
  /** Newest block up to which logs are stored, confirmed or not. Solana: `latest`. */
  tailBlock: number | null
  /** False until the chain has first caught up; true from its first step where the network had. */
  isCaughtUp: boolean
  trust: Trust | null
  /** Number of nodes that gave the answers that `trust` rests on. */
  trustNodes: number | null
  /** Why nothing more is indexed; null for a chain that is not halted. */
  halted: string | null
  /** Time at which the newest step ended, successful or not, or last showed progress. */
  lastStepMs: number | null
  /** Failure of the newest step, if the chain caused it. */
  lastError: string | null
  /** Alarm that `lastError` raises; null for the common alarm of a failing chain. */
  errorAlarm: AlarmName | null
  /** Time that the indexer's loop spent in each stage during the last minute, ms. */
  readonly stagesMs: Readonly<Record<LoopStage, number>>
}

/** Number of blocks by which `tailBlock` may normally be behind the head. */
const MAX_LAG_BLOCKS = 3
/** Age of the last indexing step above which a chain counts as stuck. */
const STUCK_STEP_MS = 30_000
const MIN_STALE_HEAD_MS = 60_000
/** Greatest normal age of a chain's head, in multiples of the usual time between blocks. */
const STALE_HEAD_BLOCKS = 20
/** Assumed time between blocks while the usual time is unknown: somewhat more than Ethereum's. */
const UNKNOWN_BLOCK_MS = 15_000

/** Age above which a chain's head counts as stale, ms. */
export const staleHeadAgeMs = (blockMs: number | null): number =>
  Math.max(MIN_STALE_HEAD_MS, STALE_HEAD_BLOCKS * (blockMs ?? UNKNOWN_BLOCK_MS))

/** Age of a chain's head, ms. Null before a node has answered. */
export const headAgeMs = ({ headMs }: Pick<ChainState, 'headMs'>, nowMs: number): number | null =>
  headMs === null ? null : Math.max(0, nowMs - headMs)

/** True if a chain's head is stale or was never read. */
export function isHeadStale(state: Pick<ChainState, 'headMs' | 'blockMs'>, nowMs: number): boolean {
  const ageMs = headAgeMs(state, nowMs)
  return ageMs === null || ageMs > staleHeadAgeMs(state.blockMs)
}

/**
 * How far the stored logs, confirmed or not, are behind a chain, ms: age of the head, plus time of the blocks whose
 * logs are not stored. Null before a node has answered. Until a new leader has read the head's number, only the age of
 * the head: a lower bound.
 */
export function indexingLagMs(
  state: Pick<ChainState, 'headMs' | 'blockMs' | 'latest' | 'tailBlock' | 'nextBlock'>,
  nowMs: number,
): number | null {
  const ageMs = headAgeMs(state, nowMs)
  if (ageMs === null || state.latest === null) return ageMs
  const blocks = Math.max(0, state.latest - (state.tailBlock ?? state.nextBlock - 1))
  return ageMs + blocks * (state.blockMs ?? UNKNOWN_BLOCK_MS)
}

/** Usual time from a transaction to the confirmation of its block, ms. Null while it is unknown. */
export function usualConfirmationDelayMs({
  headMs,
  confirmedMs,
  blockMs,
  latest,
  confirmed,
}: Pick<ChainState, 'headMs' | 'confirmedMs' | 'blockMs' | 'latest' | 'confirmed'>): number | null {
  if (blockMs === null || headMs === null || latest === null || confirmed === null) return null
  const depthMs =
    confirmedMs === null ? (latest - confirmed) * blockMs : Math.max(0, headMs - confirmedMs)
  // adds a block time, in which the transaction gets into a block
  return depthMs + blockMs
}

/**
 * The problem of a chain that `/status` and alarms show. Null for a chain without a problem.
 * @param state null where no process has indexed the chain yet
 */
export function chainProblem(state: ChainState | null, nowMs: number): ProblemWithAlarm | null {
  const problemOf = (alarm: AlarmName, text: string): ProblemWithAlarm => ({ alarm, text })
  if (!state) return problemOf('ClusterdNotLed', 'not indexed yet')
  if (state.halted) return problemOf('ClusterdChainHalted', `halted: ${state.halted}`)
  if (state.latest === null || state.confirmed === null || state.tailBlock === null) {
    if (state.lastError === null) return problemOf('ClusterdChainBehind', 'has not answered yet')
    return problemOf('ClusterdChainFailing', `has not answered yet: ${state.lastError}`)
  }
  // an error comes before the stale head and the lag that follow from it
  if (state.lastError) return problemOf(state.errorAlarm ?? 'ClusterdChainFailing', state.lastError)
  if (isHeadStale(state, nowMs))
    return problemOf(
      'ClusterdHeadStandsStill',
      `its head stands still: ${wholeSeconds(headAgeMs(state, nowMs))} s old`,
    )
  if (state.latest < state.nextBlock - 1)
    return problemOf(
      'ClusterdChainBehind',
      `its head is block ${state.latest}, below what was confirmed`,
    )
  if (!state.isCaughtUp)
    return problemOf(
      'ClusterdChainBehind',
      `catching up, at block ${state.nextBlock} of ${state.confirmed}`,
    )
  // `/status` is 503. After two minutes without an iteration `/health` is 503 too (`STUCK_LOOP_ALARM_MS`).
  if (state.lastStepMs === null || nowMs - state.lastStepMs > STUCK_STEP_MS)
    return problemOf('ClusterdLoopHangs', `no step for ${STUCK_STEP_MS / 1_000} s: it hangs`)
  const lag = state.latest - state.tailBlock
  if (lag > MAX_LAG_BLOCKS) return problemOf('ClusterdChainBehind', `${lag} blocks behind its head`)
  const finalityMs = state.confirmedMs === null ? 0 : nowMs - state.confirmedMs
  return finalityMs > FINALITY_ALARM_MS
    ? problemOf(
        'ClusterdFinalityStandsStill',
        `its finality stands still: ${wholeSeconds(finalityMs)} s old`,
      )
    : null
}

const wholeSeconds = (ms: number | null): number => Math.round((ms ?? 0) / 1_000)
