import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import { type DecodedLogs, mergeLogs, sizeOf } from '../../chains/evm/decodeLogs.js'
import { getHeader, type Header } from '../../chains/evm/logs.js'
import { writeTailMessages, writeTailReceipts } from '../../db/bridge/messages.js'
import { type ChainRow, haltChain } from '../../db/chains.js'
import { assertLeader, markCaughtUp, readHead } from '../../db/journal/head.js'
import { writeTail } from '../../db/journal/tail.js'
import { writeTailCommunityPayments } from '../../db/payments/communityPayments.js'
import { notify } from '../../db/pg/notify.js'
import { inTransaction } from '../../db/pg/pool.js'
import { failpoint } from '../../ops/failpoint.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { backfill } from './backfill.js'
import { DeepReorgError, isCheckpointReplaced } from './checkpoint.js'
import { createMessageOrder } from './messageOrder.js'
import { restoreLocalCheckpoint } from './restore.js'
import { type Extension, extendTail } from './tail.js'
import type { IndexerState, Outcome, Progress, TailBlock } from './types.js'
import { createRangeWidth } from './width.js'
import { writeConfirmed } from './write.js'

/** A gap of more blocks than this is taken in ranges; a smaller one block by block, as facts first. */
const FOLLOW_MAX_BLOCKS = 64

export interface ChainIndexerOptions {
  pool: pg.Pool
  chain: EvmChain
  row: ChainRow
  epoch: number
  signal: AbortSignal
  onProgress?: (progress: Progress) => void
}

/**
 * Indexes one chain: a hub's logs go through the tail into the journal, a spoke's messages into their table. One writer a
 * network: its epoch is checked in every write.
 */
export interface ChainIndexer {
  readonly state: IndexerState
  /**
   * One step towards the chain's head, without timers: does what there is to do now and says what that was.
   * @throws ChainUnavailableError, LostLeadershipError, or an error of the database; the next step goes on
   */
  step(): Promise<Outcome>
}

export async function createChainIndexer(options: ChainIndexerOptions): Promise<ChainIndexer> {
  const { pool, chain, row } = options
  const width = createRangeWidth()
  const order = createMessageOrder(pool, chain, row, width)
  const head = await readHead(pool, row.network)
  let minimumWei = head.minimumWei
  /** Our unconfirmed blocks, from the checkpoint up. Memory is the truth, the tables show it: a restart reads the tail anew. */
  let held: TailBlock[] = []
  let isTailStored = false
  let isCheckpointChecked = false
  let catchUpTarget: number | null = null
  /** How many blocks are followed in one step: fewer after a step that failed, since one bad answer fails it as a whole. */
  let reach = FOLLOW_MAX_BLOCKS

  const state: IndexerState = {
    network: row.network,
    label: row.label,
    chain: row.chain,
    latest: null,
    confirmed: null,
    nextBlock: row.nextBlock,
    tailBlock: null,
    isCaughtUp: head.caughtUp,
    halted: row.halted,
    lastStepMs: null,
    lastError: null,
  }

  const step = async (): Promise<Outcome> => {
    if (row.halted) {
      // an operator's rewind ends this leadership: whoever leads next finds the chain put right
      await assertLeader(pool, row.network, options.epoch)
      return { kind: 'halted', reason: row.halted }
    }
    const { latest, confirmed } = await chain.heads()
    state.latest = latest.number
    state.confirmed = confirmed
    // the first catch-up is done when the confirmed head that was found at start is folded
    catchUpTarget ??= confirmed
    if (latest.number < row.nextBlock - 1) return { kind: 'behind', latest: latest.number }
    if (!isCheckpointChecked) {
      await checkCheckpoint(options)
      isCheckpointChecked = true
    }
    const top = row.nextBlock + held.length - 1
    if (latest.number - top > FOLLOW_MAX_BLOCKS && confirmed >= row.nextBlock) {
      held = []
      isTailStored = false
      const done = await backfill({ ...options, to: confirmed, width, order, isCaughtUp: state.isCaughtUp })
      minimumWei = (await readHead(pool, row.network)).minimumWei
      return { kind: 'backfilled', ...done }
    }
    return follow(latest, confirmed)
  }

  const follow = async (latest: Header, confirmed: number): Promise<Outcome> => {
    const extension = await extendTail(chain, row, held, latest, reach)
    const kept = extension ? held.filter(({ block }) => block < extension.dropFrom) : held
    const tail = extension ? [...kept, ...extension.blocks] : held
    const confirming = tail.filter(({ block }) => block <= confirmed)
    if (!extension && confirming.length === 0) {
      return latest.number < row.nextBlock + held.length - 1
        ? { kind: 'behind', latest: latest.number }
        : { kind: 'idle' }
    }
    const last = confirming.at(-1)
    const believed = decodedOf(confirming)
    believed.sent = await order.complete(believed.sent)
    failpoint('follow.before_transaction')
    minimumWei = await writeStep(options, { extension, isTailStored, minimumWei, last, believed })
    order.taken(believed.sent)
    if (last) {
      row.nextBlock = last.block + 1
      row.parentHash = last.hash
    }
    const dropped = held.length - kept.length
    held = tail.slice(confirming.length)
    if (extension) isTailStored = true
    failpoint('follow.after_commit')
    const facts = count(extension?.blocks ?? [])
    const entries = count(confirming)
    return {
      kind: 'followed',
      blocks: extension?.blocks.length ?? 0,
      facts,
      confirmedBlocks: confirming.length,
      entries,
      dropped,
    }
  }

  const settle = async (): Promise<void> => {
    state.nextBlock = row.nextBlock
    state.tailBlock = row.nextBlock + held.length - 1
    state.lastStepMs = Date.now()
    if (!state.isCaughtUp && catchUpTarget !== null && row.nextBlock > catchUpTarget) {
      // a spoke added later never brings catching up back
      if (chain.role === 'hub') await markCaughtUp(pool, row.network, options.epoch)
      state.isCaughtUp = true
    }
  }

  return {
    state,
    async step() {
      try {
        const outcome = await step()
        await settle()
        reach = Math.min(FOLLOW_MAX_BLOCKS, 2 * reach)
        state.lastError = null
        return outcome
      } catch (error) {
        if (error instanceof DeepReorgError)
          return halt(
            `${error.message}, which was confirmed: run \`clusterd rewind\` after you have looked at the chain`,
          )
        reach = Math.max(1, Math.floor(reach / 2))
        // what the transaction left is not known: the tail is read anew
        held = []
        isTailStored = false
        order.forget()
        state.lastError = (error as Error).message
        throw error
      }
    },
  }

  async function halt(reason: string): Promise<Outcome> {
    await haltChain(pool, row, options.epoch, reason)
    row.halted = reason
    state.halted = reason
    return { kind: 'halted', reason }
  }
}

const count = (blocks: readonly TailBlock[]): number => blocks.reduce((sum, { decoded }) => sum + sizeOf(decoded), 0)
const decodedOf = (blocks: readonly TailBlock[]): DecodedLogs => mergeLogs(blocks.map(({ decoded }) => decoded))

interface Step {
  extension: Extension | null
  isTailStored: boolean
  minimumWei: bigint
  /** The newest block that is confirmed now, if any. */
  last: TailBlock | undefined
  /** What the confirmed blocks brought. */
  believed: DecodedLogs
}

/** One transaction: the confirmed blocks with their checkpoint, and the new tail. */
async function writeStep(options: ChainIndexerOptions, step: Step): Promise<bigint> {
  const { pool, row, epoch } = options
  const { network, chain } = row
  const { last } = step
  return inTransaction(pool, async (client) => {
    let { minimumWei } = step
    if (last) {
      minimumWei = await writeConfirmed(client, row, epoch, step.believed, {
        nextBlock: last.block + 1,
        parentHash: last.hash,
      })
    } else await assertLeader(client, network, epoch)
    if (step.extension) {
      const dropFrom = step.isTailStored ? step.extension.dropFrom : row.nextBlock
      const isTail = ({ block }: { block: number }) => !last || block > last.block
      // a block that is confirmed as soon as it is seen has no facts any more, but its hash stays known
      const blocks = step.extension.blocks.map(({ decoded, ...block }) => ({
        ...block,
        entries: isTail(block) ? decoded.entries : [],
      }))
      await writeTail(client, network, chain, { dropFrom, blocks, minimumWei })
      const { received, sent, payments } = decodedOf(step.extension.blocks.filter(isTail))
      if (options.chain.role === 'hub') await writeTailReceipts(client, network, { dropFrom, receipts: received })
      else await writeTailMessages(client, network, chain, { dropFrom, messages: sent })
      if (options.chain.config.communityPayments)
        await writeTailCommunityPayments(client, network, chain, { dropFrom, payments })
    }
    await notify(client, network)
    failpoint('follow.before_commit')
    return minimumWei
  })
}

/**
 * The checkpoint's block has to be on the chain still. A local chain that its launcher restored from an older state may have
 * lost it: then the checkpoint goes back as far as no entry of the journal is touched.
 */
async function checkCheckpoint({ pool, chain, row }: ChainIndexerOptions): Promise<void> {
  const { parentHash } = row
  if (!parentHash) return
  const header = await chain.rpc.onOneNode((call) => getHeader(call, row.nextBlock - 1))
  if (header?.hash === toHex(parentHash)) return
  if (!(await isCheckpointReplaced(chain, row)))
    throw new Error(`getting block ${row.nextBlock - 1}: a node does not have it, or is on another fork`)
  if (chain.config.local && (await restoreLocalCheckpoint(pool, chain, row))) return
  throw new DeepReorgError(
    chain.config.local
      ? `the local chain "${row.label}" is behind the journal (it came back from an older state): delete the world's data folder and start again; block ${row.nextBlock - 1} has been replaced`
      : `block ${row.nextBlock - 1} has been replaced`,
  )
}
