import { encodeChange, type SignedChange } from '../../src/registry/journal/change.js'
import type { Entry } from '../../src/registry/journal/entry.js'
import { deriveClusterId } from '../../src/registry/primitives/clusterId.js'
import { type ApiWorld, bid, START_MS } from '../api/support.js'
import { solanaAccount } from '../api/wallets.js'
import { bytesOf } from './observedApi.js'

/**
 * A step of the history: an entry of both twins; an entry of the first only; or an entry whose true actor only the
 * first has.
 */
type Step = Entry | { hidden: Entry } | { really: Entry; shown: Entry }

const evm = (byte: string): string => `0x${byte.repeat(20)}`

/** Wallets of the history. pat and paul are private in the first twin, and in no cluster of the second. */
export const WALLETS = {
  alice: evm('a1'),
  bob: evm('b0'),
  carol: solanaAccount(Buffer.alloc(32, 3)).address,
  friend: evm('f0'),
  pat: evm('5a'),
  paul: solanaAccount(Buffer.alloc(32, 4)).address,
}
const { alice, bob, carol, friend, pat, paul } = WALLETS
export const FOO = deriveClusterId('mainnet', bytesOf(alice), 0)
/** Number of private wallets that do not act. */
const HIDDEN_WALLETS = 50
/** Transactions of bids, by name. */
export const TX = { foo: `0x${'01'.repeat(32)}`, lost: `0x${'0e'.repeat(32)}` } as const

const STEP_MS = 1_000
let atMs = START_MS
let block = 70_000

const change = (fields: SignedChange): Entry => {
  atMs += STEP_MS
  return {
    kind: fields.kind,
    position: null,
    txKey: null,
    causeMs: atMs,
    body: encodeChange(fields),
  }
}
const bidOf = (
  from: string,
  name: string,
  tx = `0x${(block % 255).toString(16).padStart(2, '0').repeat(32)}`,
): Entry =>
  // confirmed later than it was mined, because changes were signed in between
  bid({ from, name, tx: tx as `0x${string}`, block: block++, atMs: atMs - STEP_MS / 2 })
const listed = (address: string, name: string, isPrivate = false) => ({
  address: bytesOf(address),
  name,
  isPrivate,
})
const add = (actor: string, ...wallets: ReturnType<typeof listed>[]) =>
  change({ kind: 'add_wallets', actor: bytesOf(actor), wallets })
const rename = (actor: string, address: string, name: string) =>
  change({
    kind: 'rename_wallets',
    actor: bytesOf(actor),
    wallets: [{ address: bytesOf(address), name }],
  })
const remove = (actor: string, address: string) =>
  change({ kind: 'remove_wallets', actor: bytesOf(actor), addresses: [bytesOf(address)] })
const verify = (actor: string) =>
  change({ kind: 'verify_wallet', actor: bytesOf(actor), clusterId: FOO })
const confirm = (actor: string, address: string) =>
  change({ kind: 'confirm_backup', actor: bytesOf(actor), address: bytesOf(address) })
const signMembership = (actor: string) =>
  change({
    kind: 'sign_membership',
    actor: bytesOf(actor),
    clusterId: FOO,
    message: 'a membership',
    signature: '0x12',
    block: null,
  })
const below = (actor: string, community: string, name: string) =>
  change({
    kind: 'register_community_name',
    actor: bytesOf(actor),
    wallet: bytesOf(actor),
    community,
    name,
    met: null,
    isAssigned: false,
  })
const hide = (...entries: Entry[]): Step[] => entries.map((hidden) => ({ hidden }))
/** A change of a private wallet, which the public sees as a change of its cluster's oldest public wallet. */
const inTheNameOf = (shown: string, really: string, make: (actor: string) => Entry): Step => {
  const entry = make(really)
  return { really: entry, shown: { ...make(shown), causeMs: entry.causeMs } }
}
const hiddenWallet = (i: number): string => `0x${(0x77000 + i).toString(16).padStart(40, '0')}`

/** Public and private changes of every kind, alternately. */
const HISTORY: readonly Step[] = [
  bidOf(alice, 'foo', TX.foo),
  bidOf(bob, 'bar'),
  add(
    alice,
    ...Array.from({ length: 20 }, (_, i) => listed(evm((0x30 + i).toString(16)), `seen-${i}`)),
  ),
  ...hide(
    add(alice, listed(pat, 'secret', true), listed(paul, 'main-2', true)),
    verify(pat),
    verify(paul),
  ),
  bidOf(carol, 'baz'),
  add(bob, listed(friend, 'friend'), listed(pat, 'mentioned')),
  ...hide(
    add(
      alice,
      ...Array.from({ length: HIDDEN_WALLETS }, (_, i) =>
        listed(hiddenWallet(i), `cold-${i}`, true),
      ),
    ),
    rename(pat, hiddenWallet(1), 'warm'),
    confirm(paul, hiddenWallet(1)),
    remove(pat, hiddenWallet(0)),
  ),
  bidOf(bob, 'bar-two'),
  inTheNameOf(alice, pat, (actor) => add(actor, listed(friend, 'secret'))),
  inTheNameOf(alice, paul, (actor) => rename(actor, evm('31'), 'seen-again')),
  inTheNameOf(alice, pat, (actor) => confirm(actor, evm('32'))),
  ...hide(rename(pat, pat, 'hidden'), signMembership(pat)),
  verify(friend),
  signMembership(friend),
  ...hide(signMembership(paul)),
  signMembership(alice),
  bidOf(pat, 'foo', TX.lost),
  change({
    kind: 'configure_community',
    actor: bytesOf(alice),
    community: 'foo',
    rules: { prices: [], ownersOnly: false, startsAtMs: null, requirements: [] },
  }),
  below(bob, 'foo', 'bobs'),
  below(pat, 'foo', 'pats'),
  ...hide(confirm(alice, pat)),
  bidOf(friend, 'qux'),
  remove(bob, pat),
  ...hide(add(alice, listed(evm('5c'), 'last', true)), remove(alice, evm('5c'))),
]

function causeMsOf(step: Step): number {
  if ('hidden' in step) return step.hidden.causeMs
  return 'really' in step ? step.really.causeMs : step.causeMs
}

/** Every millisecond at which something happened, and the ones before and after. */
export const TIMES: readonly number[] = [
  ...new Set(HISTORY.map(causeMsOf).flatMap((ms) => [ms - 1, ms, ms + 1])),
]

/** Entries per transaction. */
const BATCH = 7

/** Appends the history, with or without its private part. */
export async function live(world: ApiWorld, isPrivate: boolean): Promise<void> {
  const entries = HISTORY.flatMap((step) => {
    if ('hidden' in step) return isPrivate ? [step.hidden] : []
    return 'really' in step ? [isPrivate ? step.really : step.shown] : [step]
  })
  for (let i = 0; i < entries.length; i += BATCH)
    await world.append('mainnet', entries.slice(i, i + BATCH))
}
