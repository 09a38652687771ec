import { readChainStates, type StoredState } from '../../db/deployment/chainStates.js'
import { readHead } from '../../db/journal/head.js'
import { behindMs, chainProblem } from '../../ops/chainState.js'
import type { Network } from '../../registry/primitives/network.js'
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
  async handle({ isTestnet }, { pool, network, now, chains, solana }) {
    const [{ serial, publicSeq }, states] = await Promise.all([readHead(pool, network), readChainStates(pool)])
    const counts = { clusters: serial, events: publicSeq }
    const own = [...chains, ...solana].filter((chain) => chain.network === network)
    return ok({ isTestnet, counts, chains: own.map(({ label }) => progressOf(label, network, states, now())) })
  },
})

function progressOf(label: string, network: Network, states: readonly StoredState[], nowMs: number) {
  const stored = states.find(({ state }) => state.network === network && state.label === label)
  if (!stored) return { network: label, block: null, confirmed: null, behindSeconds: null, isHealthy: false }
  const { state, ageMs } = stored
  // by the clock of who wrote it, so that two clocks are never compared
  const ms = behindMs(state, nowMs - ageMs)
  return {
    ...{ network: label, block: state.latest, confirmed: state.confirmed },
    behindSeconds: ms === null ? null : Math.round((ms + ageMs) / 1_000),
    isHealthy: chainProblem(state, nowMs) === null,
  }
}

export const overviewRoutes = [overview]
