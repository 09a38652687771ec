import { randomBytes } from 'node:crypto'
import { Agent } from 'node:http'
import { ed25519 } from '@noble/curves/ed25519.js'
import bs58 from 'bs58'
import { type Hex, recoverMessageAddress } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ask } from './ask.js'
import { cpuOf, type Latency, latencyOf, ownCpuMs, printTable } from './bench.js'
import { byRun, recordFigure } from './figure.js'

/**
 * Token exchanges, one at a time, beside their lower bound of processor time: a bare check of the same signatures in
 * this process. Then the latency of changes of a cluster.
 */

interface Proof {
  message: string
  signature: string
  signingDate: string
  type: 'evm' | 'solana'
  wallet: string
}

/** Makes signed sign-in messages, each of another wallet, so that every token exchange begins a session. */
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

/** Latencies of `work`, run for one element after another. The first tenth warms up and is not counted. */
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

/** What a part of `npm run bench:api` measures: the API, and numbers of requests and runs. */
export interface Asking {
  api: string
  /** Requests of each kind, of all runs together. */
  count: number
  runs: number
  /** Processor time of the daemon and of PostgreSQL so far, ms. */
  countMs(): number
}

/** Splits elements into consecutive parts of about equal length, one for each run. */
export function inRuns<T>(elements: readonly T[], runs: number): T[][] {
  const length = Math.ceil(elements.length / runs)
  return Array.from({ length: runs }, (_, run) => elements.slice(run * length, (run + 1) * length))
}

/** Measures token exchanges and changes, and prints them. `count` is the number of exchanges per type of wallet. */
export async function benchTokens({ api, count, runs, countMs }: Asking): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const exchange = async ({ message: _, ...proof }: Proof): Promise<string> => {
    const answer = await ask(agent, `${api}/v1/auth/token`, { body: JSON.stringify(proof) })
    return (JSON.parse(answer) as { token: string }).token
  }
  /** Adds a wallet. The caller has no cluster yet, so this creates one with the caller and the wallet. */
  const addWallet = (token: string) => {
    const address = `0x${randomBytes(20).toString('hex')}`
    const body = JSON.stringify([{ address, name: 'added', isPrivate: false }])
    return ask(agent, `${api}/v1/clusters/wallets`, { body, token })
  }

  const rows: [string, Latency][] = []
  for (const type of ['evm', 'solana'] as const) {
    const costs = { check: [] as number[], exchange: [] as number[] }
    const proofs = await makeProofs(api, type, count)
    const tokens: string[] = []
    for (const some of inRuns(proofs, runs)) {
      const check = () => timed(some, checkBare)
      costs.check.push(await cpuOf(ownCpuMs, check))
      const exchangeAll = async () => {
        const latency = await timed(some, async (proof) => tokens.push(await exchange(proof)))
        rows.push([`${type}: POST /v1/auth/token`, latency])
      }
      costs.exchange.push(await cpuOf(countMs, exchangeAll))
    }
    recordFigure({
      title: `${type}: POST /v1/auth/token`,
      floor: 'bare check of a signature',
      measure: 'processor',
      ratios: byRun(costs.exchange, costs.check),
    })
    // a change costs the same for any kind of wallet. Its price in units is measured beside a look-up (test/api/costs)
    if (type === 'solana') continue
    for (const some of inRuns(tokens, runs))
      rows.push([`${type}: POST /v1/clusters/wallets`, await timed(some, addWallet)])
  }
  agent.destroy()
  printLatencies(`Token exchanges and changes, ${count} of each in ${runs} runs`, rows)
}
