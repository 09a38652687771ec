/**
 * Kinds of journal entries. Stored; never renumber. Signed changes count from 16; payments for community names are
 * among them.
 */
export const ENTRY_KIND = {
  bid: 1,
  minimum: 2,
  create_cluster: 16,
  add_wallets: 17,
  rename_wallets: 18,
  remove_wallets: 19,
  verify_wallet: 20,
  confirm_backup: 21,
  configure_community: 22,
  register_community_name: 23,
  pay_community_name: 24,
} as const
export type EntryKind = keyof typeof ENTRY_KIND

const KIND_OF_CODE = new Map<number, EntryKind>(
  Object.entries(ENTRY_KIND).map(([kind, code]) => [code, kind as EntryKind]),
)

/** The kind of a stored code. Throws RangeError for one that this version does not know. */
export function entryKind(code: number): EntryKind {
  const kind = KIND_OF_CODE.get(code)
  if (!kind) throw new RangeError(`journal entry kind ${code} is unknown: was the journal written by a newer version?`)
  return kind
}

/**
 * Input of the journal before the fold numbers it: a confirmed log of the hub chain, a confirmed payment on any chain,
 * or a change signed by a wallet. Everything that the fold needs is in here; the fold never calls out.
 */
export interface Entry {
  kind: EntryKind
  /** Position on the chain, null for a signed change. Chains are numbered per network. */
  position: { chain: number; block: number; logIndex: number } | null
  /** First 8 bytes of the transaction hash, null where there is no transaction. */
  txKey: bigint | null
  /** Time of the cause in milliseconds (block, request). Journal timestamps never decrease, whatever the causes say. */
  causeMs: number
  /** Bytes by kind. bid: bid.ts. minimum: one word, wei. Signed changes: change.ts. Payments: payment.ts. */
  body: Buffer
  /** Version of the ruleset that the entry is folded under (ruleset.ts); absent in a new entry: the current one. */
  ruleset?: number
}
