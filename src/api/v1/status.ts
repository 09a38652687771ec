import type { Status } from '../../registry/status.js'
import { NO_STORE, ok } from '../http/answer.js'
import { ApiError } from '../http/errors.js'
import { route } from '../http/route.js'
import { z } from '../http/schema.js'
import { statusOf } from '../status/status.js'
import { parseTxId } from '../status/txId.js'

/** Every status of the interface (registry/status.ts). */
export const STATUSES = [
  'not_found',
  'pending',
  'bridging',
  'invalid',
  'lost_bid',
  'finalized',
] as const satisfies readonly Status[]

const StatusSchema = z
  .object({
    tx: z.string(),
    status: z.enum(STATUSES),
    step: z.enum(['leading', 'behind', 'delivery_failed']).optional(),
    reason: z.string().optional(),
    confirmations: z.object({ have: z.int(), need: z.int() }).optional(),
    names: z
      .array(
        z.object({
          name: z.string(),
          outcome: z.enum(['won', 'lost', 'refused', 'leading', 'behind', 'pending', 'bridging']),
        }),
      )
      .optional()
      .openapi({ description: 'Every name of the transaction; the status is that of the first' }),
    hubTx: z.string().optional(),
    refund: z.enum(['held', 'refused', 'too_late']).optional().openapi({
      description:
        'Refund of a payment for a community name that bought nothing: `held` while it is under way, `refused` once the money is the payer’s again (paid back, or to be withdrawn), `too_late` once the recipient has it',
    }),
    replacedBy: z.string().optional(),
    updatedAt: z.string().optional(),
  })
  .openapi('TransactionStatus')

const status = route({
  method: 'get',
  path: '/v1/names/register/tx/:tx',
  tag: 'Registration',
  summary: 'The status of a registration transaction',
  description: 'finalized, lost_bid and invalid never change. 200 for every well-formed hash or signature.',
  params: z.object({
    tx: z.string().openapi({ description: 'Transaction hash, or signature of a Solana transaction' }),
  }),
  responses: { 200: { description: 'Its status', schema: StatusSchema } },
  async handle({ params }, context) {
    const tx = params.tx!
    const id = parseTxId(tx)
    if (!id) throw new ApiError('invalid_request', 'This is neither a transaction hash nor a Solana signature.')
    return ok({ tx, ...(await statusOf(context, id)) }, NO_STORE)
  },
})

export const statusRoutes = [status]
