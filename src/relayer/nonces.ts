import type pg from 'pg'
import { assertRelayer } from '../db/journal/head.js'
import { insertFill, saveDelivery } from '../db/outbox/deliveries.js'
import type { DeliveryRow, SignerKey } from '../db/outbox/deliveryRows.js'
import { holdersOfNonces, raiseNextNonce } from '../db/outbox/signers.js'
import { inTransaction } from '../db/pg/pool.js'
import { failpoint } from '../ops/failpoint.js'
import { type Signer, signFill } from './evm.js'
import { apply } from './machine.js'
import { toDelivery } from './store.js'

/** How long a gap has to last before it is mended: a node that lags shows one too. */
const PATIENCE_MS = 600_000
const LOCAL_PATIENCE_MS = 2_000

/**
 * Keeps a signer's nonces without gaps. Every nonce is given out together with signed bytes, so a gap comes from outside: a
 * chain that lost confirmed blocks (a local chain that was killed), or somebody else's transaction with our key that a reorg
 * took back. Then nothing behind it is ever mined.
 */
export interface NonceKeeper {
  /** Nonces that block others and that nothing under way holds. */
  readonly gaps: number
  /**
   * Looks at the chain's count and mends what has been amiss for long enough: what used a lost nonce is sent again, and one that
   * nothing used is used up by a transfer of nothing to the signer itself.
   * @returns how many nonces were mended
   * @throws ChainUnavailableError, LostLeadershipError
   */
  step(): Promise<number>
}

export function createNonceKeeper(options: {
  pool: pg.Pool
  key: SignerKey
  signer: Signer
  epoch: number
  nowMs: () => number
}): NonceKeeper {
  const { pool, key, signer, epoch, nowMs } = options
  const patienceMs = signer.chain.config.local ? LOCAL_PATIENCE_MS : PATIENCE_MS
  let missing: { first: number; sinceMs: number } | null = null
  let gaps = 0

  const step = async (): Promise<number> => {
    const { address } = signer.account
    const count = await signer.chain.rpc.call<string>('eth_getTransactionCount', [address, 'latest'])
    const used = Number(count)
    const { next, holders } = await inTransaction(pool, async (client) => {
      await assertRelayer(client, key.network, epoch)
      return {
        next: await raiseNextNonce(client, key, used),
        holders: await holdersOfNonces(client, key, used),
      }
    })
    const live = new Set(holders.filter(({ state }) => state !== 'confirmed').map(({ nonce }) => nonce))
    const lost = range(used, next).filter((nonce) => !live.has(nonce))
    gaps = lost.length
    if (lost.length === 0) missing = null
    else if (missing?.first !== lost[0]) missing = { first: lost[0]!, sinceMs: nowMs() }
    if (!missing || nowMs() - missing.sinceMs < patienceMs) return 0
    let mended = 0
    for (const nonce of lost) {
      const holder = holders.find((row) => row.nonce === nonce)
      if (holder ? await sendAgain(holder) : await fill(nonce)) mended += 1
    }
    return mended
  }

  /** A confirmed transaction that the chain has lost is treated as one that a reorg took back. */
  const sendAgain = (row: DeliveryRow): Promise<boolean> => {
    const again = apply(toDelivery(row), { is: 'reorged' }, { nowMs: nowMs(), random: 0, head: 0 })
    return saveDelivery(pool, row, again, { epoch, nowMs: nowMs() })
  }

  const fill = async (nonce: number): Promise<boolean> => {
    const { hash, raw, purpose, gas, fees, valueWei } = await signFill(signer, nonce)
    const tx = { hash, raw, purpose, gas, valueWei, ...fees, sentBlock: null, isRejected: false }
    const isStored = await inTransaction(pool, async (client) => {
      await assertRelayer(client, key.network, epoch)
      return insertFill(client, key, nonce, tx, nowMs())
    })
    failpoint('relay.filled')
    return isStored
  }

  return {
    get gaps() {
      return gaps
    },
    step,
  }
}

const range = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from) }, (_, i) => from + i)
