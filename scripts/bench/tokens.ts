import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import pg from 'pg'
import { type Hex, recoverMessageAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ask } from './ask.js'
import { type Latency, latencyOf, printTable } from './bench.js'
import { byRun, recordFigure } from './figure.js'

/**
 * Token exchange and a change of a cluster, one at a time, beside their lower bound: a bare check of the same
 * signatures in this process and a bare insert into the same server.
 */

interface Proof {
  message: string
  signature: string
  signingDate: string
  type: 'evm' | 'solana'
  wallet: string
}

/** One wallet per exchange, so that every exchange begins a session. */
async function makeProofs(api: string, type: Proof['type'], count: number): Promise<Proof[]> {
  const response = await fetch(`${api}/v1/auth/message`)
  const { message, signingDate } = (await response.json()) as {
    message: string
    signingDate: string
  }
  return Promise.all(
    Array.from({ length: count }, async () => {
      if (type === 'evm') {
        const account = privateKeyToAccount(generatePrivateKey())
        const signature = await account.signMessage({ message })
        return { message, signingDate, type, wallet: account.address, signature }
      }
      const seed = randomBytes(32)
      const signature = `0x${Buffer.from(ed25519.sign(Buffer.from(message), seed)).toString('hex')}`
      return {
        message,
        signingDate,
        type,
        wallet: bs58.encode(ed25519.getPublicKey(seed)),
        signature,
      }
    }),
  )
}

/** Times of `work` per element, one after another; the first tenth warms up and is left out. */
export async function timed<T>(
  elements: readonly T[],
  work: (element: T) => Promise<unknown>,
): Promise<Latency> {
  const times: number[] = []
  for (const element of elements) {
    const startedMs = performance.now()
    await work(element)
    times.push(performance.now() - startedMs)
  }
  return latencyOf(times.slice(Math.ceil(times.length / 10)))
}

export function printLatencies(title: string, rows: readonly (readonly [string, Latency])[]): void {
  console.log(`\n${title}, one after another`)
  const ms = (value: number) => value.toFixed(2)
  printTable([
    ['', 'p50 ms', 'p99 ms'],
    ...rows.map(([what, { p50, p99 }]) => [what, ms(p50), ms(p99)]),
  ])
}

async function checkBare({ type, message, signature, wallet }: Proof): Promise<void> {
  const bytes = Buffer.from(signature.slice(2), 'hex')
  const signed = Buffer.from(message)
  const strictly = { zip215: false }
  const isGood =
    type === 'evm'
      ? (await recoverMessageAddress({ message, signature: signature as Hex })) === wallet
      : ed25519.verify(bytes, signed, bs58.decode(wallet), strictly)
  if (!isGood) throw new Error('checking a signature: it is not good')
}

/** Measures and prints. @param count exchanges of each type of wallet */
export async function benchTokens(api: string, databaseUrl: string, count: number): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(
    'CREATE TABLE bench_bare (key bytea PRIMARY KEY, wallet bytea NOT NULL, at_ms bigint NOT NULL)',
  )
  const insert = { name: 'bare', text: 'INSERT INTO bench_bare VALUES ($1, $2, $3)' }
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const rows: [string, Latency][] = []
  for (const type of ['evm', 'solana'] as const) {
    const proofs = await makeProofs(api, type, count)
    const check = await timed(proofs, checkBare)
    rows.push([`${type}: bare check of a signature`, check])
    const row = () =>
      client.query({ ...insert, values: [randomBytes(32), randomBytes(21), Date.now()] })
    const inserted = await timed(proofs, row)
    rows.push([`${type}: bare insert`, inserted])
    const bodies = proofs.map(({ message: _, ...proof }) => JSON.stringify(proof))
    const tokens: string[] = []
    const exchange = async (body: string) =>
      tokens.push(
        (JSON.parse(await ask(agent, `${api}/v1/auth/token`, { body })) as { token: string }).token,
      )
    const exchanged = await timed(bodies, exchange)
    rows.push([`${type}: POST /v1/auth/token`, exchanged])
    // callers without a cluster: each change creates one, with the caller and the added wallet in it
    const add = (token: string) => {
      const wallet = {
        address: `0x${randomBytes(20).toString('hex')}`,
        name: 'added',
        isPrivate: false,
      }
      return ask(agent, `${api}/v1/clusters/wallets`, { body: JSON.stringify([wallet]), token })
    }
    const added = await timed(tokens, add)
    rows.push([`${type}: POST /v1/clusters/wallets`, added])
    const beside = (title: string, ours: Latency, floor: Latency, of: string) =>
      recordFigure({
        title: `${type}: ${title}, p50`,
        floor: of,
        ratios: byRun(ours.fifths, floor.fifths),
      })
    beside('POST /v1/auth/token', exchanged, check, 'bare check of a signature')
    beside('POST /v1/clusters/wallets', added, inserted, 'bare insert')
  }
  agent.destroy()
  await client.end()
  printLatencies(`Token exchanges and changes, ${count} of each`, rows)
}
