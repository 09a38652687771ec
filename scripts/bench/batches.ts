import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import bs58 from 'bs58'

/**
 * `tsx scripts/bench/batches.ts <url> <copies>`: a Solana node that takes batches, as public ones do, before one that
 * doesn't (Surfpool), and shows each of its payments that many times, under signatures, slots and sequences of their
 * own: Surfpool takes minutes for some thousands. It has all answers ready. Prints its address.
 */
interface Question {
  id: number
  method: string
  params: [string, { before?: string; until?: string; limit?: number }]
}

interface Listed {
  signature: string
  slot: number
}

interface Transaction extends Omit<Listed, 'signature'> {
  meta: { innerInstructions: { instructions: { data: string }[] }[] }
}

const [target, copies] = [process.argv[2]!, Number(process.argv[3])]
/** Characters that no other data of a payment's calls has but its event. */
const EVENT_CHARS = 200
/** Place of the sequence, after the event's tag and discriminator. */
const SEQUENCE_AT = 16
const OPTIONS = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 }
/** All that is listed, newest first, and the transactions as JSON. */
const listed: Listed[] = []
const transactions = new Map<string, string>()

async function ask<T>(method: string, params: unknown): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })
  const response = await fetch(target, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  return ((await response.json()) as { result: T }).result
}

const eventOf = ({ meta }: Transaction): string | undefined =>
  meta.innerInstructions.flatMap((inner) => inner.instructions).find(({ data }) => data.length > EVENT_CHARS)?.data

/** Writes an address's transactions down, with the copies of its payments. */
async function load(address: string): Promise<void> {
  const real = await ask<Listed[]>('getSignaturesForAddress', [address, { commitment: 'confirmed' }])
  const read = await Promise.all(
    real.map(async (one) => ({ one, tx: await ask<Transaction>('getTransaction', [one.signature, OPTIONS]) })),
  )
  const paid = read.filter(({ tx }) => eventOf(tx))
  const slots = real[0]!.slot + 1
  for (let copy = copies - 1; copy >= 0; copy--)
    for (const { one, tx } of copy > 0 ? paid : read) {
      const [signature, slot, event] = [one.signature, one.slot + copy * slots, eventOf(tx) ?? '']
      const [copied, data] = [changed(signature, 0, copy), changed(event, SEQUENCE_AT, copy * paid.length)]
      listed.push({ ...one, signature: copied, slot })
      const text = JSON.stringify({ ...tx, slot }).replaceAll(signature, copied)
      transactions.set(copied, event ? text.replace(event, data) : text)
    }
}

/** Text in base58 with a number added to the one at a place. */
function changed(text: string, at: number, by: number): string {
  if (by === 0) return text
  const bytes = Buffer.from(bs58.decode(text))
  bytes.writeBigUInt64LE(BigInt.asUintN(64, bytes.readBigUInt64LE(at) + BigInt(by)), at)
  return bs58.encode(bytes)
}

const placeOf = (wanted: string): number => listed.findIndex(({ signature }) => signature === wanted)

/** The answer's `result` as JSON. */
async function resultOf({ method, params }: Question): Promise<string> {
  if (method === 'getTransaction') return transactions.get(params[0]) ?? 'null'
  if (method !== 'getSignaturesForAddress') return JSON.stringify(await ask(method, params))
  if (listed.length === 0) await load(params[0])
  const { before, until, limit = 1_000 } = params[1]
  const from = before === undefined ? 0 : placeOf(before) + 1
  const end = until === undefined ? listed.length : placeOf(until)
  return JSON.stringify(listed.slice(from, Math.min(end, from + limit)))
}

const answerTo = async (question: Question): Promise<string> =>
  `{"jsonrpc":"2.0","id":${question.id},"result":${await resultOf(question)}}`

const server = createServer((request, response) => {
  const answer = async (): Promise<void> => {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body: Question | Question[] = JSON.parse(Buffer.concat(parts).toString())
    const text = Array.isArray(body) ? `[${(await Promise.all(body.map(answerTo))).join()}]` : await answerTo(body)
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
  }
  answer().catch(() => response.destroy())
})
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
