import { ClusterdError } from './error.js'
import type { Answer, FeedEvent } from './types.js'

/** Any node of the hub's chain, by EIP-1193: a client of viem, a wallet's provider. */
export interface HubNode {
  // a method's parameters are compared both ways, so that viem's own types fit
  request(call: { method: 'eth_call'; params: never }): Promise<unknown>
}

export type Proof = Answer<'GET', '/v1/proof'>

/** Selectors of `recordHash()` and `ownerOf(bytes32)`. */
const [RECORD_HASH, OWNER_OF] = ['0xd374cc21', '0x7dd56411']
/** Names that are asked about at once. */
const AT_ONCE = 50
const BASE58 = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const WORD_DIGITS = 64

/** A call as of the block of a proof, by its hash (EIP-1898). */
function ask(node: HubNode, { blockHash }: Proof, to: string, data: string): Promise<unknown> {
  return node.request({ method: 'eth_call', params: [{ to, data }, { blockHash }] as never })
}

/** Asks each contract for its record. @throws ClusterdError registry_mismatch; errors of the node */
export async function checkRecord(node: HubNode, proof: Proof): Promise<void> {
  if (proof.contracts.length === 0) throw mismatch('The service has no record of its hub.')
  for (const { address, recordHash } of proof.contracts)
    if ((await ask(node, proof, address, RECORD_HASH)) !== recordHash)
      throw mismatch(`Contract ${address} has another record at block ${proof.block}.`)
}

/** Asks the hub for the owners of names, by their events. @throws as `checkRecord` */
export async function checkOwners(node: HubNode, proof: Proof, registered: readonly FeedEvent[]): Promise<void> {
  const { address } = proof.contracts[0]!
  const check = async ({ data, from }: FeedEvent): Promise<void> => {
    const { name } = data as { name: string }
    const owner = await ask(node, proof, address, `${OWNER_OF}${wordOfName(name)}`)
    if (owner !== `0x${wordOfAddress(from)}`) throw mismatch(`The hub did not give ${name} to ${from}.`)
  }
  for (let i = 0; i < registered.length; i += AT_ONCE) await Promise.all(registered.slice(i, i + AT_ONCE).map(check))
}

const mismatch = (message: string) => new ClusterdError('registry_mismatch', message)

/** A name's letters, which are ASCII, as bytes32. */
const wordOfName = (name: string): string =>
  Array.from(name, (letter) => letter.charCodeAt(0).toString(16).padStart(2, '0'))
    .join('')
    .padEnd(WORD_DIGITS, '0')

/** An EVM address, or the 32 bytes of a Solana one, as bytes32. */
function wordOfAddress(text: string): string {
  const digits = Array.from(text, (digit) => BigInt(BASE58.indexOf(digit)))
  const number = text.startsWith('0x') ? BigInt(text) : digits.reduce((sum, digit) => sum * 58n + digit, 0n)
  return number.toString(16).padStart(WORD_DIGITS, '0')
}
