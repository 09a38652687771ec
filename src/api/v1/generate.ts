import { change } from '../clusters/changes.js'
import { generateWallet, recoverWallet } from '../clusters/walletGeneration.js'
import { OTHER, proof } from '../examples.js'
import { requireWallet } from '../http/address.js'
import { NO_STORE, ok } from '../http/answer.js'
import { times } from '../http/dearest.js'
import { route } from '../http/route.js'
import { answers, z } from '../http/schema.js'
import { SIGN_IN } from '../limits/costs.js'
import { addressText, addressType, walletNameText } from './schemas.js'

const shareText = z.string().describe('33 bytes in 0x hex')

const generate = route.post('/v1/clusters/generate/wallet', {
  bad: {
    what: 'an unknown type',
    body: () => ({ type: 'dogecoin', name: 'x' }),
    error: 'invalid_request',
  },
  privateTo: 'caller',
  dearest: {
    as: 'other',
    body: ({ freshName }) => ({ type: 'solana', name: freshName() }),
  },
  example: { body: { type: 'evm', name: 'generated', recovery: true } },
  summary: 'Generate a wallet in the cluster of this wallet',
  description:
    'Its key is split in three shares, of which two recover it; the key itself is not stored. `share` is returned this once, another is stored here, the third is returned with `recovery` and else discarded.',
  auth: 'required',
  body: z.object({
    type: addressType,
    name: walletNameText,
    isPrivate: z.boolean().default(false),
    recovery: z.boolean().default(false).describe('Return the third share too'),
  }),
  responses: answers('The wallet, unverified, with the user’s share of its key', {
    type: addressType,
    address: addressText,
    name: z.string(),
    share: shareText,
    recoveryShare: shareText.optional(),
  }),
  errors: ['catching_up', 'invalid_name', 'wallet_name_taken', 'wallet_limit'],
  handle: async ({ body, session }, context) =>
    ok(await generateWallet(context, session, body), NO_STORE),
})

const confirm = route.post('/v1/clusters/generate/wallet/confirm', {
  bad: {
    what: 'a text that is no address',
    body: () => ({ address: 'x' }),
    error: 'unsupported_address',
  },
  privateTo: null,
  dearest: {
    what: '6,000 unknown fields',
    as: 'other',
    body: () => Object.fromEntries(times(6_000, (i) => [`k${i}`, 0])),
  },
  example: { body: { address: OTHER } },
  summary: 'Mark a wallet of the cluster as backed up',
  auth: 'required',
  body: z.object({ address: addressText }),
  responses: answers('It is done', { success: z.literal(true) }),
  errors: ['catching_up', 'unsupported_address', 'not_in_cluster'],
  async handle({ body, session }, context) {
    const address = requireWallet(body.address, 'address').bytes
    await change(context, { changes: [{ kind: 'confirm_backup', actor: session.wallet, address }] })
    return ok({ success: true })
  },
})

const recover = route.post('/v1/clusters/generate/wallet/recover', {
  bad: {
    what: 'an address alone',
    body: ({ other }) => ({ address: other }),
    error: 'invalid_request',
  },
  privateTo: 'caller',
  dearest: {
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
      address: OTHER,
      share: `0x${'5e'.repeat(33)}`,
      signature: proof.body.signature,
      signingDate: proof.body.signingDate,
    },
  },
  summary: 'Recover the key of a generated wallet',
  description:
    'For the wallet that requested it, and the verified ones of the cluster it was made in. Beside the key it signs the message that asks for this (`GET /v1/auth/message?wallet=&type=&recover=`), at most 5 minutes ago; each attempt takes a new one.',
  auth: 'required',
  body: z.object({
    address: addressText,
    share: shareText.describe('One of the returned shares'),
    signature: z
      .string()
      .describe(
        'Of the wallet that asks, in a form of POST /v1/auth/token, over the message that asks for this key',
      ),
    signingDate: z.string(),
  }),
  price: SIGN_IN,
  responses: answers('The key as wallets import it: 0x hex (evm), base58 of 64 bytes (solana)', {
    type: addressType,
    address: addressText,
    privateKey: z.string(),
  }),
  errors: ['unsupported_address', 'not_found'],
  handle: async ({ body, session }, context) =>
    ok(await recoverWallet(context, session, body), NO_STORE),
})

export const generateRoutes = [generate, confirm, recover]
