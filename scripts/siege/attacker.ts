import { setMaxListeners } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { createInterface } from 'node:readline'
import { setImmediate as pause } from 'node:timers/promises'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { type Flood, floodsOf, standingFloods, type Targets, type Throwaway } from './floods.js'
import { type Client, createClient, signInBy } from './http.js'
import { besiege, SOCKET_FLOODS } from './sockets.js'

/**
 * An attacker in a separate process. A line with `Orders` as JSON on its standard input begins an attack, and an empty
 * line on standard output confirms it. An empty line on the input ends the attack, and the attacker then prints
 * `Counts`. In reality an attacker has a separate machine, so here it gets only the processor time that the other
 * processes leave.
 */
export interface Orders {
  /** Local IP address from which the attacker sends. */
  localAddress: string
  /** Name of the only flood to send. Absent: all floods of a siege. */
  only?: string | undefined
}

/** Number of answers by flood and status. -1 counts connections that ended without an answer. */
export type Counts = Record<string, Record<string, number>>

/** File that sets the scheduling priority of this process's session (sched(7)). */
const AUTOGROUP = '/proc/self/autogroup'
const LISTED = 50
const hexOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`

const launcher = process.ppid
// a killed launcher may not close the input, so poll for its end
setInterval(() => process.ppid !== launcher && process.exit(1), 1_000).unref()

setPriority(constants.priority.PRIORITY_LOW)
// the kernel may group processes by session, and share processors among groups first
if (existsSync(AUTOGROUP)) writeFileSync(AUTOGROUP, String(constants.priority.PRIORITY_LOW))
const { api, targets } = JSON.parse(process.argv[2]!) as { api: string; targets: Targets }

/** Sends a flood until the signal. @returns the number of answers by status, which is still updated */
function run(client: Client, { connections, call }: Flood, signal: AbortSignal) {
  const seen: Record<string, number> = {}
  let n = 0
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await client.ask(call(n++)).then(
        (reply) => reply.status,
        // an immediate failure must not block the order to stop
        () => pause().then(() => -1),
      )
      seen[status] = (seen[status] ?? 0) + 1
    }
  }
  for (let i = 0; i < connections; i++) void loop()
  return seen
}

/** Signs a new wallet in, and creates its cluster, which lists fifty other wallets. */
async function throwaway(client: Client): Promise<Throwaway> {
  const account = privateKeyToAccount(generatePrivateKey())
  const sign = (message: string) => account.signMessage({ message })
  const headers = await signInBy(client, { address: account.address, sign })
  const listed = Array.from({ length: LISTED }, (_, i) => hexOf(i + 1))
  await client.ask({ method: 'POST', path: '/v1/clusters', headers })
  const added = listed.map((address, i) => ({ address, name: `w${i}` }))
  await client.ask({ method: 'POST', path: '/v1/clusters/wallets', body: added, headers })
  const key = await client.ask({
    method: 'POST',
    path: '/v1/keys',
    body: { name: 'siege' },
    headers,
  })
  return { ...headers, apiKey: JSON.parse(key.body).key, listed, self: account.address }
}

/** Begins an attack. @returns a function that ends the attack, and returns the counts of answers */
async function attack({ localAddress, only }: Orders): Promise<() => Counts> {
  const stopping = new AbortController()
  const { signal } = stopping
  setMaxListeners(0, signal)
  const client = createClient(api, localAddress, Number.POSITIVE_INFINITY)
  const isSent = ({ name }: { name: string }): boolean => only === undefined || name === only
  const sockets = SOCKET_FLOODS.filter(isSent)
  // signs in before the floods, after which this address has no rate-limit units left to sign in
  const member = sockets.length > 0 && only !== undefined ? null : await throwaway(client)
  const opened = sockets.map((flood) => ({
    name: flood.name,
    count: besiege(api, localAddress, flood, signal),
  }))
  const all = member ? (only === undefined ? standingFloods : floodsOf)(member, targets) : []
  const sent = all.filter(isSent).map((flood) => ({
    name: flood.name,
    seen: run(client, flood, signal),
  }))
  return () => {
    stopping.abort()
    client.close()
    const counts: Counts = {}
    for (const { name, seen } of sent) counts[name] = seen
    for (const { name, count } of opened) counts[name] = { opened: count() }
    return counts
  }
}

// the input ends when the launcher ends, in any way
process.stdin.once('end', () => process.exit(0))
let end: () => Counts = () => ({})
for await (const line of createInterface({ input: process.stdin })) {
  if (line === '') process.stdout.write(`${JSON.stringify(end())}\n`)
  else {
    end = await attack(JSON.parse(line))
    process.stdout.write('\n')
  }
}
process.exit(0)
