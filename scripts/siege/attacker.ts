import { once, setMaxListeners } from 'node:events'
import { existsSync, writeFileSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import {
  anonymousFloods,
  dearestFloods,
  type Flood,
  memberFloods,
  type Targets,
  type Throwaway,
} from './floods.js'
import { type Client, createClient, signInBy } from './http.js'
import { besiege, SOCKET_FLOODS } from './sockets.js'

/**
 * One attacker, a process of its own with an address of its own, until its standard input ends; then it prints what
 * it was answered. An attacker has a machine of its own: here it gets what the others leave of this one.
 */
export interface Orders {
  api: string
  localAddress: string
  targets: Targets
  /** Name of the only flood; without it all are sent. */
  only?: string | undefined
}

/** Answers by status, by flood; -1 counts connections that ended without an answer. */
export type Counts = Record<string, Record<string, number>>

/** Weight of this process's session (sched(7)). */
const AUTOGROUP = '/proc/self/autogroup'
const LISTED = 50
const hexOf = (n: number): string => `0x${n.toString(16).padStart(40, '0')}`

setPriority(constants.priority.PRIORITY_LOW)
// sessions share the processors first, where the kernel groups processes by them
if (existsSync(AUTOGROUP)) writeFileSync(AUTOGROUP, String(constants.priority.PRIORITY_LOW))
const { api, localAddress, targets, only } = JSON.parse(process.argv[2]!) as Orders
const stopping = new AbortController()
const counts: Counts = {}

async function run(client: Client, { name, connections, call }: Flood): Promise<void> {
  const seen: Record<string, number> = {}
  counts[name] = seen
  let n = 0
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      const status = await client.ask(call(n++)).then(
        (reply) => reply.status,
        () => -1,
      )
      seen[status] = (seen[status] ?? 0) + 1
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
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

process.stdin.on('end', () => stopping.abort()).resume()
setMaxListeners(0, stopping.signal)
const client = createClient(api, localAddress, Number.POSITIVE_INFINITY)
// signed in before the floods: from then on this address has no tokens left to do so
const member = await throwaway(client)
const isSent = ({ name }: { name: string }): boolean => only === undefined || name === only
// a blank before the counts says that it begins
process.stdout.write('\n')
const sockets = SOCKET_FLOODS.filter(isSent).map((flood) => ({
  ...flood,
  opened: besiege(api, localAddress, flood, stopping.signal),
}))
await Promise.all(
  [...anonymousFloods(targets), ...memberFloods(member, targets), ...dearestFloods(member, targets)]
    .filter(isSent)
    .map((flood) => run(client, flood)),
)
if (!stopping.signal.aborted) await once(stopping.signal, 'abort')
client.close()
for (const { name, opened } of sockets) counts[name] = { opened: opened() }
process.stdout.write(JSON.stringify(counts), () => process.exit(0))
