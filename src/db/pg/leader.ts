import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'
import { query, readRows } from './rows.js'

/** Roles of which each network has one leader at a time. */
export type LeaderRole = 'index' | 'relay'

/** First key of the advisory locks: "clus". */
const LOCK_CLASS = 0x636c7573
/** Purposes of a network's advisory locks: leaders, an operator's rewind, the load of an airdrop. Never renumber. */
const LOCK_PURPOSE = { index: 0, relay: 1, rewind: 2, load: 3 } as const

/** Both keys of a network's advisory lock. */
export const lockKeys = (network: Network, purpose: keyof typeof LOCK_PURPOSE): [number, number] => [
  LOCK_CLASS,
  NETWORK_CODE[network] * 16 + LOCK_PURPOSE[purpose],
]

/** A held leadership: every write of the leader carries its epoch, so that writes of a former leader fail. */
export interface Leadership {
  epoch: number
  /** Settles when the connection that holds the lock is gone. */
  lost: Promise<void>
  release(): Promise<void>
}

/**
 * Tries to lead a network in a role: a session-level advisory lock on a connection of its own, then the next epoch.
 * @returns null while another process leads
 */
export async function tryLead(url: string, network: Network, role: LeaderRole): Promise<Leadership | null> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `clusterd ${role} leader ${network}`,
    keepAlive: true,
  })
  const lost = new Promise<void>((resolve) => {
    client.on('error', () => resolve())
    client.on('end', () => resolve())
  })
  try {
    await client.connect()
    const lock = 'SELECT pg_try_advisory_lock($1, $2) AS locked'
    const [held] = await readRows<{ locked: boolean }>(client, lock, lockKeys(network, role))
    if (!held!.locked) {
      await client.end()
      return null
    }
    const column = `${role}_epoch`
    const next = `UPDATE journal_heads SET ${column} = ${column} + 1 WHERE network = $1 RETURNING ${column} AS epoch`
    const [led] = await query<{ epoch: number }>(client, network, next)
    return { epoch: led!.epoch, lost, release: () => client.end() }
  } catch (error) {
    await client.end().catch(() => {})
    throw error
  }
}

const LEADER_POLL_MS = 1_000

export interface LeadOptions {
  url: string
  network: Network
  role: LeaderRole
  signal: AbortSignal
  /** Called with the failure of the work or of the attempt to lead; another attempt follows. */
  onError: (error: Error) => void
}

/** Runs `work` whenever this process leads in the role, until the signal; the work's own fires at the end of a lead. */
export async function whileLeading(
  options: LeadOptions,
  work: (epoch: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const { url, network, role, signal } = options
  while (!signal.aborted) {
    try {
      const leadership = await tryLead(url, network, role)
      if (leadership) await workWhileHeld(leadership, signal, work)
    } catch (error) {
      options.onError(error as Error)
    }
    await sleep(LEADER_POLL_MS, undefined, { signal }).catch(() => {})
  }
}

async function workWhileHeld(
  leadership: Leadership,
  signal: AbortSignal,
  work: (epoch: number, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const lost = new AbortController()
  leadership.lost.then(() => lost.abort())
  try {
    await work(leadership.epoch, AbortSignal.any([signal, lost.signal]))
  } finally {
    await leadership.release().catch(() => {})
  }
}
