import { type Hex, parseAbi } from 'viem'
import { fallbackIfRefused } from '../rpc/errors.js'
import type { Call } from '../rpc/evm.js'
import { contractReader } from './contracts/read.js'

const registrarAbi = parseAbi(['function nameForAddr(address) view returns (string)'])

/**
 * The name that an account gave itself at a reverse registrar (ENSIP-19). Null for none, and for a registrar without
 * this function, such as the first one of Ethereum.
 */
export async function primaryNameOn(
  call: Call,
  registrar: Hex,
  account: Hex,
): Promise<string | null> {
  const read = contractReader(call, registrar, registrarAbi)
  return (await fallbackIfRefused(read('nameForAddr', [account]), null)) || null
}
