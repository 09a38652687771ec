import type { CapacityLimiter } from '../../push/capacityLimiter.js'
import type { ChangeNotifications } from '../../push/changeNotifications.js'
import { EVM } from '../../registry/families.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { txIdFormOf } from '../../registry/primitives/txId.js'
import { isTerminalStatus, type RegistrationStatus } from '../../registry/status.js'
import type { Context } from '../http/context.js'
import { isFromChains, type TxStatus } from './decide.js'
import { evmTxStatus } from './evm.js'
import { paymentTxStatus } from './payments.js'

/**
 * Interval at which a long poll asks the chains again about a transaction that is in no table, ms. Chains send no
 * notification.
 */
const ASK_AGAIN_MS = 5_000

/** Status of a transaction of any chain. @throws ChainUnavailableError as evmTxStatus and paymentTxStatus */
export const readTxStatus = (context: Context, tx: Buffer): Promise<TxStatus> =>
  txIdFormOf(tx) === EVM.txIdForm ? evmTxStatus(context, toHex(tx)) : paymentTxStatus(context, tx)

/** True if a status can be computed from the journal only: a transaction of the hub whose bids all won. */
export const isStatusInJournal = (
  tx: string,
  { status, hubTx, names = [], more }: TxStatus,
): boolean =>
  status === 'finalized' &&
  hubTx === tx.toLowerCase() &&
  more === undefined &&
  names.every(({ outcome }) => outcome === 'won')

/** Resources that all long polls of a process share. */
export interface LongPolls {
  notifications: ChangeNotifications
  places: CapacityLimiter
}

/**
 * The status of a transaction as soon as it differs from a known status or is terminal, else the status after the wait.
 * If the limit of long polls is reached, the status is returned immediately.
 * @param ms longest wait, counted from the start of the request; 0 for no wait
 * @param since the status that the caller knows; default: the status at the start
 * @returns also `chainReads`, the number of times the status came from chains
 * @throws ChainUnavailableError as readTxStatus
 */
export async function awaitTxStatus(
  { notifications, places }: LongPolls,
  context: Context,
  tx: Buffer,
  { ms, since }: { ms: number; since: RegistrationStatus | undefined },
): Promise<{ txStatus: TxStatus; chainReads: number }> {
  const { caller, network } = context
  const { progressOf } = context.lookups[network]
  let chainReads = 0
  const read = async (): Promise<TxStatus> => {
    const txStatus = await readTxStatus(context, tx)
    if (isFromChains(txStatus)) chainReads += 1
    return txStatus
  }
  const free = ms > 0 && caller ? places.take(caller.address) : null
  if (!caller || typeof free !== 'function') return { txStatus: await read(), chainReads }
  try {
    const signal = caller.allowLongPoll(ms)
    let known = since
    for (;;) {
      // progress is read before the status, so that no change between the two reads is missed
      const { records, isKnown } = await progressOf(tx)
      const txStatus = await read()
      known ??= txStatus.status
      if (txStatus.status !== known || isTerminalStatus(txStatus.status))
        return { txStatus, chainReads }
      const untilMs = isKnown ? Number.POSITIVE_INFINITY : performance.now() + ASK_AGAIN_MS
      const changed = async () => {
        const now = await progressOf(tx)
        return now.records !== records || performance.now() >= untilMs || null
      }
      if (await notifications.waitFor(network, changed, signal)) continue
      // confirmations may have changed during the wait
      return { txStatus: caller.hasLeft() ? txStatus : await read(), chainReads }
    }
  } finally {
    free()
  }
}
