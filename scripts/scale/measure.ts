import { Agent } from 'node:http'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { ask, timed } from '../bench/ask.js'
import { type Bench, type Latency, latencyOf, thousands } from '../bench/bench.js'
import type { BenchChain } from '../bench/chain.js'
import { type DaemonProcess, startDaemonProcess } from '../bench/programs.js'
import { feedPages, lookUps, type Question } from './questions.js'
import type { Registry } from './registries.js'

/**
 * Asks processes of the API, one on each registry, the same questions in turn: what else the machine does meets all
 * sizes alike. One connection each, the next request when the last is answered.
 */

const WARM_UP = 40
/** Of the rounds of a question about one thing, a question about many gets one in so many. */
const MANY_SHARE = 4
/** Titles of questions about many. */
const isMany = (title: string): boolean => /\(1,000|page/.test(title)

/** A process of the API on a registry. */
export interface Served {
  registry: Registry
  daemon: DaemonProcess
  api: string
  agent: Agent
}

/** What a question takes at each size, ms. */
export interface Measured {
  title: string
  /** In the order of the registries. */
  latencies: Latency[]
  /** Of the same requests right after: their pages are in PostgreSQL's memory. Null for what can't be asked again. */
  again: Latency[] | null
}

/** Starts a process of the API on each registry. */
export async function serve(
  { home, onEnd }: Bench,
  cli: string,
  chain: BenchChain,
  registries: readonly Registry[],
): Promise<Served[]> {
  const served: Served[] = []
  for (const registry of registries) {
    const daemon = await startDaemonProcess({ cli, home, chain, databaseUrl: registry.databaseUrl, isApiOnly: true })
    onEnd(() => daemon.stop())
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    onEnd(async () => agent.destroy())
    served.push({ registry, daemon, api: daemon.api, agent })
  }
  return served
}

/** Asks everything. @throws Error for a wrong answer */
export async function measure(served: readonly Served[], rounds: number): Promise<Measured[]> {
  const many = Math.floor(rounds / MANY_SHARE)
  const asked = await Promise.all(
    served.map(async ({ agent, api, registry }) => [
      ...lookUps(registry),
      ...(await feedPages(agent, api, registry, many + WARM_UP)),
    ]),
  )
  const measured: Measured[] = []
  for (const [i, { title }] of asked[0]!.entries()) {
    measured.push(
      await inTurn(
        served,
        asked.map((questions) => questions[i]!),
        isMany(title) ? many : rounds,
      ),
    )
    print(measured.at(-1)!, served, title)
  }
  measured.push(await changes(served, many))
  print(measured.at(-1)!, served, measured.at(-1)!.title)
  return measured
}

function print({ latencies, again }: Measured, served: readonly Served[], title: string): void {
  const each = latencies.map(
    ({ p50, p99 }, i) =>
      `${thousands(served[i]!.registry.size)}: ${p50.toFixed(2)} (${p99.toFixed(2)})${again ? ` ${again[i]!.p50.toFixed(2)}` : ''}`,
  )
  console.log(`  ${title}  ${each.join('  ')}`)
}

/** The same question of each registry, round by round, each request twice. */
async function inTurn(served: readonly Served[], questions: readonly Question[], rounds: number): Promise<Measured> {
  const { title } = questions[0]!
  const [first, again] = [served.map((): number[] => []), served.map((): number[] => [])]
  for (let round = -WARM_UP; round < rounds; round++) {
    for (const [i, { api, agent }] of served.entries()) {
      const { url, holds, ...asked } = questions[i]!.request(round + WARM_UP)
      for (const times of [first, again]) {
        let text = ''
        const ms = await timed(async () => {
          text = await ask(agent, `${api}${url}`, asked)
        })
        if (!text.includes(holds)) throw new Error(`asking ${url}: the answer lacks ${holds}: ${text.slice(0, 300)}`)
        if (round >= 0) times[i]!.push(ms)
      }
    }
  }
  return { title, latencies: first.map(latencyOf), again: again.map(latencyOf) }
}

/** A wallet of its own each time makes a cluster; then, which is measured, it lists another wallet there. */
async function changes(served: readonly Served[], rounds: number): Promise<Measured> {
  const times = served.map((): number[] => [])
  for (let round = -WARM_UP; round < rounds; round++) {
    const account = privateKeyToAccount(generatePrivateKey())
    for (const [i, { api, agent }] of served.entries()) {
      const { message, signingDate } = JSON.parse(await ask(agent, `${api}/v1/auth/message`)) as Record<string, string>
      const signature = await account.signMessage({ message: message! })
      const body = JSON.stringify({ signature, signingDate, type: 'evm', wallet: account.address })
      const { token } = JSON.parse(await ask(agent, `${api}/v1/auth/token`, { body })) as { token: string }
      const add = (name: string) => {
        const address = privateKeyToAccount(generatePrivateKey()).address.toLowerCase()
        return ask(agent, `${api}/v1/clusters/wallets`, { body: JSON.stringify([{ address, name }]), token })
      }
      await add('first')
      const ms = await timed(() => add('second'))
      if (round >= 0) times[i]!.push(ms)
    }
  }
  return { title: 'POST /v1/clusters/wallets (one wallet)', latencies: times.map(latencyOf), again: null }
}
