import { requirementsHash } from '../../src/registry/community/requirements.js'
import type { CommunityRules } from '../../src/registry/community/rules.js'
import {
  type ClusterChange,
  type CommunityChange,
  encodeChange,
} from '../../src/registry/journal/change.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { publicEvents } from '../../src/registry/journal/events.js'
import { type CommunityPaymentBody, encodePayment } from '../../src/registry/journal/payment.js'
import { addressToWord } from '../../src/registry/primitives/address.js'
import { bigIntToWord } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { append, emptyRegistry } from './memoryRegistry.js'

export const MINUTE_MS = 60_000
const T0 = Date.UTC(2026, 10, 20, 8)
export const RECIPIENT = '0x00000000000000000000000000000000000000a1'

/** Wallets by the bytes of their addresses, so that the order of addresses is theirs. */
export const wallet = (n: number): Buffer => Buffer.of(1, ...Buffer.alloc(20, n))
export const alice = wallet(1)
export const ann = wallet(2)
export const pat = wallet(3)
export const bob = wallet(4)
export const ben = wallet(5)
export const eve = wallet(6)

export const FREE: CommunityRules = {
  prices: [],
  ownersOnly: false,
  startsAtMs: null,
  requirements: [],
}
export const costing = (
  amount: bigint,
  other: Partial<CommunityRules['prices'][number]> = {},
): CommunityRules => ({
  ...FREE,
  prices: [{ network: '1', token: 'native', amount, recipient: RECIPIENT, ...other }],
})
const NOTHING_ASKED = requirementsHash([])
export const LISTED: CommunityRules = {
  ...FREE,
  requirements: [{ kind: 'allowlist', addresses: [RECIPIENT] }],
}

/**
 * A registry in which alice holds `foo` (cluster 1, with ann in public and pat in private, both verified) and bob holds
 * `bar` (cluster 2, with ben listed in private and verified). eve is nowhere. Each entry is a batch of its own, a
 * minute apart.
 */
export function communityWorld() {
  const registry = emptyRegistry('mainnet', 1n)
  let minute = 0
  const enter = (entry: Omit<Entry, 'causeMs'>) => {
    const causeMs = T0 + minute++ * MINUTE_MS
    const { outcomes, payments } = append(
      registry,
      [{ ...entry, causeMs }],
      Number.MAX_SAFE_INTEGER,
    )
    const row = registry.journal.at(-1)!
    return { row, outcome: outcomes[0], payment: payments[0]?.judgement, events: publicEvents(row) }
  }
  const signed = { position: null, txKey: null }
  const change = (given: ClusterChange) =>
    enter({ kind: given.kind, ...signed, body: encodeChange(given) })
  const ask = (given: CommunityChange) =>
    enter({ kind: given.kind, ...signed, body: encodeChange(given) })
  let block = 0
  const at = (chain: number) => ({ position: { chain, block: block++, logIndex: 0 }, txKey: 1n })
  const bid = (from: Buffer, name: string) => {
    const body = Buffer.concat([
      Buffer.alloc(32, 1),
      addressToWord(from),
      bigIntToWord(5n),
      nameToWord(name),
    ])
    return enter({ kind: 'bid', ...at(1), body })
  }
  const join = (host: Buffer, guest: Buffer, name: string, isPrivate: boolean) => {
    change({ kind: 'add_wallets', actor: host, wallets: [{ address: guest, name, isPrivate }] })
    const { cluster } = registry.wallets.find((row) => row.isVerified && row.address.equals(host))!
    change({ kind: 'verify_wallet', actor: guest, clusterId: registry.clusters[cluster - 1]!.id })
  }
  bid(alice, 'foo')
  bid(bob, 'bar')
  join(alice, ann, 'ann', false)
  join(alice, pat, 'pat', true)
  join(bob, ben, 'ben', true)
  return {
    registry,
    bid,
    change,
    ask,
    join,
    now: () => T0 + minute * MINUTE_MS,
    configure: (community: string, rules: CommunityRules, actor: Buffer | null = null) =>
      ask({ kind: 'configure_community', actor, community, rules }),
    register: (
      actor: Buffer,
      pair: string,
      more: { for?: Buffer; met?: Buffer; isAssigned?: boolean } = {},
    ) => {
      const [community, name] = pair.split('/') as [string, string]
      const { for: to = actor, met = null, isAssigned = false } = more
      return ask({
        kind: 'register_community_name',
        actor,
        community,
        name,
        wallet: to,
        met,
        isAssigned,
      })
    },
    pay: (pair: string, more: Partial<CommunityPaymentBody> = {}) => {
      const [community, name] = pair.split('/') as [string, string]
      const body: CommunityPaymentBody = {
        tx: Buffer.alloc(32, 7),
        network: '1',
        payer: eve,
        token: 'native',
        amount: 5n,
        recipient: RECIPIENT,
        community: nameToWord(community),
        name: nameToWord(name),
        referral: null,
        blockMs: T0 + minute * MINUTE_MS,
        met: NOTHING_ASKED,
        ...more,
      }
      return enter({ kind: 'pay_community_name', ...at(2), body: encodePayment(body) })
    },
  }
}

export const codeOf = ({ outcome }: ReturnType<ReturnType<typeof communityWorld>['ask']>) => {
  const { refusal } = outcome!
  return refusal?.code === 'community' ? refusal.problem : (refusal?.code ?? null)
}
export const HELD = { refusal: null, hasEffect: true }
export const REPEATED = { refusal: null, hasEffect: false }
