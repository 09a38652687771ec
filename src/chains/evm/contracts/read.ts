import {
  type Abi,
  type AbiStateMutability,
  type ContractFunctionArgs,
  type ContractFunctionName,
  type ContractFunctionReturnType,
  type DecodeFunctionResultParameters,
  decodeFunctionResult,
  type EncodeFunctionDataParameters,
  encodeFunctionData,
} from 'viem'
import type { Hex } from '../../chain.js'
import { RpcError } from '../../rpc/errors.js'
import type { RpcCall } from '../../rpc/nodes.js'

type ViewMutability = 'view' | 'pure'

/** Prefix of the code of an externally owned account that delegates to a contract (EIP-7702). */
const DELEGATION_PREFIX = '0xef0100'

/** Calldata of a contract's function. The ABI types the name and the arguments. */
export const encodeContractCall = <
  const A extends Abi,
  N extends ContractFunctionName<A>,
  const P extends ContractFunctionArgs<A, AbiStateMutability, N>,
>(
  abi: A,
  functionName: N,
  args: P,
): Hex => encodeFunctionData({ abi, functionName, args } as unknown as EncodeFunctionDataParameters)

/**
 * Creates a reader of a contract's functions at a block (number or tag in JSON-RPC form). viem's own `readContract`
 * hides the node's RpcError.
 * @returns a function that throws RpcError. Its fault is `refused` if the call reverts or the account has no code
 */
export const createContractReader =
  <const A extends Abi>(call: RpcCall, to: Hex, abi: A, block = 'latest') =>
  async <
    N extends ContractFunctionName<A, ViewMutability>,
    const P extends ContractFunctionArgs<A, ViewMutability, N> = ContractFunctionArgs<
      A,
      ViewMutability,
      N
    >,
  >(
    functionName: N,
    args?: P,
  ): Promise<ContractFunctionReturnType<A, ViewMutability, N, P>> => {
    const question = { abi, functionName, args } as unknown as EncodeFunctionDataParameters
    const data = encodeFunctionData(question)
    const answer = await call<Hex>('eth_call', [{ to, data }, block])
    if (answer === '0x') throw new RpcError('refused', `${to} has no ${functionName}()`)
    const result = { ...question, data: answer } as unknown as DecodeFunctionResultParameters
    try {
      return decodeFunctionResult(result) as ContractFunctionReturnType<A, ViewMutability, N, P>
    } catch (error) {
      // a malformed answer is the node's fault, so the caller tries another node
      const text = `${to} answers ${functionName}() in another form`
      throw new RpcError('transient', text, null, { cause: error })
    }
  }

/**
 * True if an account is a contract. False for an externally owned account, even one that delegates to a contract
 * (EIP-7702).
 */
export async function isContract(call: RpcCall, account: Hex): Promise<boolean> {
  const code = await call<Hex>('eth_getCode', [account, 'latest'])
  return code !== '0x' && !code.startsWith(DELEGATION_PREFIX)
}
