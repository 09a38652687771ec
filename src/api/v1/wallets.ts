import type { ClusterChange } from '../../registry/journal/change.js'
import { toHex } from '../../registry/primitives/bytes.js'
import { addition, change, removal, renaming } from '../clusters/changes.js'
import { requireClusterId } from '../clusters/clusters.js'
import { OTHER, WALLET, wallets } from '../examples.js'
import { type Answer, ok } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { manyWallets, NO_KEY, times } from '../http/dearest.js'
import type { ErrorCode } from '../http/errors.js'
import { type Route, route } from '../http/route.js'
import { answers, MAX_CHANGES, z } from '../http/schema.js'
import { addressText, clusterIdText, walletNameText } from './schemas.js'

const responses = answers('It is done', { success: z.literal(true) })

/** Makes a change of a cluster and returns a response without data. */
async function done(context: Context, made: ClusterChange): Promise<Answer> {
  await change(context, { changes: [made] })
  return ok({ success: true })
}

/** Errors of every signed change. */
const CHANGE_ERRORS = ['catching_up'] as const satisfies readonly ErrorCode[]

export const ADD_ERRORS = [
  ...CHANGE_ERRORS,
  'unsupported_address',
  'invalid_name',
  'too_many',
  'wallet_exists',
  'wallet_name_taken',
  'already_public',
  'wallet_limit',
] as const satisfies readonly ErrorCode[]

export const addedWallet = z.object({
  address: addressText,
  name: walletNameText,
  isPrivate: z
    .boolean()
    .optional()
    .describe(
      'Hidden from everybody but the cluster’s verified wallets. Left out: false for a new wallet, and what is listed stays as it is',
    ),
})

/** A route that creates the cluster of its caller. */
export const creation = (
  path: string,
  texts: Pick<Route, 'summary' | 'description' | 'responses'>,
) =>
  route.post(path, {
    ...texts,
    bad: NO_KEY,
    dearest: { as: 'other' },
    privateTo: 'caller',
    auth: 'required',
    errors: CHANGE_ERRORS,
    handle: async ({ session: { wallet: actor } }, context) =>
      ok({ id: toHex(await change(context, { changes: [{ kind: 'create_cluster', actor }] })) }),
  })

const create = creation('/v1/clusters', {
  summary: 'Create the cluster of this wallet',
  description: 'A wallet that is verified in a cluster gets the id of that one.',
  responses: answers('The cluster', { id: clusterIdText }),
})

const add = route.post('/v1/clusters/wallets', {
  bad: {
    what: 'a text that is no address',
    body: () => [{ address: 'x', name: 'x' }],
    error: 'unsupported_address',
  },
  privateTo: null,
  dearest: { what: '100 wallets', as: 'other', body: manyWallets },
  example: { body: wallets },
  summary: 'Add wallets to the cluster of this wallet',
  description:
    'All or none; unverified until each verifies itself. A wallet without a cluster gets one. A private wallet becomes public by being added again with `isPrivate: false`.',
  auth: 'required',
  body: z.array(addedWallet).max(MAX_CHANGES),
  responses,
  errors: ADD_ERRORS,
  handle: async ({ body, session }, context) => done(context, addition(session.wallet, body)),
})

const rename = route.put('/v1/clusters/wallets/names', {
  bad: {
    what: 'a text that is no address',
    body: () => [{ address: 'x', name: 'x' }],
    error: 'unsupported_address',
  },
  privateTo: null,
  dearest: {
    as: 'other',
    body: ({ other, freshName }) => [{ address: other, name: freshName() }],
  },
  example: { body: [{ address: OTHER, name: 'hot' }] },
  summary: 'Rename wallets of the cluster of this wallet',
  auth: 'required',
  body: z.array(z.object({ address: addressText, name: walletNameText })).max(MAX_CHANGES),
  responses,
  errors: [
    ...CHANGE_ERRORS,
    'unsupported_address',
    'invalid_name',
    'too_many',
    'not_in_cluster',
    'wallet_name_taken',
  ],
  handle: async ({ body, session }, context) => done(context, renaming(session.wallet, body)),
})

const remove = route.delete('/v1/clusters/wallets', {
  bad: { what: 'a text that is no address', body: () => ['x'], error: 'unsupported_address' },
  privateTo: null,
  dearest: {
    what: '100 wallets',
    as: 'other',
    body: ({ evmAddress }) => times(100, evmAddress),
  },
  example: { body: [WALLET] },
  summary: 'Remove wallets from the cluster of this wallet',
  description: 'Addresses that are not listed count as removed.',
  auth: 'required',
  body: z.array(addressText).max(MAX_CHANGES),
  responses,
  errors: [
    ...CHANGE_ERRORS,
    'unsupported_address',
    'too_many',
    'not_in_cluster',
    'last_verified_wallet',
  ],
  handle: async ({ body, session }, context) => done(context, removal(session.wallet, body)),
})

const verify = route.post('/v1/clusters/verify/:clusterId', {
  bad: {
    what: 'a text that is no id',
    params: () => ({ clusterId: 'x' }),
    error: 'invalid_request',
  },
  privateTo: null,
  example: { status: 403 },
  dearest: { as: 'other' },
  summary: 'Verify this wallet in a cluster that lists it',
  description:
    'It leaves the cluster it was verified in. If it was the last verified wallet there, the names of that cluster move along.',
  auth: 'required',
  params: z.object({ clusterId: clusterIdText }),
  responses,
  errors: [...CHANGE_ERRORS, 'not_found', 'not_invited', 'names_would_reveal', 'names_moving'],
  handle: async ({ params, session: { wallet: actor } }, context) =>
    done(context, { kind: 'verify_wallet', actor, clusterId: requireClusterId(params.clusterId!) }),
})

export const walletRoutes = [create, add, rename, remove, verify]
