import type pg from 'pg'
import { type Signer, signNoop } from '../chains/evm/signer.js'
import { assertRelayer } from '../db/journal/head.js'
import { insertNoop, type SignerKey, saveJobs } from '../db/outbox/jobs.js'
import type { JobRow } from '../db/outbox/rows.js'
import { holdersOfNonces, raiseNextNonce } from '../db/outbox/signers.js'
import { inTransaction } from '../db/pg/pool.js'
import { failpoint } from '../ops/failpoint.js'
import type { NonceTx } from '../registry/outbox.js'
import { lostNonces, type Missing, missingSince } from './gaps.js'
import { apply } from './machine/index.js'

/** Age from which a gap is mended: a node that lags shows one too. */
const PATIENCE_MS = 600_000
const LOCAL_PATIENCE_MS = 2_000

export interface NonceKeeperOptions {
  pool: pg.Pool
  key: SignerKey
  signer: Signer
  epoch: number
  nowMs: () => number
}

/**
 * Keeps a signer's nonces without gaps. Every nonce is taken together with signed bytes, so a gap comes from outside: a
 * chain that lost confirmed blocks (a local chain that was killed), or another transaction with our key that a reorg
 * removed. Nothing behind a gap is ever mined.
 */
export class NonceKeeper {
  readonly #options: NonceKeeperOptions
  readonly #patienceMs: number
  #missing: Missing | null = null
  #gaps = 0

  constructor(options: NonceKeeperOptions) {
    this.#options = options
    this.#patienceMs = options.signer.chain.config.local ? LOCAL_PATIENCE_MS : PATIENCE_MS
  }

  /** Nonces that block others and that nothing under way holds. */
  get gaps(): number {
    return this.#gaps
  }

  /**
   * Compares the chain's count with the stored nonces and mends old gaps: the transaction that used a lost nonce is
   * sent again, and a nonce that nothing used is used up by a noop.
   * @returns how many nonces were mended
   * @throws ChainUnavailableError, LostLeadershipError
   */
  async step(): Promise<number> {
    const { pool, key, signer, epoch, nowMs } = this.#options
    const count = await signer.chain.rpc.call<string>('eth_getTransactionCount', [signer.account.address, 'latest'])
    const used = Number(count)
    const { next, holders } = await inTransaction(pool, async (client) => {
      await assertRelayer(client, key.network, epoch)
      return { next: await raiseNextNonce(client, key, used), holders: await holdersOfNonces(client, key, used) }
    })
    const lost = lostNonces(used, next, holders)
    this.#gaps = lost.length
    this.#missing = missingSince(this.#missing, lost, nowMs())
    if (!this.#missing || nowMs() - this.#missing.sinceMs < this.#patienceMs) return 0
    let mended = 0
    for (const nonce of lost) {
      const holder = holders.find((row) => row.nonce === nonce)
      if (holder ? await this.#sendAgain(holder) : await this.#insertNoop(nonce)) mended += 1
    }
    return mended
  }

  /** A confirmed transaction that the chain has lost is treated as one that a reorg removed. */
  #sendAgain(row: JobRow<NonceTx>): Promise<boolean> {
    const { pool, epoch, nowMs } = this.#options
    const after = apply(row, { is: 'reorged' }, { nowMs: nowMs(), random: 0 })
    return saveJobs(pool, [{ job: row, after }], { epoch, nowMs: nowMs() })
  }

  async #insertNoop(nonce: number): Promise<boolean> {
    const { pool, key, signer, epoch, nowMs } = this.#options
    const tx = await signNoop(signer, nonce)
    const isStored = await inTransaction(pool, async (client) => {
      await assertRelayer(client, key.network, epoch)
      return insertNoop(client, key, { nonce, tx, nowMs: nowMs() })
    })
    failpoint('relay.noop')
    return isStored
  }
}
