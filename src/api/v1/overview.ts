import { findChain } from '../../db/chains/chains.js'
import { readChainStates, readHubState, type StoredChainState } from '../../db/chains/states.js'
import {
  readTransparencyLogState,
  type StoredTransparencyLog,
} from '../../db/feed/transparencyLog.js'
import { readJournalHead } from '../../db/journal/head.js'
import { chainProblem, indexingLagMs, usualConfirmationDelayMs } from '../../ops/chainState.js'
import { defaultAmountWei } from '../../registry/primitives/amount.js'
import { toHex } from '../../registry/primitives/bytes.js'
import type { Network } from '../../registry/primitives/network.js'
import { parseStoredRunningHashes } from '../../registry/runningHash.js'
import { toBase64 } from '../../registry/transparencyLog/note.js'
import { okAnswer } from '../http/answer.js'
import { chainsOfNetwork } from '../http/context.js'
import { declareRoute } from '../http/route.js'
import { okResponses, z } from '../http/schema.js'
import { SEVERAL_STATEMENTS_PRICE } from '../limits/costs.js'

const countSchema = z.int().min(0)

const overviewRoute = declareRoute.get('/v1/overview', {
  refusedSample: null,
  costliestSample: {},
  listBounds: { 'chains[]': 'set up: its chains' },
  summary: 'What is registered, and how far the chains are read',
  description: 'Private wallets are in no number. The hub is the first chain.',
  price: SEVERAL_STATEMENTS_PRICE,
  responses: okResponses('The network at a glance', {
    isTestnet: z.boolean(),
    counts: z.object({
      clusters: countSchema,
      events: countSchema.describe('Events of the feed'),
    }),
    bidWei: z.string().openapi({
      description: 'What a registration bids where it names no amount, wei of the hub',
      example: '10000000000000000',
    }),
    chains: z.array(
      z.object({
        network: z.string().openapi({ description: 'Label of the chain', example: '8453' }),
        block: z.int().nullable().describe('Its newest block; null before its first answer'),
        confirmed: z.int().nullable().describe('The newest that its confirmation policy counts'),
        behindSeconds: z
          .int()
          .nullable()
          .describe('How far the stored logs, confirmed or not, are behind the chain'),
        confirmSeconds: z
          .int()
          .nullable()
          .describe(
            'Usual time from a transaction to the confirmation of its block, at least 1; null while it is not known',
          ),
        isHealthy: z.boolean(),
      }),
    ),
  }),
  async handle({ isTestnet }, { pool, network, chains }) {
    const [{ serial, publicSeq, minimumWei }, states] = await Promise.all([
      readJournalHead(pool, network),
      readChainStates(pool),
    ])
    const networkChains = chains
      .filter((chain) => chain.network === network)
      .sort((a, b) => a.role.localeCompare(b.role))
    return okAnswer({
      isTestnet,
      counts: { clusters: serial, events: publicSeq },
      bidWei: String(defaultAmountWei(minimumWei)),
      chains: networkChains.map(({ label }) =>
        chainProgressJson(label, network, states, Date.now()),
      ),
    })
  },
})

function chainProgressJson(
  label: string,
  network: Network,
  states: readonly StoredChainState[],
  nowMs: number,
) {
  const stored = states.find(({ state }) => state.network === network && state.label === label)
  if (!stored)
    return {
      network: label,
      block: null,
      confirmed: null,
      behindSeconds: null,
      confirmSeconds: null,
      isHealthy: false,
    }
  const { state, ageMs } = stored
  // The lag when the state was stored. A head from the future, of a chain whose clock is ahead, counts as new at that
  // time. The time since then is added below.
  const ms = indexingLagMs(state, nowMs - ageMs)
  const confirmMs = usualConfirmationDelayMs(state)
  return {
    network: label,
    block: state.latest,
    confirmed: state.confirmed,
    behindSeconds: ms === null ? null : Math.round((ms + ageMs) / 1_000),
    confirmSeconds: confirmMs === null ? null : Math.max(1, Math.ceil(confirmMs / 1_000)),
    isHealthy: chainProblem(state, nowMs) === null,
  }
}

const wordSchema = z
  .string()
  .openapi({ format: 'hex', description: '32 bytes in hex', example: `0x${'ab'.repeat(32)}` })

const proofRoute = declareRoute.get('/v1/proof', {
  refusedSample: null,
  costliestSample: {},
  listBounds: { 'contracts[]': 'set up: the hub, and its contract for payments' },
  summary: 'What holds the registry against the hub: the record that the journal’s logs make',
  description:
    '`recordHash()` of each contract at `blockHash` is the same, asked of any node (EIP-1898). docs/run/security.md says what that proves.',
  responses: okResponses(
    'The newest confirmed block of the hub; no contracts where none keeps a record',
    {
      network: z.string(),
      block: z.int(),
      blockHash: wordSchema.nullable(),
      contracts: z.array(
        z.object({ address: z.string().openapi({ format: 'hex' }), recordHash: wordSchema }),
      ),
      trust: z.enum(['proved', 'compared', 'trusted']).nullable().openapi({
        description:
          'Ground of the newest confirmed logs: the record, two nodes’ equal logs, or one node; null while it is not known',
        example: 'proved',
      }),
      nodes: z
        .int()
        .nullable()
        .openapi({ description: 'Nodes whose equal answers it rests on', example: 2 }),
      log: z
        .object({
          origin: z.string().describe('Name of the log'),
          size: z.int().describe('Its entries'),
          root: z.string().describe('Root of its tree, base64'),
          checkpoint: z
            .string()
            .nullable()
            .describe('Signed checkpoint of that tree; null where no key signs'),
        })
        .nullable()
        .describe('The log of the feed, whose registrations are of the block or before it'),
    },
  ),
  async handle(_, context) {
    const { pool, network } = context
    const label = chainsOfNetwork(context)[0]?.label ?? ''
    // the log is read before the block, so that the block of each hub event in the log is this block or an earlier
    // block
    const { log } = await readTransparencyLogState(pool, network)
    const {
      nextBlock = 0,
      parentHash = null,
      record = null,
    } = (await findChain(pool, network, label)) ?? {}
    const hashes = parentHash ? parseStoredRunningHashes(parentHash, record) : []
    const contracts = [...hashes].map(([address, hash]) => ({ address, recordHash: toHex(hash) }))
    const place = {
      network: label,
      block: nextBlock - 1,
      blockHash: parentHash && toHex(parentHash),
    }
    const { state } = await readHubState(pool, network, label)
    const trust = state?.trust === 'snapshot' ? null : (state?.trust ?? null)
    const nodes = trust && (state?.trustNodes ?? null)
    return okAnswer({ ...place, contracts, trust, nodes, log: log && logJson(log) })
  },
})

const logJson = ({ origin, size, root, note }: StoredTransparencyLog) => ({
  origin,
  size,
  root: toBase64(root),
  checkpoint: note,
})

export const overviewRoutes = [overviewRoute, proofRoute]
