import { type Hex, parseAbi } from 'viem'
import { fallbackIfRefused } from '../rpc/errors.js'
import type { RpcCall } from '../rpc/evm.js'
import { createContractReader } from './contracts/read.js'

const reverseRegistrarAbi = parseAbi(['function nameForAddr(address) view returns (string)'])

/**
 * Reads the primary name that an account set at a reverse registrar (ENSIP-19). Null if the account set none, or if the
 * registrar does not have this function, such as Ethereum's first registrar.
 * @throws RpcError
 */
export async function readPrimaryName(
  call: RpcCall,
  registrar: Hex,
  account: Hex,
): Promise<string | null> {
  const read = createContractReader(call, registrar, reverseRegistrarAbi)
  return (await fallbackIfRefused(read('nameForAddr', [account]), null)) || null
}
