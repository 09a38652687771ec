import type pg from 'pg'
import type { EvmChain } from '../../chains/evm/chain.js'
import { LostLeadershipError } from '../../db/journal/head.js'
import type { Logger } from '../../ops/log.js'
import { pause } from '../../ops/notify.js'
import { pauseAfterError } from '../../ops/worker.js'
import type { Network } from '../../registry/primitives/network.js'
import { createAirdropWatcher } from './watcher.js'

export interface AirdropRunOptions {
  pool: pg.Pool
  network: Network
  log: Logger
}

/**
 * Follows the claims of airdrops on one chain until the signal. A chain that is away delays nothing else: it is tried again and
 * again, here alone. Without airdrops it costs one question to the database a poll, and none to the chain.
 */
export async function runAirdropWatcher(
  { pool, network, log }: AirdropRunOptions,
  chain: EvmChain,
  epoch: number,
  signal: AbortSignal,
): Promise<void> {
  const fields = { network, chain: chain.label }
  const watcher = createAirdropWatcher({
    ...{ pool, chain, epoch },
    onRestart: (community) =>
      log.warn({ ...fields, community }, 'blocks that were believed were replaced: claims are read again'),
  })
  let failures = 0
  while (!signal.aborted) {
    try {
      const { kind, ...numbers } = await watcher.converge()
      failures = 0
      if ('claims' in numbers && numbers.claims > 0) log.info({ ...fields, ...numbers }, 'claims of airdrops')
      if (kind === 'idle') await pause(chain.config.pollMs, signal)
    } catch (error) {
      if (error instanceof LostLeadershipError || signal.aborted) throw error
      const what = { ...fields, err: error, failures }
      if (failures === 0) log.warn(what, 'claims of airdrops could not be followed; it will be tried again')
      else log.debug(what, 'claims of airdrops could not be followed again')
      await pauseAfterError(failures, signal)
      failures += 1
    }
  }
}
