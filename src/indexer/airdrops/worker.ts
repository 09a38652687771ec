import type { EvmChain } from '../../chains/evm/chain.js'
import type { LeaderContext } from '../../ops/context.js'
import { IDLE_POLL_MS, type Worker } from '../../ops/worker.js'
import { AirdropWatcher } from './watcher.js'

/** Follows the claims of airdrops on one chain. A chain without airdrops costs a database query now and then. */
export function airdropWorker({ pool, network, epoch, log }: LeaderContext, chain: EvmChain): Worker {
  const fields = { network, chain: chain.label }
  const onRestart = (community: string) =>
    log.warn({ ...fields, community }, 'confirmed blocks were replaced: the claims of an airdrop are read again')
  const watcher = new AirdropWatcher({ pool, chain, epoch, onRestart })
  return {
    ...{ name: 'the airdrop watcher', fields, pollMs: chain.config.pollMs, idleMs: IDLE_POLL_MS },
    async step(_signal, alive) {
      const outcome = await watcher.step(alive)
      if (outcome.kind === 'idle') return outcome.airdrops > 0 ? 'waiting' : 'idle'
      const { kind, ...numbers } = outcome
      if (numbers.claims > 0) log.info({ ...fields, ...numbers }, 'claims of airdrops')
      return 'progressed'
    },
  }
}
