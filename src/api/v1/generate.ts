import { appendChange } from '../clusters/changes.js'
import { GENERATED_WALLET_TYPES } from '../clusters/keyShares.js'
import { generateWallet, recoverWallet } from '../clusters/walletGeneration.js'
import { expiredProofExample, OTHER_EXAMPLE_WALLET } from '../examples.js'
import { requireWallet } from '../http/address.js'
import { NO_STORE, okAnswer } from '../http/answer.js'
import { route } from '../http/route.js'
import { makeSampleList } from '../http/sampleRequests.js'
import { okResponses, z } from '../http/schema.js'
import { SIGN_IN_PRICE } from '../limits/costs.js'
import { addressSchema, addressTypeSchema, walletNameSchema } from './schemas.js'

const shareText = z.string().describe('33 bytes in 0x hex')

const generate = route.post('/v1/clusters/generate/wallet', {
  bad: {
    what: 'an unknown type',
    body: () => ({ type: 'dogecoin', name: 'x' }),
    error: 'invalid_request',
  },
  privateTo: 'caller',
  costliest: {
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
    share: shareText,
    recoveryShare: shareText.optional(),
  }),
  errors: ['catching_up', 'invalid_name', 'wallet_name_taken', 'wallet_limit'],
  handle: async ({ body, session }, context) =>
    okAnswer(await generateWallet(context, session, body), NO_STORE),
})

const confirm = route.post('/v1/clusters/generate/wallet/confirm', {
  bad: {
    what: 'a text that is no address',
    body: () => ({ address: 'x' }),
    error: 'unsupported_address',
  },
  privateTo: null,
  costliest: {
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
    await appendChange(context, {
      changes: [{ kind: 'confirm_backup', actor: session.wallet, address }],
    })
    return okAnswer({ success: true })
  },
})

const recover = route.post('/v1/clusters/generate/wallet/recover', {
  bad: {
    what: 'an address alone',
    body: ({ other }) => ({ address: other }),
    error: 'invalid_request',
  },
  privateTo: 'caller',
  costliest: {
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
    share: shareText.describe('One of the returned shares'),
    signature: z
      .string()
      .describe(
        'The caller’s signature, in a form of POST /v1/auth/token, over the message that requests this key',
      ),
    signingDate: z.string(),
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
  errors: ['unsupported_address', 'not_found'],
  handle: async ({ body, session }, context) =>
    okAnswer(await recoverWallet(context, session, body), NO_STORE),
})

export const walletGenerationRoutes = [generate, confirm, recover]
