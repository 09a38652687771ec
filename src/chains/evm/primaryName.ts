import { type Hex, parseAbi } from 'viem'
import { fallbackIfRefused } from '../rpc/errors.js'
import type { Call } from '../rpc/evm.js'
import { contractReader } from './contracts/read.js'

const registrarAbi = parseAbi(['function nameForAddr(address) view returns (string)'])

/**
 * The primary name that an account set at a reverse registrar (ENSIP-19). Null if it set none, or if the registrar does
 * not have this function, such as Ethereum's first registrar.
 */
export async function primaryNameOn(
  call: Call,
  registrar: Hex,
  account: Hex,
): Promise<string | null> {
  const read = contractReader(call, registrar, registrarAbi)
  return (await fallbackIfRefused(read('nameForAddr', [account]), null)) || null
}
