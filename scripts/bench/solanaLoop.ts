/**
 * Bare loops over the payments of a cluster: signatures page by page, then transactions in batches, some at once. They
 * check nothing: no order, confirmation, gap, quote or outcome.
 */
import { finished } from 'node:stream/promises'
import bs58 from 'bs58'
import PQueue from 'p-queue'
import pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { createDatabase, dropDatabase } from '../../src/testing/processes/postgres.js'
import type { LocalSolana } from '../../src/testing/solana/localSolana.js'

/** Calls per batch and batches at once, as in the watcher. */
const BATCH_CALLS = 100
const REQUESTS_AT_ONCE = 4
const DATABASE = 'solana_loop'

/** What all programs read. */
export interface Ours {
  cluster: Pick<LocalSolana, 'rpcUrl' | 'programId' | 'startSlot'>
  postgresUrl: string
  payments: number
}

interface Transaction {
  slot: number
  transaction: { signatures: string[]; message: { accountKeys: string[] } }
  meta: { innerInstructions: { instructions: { programIdIndex: number; data: string }[] }[] }
}

/** Takes the transactions of a batch. @returns the number of payments */
type Take = (transactions: readonly Transaction[]) => Promise<number>

export interface Loop {
  title: string
  open(client: pg.Client, programId: string): Promise<Take>
}

/** What the program said by calling itself, which it does for events alone. */
const saidBy = (programId: string, { transaction, meta }: Transaction): string[] => {
  const index = transaction.message.accountKeys.indexOf(programId)
  const called = meta.innerInstructions.flatMap(({ instructions }) => instructions)
  return called.filter(({ programIdIndex }) => programIdIndex === index).map(({ data }) => data)
}

/** Parses and throws away. */
export const countAll: Loop = {
  title: 'signatures + transactions, thrown away',
  open: async (_, programId) => async (transactions) =>
    transactions.filter((one) => saidBy(programId, one).length > 0).length,
}

const CREATE_TABLE = `CREATE TABLE payments (sequence bigint PRIMARY KEY, signature bytea NOT NULL, slot bigint NOT NULL,
  payer bytea NOT NULL, quote_id bytea NOT NULL, name text COLLATE "C" NOT NULL, amount numeric(78,0) NOT NULL,
  lamports bigint NOT NULL, expires_at bigint NOT NULL); CREATE INDEX ON payments (name)`
const hex = (bytes: Uint8Array): string => `\\\\x${Buffer.from(bytes).toString('hex')}`

/** The row of a payment, in COPY's text format, its words cut by hand after the event's tag and discriminator. */
function rowOf({ slot, transaction }: Transaction, data: string): string {
  const event = Buffer.from(bs58.decode(data)).subarray(16)
  const name = event.toString('latin1', 72, 104).replace(/\0+$/, '')
  const amount = event.readBigUInt64LE(104) | (event.readBigUInt64LE(112) << 64n)
  const keys = [event.subarray(8, 40), event.subarray(40, 72)].map(hex)
  const signature = hex(bs58.decode(transaction.signatures[0]!))
  const numbers = [amount, event.readBigUInt64LE(120), event.readBigInt64LE(128)]
  return `${[event.readBigUInt64LE(0), signature, slot, ...keys, name, ...numbers].join('\t')}\n`
}

/** Decodes each payment into a row of a flat table by COPY. */
export const storeRows: Loop = {
  title: 'signatures + transactions, a row each',
  async open(client, programId) {
    await client.query(CREATE_TABLE)
    const copies = new PQueue({ concurrency: 1 })
    return async (transactions) => {
      const rows = transactions.flatMap((one) => saidBy(programId, one).map((data) => rowOf(one, data)))
      await copies.add(async () => {
        const stream = client.query(copyFrom('COPY payments FROM STDIN'))
        stream.end(rows.join(''))
        await finished(stream)
      })
      return rows.length
    }
  },
}

/** @returns milliseconds from the first request until all payments are taken */
export async function readBare({ cluster, postgresUrl, payments }: Ours, loop: Loop): Promise<number> {
  const { programId } = cluster
  const client = new pg.Client({ connectionString: await createDatabase(postgresUrl, DATABASE) })
  await client.connect()
  try {
    const take = await loop.open(client, programId)
    const started = performance.now()
    const signatures = await listSignatures(cluster)
    const options = { commitment: 'confirmed', encoding: 'json', maxSupportedTransactionVersion: 0 }
    const queue = new PQueue({ concurrency: REQUESTS_AT_ONCE })
    const read = async (batch: readonly string[]): Promise<number> => {
      const questions = batch.map((one, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'getTransaction',
        params: [one, options],
      }))
      const answers = await post<{ result: Transaction }[]>(cluster.rpcUrl, questions)
      return take(answers.map(({ result }) => result))
    }
    const batches = Array.from({ length: Math.ceil(signatures.length / BATCH_CALLS) }, (_, i) =>
      signatures.slice(i * BATCH_CALLS, (i + 1) * BATCH_CALLS),
    )
    const taken = await queue.addAll(batches.map((batch) => () => read(batch)))
    const ms = performance.now() - started
    const paid = taken.reduce<number>((sum, count) => sum + Number(count), 0)
    if (paid !== payments) throw new Error(`counting payments: the bare loop has ${paid} of ${payments}`)
    return ms
  } finally {
    await client.end()
    await dropDatabase(postgresUrl, DATABASE)
  }
}

async function post<T>(url: string, body: unknown): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return (await response.json()) as T
}

async function listSignatures({ rpcUrl, programId, startSlot }: Ours['cluster']): Promise<string[]> {
  const signatures: string[] = []
  for (let before: string | undefined; ; ) {
    const options = { commitment: 'confirmed', limit: 1_000, ...(before ? { before } : {}) }
    const question = { jsonrpc: '2.0', id: 1, method: 'getSignaturesForAddress', params: [programId, options] }
    const { result } = await post<{ result: { signature: string; slot: number; err: unknown }[] }>(rpcUrl, question)
    for (const { signature, slot, err } of result) if (err === null && slot >= startSlot) signatures.push(signature)
    if (result.length < 1_000) return signatures
    before = result.at(-1)!.signature
  }
}
