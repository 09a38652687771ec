import {
  findWalletShare,
  markRecoverySignatureUsed,
  storeEncryptedKeyShare,
} from '../../db/auth/shares.js'
import type { PayerAddressType } from '../../registry/families.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { requireProof } from '../auth/proof.js'
import {
  addWalletsChange,
  appendChangesOrThrow,
  type ChangeAuthor,
  wholeBodyPath,
} from '../clusters/changes.js'
import {
  decryptKeyShare,
  encryptKeyShare,
  GENERATED_WALLET_TYPES,
  generateKeyShares,
  KEY_SHARE_BYTES,
  recoverKey,
  type ShareEncryptionKeys,
} from '../clusters/keyShares.js'
import { expiredProofExample, OTHER_EXAMPLE_WALLET } from '../examples.js'
import { requireAddressOfPayerType, requireWallet } from '../http/address.js'
import { NO_STORE, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { declareRoute, type Session } from '../http/route.js'
import { makeSampleList } from '../http/sampleRequests.js'
import { okResponses, z } from '../http/schema.js'
import { SIGN_IN_PRICE } from '../limits/costs.js'
import { requireNewNames } from '../names/names.js'
import { chainIdSchema, nonceSchema } from './auth.js'
import { addressSchema, addressTypeSchema, walletNameSchema } from './schemas.js'

interface GenerateWalletInput {
  type: PayerAddressType
  name: string
  isPrivate: boolean
  /** True to also return the third share, which is for recovery. */
  recovery: boolean
}

/**
 * Generates a wallet in the caller's cluster and stores one encrypted share of its key. The other shares are returned
 * only in this response.
 * @throws ApiError invalid_name, wallet_name_taken, wallet_limit, catching_up; unavailable without SHARE_KEY
 */
async function generateWallet(
  shareKeys: readonly Uint8Array[],
  context: Context,
  author: ChangeAuthor,
  input: GenerateWalletInput,
) {
  const keys = requireShareKeys(shareKeys)
  const { network } = context
  const [wanted] = requireNewNames([input.name], () => 'name')
  const { address, shares } = await generateKeyShares(input.type)
  const added = addWalletsChange(
    author.wallet,
    [{ ...input, address: address.text }],
    wholeBodyPath,
  )
  const sealed = encryptKeyShare(keys, network, address.bytes, shares.server)
  await appendChangesOrThrow(context, author, {
    changes: [added],
    alongside: (db, clusterId) =>
      storeEncryptedKeyShare(db, network, {
        address: address.bytes,
        clusterId,
        createdBy: author.wallet,
        ...sealed,
        createdMs: Date.now(),
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

interface RecoverWalletInput {
  address: string
  /** One of the shares that `generateWallet` returned. */
  share: string
  /** The caller's signature over the message of `signingDate` that requests the key of `address`. */
  signature: string
  signingDate: string
  chainId?: number | undefined
  nonce?: string | undefined
}

const KEY_SHARE_PATTERN = new RegExp(`^0x[0-9a-fA-F]{${KEY_SHARE_BYTES * 2}}$`)

/**
 * Recovers the key of a generated wallet, for the wallet that requested the generation and for wallets verified in the
 * cluster. A signature works once, so it is useless to anybody who reads it later. Every attempt of the wallet that
 * requested the generation uses up its signature. An attempt of another wallet does so only if it succeeds.
 * @throws ApiError unauthorized, unsupported_address, not_found; invalid_request where the share doesn't fit
 */
async function recoverWallet(
  shareKeys: readonly Uint8Array[],
  context: Context,
  session: Pick<Session, 'wallet' | 'type' | 'address'>,
  input: RecoverWalletInput,
): Promise<{ type: PayerAddressType; address: string; privateKey: string }> {
  const keys = requireShareKeys(shareKeys)
  const address = requireAddressOfPayerType(input.address, 'address')
  if (!KEY_SHARE_PATTERN.test(input.share))
    throw new ApiError('invalid_request', `The share is not ${KEY_SHARE_BYTES} bytes in 0x hex.`)
  const { signature, signingDate, chainId, nonce } = input
  const { type, address: wallet } = session
  const proof = { signature, signingDate, chainId, nonce, type, wallet }
  const { signingMs } = await requireProof(context, proof, { recovered: address })
  const { pool, network } = context
  const stored = await findWalletShare(pool, network, address.bytes, session.wallet)
  if (!stored)
    throw new ApiError(
      'not_found',
      'No wallet of that address was generated for this wallet or its cluster.',
    )
  const share = Buffer.from(input.share.slice(2), 'hex')
  const serviceShare = decryptKeyShare(keys, network, address.bytes, stored)
  const privateKey = await recoverKey(address, [share, serviceShare])
  // a failed attempt of another member does not use up signatures, because it could lock out the wallet's owner for
  // good
  const isCounted = privateKey !== null || stored.isOwn
  if (isCounted && !(await markRecoverySignatureUsed(pool, network, address.bytes, signingMs)))
    throw new ApiError(
      'unauthorized',
      'The signature was used, or a later one was: sign a new message.',
    )
  if (!privateKey)
    throw new ApiError('invalid_request', 'The share does not belong to that address.')
  return { type: address.type, address: address.text, privateKey }
}

function requireShareKeys([first, ...earlier]: readonly Uint8Array[]): ShareEncryptionKeys {
  if (!first)
    throw new ApiError('unavailable', 'This service is not set up to generate wallets (SHARE_KEY).')
  return [first, ...earlier]
}

const keyShareSchema = z.string().describe('33 bytes in 0x hex')

/** Keys that encrypt wallet shares, the current key first. Empty where no wallets are generated. */
type ShareKeys = readonly Uint8Array[]

const createGenerateRoute = (keys: ShareKeys) =>
  declareRoute.post('/v1/clusters/generate/wallet', {
    refusedSample: {
      what: 'an unknown type',
      body: () => ({ type: 'dogecoin', name: 'x' }),
      error: 'invalid_request',
    },
    privateDataFor: 'caller',
    costliestSample: {
      as: 'other',
      body: ({ freshName }) => ({ type: 'solana', name: freshName() }),
    },
    example: { body: { type: 'evm', name: 'generated', recovery: true } },
    summary: 'Generate a wallet in the cluster of this wallet',
    description:
      'The key is split into three shares, of which two recover the key. The key itself is not stored. `share` is returned only in this response, and the second share is stored by the service. The third share is returned with `recovery`, else discarded.',
    auth: 'required',
    body: z.object({
      type: z.enum(GENERATED_WALLET_TYPES),
      name: walletNameSchema,
      isPrivate: z.boolean().default(false),
      recovery: z.boolean().default(false).describe('Return the third share too'),
    }),
    responses: okResponses('The wallet, unverified, with the user’s share of its key', {
      type: z.enum(GENERATED_WALLET_TYPES),
      address: addressSchema,
      name: z.string(),
      share: keyShareSchema,
      recoveryShare: keyShareSchema.optional(),
    }),
    errors: ['catching_up', 'invalid_name', 'wallet_name_taken', 'wallet_limit'],
    handle: async ({ body, session }, context) =>
      okAnswer(await generateWallet(keys, context, session, body), NO_STORE),
  })

const confirmRoute = declareRoute.post('/v1/clusters/generate/wallet/confirm', {
  refusedSample: {
    what: 'a text that is no address',
    body: () => ({ address: 'x' }),
    error: 'unsupported_address',
  },
  privateDataFor: null,
  costliestSample: {
    what: '6,000 unknown fields',
    as: 'other',
    body: () => Object.fromEntries(makeSampleList(6_000, (i) => [`k${i}`, 0])),
  },
  example: { body: { address: OTHER_EXAMPLE_WALLET } },
  summary: 'Mark a wallet of the cluster as backed up',
  auth: 'required',
  body: z.object({ address: addressSchema }),
  responses: okResponses('It is done', { success: z.literal(true) }),
  errors: ['catching_up', 'unsupported_address', 'not_in_cluster'],
  async handle({ body, session }, context) {
    const address = requireWallet(body.address, 'address').bytes
    await appendChangesOrThrow(context, session, {
      changes: [{ kind: 'confirm_backup', actor: session.wallet, address }],
    })
    return okAnswer({ success: true })
  },
})

const createRecoverRoute = (keys: ShareKeys) =>
  declareRoute.post('/v1/clusters/generate/wallet/recover', {
    refusedSample: {
      what: 'an address alone',
      body: ({ other }) => ({ address: other }),
      error: 'invalid_request',
    },
    privateDataFor: 'caller',
    costliestSample: {
      as: 'other',
      body: ({ other, wrongProof }) => ({
        address: other,
        share: `0x${'11'.repeat(33)}`,
        ...wrongProof(),
      }),
    },
    example: {
      status: 401,
      body: {
        address: OTHER_EXAMPLE_WALLET,
        share: `0x${'5e'.repeat(33)}`,
        signature: expiredProofExample.body.signature,
        signingDate: expiredProofExample.body.signingDate,
      },
    },
    summary: 'Recover the key of a generated wallet',
    description:
      'Allowed for the wallet that generated it, and for verified wallets of its cluster. The caller also signs a message that requests the key (`GET /v1/auth/message?wallet=&type=&recover=`), at most 5 minutes old. Each attempt needs a new message.',
    auth: 'required',
    body: z.object({
      address: addressSchema,
      share: keyShareSchema.describe('One of the returned shares'),
      signature: z
        .string()
        .describe(
          'The caller’s signature, in a form of POST /v1/auth/token, over the message that requests this key',
        ),
      signingDate: z.string(),
      chainId: chainIdSchema.optional(),
      nonce: nonceSchema.optional(),
    }),
    price: SIGN_IN_PRICE,
    responses: okResponses(
      'The key as wallets import it: 0x hex (evm), base58 of 64 bytes (solana)',
      {
        type: addressTypeSchema,
        address: addressSchema,
        privateKey: z.string(),
      },
    ),
    errors: ['unsupported_address', 'unsupported_network', 'not_found'],
    handle: async ({ body, session }, context) =>
      okAnswer(await recoverWallet(keys, context, session, body), NO_STORE),
  })

export const walletGenerationRoutes = (keys: ShareKeys) => [
  createGenerateRoute(keys),
  confirmRoute,
  createRecoverRoute(keys),
]
