import type { Network } from '../registry/primitives/network.js'
import { type AlarmName, FINALITY_ALARM_MS, type Problem } from './alarms.js'
import type { Stage } from './stages.js'

/**
 * Ground of the newest confirmed logs: the contracts' record, two nodes' equal logs, or one node. Of what was
 * mirrored the signed log (`snapshot`) until the hub has named the owner of each name.
 */
type Trust = 'proved' | 'compared' | 'trusted' | 'snapshot'

/** Trust in the newest confirmed logs, and the nodes whose equal answers it rests on. */
export interface Ground {
  trust: Trust
  nodes: number
}

/** Times are Unix ms. */
export interface ChainState {
  network: Network
  label: string
  /** Number in the database. */
  chain: number
  latest: number | null
  confirmed: number | null
  /** Time of the newest header; where no headers are read, the time at which the head last rose. */
  headMs: number | null
  /** Time of the newest finalized header; null where blocks are confirmed by their depth. */
  confirmedMs: number | null
  /** Usual time between blocks; null while it is not known. */
  blockMs: number | null
  /** The first block that is not in the journal. */
  nextBlock: number
  /** Newest block whose logs are visible as facts. */
  tailBlock: number | null
  isCaughtUp: boolean
  trust: Trust | null
  /** Nodes whose equal answers the trust rests on. */
  trustNodes: number | null
  /** Nodes whose equal answers it should rest on. */
  nodesWanted: number
  halted: string | null
  /** Time at which the newest step ended, whether it succeeded or not. */
  lastStepMs: number | null
  /** Failure of the newest step that the chain is to blame for. */
  lastError: string | null
  /** Alarm of the last error, where it is not that of any failing chain. */
  errorAlarm: AlarmName | null
  /** Time of the last minute by what the indexer's loop did, ms. */
  readonly stagesMs: Readonly<Record<Stage, number>>
}

/** Blocks that the tables may normally be behind the chain. */
const LAG_BLOCKS = 3
/** Age of the last step from which a chain counts as stuck. */
const STALE_MS = 30_000
const LEAST_HEAD_ALARM_MS = 60_000
/** Usual times between blocks that a head may be old. */
const HEAD_ALARM_BLOCKS = 20
/** Assumed while the usual time between blocks is not known: Ethereum's with room. */
const UNKNOWN_BLOCK_MS = 15_000

/** Age from which a head counts as standing still, ms. */
export const headAlarmMs = (blockMs: number | null): number =>
  Math.max(LEAST_HEAD_ALARM_MS, HEAD_ALARM_BLOCKS * (blockMs ?? UNKNOWN_BLOCK_MS))

/** Age of a chain's head, ms; null before its first answer. */
export const headAgeMs = ({ headMs }: Pick<ChainState, 'headMs'>, nowMs: number): number | null =>
  headMs === null ? null : Math.max(0, nowMs - headMs)

/** Also true where the head was never seen. */
export function isHeadStale(state: Pick<ChainState, 'headMs' | 'blockMs'>, nowMs: number): boolean {
  const ageMs = headAgeMs(state, nowMs)
  return ageMs === null || ageMs > headAlarmMs(state.blockMs)
}

/** In ms: the head's age, and the blocks that are still to be read. */
export function behindMs(
  state: Pick<ChainState, 'headMs' | 'blockMs' | 'latest' | 'tailBlock' | 'nextBlock'>,
  nowMs: number,
): number | null {
  const ageMs = headAgeMs(state, nowMs)
  if (ageMs === null || state.latest === null) return null
  const blocks = Math.max(0, state.latest - (state.tailBlock ?? state.nextBlock - 1))
  return ageMs + blocks * (state.blockMs ?? UNKNOWN_BLOCK_MS)
}

/** Usual time from a transaction to the confirmation of its block, ms; null while it is not known. */
export function confirmationMs({
  headMs,
  confirmedMs,
  blockMs,
  latest,
  confirmed,
}: Pick<ChainState, 'headMs' | 'confirmedMs' | 'blockMs' | 'latest' | 'confirmed'>): number | null {
  if (blockMs === null || headMs === null || latest === null || confirmed === null) return null
  const depthMs =
    confirmedMs === null ? (latest - confirmed) * blockMs : Math.max(0, headMs - confirmedMs)
  // the transaction waits for its block
  return depthMs + blockMs
}

/** Problem of a chain; null while all is well. */
export function chainProblem(state: ChainState | null, nowMs: number): Problem | null {
  const is = (alarm: AlarmName, text: string): Problem => ({ alarm, text })
  if (!state) return is('ClusterdNotLed', 'not indexed yet')
  if (state.halted) return is('ClusterdChainHalted', `halted: ${state.halted}`)
  if (state.latest === null || state.confirmed === null || state.tailBlock === null) {
    if (state.lastError === null) return is('ClusterdChainBehind', 'has not answered yet')
    return is('ClusterdChainFailing', `has not answered yet: ${state.lastError}`)
  }
  // the cause comes before the symptoms that follow from it
  if (state.lastError) return is(state.errorAlarm ?? 'ClusterdChainFailing', state.lastError)
  if (isHeadStale(state, nowMs))
    return is(
      'ClusterdHeadStandsStill',
      `its head stands still: ${seconds(headAgeMs(state, nowMs))} s old`,
    )
  if (state.latest < state.nextBlock - 1)
    return is('ClusterdChainBehind', `its head is block ${state.latest}, below what was confirmed`)
  if (!state.isCaughtUp)
    return is(
      'ClusterdChainBehind',
      `catching up, at block ${state.nextBlock} of ${state.confirmed}`,
    )
  if (state.lastStepMs === null || nowMs - state.lastStepMs > STALE_MS)
    return is('ClusterdLoopHangs', `no step for ${STALE_MS / 1_000} s: it hangs`)
  if (state.trustNodes !== null && state.trustNodes < state.nodesWanted)
    return is(
      'ClusterdTrustFell',
      `its newest logs rest on ${state.trustNodes} of the ${state.nodesWanted} nodes that have to agree`,
    )
  const lag = state.latest - state.tailBlock
  if (lag > LAG_BLOCKS) return is('ClusterdChainBehind', `${lag} blocks behind its head`)
  const finalityMs = state.confirmedMs === null ? 0 : nowMs - state.confirmedMs
  return finalityMs > FINALITY_ALARM_MS
    ? is('ClusterdFinalityStandsStill', `its finality stands still: ${seconds(finalityMs)} s old`)
    : null
}

const seconds = (ms: number | null): number => Math.round((ms ?? 0) / 1_000)
