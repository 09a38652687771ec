import { setMaxListeners } from 'node:events'
import type { PrivateKeyAccount } from 'viem/accounts'
import { fundAddresses } from '../../../src/testing/chains/localClients.js'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import { runMembers } from '../../chaos/lib/members.js'
import { actAtPace } from '../../chaos/lib/wallets.js'
import { tally } from '../../chaos/lib/watchers.js'
import { seededRandomSequence } from '../../support/random.js'
import { freshWallet, registerOn } from '../../support/world.js'
import { CHAINS, type MixWorld } from './world.js'

/** What goes on beside the requests of a mix: registrations, signed changes, blocks and reorgs. */

const REGISTRATION_MS = { min: 200, max: 1_500 }
const REORG_MS = { min: 500, max: 2_500 }
const WALLETS = 6
/** Names of a round. Wallets bid for the same ones, so that some bids are lost. */
const NAMES = 100
/** Blocks of the deepest reorg: it takes no confirmed block. */
const MAX_REORG = 2

/** Where wallets register. A chain without transactions for minutes would mine too seldom to be current. */
const LABELS = ['1', '1', '1', '8453', '11155111'] as const

/** Makes and funds the wallets of a run. */
export const openWallets = ({ stack: { world } }: MixWorld): Promise<PrivateKeyAccount[]> =>
  Promise.all(
    Array.from({ length: WALLETS }, async () => {
      const account = await freshWallet('mainnet', world)
      await fundAddresses(world.networks.testnet.hub, [account.address])
      return account
    }),
  )

export interface Writers {
  /** Numbers of what was done, and of refusals by status and code. */
  counts: Readonly<Record<string, number>>
  /** Resolves after the signal, once nothing more is sent. */
  done: Promise<unknown>
}

/** Registers, changes and reorganizes until the signal. @param seed of this round */
export function runWriters(
  { stack }: MixWorld,
  wallets: readonly PrivateKeyAccount[],
  seed: number,
  signal: AbortSignal,
): Writers {
  setMaxListeners(0, signal)
  const counts: Record<string, number> = {}
  const count = tally(counts)
  const registering = wallets.map((account, i) => {
    const next = seededRandomSequence(seed, 'registrations', i)
    return actAtPace(next, REGISTRATION_MS, signal, async () => {
      const label = pickElement(next(), LABELS)
      const name = `mix-${seed}-${integerBetween(next(), 1, NAMES)}`
      await registerOn(label, account, [{ name }], stack.world)
      count('registrations')
    })
  })
  const next = seededRandomSequence(seed, 'reorgs')
  const reorganizing = actAtPace(next, REORG_MS, signal, async () => {
    await stack.anvils[pickElement(next(), CHAINS)]!.reorg(integerBetween(next(), 1, MAX_REORG))
    count('reorgs')
  })
  const members = runMembers([stack.api], wallets, seed, signal)
  return {
    get counts() {
      return { ...counts, ...members.counts }
    },
    done: Promise.all([...registering, reorganizing, members.done]),
  }
}
