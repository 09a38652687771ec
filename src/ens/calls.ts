import {
  type AbiFunction,
  decodeAbiParameters,
  encodeAbiParameters,
  type Hex,
  parseAbi,
  toFunctionSelector,
  zeroAddress,
  zeroHash,
} from 'viem'
import { EnsRequestError, runOrThrowEnsRequestError } from './error.js'

/**
 * Functions by selector: `resolve` of a wildcard resolver (ENSIP-10), and the supported functions of the call inside
 * it.
 */
const FUNCTION_BY_SELECTOR = new Map<string, AbiFunction>(
  parseAbi([
    'function resolve(bytes name, bytes data) view returns (bytes)',
    'function addr(bytes32 node) view returns (address)',
    'function addr(bytes32 node, uint256 coinType) view returns (bytes)',
    'function text(bytes32 node, string key) view returns (string)',
    'function name(bytes32 node) view returns (string)',
    'function contenthash(bytes32 node) view returns (bytes)',
    'function pubkey(bytes32 node) view returns (bytes32, bytes32)',
    'function ABI(bytes32 node, uint256 contentTypes) view returns (uint256, bytes)',
    'function interfaceImplementer(bytes32 node, bytes4 interfaceId) view returns (address)',
  ]).map((item) => [toFunctionSelector(item), item]),
)

/** Return values for records that do not exist, by ABI type. */
const EMPTY_VALUE_BY_TYPE: Record<string, unknown> = {
  address: zeroAddress,
  bytes: '0x',
  string: '',
  uint256: 0n,
  bytes32: zeroHash,
}

export type ResolverCall = ReturnType<typeof decodeResolverCall>

/**
 * Decodes a call of an ENS resolver. The result's `encode` encodes a record's value, or null for a missing record, as
 * the call's return value.
 * @throws EnsRequestError
 */
export function decodeResolverCall(data: Hex) {
  const fn = FUNCTION_BY_SELECTOR.get(data.slice(0, 10))
  if (!fn) throw new EnsRequestError('The call is not supported here.')
  const { name, inputs, outputs } = fn
  return {
    name,
    args: runOrThrowEnsRequestError('The arguments of the call are malformed.', () =>
      decodeAbiParameters(inputs, `0x${data.slice(10)}`),
    ),
    encode: (value: string | null): Hex =>
      encodeAbiParameters(
        outputs,
        value === null ? outputs.map(({ type }) => EMPTY_VALUE_BY_TYPE[type]) : [value],
      ),
  }
}
