import { decodeAbiParameters, encodeDeployData, parseAbi, zeroAddress } from 'viem'
import { fallbackOnExpectedError } from '../../ops/log/errors.js'
import {
  type EvmChainPort,
  type Hex,
  rethrowAsUnavailable,
  type SignatureCheckQuery,
} from '../chain.js'
import { fallbackIfRefused } from '../rpc/errors.js'
import type { EvmRpc, RpcCall } from '../rpc/evm.js'
import { NodesDisagreeError } from '../rpc/nodes.js'
import { cacheAnswersByKey } from '../rpc/served.js'
import { signatureProbeAbi, signatureProbeBytecode } from './contracts/index.js'
import { encodeContractCall } from './contracts/read.js'

/** Gas limit of a signature check on the node: the probe's own limits (SignatureProbe.sol) plus its overhead. */
const CALL_GAS = '0x5b8d80' // 6 million
/**
 * Cache of whether a wallet has code. Code may be deployed at any moment and then remains. Most wallets have no code
 * and need no further call.
 */
const CODE = { forMs: (hasCode: boolean) => (hasCode ? 600_000 : 5_000), most: 10_000 }

const erc1271 = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

/** Suffix of signatures by wallets that may not be deployed yet (ERC-6492). */
const ERC6492_SUFFIX = '6492'.repeat(16)
const ERC6492_FORM = [{ type: 'address' }, { type: 'bytes' }, { type: 'bytes' }] as const

const YES = `0x${'1'.padStart(64, '0')}`

export function createSmartWalletSignatureCheck(rpc: EvmRpc): EvmChainPort['isValidSignature'] {
  const hasCode = cacheAnswersByKey(
    async (wallet: Hex) => (await rpc.call<Hex>('eth_getCode', [wallet, 'latest'])) !== '0x',
    CODE,
  )
  const isDisputed = (error: unknown) => error instanceof NodesDisagreeError
  return async (question) => {
    const { wallet, signature } = question
    const data = probeData(question)
    if (!data) return false
    return rethrowAsUnavailable(`chain "${rpc.label}"`, async () => {
      if (!signature.endsWith(ERC6492_SUFFIX) && !(await hasCode(wallet))) return false
      // two nodes are asked, because a single lying node could confirm a signature for any address
      const isSigned = rpc.quorum((call) => probe(call, data))
      return fallbackOnExpectedError(fallbackIfRefused(isSigned, false), isDisputed, false)
    })
  }
}

/** Calldata for SignatureProbe.sol. Null for a wrapped (ERC-6492) signature that is malformed or not accepted. */
function probeData({ wallet, hash, signature, acceptsErc6492 }: SignatureCheckQuery): Hex | null {
  const wrapped = signature.endsWith(ERC6492_SUFFIX)
  if (wrapped && !acceptsErc6492) return null
  const parts = wrapped
    ? unwrap(signature)
    : { factory: zeroAddress, prepare: '0x' as const, signature }
  if (!parts) return null
  const question = encodeContractCall(erc1271, 'isValidSignature', [hash, parts.signature])
  return encodeDeployData({
    abi: signatureProbeAbi,
    bytecode: signatureProbeBytecode,
    args: [wallet, question, parts.factory, parts.prepare],
  })
}

function unwrap(signature: Hex): { factory: Hex; prepare: Hex; signature: Hex } | null {
  try {
    const inner = signature.slice(0, -ERC6492_SUFFIX.length) as Hex
    const [factory, prepare, own] = decodeAbiParameters(ERC6492_FORM, inner)
    return { factory, prepare, signature: own }
  } catch {
    return null
  }
}

/**
 * Runs the signature probe (SignatureProbe.sol): an `eth_call` without a receiver returns the probe's answer as
 * "deployed code". True only for the answer `YES`.
 */
const probe = async (call: RpcCall, data: Hex): Promise<boolean> =>
  (await call<unknown>('eth_call', [{ data, gas: CALL_GAS }, 'latest'])) === YES
