import { z } from 'zod'
import { communityRulesCodec } from '../community/rules.js'
import { decodeBody, encodeBody, nameField, walletField, wordField } from './body.js'
import type { EntryKind } from './entry.js'

const unique = (addresses: readonly Buffer[]): boolean =>
  new Set(addresses.map((address) => address.toString('hex'))).size === addresses.length
const uniqueWallets = (wallets: readonly { address: Buffer }[]): boolean =>
  unique(wallets.map(({ address }) => address))

const renamed = z.codec(
  z.tuple([walletField, nameField]),
  z.custom<{ address: Buffer; name: string }>(),
  {
    decode: ([address, name]) => ({ address, name }),
    encode: ({ address, name }): [Buffer, string] => [address, name],
  },
)

const added = z.codec(
  z.tuple([walletField, nameField, z.boolean().nullable()]),
  /** `isPrivate`: null where not specified: a new wallet is then public, and a listed wallet stays as it is. */
  z.custom<{ address: Buffer; name: string; isPrivate: boolean | null }>(),
  {
    decode: ([address, name, isPrivate]) => ({ address, name, isPrivate }),
    encode: ({ address, name, isPrivate }): [Buffer, string, boolean | null] => [
      address,
      name,
      isPrivate,
    ],
  },
)

/** Schemas of the bodies of changes of a cluster: stored addresses without duplicates, canonical names. */
const CLUSTER = {
  create_cluster: z.strictObject({ actor: walletField }),
  add_wallets: z.strictObject({
    actor: walletField,
    wallets: z.array(added).refine(uniqueWallets),
  }),
  rename_wallets: z.strictObject({
    actor: walletField,
    wallets: z.array(renamed).refine(uniqueWallets),
  }),
  remove_wallets: z.strictObject({
    actor: walletField,
    addresses: z.array(walletField).refine(unique),
  }),
  verify_wallet: z.strictObject({ actor: walletField, clusterId: wordField }),
  confirm_backup: z.strictObject({ actor: walletField, address: walletField }),
  sign_membership: z.strictObject({
    actor: walletField,
    clusterId: wordField,
    message: z.string(),
    /** Canonical form of the signature (`canonicalSignature`); for a smart wallet, its signature in hex. */
    signature: z.string(),
    block: z.int().nullable(),
  }),
}

/** Schemas of the bodies of changes of a community. */
const COMMUNITY = {
  configure_community: z.strictObject({
    /** Stored address of the signer; null where the operator configured the community. */
    actor: walletField.nullable(),
    community: nameField,
    rules: communityRulesCodec,
  }),
  register_community_name: z.strictObject({
    actor: walletField,
    community: nameField,
    name: nameField,
    /** Wallet that gets the name. */
    wallet: walletField,
    /**
     * Proof of the right to the name. It is the `requirementsHash` of the requirements that the wallet met, null if
     * they were not met or not read. For an assignment it is the claiming account as bytes32, null in older entries,
     * which did not store the account.
     */
    met: wordField.nullable(),
    /**
     * True for an assignment to the actor's cluster after a claim, regardless of the requirements. Allowed once per
     * cluster, and once per claim.
     */
    isAssigned: z.boolean(),
  }),
}
/**
 * Body of a `move_names` entry, which moves the next names of a cluster to another cluster (fold/moves.ts). Nobody
 * signs it.
 */
const MOVE = { move_names: z.strictObject({ clusterId: wordField }) }
const SCHEMAS = { ...CLUSTER, ...COMMUNITY, ...MOVE }

type Of<Schemas extends Record<string, z.ZodType>> = {
  [Kind in keyof Schemas]: { kind: Kind } & z.output<Schemas[Kind]>
}[keyof Schemas]

/** Change of a cluster by a signed-in wallet. */
export type ClusterChange = Of<typeof CLUSTER>
export type CommunityChange = Of<typeof COMMUNITY>
export type SignedChange = ClusterChange | CommunityChange
export type MoveNamesContent = Of<typeof MOVE>
export type CommunityNameRegistration = Extract<SignedChange, { kind: 'register_community_name' }>

export const isClusterChangeKind = (kind: EntryKind): kind is ClusterChange['kind'] =>
  kind in CLUSTER

/** Encodes a change without its kind. @throws RangeError for a change that the schema refuses */
export function encodeChange({ kind, ...fields }: SignedChange | MoveNamesContent): Buffer {
  return encodeBody(kind, SCHEMAS[kind] as z.ZodType, fields)
}

/** Decodes the body of a change. @throws RangeError for a body that the schema of its kind refuses */
export function decodeChange<Kind extends keyof typeof SCHEMAS>(
  kind: Kind,
  body: Buffer,
): Extract<Of<typeof SCHEMAS>, { kind: Kind }> {
  const fields = decodeBody(kind, SCHEMAS[kind] as z.ZodType<object>, body)
  return { kind, ...fields } as Extract<Of<typeof SCHEMAS>, { kind: Kind }>
}

/** Number of bytes at the beginning of a change's body that include the first field, the signer. */
export const ACTOR_PREFIX_BYTES = 200
const ACTOR = /^\{"actor":"([0-9a-f]{42,182})"/

/** Reads the signer of a change from the first `ACTOR_PREFIX_BYTES` of its body. @throws RangeError */
export function actorOfChange(kind: ClusterChange['kind'], body: Buffer): Buffer {
  const [, actor] = ACTOR.exec(body.toString('latin1', 0, ACTOR_PREFIX_BYTES)) ?? []
  if (actor) return Buffer.from(actor, 'hex')
  throw new RangeError(`the body of a ${kind} entry is not one of ours`)
}
