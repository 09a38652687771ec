import { z } from 'zod'
import { communityRulesCodec } from '../community/rules.js'
import { decodeBody, encodeBody, nameField, walletField, wordField } from './body.js'
import type { EntryKind } from './entry.js'

const areAddressesUnique = (addresses: readonly Buffer[]): boolean =>
  new Set(addresses.map((address) => address.toString('hex'))).size === addresses.length
const haveUniqueAddresses = (wallets: readonly { address: Buffer }[]): boolean =>
  areAddressesUnique(wallets.map(({ address }) => address))

const renamedWalletSchema = z.codec(
  z.tuple([walletField, nameField]),
  z.custom<{ address: Buffer; name: string }>(),
  {
    decode: ([address, name]) => ({ address, name }),
    encode: ({ address, name }): [Buffer, string] => [address, name],
  },
)

const addedWalletSchema = z.codec(
  z.tuple([walletField, nameField, z.boolean().nullable()]),
  /** `isPrivate`: null where not specified. A new wallet is then public, and a listed wallet does not change. */
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
const CLUSTER_CHANGE_SCHEMAS = {
  create_cluster: z.strictObject({ actor: walletField }),
  add_wallets: z.strictObject({
    actor: walletField,
    wallets: z.array(addedWalletSchema).refine(haveUniqueAddresses),
  }),
  rename_wallets: z.strictObject({
    actor: walletField,
    wallets: z.array(renamedWalletSchema).refine(haveUniqueAddresses),
  }),
  remove_wallets: z.strictObject({
    actor: walletField,
    addresses: z.array(walletField).refine(areAddressesUnique),
  }),
  verify_wallet: z.strictObject({ actor: walletField, clusterId: wordField }),
  confirm_backup: z.strictObject({ actor: walletField, address: walletField }),
  sign_membership: z.strictObject({
    actor: walletField,
    clusterId: wordField,
    message: z.string(),
    /** `signature` and `block` as in `Evidence` (auth/evidence.ts). */
    signature: z.string(),
    block: z.int().nullable(),
  }),
}

/** Schemas of the bodies of changes of a community. */
const COMMUNITY_CHANGE_SCHEMAS = {
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
     * True for an assignment to the actor's cluster after a claim, which need not meet the requirements. Allowed once
     * per cluster, and once per claim.
     */
    isAssigned: z.boolean(),
  }),
}
/**
 * Body of a `move_names` entry, which moves the next names of a cluster to another cluster (fold/moves.ts). Nobody
 * signs it.
 */
const NAME_MOVE_SCHEMAS = { move_names: z.strictObject({ clusterId: wordField }) }
const CHANGE_SCHEMAS = {
  ...CLUSTER_CHANGE_SCHEMAS,
  ...COMMUNITY_CHANGE_SCHEMAS,
  ...NAME_MOVE_SCHEMAS,
}

type ContentOf<Schemas extends Record<string, z.ZodType>> = {
  [Kind in keyof Schemas]: { kind: Kind } & z.output<Schemas[Kind]>
}[keyof Schemas]

/** Change of a cluster by a signed-in wallet. */
export type ClusterChange = ContentOf<typeof CLUSTER_CHANGE_SCHEMAS>
export type CommunityChange = ContentOf<typeof COMMUNITY_CHANGE_SCHEMAS>
export type SignedChange = ClusterChange | CommunityChange
export type MoveNamesContent = ContentOf<typeof NAME_MOVE_SCHEMAS>
export type CommunityNameRegistration = Extract<SignedChange, { kind: 'register_community_name' }>

export const isClusterChangeKind = (kind: EntryKind): kind is ClusterChange['kind'] =>
  kind in CLUSTER_CHANGE_SCHEMAS

/** Encodes a change without its kind. @throws RangeError for a change that the schema refuses */
export function encodeChange({ kind, ...fields }: SignedChange | MoveNamesContent): Buffer {
  return encodeBody(kind, CHANGE_SCHEMAS[kind] as z.ZodType, fields)
}

/** Decodes the body of a change. @throws RangeError for a body that the schema of its kind refuses */
export function decodeChange<Kind extends keyof typeof CHANGE_SCHEMAS>(
  kind: Kind,
  body: Buffer,
): Extract<ContentOf<typeof CHANGE_SCHEMAS>, { kind: Kind }> {
  const fields = decodeBody(kind, CHANGE_SCHEMAS[kind] as z.ZodType<object>, body)
  return { kind, ...fields } as Extract<ContentOf<typeof CHANGE_SCHEMAS>, { kind: Kind }>
}

/** Number of bytes at the beginning of a change's body that include the first field, the signer. */
export const ACTOR_PREFIX_BYTES = 200
const ACTOR_PATTERN = /^\{"actor":"([0-9a-f]{42,182})"/

/**
 * Reads the signer of a change from the first `ACTOR_PREFIX_BYTES` of its body.
 * @throws RangeError for bytes that do not begin with a signer
 */
export function actorOfChange(kind: ClusterChange['kind'], body: Buffer): Buffer {
  const [, actor] = ACTOR_PATTERN.exec(body.toString('latin1', 0, ACTOR_PREFIX_BYTES)) ?? []
  if (actor) return Buffer.from(actor, 'hex')
  throw new RangeError(`the body of a ${kind} entry is not one of ours`)
}
