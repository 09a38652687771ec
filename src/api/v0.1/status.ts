import { type Answer, NO_STORE, ok } from '../http/answer.js'
import type { Context } from '../http/context.js'
import type { RouteRequest } from '../http/route.js'
import { z } from '../http/schema.js'
import { statusOf } from '../status/status.js'
import { parseTxId } from '../status/txId.js'
import { STATUSES } from '../v1/status.js'

/** Declaration that both status routes of v0.1 share. */
export const statusRoute = {
  method: 'get',
  deprecated: { successor: '/v1/names/register/tx/:tx' },
  description: 'What is neither a transaction hash nor a signature is not found.',
  params: z.object({ tx: z.string() }),
  responses: {
    200: {
      description: 'Its status',
      schema: z.object({ tx: z.string(), status: z.enum(STATUSES) }).openapi('TransactionStatusV01'),
    },
  },
} as const

/** The bare status of a transaction; `not_found` for a text that is no transaction id. */
export async function statusAnswer({ params }: RouteRequest, context: Context): Promise<Answer> {
  const tx = params.tx!
  const id = parseTxId(tx)
  const known = id && (await statusOf(context, id))
  return ok({ tx, status: known?.status ?? 'not_found' }, NO_STORE)
}
