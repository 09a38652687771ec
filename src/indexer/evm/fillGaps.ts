import { packetPlace } from '../../chains/evm/bridge/packet.js'
import { areOfContract } from '../../chains/evm/community/ending.js'
import type { DecodedLogs } from '../../chains/evm/decodeLogs.js'
import { newestConfirmedMessage } from '../../db/bridge/messages.js'
import { newestConfirmedPayments } from '../../db/payments/payments.js'
import type { SentMessage } from '../../registry/bridge/message.js'
import type { CommunityNameTarget, Payment } from '../../registry/payment/payment.js'
import { fetchRange } from './fetchRange.js'
import { type Counted, type Gap, gapsIn, isFilled, isInside } from './gaps.js'
import type { ChainIndexerOptions } from './types.js'
import type { RangeWidth } from './width.js'

interface Source extends Pick<ChainIndexerOptions, 'pool' | 'chain' | 'row' | 'signal' | 'onAlive'> {
  width: RangeWidth
}

/** Blocks that are checked against their headers at once. */
const CHUNK_BLOCKS = 512
/** Blocks that are checked so before the first known item of a path, which may have begun before our first block. */
const LOOK_BACK_BLOCKS = 100_000

type Missing = Pick<DecodedLogs, 'sent' | 'payments' | 'ends'>

/**
 * Adds to logs of confirmed blocks what nodes left out before them. A packet's nonce counts 1, 2, 3, … on its path
 * (LayerZero V2), and a payment's number for its token: a jump is a log that a node left out.
 * @param logs in order, after all that is stored as confirmed
 * @throws Error where the chain's headers and logs have nothing for a number
 */
export async function fillGaps(source: Source, logs: DecodedLogs): Promise<DecodedLogs> {
  const gaps = [...(await messageGaps(source, logs)), ...(await paymentGaps(source, logs))]
  if (gaps.length === 0) return logs
  const again = await readAgain(source, gaps)
  const isMissing = (item: Counted) => gaps.some((gap) => isInside(gap, item))
  const payments = again.payments.filter((payment) => isMissing(paymentPlace(payment)))
  const blocks = new Set(payments.map(({ block }) => block))
  return {
    ...logs,
    sent: [...again.sent.filter((message) => isMissing(messagePlace(message))), ...logs.sent],
    payments: [...payments, ...logs.payments],
    // a block whose payments were left out lacked its other logs too
    ends: [...again.ends.filter(({ block }) => blocks.has(block)), ...logs.ends],
  }
}

const messagePlace = ({ packet, block }: Pick<SentMessage, 'packet' | 'block'>): Counted => {
  const { nonce, path } = packetPlace(packet)
  return { path: path.toString('hex'), number: nonce, block }
}

const paymentPlace = ({ money, target, block }: Payment<CommunityNameTarget>): Counted => ({
  ...{ path: money.token, number: target.number, block },
})

async function messageGaps({ pool, row }: Source, { sent }: DecodedLogs): Promise<Gap[]> {
  if (sent.length === 0) return []
  const newest = await newestConfirmedMessage(pool, row.network, row.chain)
  return gapsIn(newest ? [messagePlace(newest)] : [], sent.map(messagePlace))
}

async function paymentGaps({ pool, chain, row }: Source, { payments }: DecodedLogs): Promise<Gap[]> {
  if (payments.length === 0) return []
  const tokens = [...new Set(payments.map(({ money }) => money.token))]
  const places = payments.map(paymentPlace)
  const newest = await newestConfirmedPayments(pool, row, tokens)
  if (gapsIn(newest, places).length === 0) return []
  // an operator may have changed the contract, and each counts for itself
  const ids = newest.map(({ id }) => id)
  const looks = await chain.rpc.onTwoNodes((call) => areOfContract(call, chain.config.communityPayments!, ids))
  return gapsIn(
    newest.filter((_, i) => looks.some((isOurs) => isOurs[i])),
    places,
  )
}

/** Reads the blocks of gaps again: as ranges, which another node may confirm, then each block against its header. */
async function readAgain(source: Source, gaps: readonly Gap[]): Promise<Missing> {
  const ranges = await readBlocks(source, gaps, false)
  if (gaps.every((gap) => isFilled(gap, placesOf(ranges)))) return ranges
  const blocks = await readBlocks(source, gaps, true)
  const open = gaps.find((gap) => !isFilled(gap, placesOf(blocks), gap.from === null))
  if (!open) return blocks
  const { from, to } = open
  throw new Error(
    `chain "${source.row.label}": between numbers ${from?.number ?? 0n} (block ${from?.block ?? '?'}) and ${to.number} (block ${to.block}) of messages or payments some are missing: its nodes do not give all logs`,
  )
}

const placesOf = ({ sent, payments }: Missing): Counted[] => [...sent.map(messagePlace), ...payments.map(paymentPlace)]

async function readBlocks(source: Source, gaps: readonly Gap[], isChecked: boolean): Promise<Missing> {
  const { chain, width, signal, onAlive } = source
  const { startBlock } = chain.config
  const startOf = ({ from, to }: Gap): number =>
    from?.block ?? Math.max(startBlock, isChecked ? to.block - LOOK_BACK_BLOCKS : startBlock)
  const end = Math.max(...gaps.map(({ to }) => to.block))
  const found: Missing = { sent: [], payments: [], ends: [] }
  for (let first = Math.min(...gaps.map(startOf)); first <= end; ) {
    signal.throwIfAborted()
    const last = Math.min(end, first + (isChecked ? CHUNK_BLOCKS : width.blocks) - 1)
    const { decoded } = await fetchRange({ chain, width, checkFrom: isChecked ? first : last + 1 }, first, last)
    found.sent.push(...decoded.sent)
    found.payments.push(...decoded.payments)
    found.ends.push(...decoded.ends)
    onAlive?.()
    first = last + 1
  }
  return found
}
