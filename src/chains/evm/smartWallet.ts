import { encodeDeployData, parseAbi, zeroAddress } from 'viem'
import { fallbackOnExpectedError } from '../../ops/logger/errors.js'
import { type EvmChainPort, type Hex, rethrowAsUnavailable } from '../chain.js'
import { fallbackIfRefused } from '../rpc/errors.js'
import type { EvmRpc } from '../rpc/evm.js'
import { NodesDisagreeError } from '../rpc/nodes.js'
import { cacheAnswersByKey } from '../rpc/served.js'
import { signatureProbeAbi, signatureProbeBytecode } from './contracts/index.js'
import { encodeContractCall } from './contracts/read.js'

/** Gas limit of an `eth_call` that runs SignatureProbe.sol: the gas that the probe gives to its calls, plus overhead. */
const PROBE_GAS = '0x5b8d80' // 6 million

const erc1271Abi = parseAbi([
  'function isValidSignature(bytes32 hash, bytes signature) view returns (bytes4)',
])

/** Answers of SignatureProbe.sol. Any other answer of a node counts as invalid. */
const VALID_ANSWER = `0x${'1'.padStart(64, '0')}`
const NO_CODE_ANSWER = `0x${'2'.padStart(64, '0')}`

/**
 * Lifetime (ms) and size of the cache of code checks. Code may be deployed at any moment and then remains. Most wallets
 * have no code and need no further call.
 */
const CODE_CACHE_OPTIONS = {
  forMs: (hasCode: boolean) => (hasCode ? 600_000 : 5_000),
  most: 10_000,
}

/** Creates the check whether an address has code. One node answers, and the answer is cached (`CODE_CACHE_OPTIONS`). */
export const createCodeCheck = (rpc: EvmRpc): EvmChainPort['seemsToHaveCode'] =>
  cacheAnswersByKey(
    (wallet: Hex) =>
      rethrowAsUnavailable(
        `chain "${rpc.label}"`,
        async () => (await rpc.call<Hex>('eth_getCode', [wallet, 'latest'])) !== '0x',
      ),
    CODE_CACHE_OPTIONS,
  )

/** Creates the check of smart wallets' signatures, which runs SignatureProbe.sol on the nodes. */
export function createSmartWalletSignatureCheck(rpc: EvmRpc): EvmChainPort['isValidSignature'] {
  const isDisputed = (error: unknown) => error instanceof NodesDisagreeError
  return ({ wallet, hash, signature, deployment, onCall }) => {
    const question = encodeContractCall(erc1271Abi, 'isValidSignature', [hash, signature])
    const data = encodeDeployData({
      abi: signatureProbeAbi,
      bytecode: signatureProbeBytecode,
      args: [wallet, question, deployment?.factory ?? zeroAddress, deployment?.data ?? '0x'],
    })
    return rethrowAsUnavailable(`chain "${rpc.label}"`, async () => {
      // two nodes are asked, because a single lying node could confirm a signature for any address
      const answer = rpc.quorum(async (call) => {
        onCall()
        // a call without a receiver returns the probe's answer as "deployed code"
        return probeVerdictOf(await call<unknown>('eth_call', [{ data, gas: PROBE_GAS }, 'latest']))
      })
      return fallbackOnExpectedError(fallbackIfRefused(answer, false), isDisputed, false)
    })
  }
}

const probeVerdictOf = (answer: unknown): boolean | null =>
  answer === NO_CODE_ANSWER ? null : answer === VALID_ANSWER
