import { bytesToHex } from './bytes.js'
import type { Client } from './client.js'
import { ClusterdError } from './error.js'
import { abortReasonOf, withTimeLimit } from './time.js'
import { type LogOptions, LogReader, type TreeHeadJson } from './transparencyLog.js'
import type { Answer, CallOptions, FeedEvent } from './types.js'

/** Any node of the hub's chain, as an EIP-1193 provider: a viem client, or a wallet's provider. */
export interface HubNode {
  /** Receives `eth_call` and `eth_getBlockByHash`. Each library has its own type for the parameter. */
  request(call: never): Promise<unknown>
}

export interface RegistryOptions
  extends CallOptions,
    Pick<LogOptions, 'key' | 'sha256' | 'last' | 'domain' | 'witnesses'> {
  /** Address of the hub, obtained from another source than the service. */
  hub: string
  /** Any node of the hub's chain, such as a viem client. */
  node: HubNode
  /** Maximum age of the compared block, ms; default one hour. */
  maxAgeMs?: number | undefined
}

type RegistryProof = Answer<'GET', '/v1/proof'>

/** Result of a comparison with the hub: the service's proof, and the checkpoint of the compared log. */
export type VerifiedRegistry = RegistryProof & {
  /** Checkpoint of the transparency log that was read, to pass as `last` next time. */
  head: TreeHeadJson
}

type Registration = Pick<Extract<FeedEvent, { type: 'REGISTER_NAME' }>, 'from' | 'data'>

/** Function selector of `recordHash()`. */
const RECORD_HASH_SELECTOR = '0xd374cc21'
/** Function selector of `ownerOf(bytes32)`. */
const OWNER_OF_SELECTOR = '0x7dd56411'
const DEFAULT_MAX_AGE_MS = 3_600_000
/** Number of names whose owners are read from the hub in parallel. */
const NAMES_AT_ONCE = 50
const BASE58_ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const WORD_DIGITS = 64
/** Owner that the hub returns for a name without an owner. */
const NO_OWNER = `0x${'0'.repeat(WORD_DIGITS)}`
/** Patterns of texts that have exactly one form as bytes32 on the hub: names, and addresses of EVM and Solana. */
const NAME_PATTERN = /^[!-~]{1,32}$/
const ADDRESS_PATTERN = /^(0x[\da-f]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/

/**
 * Compares the registry of a service with its hub at the service's newest confirmed block: the contracts' running hash
 * of their logs (`recordHash`), and the owner of each name in the service's signed log. The comparison does not prove
 * that the signed log has every name of the hub. With `last` it proves that no earlier entry has disappeared.
 * @param options `timeoutMs` limits the whole comparison; default: the client's limit for each request
 * @throws ClusterdError registry_mismatch, log_mismatch, unavailable, timeout; errors of requests and of the node;
 * TypeError for a wrong key, `last` or witness
 */
export function verifyRegistry(
  client: Client,
  {
    hub,
    node,
    key,
    sha256,
    last,
    domain,
    witnesses,
    maxAgeMs = DEFAULT_MAX_AGE_MS,
    ...options
  }: RegistryOptions,
): Promise<VerifiedRegistry> {
  return withTimeLimit(options, async (signal) => {
    const proof = await client.request('GET', '/v1/proof', { ...options, signal })
    const reader = new LogReader(client, { key, sha256, last, domain, witnesses })
    const registered = await readRegistrations(reader, proof, signal)
    await checkHub({ hub, node, maxAgeMs }, proof, registered, signal)
    return { ...proof, head: reader.last! }
  })
}

/**
 * Reads the registrations in the log, up to the checkpoint of a proof.
 * @throws ClusterdError log_mismatch; unavailable where the log is not signed
 */
async function readRegistrations(
  reader: LogReader,
  { log }: RegistryProof,
  signal: AbortSignal,
): Promise<Registration[]> {
  if (!log?.checkpoint) throw new ClusterdError('unavailable', 'The service has no signed log now.')
  const registered: Registration[] = []
  const head = await reader.take(log.checkpoint, signal)
  for await (const { text } of reader.entries(head, { signal })) {
    const entry = JSON.parse(text)
    if (entry.type === 'REGISTER_NAME') registered.push(entry)
  }
  return registered
}

/**
 * Compares the contracts' `recordHash` with the proof, and the hub's owners of names with the signed log, as of the
 * proof's block (EIP-1898).
 * @throws ClusterdError registry_mismatch, unavailable; errors of the node; the signal's reason
 */
async function checkHub(
  { hub, node, maxAgeMs }: { hub: string; node: HubNode; maxAgeMs: number },
  { contracts, block, blockHash }: RegistryProof,
  registered: readonly Registration[],
  signal: AbortSignal,
): Promise<void> {
  const at = { blockHash, requireCanonical: true }
  const expectWord = async (word: string, to: string, data: string, problem: string) => {
    const answer = await node.request({ method: 'eth_call', params: [{ to, data }, at] } as never)
    if (answer !== word) throw new ClusterdError('registry_mismatch', problem)
  }
  const question = { method: 'eth_getBlockByHash', params: [blockHash, false] }
  const header = await node.request(question as never)
  const ageMs = Date.now() - 1_000 * Number(Object(header).timestamp)
  if (!(ageMs <= maxAgeMs))
    throw new ClusterdError(
      'registry_mismatch',
      `The proof is of block ${block}, which the node does not know, or which is older than ${maxAgeMs / 1_000} s.`,
    )
  const [first] = contracts
  if (!first) throw new ClusterdError('unavailable', 'The service knows no record of a hub now.')
  if (first.address !== hub.toLowerCase())
    throw new ClusterdError('registry_mismatch', `The service's hub is ${first.address}.`)
  for (const { address, recordHash } of contracts)
    await expectWord(
      recordHash,
      address,
      RECORD_HASH_SELECTOR,
      `${address} has another record at block ${block}.`,
    )
  const checkOwner = async ({ data: { name }, from }: Registration) => {
    const problem = `The hub did not give ${name} to ${from}.`
    const owner =
      NAME_PATTERN.test(name) && ADDRESS_PATTERN.test(from) ? wordOfAddress(from) : NO_OWNER
    if (owner === NO_OWNER) throw new ClusterdError('registry_mismatch', problem)
    await expectWord(owner, hub, OWNER_OF_SELECTOR + wordOfName(name), problem)
  }
  for (let i = 0; i < registered.length; i += NAMES_AT_ONCE) {
    if (signal.aborted) throw abortReasonOf(signal)
    await Promise.all(registered.slice(i, i + NAMES_AT_ONCE).map(checkOwner))
  }
}

/** A name (ASCII) as the hex digits of a bytes32. */
const wordOfName = (name: string) =>
  bytesToHex(new TextEncoder().encode(name)).slice(2).padEnd(WORD_DIGITS, '0')

/** An address as bytes32 in hex: an EVM address padded with zeros on the left, or the bytes of a Solana address. */
function wordOfAddress(text: string): string {
  const digits = Array.from(text, (digit) => BigInt(BASE58_ALPHABET.indexOf(digit)))
  const number = text.startsWith('0x')
    ? BigInt(text)
    : digits.reduce((sum, digit) => sum * 58n + digit, 0n)
  return `0x${number.toString(16).padStart(WORD_DIGITS, '0')}`
}
