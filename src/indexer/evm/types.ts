import type { EvmChain } from '../../chains/evm/chain.js'
import type { ChainRow } from '../../db/chains/chains.js'
import type { ChainState } from '../../ops/chainState.js'
import type { LeaderContext } from '../../ops/context.js'
import { LoopStageTimer } from '../../ops/stages.js'
import type { BackfillProgress } from '../progress.js'

export interface ChainIndexerOptions extends Pick<LeaderContext, 'pool' | 'epoch' | 'signal'> {
  chain: EvmChain
  /** The chain's cursor row, updated in place after each commit. */
  row: ChainRow
  /**
   * How many steps since the last one without an error, and for how many ms, must find the cursor's block replaced
   * before the chain halts. The default depends on whether the chain is local.
   */
  haltPatience?: { failures: number; ms: number }
  onProgress?: (progress: BackfillProgress) => void
}

/** Outcome of one step of a chain's indexer. */
export type IndexerStepOutcome =
  /** Confirmed blocks were written directly to the journal. */
  | { kind: 'backfilled'; blocks: number; entries: number }
  /** New blocks were added to the unconfirmed blocks (the tail), or blocks of the tail became confirmed. */
  | {
      kind: 'followed'
      blocks: number
      /** Number of logs (`decodedLogCount`) of the new blocks, and of the confirmed ones. */
      facts: number
      confirmedBlocks: number
      confirmedFacts: number
      /** Number of journal entries, without the messages and payments in confirmed logs. */
      entries: number
      dropped: number
    }
  /** There is no new block. */
  | { kind: 'idle' }
  /** The node's head is below the newest block read so far: the node is slow, which is no reorg. */
  | { kind: 'behind'; latest: number }
  /** A confirmed block is no longer on the chain: indexing stops until an operator decides. */
  | { kind: 'halted'; reason: string }

/** State of an indexer before its first step. @param stages measures the stages of the indexer's loop */
export const initialChainState = (
  of: Pick<ChainState, 'network' | 'label' | 'chain' | 'nextBlock'>,
  stages = new LoopStageTimer(),
): ChainState => ({
  network: of.network,
  label: of.label,
  chain: of.chain,
  latest: null,
  confirmed: null,
  nextBlock: of.nextBlock,
  headMs: null,
  confirmedMs: null,
  blockMs: null,
  tailBlock: null,
  isCaughtUp: false,
  trust: null,
  trustNodes: null,
  halted: null,
  lastStepMs: null,
  lastError: null,
  errorAlarm: null,
  get stagesMs() {
    return stages.lastMinute()
  },
})
