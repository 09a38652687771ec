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
 * An attacker, a process of its own. A line of its standard input with orders begins an attack, and is answered by an
 * empty line. An empty line ends it, and is answered by what was answered to it. An attacker has a machine of its own: here it gets
 * what the others leave of this one.
 */
export interface Orders {
  /** Address that it speaks from. */
  localAddress: string
  /** Name of the only flood; without it all that a siege has are sent. */
  only?: string | undefined
}

/** Answers by status, by flood; -1 counts connections that ended without an answer. */
export type Counts = Record<string, Record<string, number>>

/** Weight of this process's session (sched(7)). */
const AUTOGROUP = '/proc/self/autogroup'
const LISTED = 50
const hexOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`

const launcher = process.ppid
/** A launcher that was killed closes no input. */
setInterval(() => process.ppid !== launcher && process.exit(1), 1_000).unref()

setPriority(constants.priority.PRIORITY_LOW)
// sessions share the processors first, where the kernel groups processes by them
if (existsSync(AUTOGROUP)) writeFileSync(AUTOGROUP, String(constants.priority.PRIORITY_LOW))
const { api, targets } = JSON.parse(process.argv[2]!) as { api: string; targets: Targets }

/** Sends a flood until the signal. @returns the number of answers by status, which goes on counting */
function run(client: Client, { connections, call }: Flood, signal: AbortSignal) {
  const seen: Record<string, number> = {}
  let n = 0
  const loop = async (): Promise<void> => {
    while (!signal.aborted) {
      const status = await client.ask(call(n++)).then(
        (reply) => reply.status,
        // what fails at once leaves room for the orders to stop
        () => pause().then(() => -1),
      )
      seen[status] = (seen[status] ?? 0) + 1
    }
  }
  for (let i = 0; i < connections; i++) void loop()
  return seen
}

/** A wallet made for the day, with a cluster that lists fifty others. */
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

/** @returns ends the attack */
async function attack({ localAddress, only }: Orders): Promise<() => Counts> {
  const stopping = new AbortController()
  const { signal } = stopping
  setMaxListeners(0, signal)
  const client = createClient(api, localAddress, Number.POSITIVE_INFINITY)
  const isSent = ({ name }: { name: string }): boolean => only === undefined || name === only
  const sockets = SOCKET_FLOODS.filter(isSent)
  // signed in before the floods: from then on this address has no tokens left to do so
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

// the siege has ended, however it did
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
