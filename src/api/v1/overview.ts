import { ok } from '../http/answer.js'
import { route } from '../http/route.js'
import { answers, z } from '../http/schema.js'

const count = z.int().min(0)

const overview = route.get('/v1/overview', {
  summary: 'What is registered, and how far the chains are read',
  description: 'Private wallets are in no number.',
  responses: answers('The network at a glance', {
    isTestnet: z.boolean(),
    counts: z.object({
      clusters: count,
      events: count.openapi({ description: 'Events of the feed' }),
    }),
    chains: z.array(
      z.object({
        network: z.string().openapi({ description: 'Label of the chain', example: '8453' }),
        block: z.int().nullable().openapi({ description: 'Its newest block; null before its first answer' }),
        confirmed: z.int().nullable().openapi({ description: 'The newest that its confirmation policy counts' }),
        behindSeconds: z.int().nullable().openapi({ description: 'How far what is answered is behind the chain' }),
        isHealthy: z.boolean(),
      }),
    ),
  }),
  handle: async ({ isTestnet }, context) => ok({ isTestnet, ...(await context.overview(context.network)) }),
})

export const overviewRoutes = [overview]
