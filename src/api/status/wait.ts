import { isTerminal, type Status } from '../../registry/status.js'
import type { Context } from '../http/context.js'
import type { TxStatus } from './decide.js'
import { idBytes, parseTxId, statusOf } from './status.js'

/** Status that was waited for, and how often it was looked for. */
type Waited = { found: TxStatus; looks: number }

/**
 * The status of a transaction once it differs from a known one or is terminal, else as it is after the wait. Where no
 * place is free it is answered at once.
 * @param since the status that the caller knows; default: the one that is found first
 * @returns null for a text that is no transaction's id
 * @throws ChainUnavailableError as statusOf
 */
export async function awaitStatus(
  context: Context,
  tx: string,
  { ms, since }: { ms: number; since: Status | undefined },
): Promise<Waited | null> {
  const id = parseTxId(tx)
  if (!id) return null
  const { caller, waits } = context
  const free = ms > 0 && caller ? waits.places.take(caller.address) : null
  if (!caller || typeof free !== 'function') return { found: (await statusOf(context, tx))!, looks: 1 }
  try {
    return await untilMoved(context, { tx, bytes: idBytes(id), since, signal: caller.stay(ms) })
  } finally {
    free()
  }
}

async function untilMoved(
  context: Context,
  { tx, bytes, since, signal }: { tx: string; bytes: Buffer; since: Status | undefined; signal: AbortSignal },
): Promise<Waited> {
  const { waits, caller } = context
  let known = since
  for (let looks = 1; ; looks++) {
    const progress = await waits.progressOf(bytes)
    const found = (await statusOf(context, tx))!
    known ??= found.status
    if (found.status !== known || isTerminal(found.status)) return { found, looks }
    if (await waits.moved(bytes, progress, signal)) continue
    // confirmations have moved meanwhile
    return { found: caller?.hasLeft() ? found : (await statusOf(context, tx))!, looks: looks + 1 }
  }
}
