import {
  findTransparencyLog,
  readTiles,
  readTransparencyLogState,
  type StoredTransparencyLog,
} from '../../db/feed/transparencyLog.js'
import { readEntryBundle, readLogLeaves } from '../../push/leaves.js'
import { type LogPlace, NETWORKS, type Network } from '../../registry/primitives/network.js'
import { parseEventId } from '../../registry/transparencyLog/beginning.js'
import { sha256TreeHasher } from '../../registry/transparencyLog/hash.js'
import { toBase64 } from '../../registry/transparencyLog/note.js'
import {
  type EntryBundle,
  parseTilePath,
  rangeHashFromTiles,
  tileAt,
  tileKey,
  tilesForRanges,
} from '../../registry/transparencyLog/tiles.js'
import {
  inclusionProofRanges,
  isSameHash,
  rootOfInclusionProof,
} from '../../registry/transparencyLog/tree.js'
import { type Answer, answerOfType, NO_STORE, okAnswer } from '../http/answer.js'
import { ApiError } from '../http/errors.js'
import { requireFilledMirror } from '../http/freshness.js'
import { declareRoute } from '../http/route.js'
import { namedObjectSchema, okResponses, z } from '../http/schema.js'
import { LOG_BUNDLE_PRICE } from '../limits/costs.js'

/** Cache headers of tiles and entry bundles, which never change. Caches store them for a year (RFC 9111). */
const IMMUTABLE_HEADERS = { 'cache-control': 'public, max-age=31536000, immutable' }
/** Cache headers of a checkpoint, which is cached for a second. */
const CHECKPOINT_HEADERS = { 'cache-control': 'public, max-age=1' }

const TEXT_TYPE = 'text/plain; charset=utf-8'
const BYTES_TYPE = 'application/octet-stream'

const networkSchema = z.enum(NETWORKS).openapi({ description: 'Network', example: 'mainnet' })
const GENERATION_PATTERN = /^[1-9]\d{0,8}$/
const generationSchema = z
  .string()
  .regex(GENERATION_PATTERN)
  .openapi({ description: 'Generation of the feed, as in event ids', example: '1' })

const logParamSchemas = { network: networkSchema, generation: generationSchema }

/** The network of a path parameter. @throws ApiError not_found */
function requireNetwork(text: string | undefined): Network {
  const network = NETWORKS.find((one) => one === text)
  if (!network) throw new ApiError('not_found', 'There are logs of mainnet and testnet.')
  return network
}

/** The network and generation in a transparency log's path. @throws ApiError not_found */
function requireLogPlace(params: Readonly<Record<string, string>>) {
  const text = params.generation ?? ''
  if (!GENERATION_PATTERN.test(text))
    throw new ApiError('not_found', 'The generation of a log is a number, as in event ids.')
  return { network: requireNetwork(params.network), generation: Number(text) }
}

/** Response with the checkpoint of a transparency log. @throws ApiError not_found */
function checkpointAnswer(log: StoredTransparencyLog | null): Answer {
  if (!log)
    throw new ApiError(
      'not_found',
      'The log has not begun: the first catch-up of the hub is under way.',
    )
  if (log.note === null)
    throw new ApiError(
      'not_found',
      'No key signs the log of this service: its operator sets LOG_KEY.',
    )
  return answerOfType(TEXT_TYPE, log.note, CHECKPOINT_HEADERS)
}

const CHECKPOINT_RESPONSES = {
  200: {
    description: 'A signed note: origin, number of leaves, and root hash of the tree',
    schema: z.string(),
    type: TEXT_TYPE,
  },
}

/** Routes of the feeds' transparency logs, or of the evidence logs, which have the same forms. */
function createLogRoutes(kind: '' | '/evidence') {
  const logText = kind ? 'evidence log' : 'log'
  const placeOfNetwork = (network: Network): LogPlace => (kind ? `${network}${kind}` : network)
  const newestCheckpointRoute = declareRoute.get(`/v1/log/:network${kind}/checkpoint`, {
    refusedSample: {
      what: 'no network',
      params: () => ({ network: 'nowhere' }),
      error: 'not_found',
    },
    costliestSample: {},
    summary: `The newest signed checkpoint of a network’s ${logText}`,
    description:
      'C2SP tlog-checkpoint: a tree hash over every entry so far (RFC 6962), signed with Ed25519. docs/use/verify.md shows how to check it.',
    params: z.object({ network: networkSchema }),
    example: { params: { network: 'mainnet' } },
    responses: CHECKPOINT_RESPONSES,
    errors: ['not_found'],
    async handle({ params }, context) {
      const network = requireNetwork(params.network)
      await requireFilledMirror({ ...context, network })
      const { log } = await readTransparencyLogState(context.pool, placeOfNetwork(network))
      return checkpointAnswer(log)
    },
  })

  const lastCheckpointRoute = declareRoute.get(`/v1/log/:network${kind}/:generation/checkpoint`, {
    refusedSample: {
      what: 'no generation',
      params: () => ({ network: 'mainnet', generation: '01' }),
      error: 'not_found',
    },
    costliestSample: {},
    summary: `The newest signed checkpoint of one generation’s ${logText}`,
    description: 'For an ended generation, its last checkpoint.',
    params: z.object(logParamSchemas),
    example: { params: { network: 'mainnet', generation: '1' } },
    responses: CHECKPOINT_RESPONSES,
    errors: ['not_found'],
    async handle({ params }, context) {
      const { network, generation } = requireLogPlace(params)
      await requireFilledMirror({ ...context, network })
      return checkpointAnswer(
        await findTransparencyLog(context.pool, placeOfNetwork(network), generation),
      )
    },
  })

  const tileRoute = declareRoute.get(`/v1/log/:network${kind}/:generation/*tile`, {
    refusedSample: {
      what: 'a path that is not the canonical one',
      params: () => ({ network: 'mainnet', generation: '1', tile: 'tile/0/0' }),
      error: 'not_found',
    },
    costliestSample: {
      what: 'a bundle of 256 entries',
      params: () => ({ network: 'mainnet', generation: '1', tile: 'tile/entries/000' }),
    },
    summary: `A tile of the tree of a network’s ${logText}, or a bundle of its entries`,
    description:
      'C2SP tlog-tiles: `tile/<level>/<index>` and `tile/entries/<index>`, with `.p/<width>` for partial ones. Neither ever changes.',
    params: z.object({
      ...logParamSchemas,
      tile: z.string().openapi({ description: 'Path of the tile', example: 'tile/0/000.p/1' }),
    }),
    example: { params: { network: 'mainnet', generation: '1', tile: 'tile/0/000.p/1' } },
    price: LOG_BUNDLE_PRICE,
    responses: {
      200: {
        description: 'Hashes of 32 bytes, or entries behind their lengths',
        schema: z.string(),
        type: BYTES_TYPE,
      },
    },
    errors: ['not_found'],
    async handle({ params }, context) {
      const { pool, turn } = context
      const tile = parseTilePath(params.tile!)
      const { network, generation } = requireLogPlace(params)
      await requireFilledMirror({ ...context, network })
      const place = { network: placeOfNetwork(network), generation }
      const log = tile && (await findTransparencyLog(pool, place.network, generation))
      if (!tile || !log || !hasTile(log.size, tile))
        throw new ApiError(
          'not_found',
          'The log has no such tile: ask for its checkpoint, which names its size.',
        )
      const { level, index, width } = tile
      const hashes = { level: level ?? 0, index, width }
      const bytes =
        level === null
          ? await readEntryBundle(pool, { ...place, ...log }, tile, turn)
          : (await readTiles(pool, place.network, generation, [hashes])).get(tileKey(hashes))
      if (!bytes)
        throw new ApiError('not_found', 'The tiles of a generation that has ended are gone.')
      return answerOfType(BYTES_TYPE, Buffer.from(bytes), IMMUTABLE_HEADERS)
    },
  })
  return [newestCheckpointRoute, lastCheckpointRoute, tileRoute]
}

/** True if a transparency log has a tile, or an entry bundle, of at least the given width. */
function hasTile(
  size: number,
  { level, index, width }: EntryBundle & { level: number | null },
): boolean {
  const whole = tileAt(size, level ?? 0, index)
  return whole !== null && width <= whole.width
}

const ProofSchema = namedObjectSchema('EventProof', {
  origin: z.string().describe('Name of the log'),
  index: z.int().describe('Place of the event in the log: its number'),
  leaf: z.string().describe('The entry, which is hashed in UTF-8'),
  size: z.int().describe('Leaves of the tree that the proof leads to'),
  hashes: z
    .array(z.string())
    .describe('Hashes beside the way to the root, base64, the lowest first'),
  checkpoint: z
    .string()
    .nullable()
    .describe('Signed checkpoint of that tree; null where no key signs'),
})

const inclusionRoute = declareRoute.get('/v1/events/:id/proof', {
  refusedSample: {
    what: 'text that is not an id',
    params: () => ({ id: '42' }),
    error: 'invalid_request',
  },
  costliestSample: { params: () => ({ id: 't-1-1' }) },
  summary: 'The proof that an event stands in the signed log',
  description:
    'RFC 6962, 2.1.1: any library of Certificate Transparency checks it. `event` of `clusterd-client/verify` proves an event by the tiles.',
  params: z.object({
    id: z.string().openapi({ description: 'Id of the event', example: 'm-1-1' }),
  }),
  example: { params: { id: 'm-1-1' } },
  listBounds: { 'hashes[]': 'rule: one a level of the tree, at most 53' },
  price: LOG_BUNDLE_PRICE,
  responses: okResponses('The entry with its proof', ProofSchema),
  errors: ['not_found', 'feed_restarted'],
  async handle({ params }, context) {
    const { pool } = context
    const eventId = parseEventId(params.id!)
    if (!eventId) throw new ApiError('invalid_request', 'An event id is like m-1-42.')
    const { network, generation, number: index } = eventId
    await requireFilledMirror({ ...context, network })
    const { log } = await readTransparencyLogState(pool, network)
    if (log && log.generation > generation)
      throw new ApiError(
        'feed_restarted',
        `The feed has begun anew: its generation is ${log.generation}.`,
      )
    if (log?.generation !== generation || index >= log.size)
      throw new ApiError('not_found', 'The log has no such event yet.')
    const { origin, size, note } = log
    const ranges = inclusionProofRanges(index, size)
    const [leaves, tiles] = await Promise.all([
      readLogLeaves(pool, { ...log, network }, { from: index, to: index }),
      readTiles(pool, network, log.generation, tilesForRanges(ranges, size)),
    ])
    if (!leaves?.[0]) throw new ApiError('feed_restarted', 'The feed has begun anew meanwhile.')
    const proof = ranges.map((range) => rangeHashFromTiles(sha256TreeHasher, range, tiles))
    const leaf = sha256TreeHasher.leaf(Buffer.from(leaves[0]))
    const root = rootOfInclusionProof(sha256TreeHasher, leaf, { index, size }, proof)
    if (!root || !isSameHash(root, log.root))
      throw new Error(`the entry ${index} of the log ${origin} does not make its root`)
    const hashes = proof.map(toBase64)
    return okAnswer({ origin, index, leaf: leaves[0], size, hashes, checkpoint: note }, NO_STORE)
  },
})

// the routes of evidence logs come first, because `:generation` of the feed's routes would match `evidence`
export const feedLogRoutes = [
  ...createLogRoutes('/evidence'),
  ...createLogRoutes(''),
  inclusionRoute,
]
