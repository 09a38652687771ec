/** Kinds of journal entries (never renumber). Kinds that are not logs of the hub's contracts count from 16. */
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
  move_names: 25,
  /** Public events that a mirror read from its source (fold/mirrorFold.ts). The body is empty. */
  mirrored: 26,
  /** A wallet's public signature that it belongs to its cluster (auth/evidence.ts). */
  sign_membership: 27,
} as const
export type EntryKind = keyof typeof ENTRY_KIND

const ENTRY_KIND_BY_CODE = new Map<number, EntryKind>(
  Object.entries(ENTRY_KIND).map(([kind, code]) => [code, kind as EntryKind]),
)

/** Kind of an entry by its code in the database. @throws RangeError for an unknown code */
export function entryKindOfCode(code: number): EntryKind {
  const kind = ENTRY_KIND_BY_CODE.get(code)
  if (!kind)
    throw new RangeError(
      `this version of clusterd does not know kind ${code} of a journal entry: run the newer version that wrote it`,
    )
  return kind
}

/**
 * Complete input of one step of the fold: a confirmed log of the hub, a confirmed payment on any chain, a signed
 * change, or the next part (`move_names`) of a move of names that a signed change began. A `mirrored` entry is no
 * input: it has only effects.
 */
export interface Entry {
  kind: EntryKind
  /** Position on the chain, null for signed changes and `move_names` entries. Chains are numbered per network. */
  position: { chain: number; block: number; logIndex: number } | null
  /** First 8 bytes of the transaction's hash or signature (`txKeyOfHash`). Null without a transaction. */
  txKey: bigint | null
  /** Time of the block or request of the entry, ms. The journal's timestamp may differ (see `foldEntriesToRows`). */
  causeMs: number
  /** Body by kind. `minimum`: wei as 32 bytes. Other kinds: see bid.ts, change.ts and payment.ts. */
  body: Buffer
  /**
   * Version of the rules that decide the entry (ruleset.ts). A new entry gets the newest version where it is decoded.
   */
  ruleset?: number
}
