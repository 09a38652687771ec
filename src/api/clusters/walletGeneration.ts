import {
  findWalletShare,
  markRecoverySignatureUsed,
  storeEncryptedKeyShare,
} from '../../db/auth/shares.js'
import type { AddressType } from '../../registry/families.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { requireProof } from '../auth/proof.js'
import { requireAddress } from '../http/address.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import type { Session } from '../http/route.js'
import { requireNewNames } from '../names/names.js'
import { addWalletsChange, appendChange, type ChangeAuthor, wholeBodyPath } from './changes.js'
import {
  decryptKeyShare,
  encryptKeyShare,
  generateKeyShares,
  KEY_SHARE_BYTES,
  recoverKey,
  type ShareEncryptionKeys,
} from './keyShares.js'

export interface GenerateWalletInput {
  type: AddressType
  name: string
  isPrivate: boolean
  /** True to return the third share, for recovery, too. */
  recovery: boolean
}

/**
 * Generates a wallet in the caller's cluster and stores one encrypted share of its key. The other shares are returned
 * only in this response.
 * @throws ApiError invalid_name, wallet_name_taken, wallet_limit, catching_up; unavailable without SHARE_KEY
 */
export async function generateWallet(
  context: Context,
  author: ChangeAuthor,
  input: GenerateWalletInput,
) {
  const keys = requireShareKeys(context)
  const { network } = context
  const [wanted] = requireNewNames([input.name], () => 'name')
  const { address, shares } = await generateKeyShares(input.type)
  const added = addWalletsChange(
    author.wallet,
    [{ ...input, address: address.text }],
    wholeBodyPath,
  )
  const sealed = encryptKeyShare(keys, network, address.bytes, shares.server)
  await appendChange(context, {
    changes: [added],
    alongside: (db, clusterId) =>
      storeEncryptedKeyShare(db, network, {
        address: address.bytes,
        clusterId,
        createdBy: author.wallet,
        ...sealed,
        createdMs: context.now(),
      }),
  })
  return {
    type: input.type,
    address: address.text,
    name: wanted!,
    share: toHex(shares.user),
    ...(input.recovery ? { recoveryShare: toHex(shares.recovery) } : {}),
  }
}

export interface RecoverWalletInput {
  address: string
  /** One of the shares that `generateWallet` returned. */
  share: string
  /** The caller's signature over the message of `signingDate` that requests this address's key. */
  signature: string
  signingDate: string
}

const SHARE = new RegExp(`^0x[0-9a-fA-F]{${KEY_SHARE_BYTES * 2}}$`)

/**
 * Recovers the key of a generated wallet, for the wallet that had it generated and for wallets verified in its cluster.
 * A signature works once, so it is useless to anybody who reads it later. For the wallet that had it generated every
 * attempt uses up the signature, for the others only a successful attempt.
 * @throws ApiError unauthorized, unsupported_address, not_found; invalid_request where the share doesn't fit
 */
export async function recoverWallet(
  context: Context,
  session: Pick<Session, 'wallet' | 'type' | 'address'>,
  input: RecoverWalletInput,
): Promise<{ type: AddressType; address: string; privateKey: string }> {
  const keys = requireShareKeys(context)
  const address = requireAddress(input.address, 'address')
  if (!SHARE.test(input.share))
    throw new ApiError('invalid_request', `The share is not ${KEY_SHARE_BYTES} bytes in 0x hex.`)
  const { signature, signingDate } = input
  const proof = { signature, signingDate, type: session.type, wallet: session.address }
  const { signingMs } = await requireProof(context, proof, address)
  const { pool, network } = context
  const kept = await findWalletShare(pool, network, address.bytes, session.wallet)
  if (!kept)
    throw new ApiError(
      'not_found',
      'No wallet of that address was generated for this wallet or its cluster.',
    )
  const share = Buffer.from(input.share.slice(2), 'hex')
  const own = decryptKeyShare(keys, network, address.bytes, kept)
  const privateKey = await recoverKey(address, [share, own])
  // a failed attempt of another member must not count: it could lock the wallet's owner out for good
  const isCounted = privateKey !== null || kept.isOwn
  if (isCounted && !(await markRecoverySignatureUsed(pool, network, address.bytes, signingMs)))
    throw new ApiError(
      'unauthorized',
      'The signature was used, or a later one was: sign a new message.',
    )
  if (!privateKey)
    throw new ApiError('invalid_request', 'The share does not belong to that address.')
  return { type: address.type, address: address.text, privateKey }
}

function requireShareKeys({ shareKeys }: Context): ShareEncryptionKeys {
  const [first, ...earlier] = shareKeys
  if (!first)
    throw new ApiError('unavailable', 'This service is not set up to generate wallets (SHARE_KEY).')
  return [first, ...earlier]
}
