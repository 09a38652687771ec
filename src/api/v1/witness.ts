import {
  type CheckpointWithNote,
  readNewestKnownCheckpoint,
  storeWitnessedCheckpoint,
} from '../../db/mirror/cosigned.js'
import { isLockTimeoutError } from '../../db/pg/unavailable.js'
import { FairQueue } from '../../ops/fairQueue.js'
import { NETWORKS, type Network } from '../../registry/primitives/network.js'
import { sha256InOneCall, sha256TreeHasher } from '../../registry/transparencyLog/hash.js'
import {
  formatSignedNote,
  fromBase64,
  keyIdOf,
  parseCheckpoint,
  parseNote,
  type TreeHead,
} from '../../registry/transparencyLog/note.js'
import {
  addCosignatures,
  type Cosigner,
  isTextSigned,
} from '../../registry/transparencyLog/signer.js'
import { HASH_BYTES, isConsistencyProofValid } from '../../registry/transparencyLog/tree.js'
import { answerOfType, NO_STORE } from '../http/answer.js'
import type { Context } from '../http/context.js'
import { ApiError } from '../http/errors.js'
import { declareRoute } from '../http/route.js'
import { z } from '../http/schema.js'
import { WITNESS_SIGNATURE_PRICE } from '../limits/costs.js'

const TEXT_TYPE = 'text/plain; charset=utf-8'
/** Media type of a response with the size of the last signed checkpoint. */
const SIZE_MEDIA_TYPE = 'text/x.tlog.size'
/** Maximum number of hashes in a consistency proof (C2SP tlog-witness). */
const MAX_PROOF_HASHES = 63
/**
 * Maximum numbers of a network's checkpoints that are stored at once, and that wait. Storing holds a database
 * connection and waits up to a second for the mirror's lock. The last waiting checkpoint is stored within the time
 * limit of a request.
 */
const SUBMISSION_QUEUE_BOUNDS = { atOnce: 1, waiting: 11 }
const submissionQueues = {
  mainnet: new FairQueue(SUBMISSION_QUEUE_BOUNDS),
  testnet: new FairQueue(SUBMISSION_QUEUE_BOUNDS),
}
/** Matches the body up to the checkpoint: old size, hashes of the consistency proof, empty line. */
const SUBMISSION_HEAD_PATTERN = /^old (0|[1-9]\d{0,15})\n((?:[A-Za-z0-9+/]{43}=\n)*)\n/

/** Parses the body of `add-checkpoint`. @throws ApiError invalid_request */
function parseSubmission(body: string) {
  const [head = '', oldSize, hashes = ''] = SUBMISSION_HEAD_PATTERN.exec(body) ?? []
  const note = parseNote(body.slice(head.length))
  const next = note && parseCheckpoint(note.text)
  const proof = hashes.split('\n').slice(0, -1).map(fromBase64)
  const isProof = proof.every((hash): hash is Uint8Array => hash?.length === HASH_BYTES)
  if (oldSize === undefined || !note || !next || !isProof || proof.length > MAX_PROOF_HASHES)
    throw new ApiError(
      'invalid_request',
      'The body is no old size, a consistency proof, an empty line and a signed checkpoint.',
    )
  return { oldSize: Number(oldSize), proof, note, next }
}

/** The network whose mirrored transparency log matches, with the log's newest checkpoint. @throws ApiError not_found */
async function findWitnessedLog({ pool }: Context, isLog: (head: TreeHead) => boolean) {
  const heads = await Promise.all(NETWORKS.map((one) => readNewestKnownCheckpoint(pool, one)))
  const i = heads.findIndex((head) => head && isLog(head))
  if (i < 0) throw new ApiError('not_found', 'This witness knows no such log.')
  return { network: NETWORKS[i] as Network, head: heads[i] as CheckpointWithNote }
}

/**
 * Routes of a witness (C2SP tlog-witness), which signs checkpoints of the transparency logs that it mirrors.
 * @param key public key of the logs, 32 bytes in base64
 */
export const witnessRoutes = ({ key, cosigner }: { key: string; cosigner: Cosigner }) => [
  declareRoute.post('/v1/witness/add-checkpoint', {
    refusedSample: {
      what: 'text without a checkpoint',
      body: () => 'old 0',
      error: 'invalid_request',
    },
    costliestSample: { body: () => 'old 0\n\n' },
    summary: 'Signs a checkpoint of a log that has only grown since the last one',
    body: z.string(),
    isText: true,
    responses: { 200: { description: 'Signature lines', schema: z.string(), type: TEXT_TYPE } },
    errors: ['forbidden', 'not_found'],
    price: WITNESS_SIGNATURE_PRICE,
    async handle({ body }, context) {
      const { oldSize, proof, note, next } = parseSubmission(body)
      const { origin, size } = next
      const { pool, caller, patience } = context
      const { network, head } = await findWitnessedLog(context, (log) => log.origin === origin)
      const publicKey = fromBase64(key)!
      const keyId = keyIdOf(sha256InOneCall, origin, publicKey)
      const signed = note.signatures.find((one) => one.name === origin && one.keyId === keyId)
      if (!signed || !isTextSigned(publicKey, signed.signature, note.text))
        throw new ApiError('forbidden', 'The checkpoint is not signed by the key of its log.')
      if (oldSize > size)
        throw new ApiError('invalid_request', 'The old size is larger than the checkpoint’s.')
      // most requests are decided without the lock, because anybody may send a published checkpoint again
      if (head.size !== oldSize) return conflictAnswer(head)
      if (!isConsistencyProofValid(sha256TreeHasher, head, next, proof))
        throw new ApiError('invalid_request', UNPROVED_MESSAGE, { status: 422 })
      const signedNote = formatSignedNote({ text: note.text, signatures: [signed] })
      const stored = addCosignatures(signedNote, cosigner)
      if (size > oldSize) {
        const newer = await submissionQueues[network].run(caller!.address, () => {
          patience!.signal.throwIfAborted()
          return storeWitnessedCheckpoint(pool, network, head, { ...next, note: stored }).catch(
            rethrowOrUnavailable,
          )
        })
        if (newer) return conflictAnswer(newer)
      }
      return answerOfType(TEXT_TYPE, stored.slice(signedNote.length), NO_STORE)
    },
  }),
  declareRoute.get('/v1/witness/:log/checkpoint', {
    refusedSample: null,
    costliestSample: {},
    summary: 'The newest checkpoint of a log that this witness has signed',
    params: z.object({ log: z.string().describe('SHA-256 of the log’s name, hex') }),
    responses: { 200: { description: 'A signed note', schema: z.string(), type: TEXT_TYPE } },
    errors: ['not_found'],
    async handle({ params }, context) {
      const isRequested = ({ origin }: TreeHead) =>
        sha256InOneCall(Buffer.from(origin)).toString('hex') === params.log
      const { head } = await findWitnessedLog(context, isRequested)
      return answerOfType(TEXT_TYPE, head.note ?? '', NO_STORE)
    },
  }),
]

const conflictAnswer = ({ size }: TreeHead) => ({
  status: 409,
  content: { type: SIZE_MEDIA_TYPE, text: `${size}\n` },
})

/**
 * Error handler: converts a lock timeout to 503 without a cause. Strangers can keep a witness busy, and must not raise
 * the alarm for database failures. @throws ApiError
 */
function rethrowOrUnavailable(error: unknown): never {
  if (!isLockTimeoutError(error)) throw error
  throw new ApiError('unavailable', 'This witness copies the log now: ask again.')
}

const UNPROVED_MESSAGE = 'The proof does not show that the log has only grown.'
