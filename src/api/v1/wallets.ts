import { deleteSessionEvidence } from '../../db/auth/sessions.js'
import { isEvidenceFresh } from '../../registry/auth/evidence.js'
import type { ClusterChange } from '../../registry/journal/change.js'
import { toHex } from '../../registry/primitives/bytes.js'
import {
  addWalletsChange,
  appendChangesOrThrow,
  removeWalletsChange,
  renameWalletsChange,
} from '../clusters/changes.js'
import { EXAMPLE_WALLET, OTHER_EXAMPLE_WALLET, walletsExample } from '../examples.js'
import { requireClusterId } from '../http/address.js'
import { type Answer, okAnswer } from '../http/answer.js'
import type { Context } from '../http/context.js'
import type { ErrorCode } from '../http/errors.js'
import { declareRoute, type Route, type Session } from '../http/route.js'
import { addMaxWalletsBody, makeSampleList } from '../http/sampleRequests.js'
import { MAX_CHANGES_OF_REQUEST, okResponses, z } from '../http/schema.js'
import { addressSchema, clusterIdSchema, walletNameSchema } from './schemas.js'

const successResponses = okResponses('It is done', { success: z.literal(true) })

/** Appends a change of a cluster and returns a response without data. */
async function appendAndAnswer(
  context: Context,
  author: Session,
  made: ClusterChange,
): Promise<Answer> {
  await appendChangesOrThrow(context, author, { changes: [made] })
  return okAnswer({ success: true })
}

/** Errors of every signed change, in addition to the errors of every route. */
const CHANGE_ERRORS = ['catching_up'] as const satisfies readonly ErrorCode[]

export const ADD_WALLET_ERRORS = [
  ...CHANGE_ERRORS,
  'unsupported_address',
  'invalid_name',
  'too_many',
  'wallet_exists',
  'wallet_name_taken',
  'already_public',
  'wallet_limit',
] as const satisfies readonly ErrorCode[]

export const addedWalletSchema = z.object({
  address: addressSchema,
  name: walletNameSchema,
  isPrivate: z
    .boolean()
    .optional()
    .describe(
      'Visible only to the cluster’s verified wallets. If omitted, a new wallet is public and a listed one is not changed',
    ),
})

/** A route that creates the cluster of its caller. */
export const createClusterCreationRoute = (
  path: string,
  texts: Pick<Route, 'summary' | 'description' | 'responses'>,
) =>
  declareRoute.post(path, {
    ...texts,
    costliestSample: { as: 'other' },
    privateDataFor: 'caller',
    auth: 'required',
    errors: CHANGE_ERRORS,
    async handle({ session }, context) {
      const change = { kind: 'create_cluster', actor: session.wallet } as const
      return okAnswer({
        id: toHex(await appendChangesOrThrow(context, session, { changes: [change] })),
      })
    },
  })

const newClusterRoute = createClusterCreationRoute('/v1/clusters', {
  summary: 'Create the cluster of this wallet',
  description: 'A wallet that is verified in a cluster gets the id of this cluster.',
  responses: okResponses('The cluster', { id: clusterIdSchema }),
})

const addWalletsRoute = declareRoute.post('/v1/clusters/wallets', {
  refusedSample: {
    what: 'a text that is no address',
    body: () => [{ address: 'x', name: 'x' }],
    error: 'unsupported_address',
  },
  privateDataFor: null,
  costliestSample: { what: '100 wallets', as: 'other', body: addMaxWalletsBody },
  example: { body: walletsExample },
  summary: 'Add wallets to the cluster of this wallet',
  description:
    'Adds all wallets or none. Each is unverified until it verifies itself. A caller without a cluster gets a new one. To make a private wallet public, add it again with `isPrivate: false`.',
  auth: 'required',
  body: z.array(addedWalletSchema).max(MAX_CHANGES_OF_REQUEST),
  responses: successResponses,
  errors: ADD_WALLET_ERRORS,
  handle: async ({ body, session }, context) =>
    appendAndAnswer(context, session, addWalletsChange(session.wallet, body)),
})

const renameWalletsRoute = declareRoute.put('/v1/clusters/wallets/names', {
  refusedSample: {
    what: 'a text that is no address',
    body: () => [{ address: 'x', name: 'x' }],
    error: 'unsupported_address',
  },
  privateDataFor: null,
  costliestSample: {
    as: 'other',
    body: ({ other, freshName }) => [{ address: other, name: freshName() }],
  },
  example: { body: [{ address: OTHER_EXAMPLE_WALLET, name: 'hot' }] },
  summary: 'Rename wallets of the cluster of this wallet',
  auth: 'required',
  body: z
    .array(z.object({ address: addressSchema, name: walletNameSchema }))
    .max(MAX_CHANGES_OF_REQUEST),
  responses: successResponses,
  errors: [
    ...CHANGE_ERRORS,
    'unsupported_address',
    'invalid_name',
    'too_many',
    'not_in_cluster',
    'wallet_name_taken',
  ],
  handle: async ({ body, session }, context) =>
    appendAndAnswer(context, session, renameWalletsChange(session.wallet, body)),
})

const removeWalletsRoute = declareRoute.delete('/v1/clusters/wallets', {
  refusedSample: {
    what: 'a text that is no address',
    body: () => ['x'],
    error: 'unsupported_address',
  },
  privateDataFor: null,
  costliestSample: {
    what: '100 wallets',
    as: 'other',
    body: ({ evmAddress }) => makeSampleList(100, evmAddress),
  },
  example: { body: [EXAMPLE_WALLET] },
  summary: 'Remove wallets from the cluster of this wallet',
  description: 'Addresses that are not listed count as removed.',
  auth: 'required',
  body: z.array(addressSchema).max(MAX_CHANGES_OF_REQUEST),
  responses: successResponses,
  errors: [
    ...CHANGE_ERRORS,
    'unsupported_address',
    'too_many',
    'not_in_cluster',
    'last_verified_wallet',
  ],
  handle: async ({ body, session }, context) =>
    appendAndAnswer(context, session, removeWalletsChange(session.wallet, body)),
})

/** Maximum time that a change may wait in the queue, ms. Evidence has to be fresh when it is written. */
const MAX_QUEUE_WAIT_MS = 30_000

const verifyWalletRoute = declareRoute.post('/v1/clusters/verify/:clusterId', {
  privateDataFor: null,
  example: { status: 403 },
  costliestSample: { as: 'other' },
  summary: 'Verify this wallet in a cluster that lists it',
  description:
    'The wallet leaves its former cluster. If it was the last verified wallet there, the names of the former cluster move with it. The signature of a sign-in with `cluster`, at most 11 minutes old, is kept as public evidence, also where the wallet is verified already.',
  auth: 'required',
  params: z.object({ clusterId: clusterIdSchema }),
  responses: okResponses('It is done', {
    success: z.literal(true),
    signed: z
      .boolean()
      .optional()
      .describe('Whether the signature of the sign-in was kept; absent for one without `cluster`'),
  }),
  errors: [...CHANGE_ERRORS, 'not_found', 'not_invited', 'names_would_reveal', 'names_moving'],
  async handle({ params, session }, context) {
    const clusterId = requireClusterId(params.clusterId!)
    const { wallet: actor, keyHash, signingMs } = session
    const verified = { kind: 'verify_wallet', actor, clusterId } as const
    const { evidence } = session
    const isKept =
      evidence?.network === context.network &&
      evidence.clusterId === toHex(clusterId) &&
      isEvidenceFresh(signingMs, Date.now() + MAX_QUEUE_WAIT_MS)
    if (!isKept) {
      await appendChangesOrThrow(context, session, { changes: [verified] })
      return okAnswer({ success: true, ...(evidence && { signed: false }) })
    }
    const { message, signature, block } = evidence
    const kind = 'sign_membership'
    const signed = { kind, actor, clusterId, message, signature, block } as const
    await appendChangesOrThrow(context, session, {
      changes: [verified, signed],
      alongside: (db) => deleteSessionEvidence(db, keyHash),
    })
    return okAnswer({ success: true, signed: true })
  },
})

export const walletRoutes = [
  newClusterRoute,
  addWalletsRoute,
  renameWalletsRoute,
  removeWalletsRoute,
  verifyWalletRoute,
]
