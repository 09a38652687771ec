import { LRUCache } from 'lru-cache'
import { concat, encodeAbiParameters, type Hex, keccak256, parseAbiParameters } from 'viem'
import type { EnsParentSettings } from '../config/chainsFile.js'

/**
 * Maximum validity of a signed answer, and the step to which the end of the validity is rounded down, seconds. Equal
 * answers in the same step have the same end, so they share one signature.
 */
const MAX_VALIDITY_S = 300
const VALIDITY_STEP_S = 60
/** Maximum number of cached signatures. Making a signature takes a millisecond, or a call to a remote signer. */
const MAX_CACHED_SIGNATURES = 10_000

/** Answer to a call of an ENS resolver. */
export interface EnsAnswer {
  parentSettings: EnsParentSettings
  /** Keccak-256 of the whole call of `resolve`. */
  request: Hex
  /** Encoded return value of the call inside `resolve`, such as `addr` or `text`. */
  result: Hex
  /** Unix time of the last second in which the answer is valid. */
  expiresS: number
}

/** Typed data (EIP-712, in viem's form) of an answer, as EnsResolver.sol checks it. Remote signers get it as JSON. */
export const ensAnswerTypedData = ({ parentSettings, request, result, expiresS }: EnsAnswer) => ({
  domain: {
    name: 'EnsResolver',
    version: '1',
    chainId: parentSettings.chainId,
    verifyingContract: parentSettings.resolver,
  },
  types: {
    Answer: [
      { name: 'request', type: 'bytes32' },
      { name: 'result', type: 'bytes32' },
      { name: 'expires', type: 'uint64' },
    ],
  },
  primaryType: 'Answer' as const,
  message: { request, result: keccak256(result), expires: expiresS },
})
export type SignEnsAnswer = (typedData: ReturnType<typeof ensAnswerTypedData>) => Promise<Hex>

const SIGNED_ANSWER_PARAMETERS = parseAbiParameters(
  'uint256 chainId, address resolver, bytes32 request, uint64 expires, bytes result',
)

/** Encodes an answer for `resolveWithProof` of the resolver. */
export function encodeSignedEnsAnswer(
  { parentSettings, request, result, expiresS }: EnsAnswer,
  signature: Hex,
): Hex {
  const values = [
    BigInt(parentSettings.chainId),
    parentSettings.resolver,
    request,
    BigInt(expiresS),
    result,
  ] as const
  return concat([signature, encodeAbiParameters(SIGNED_ANSWER_PARAMETERS, values)])
}

/**
 * Creates a function that signs and encodes the answer to a call. Equal answers share a cached signature.
 * @param now current Unix time, ms
 */
export function createEnsAnswerSigner(sign: SignEnsAnswer, now: () => number) {
  const signatureCache = new LRUCache<string, Hex, EnsAnswer>({
    maxSize: MAX_CACHED_SIGNATURES,
    sizeCalculation: () => 1,
    fetchMethod: (_key, _stale, { context }) => sign(ensAnswerTypedData(context)),
  })
  return async (call: Hex, parentSettings: EnsParentSettings, result: Hex): Promise<Hex> => {
    const expiresS = Math.floor(now() / 1_000 / VALIDITY_STEP_S) * VALIDITY_STEP_S + MAX_VALIDITY_S
    const answer = { parentSettings, request: keccak256(call), result, expiresS }
    const key = [
      parentSettings.chainId,
      parentSettings.resolver,
      answer.request,
      keccak256(result),
      expiresS,
    ].join()
    return encodeSignedEnsAnswer(answer, (await signatureCache.fetch(key, { context: answer }))!)
  }
}
