import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { NETWORK_CODE, type Network } from '../../registry/primitives/network.js'

/** Roles that one process a network may hold. The advisory lock's second key; never renumber. */
const ROLE_CODE = { index: 0, relay: 1 } as const
export type LeaderRole = keyof typeof ROLE_CODE

/** Second key of the lock that an operator's rewind of a network holds. */
export const REWIND_LOCK = 2

/** First key of our advisory locks: "clus". The second one is the network's code times 16, and the purpose. */
export const LOCK_CLASS = 0x636c7573

/** A held leadership: every write of the leader carries its epoch, so that a leader that lost it can write no more. */
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
  let gone: () => void = () => {}
  const lost = new Promise<void>((resolve) => {
    gone = resolve
  })
  client.on('error', () => gone())
  client.on('end', () => gone())
  try {
    await client.connect()
    const key = NETWORK_CODE[network] * 16 + ROLE_CODE[role]
    const { rows } = await client.query<{ locked: boolean }>('SELECT pg_try_advisory_lock($1, $2) AS locked', [
      LOCK_CLASS,
      key,
    ])
    if (!rows[0]!.locked) {
      await client.end()
      return null
    }
    const column = role === 'index' ? 'index_epoch' : 'relay_epoch'
    const epochs = await client.query<{ epoch: string }>(
      `UPDATE journal_heads SET ${column} = ${column} + 1 WHERE network = $1 RETURNING ${column} AS epoch`,
      [NETWORK_CODE[network]],
    )
    return { epoch: Number(epochs.rows[0]!.epoch), lost, release: () => client.end() }
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
  /** Told why the work, or the attempt to lead, failed; another attempt follows. */
  onError: (error: Error) => void
}

/**
 * Does the work of a role whenever this process leads, until the signal. The work's own signal fires when the lead is lost.
 */
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
