import type pg from 'pg'
import { NETWORK_CODE, NETWORKS, type Network } from '../../registry/primitives/network.js'
import { readRows } from '../pg/rows.js'

/** Place in a network's journal. */
export interface JournalPosition {
  generation: number
  seq: number
}

/** Where a server is. */
export interface ServerState {
  /** Whether it replays another server's log: a standby. */
  isStandby: boolean
  /** Whether a standby is connected to a server whose log it replays: without one it may have what no primary has. */
  isStreaming: boolean
  /** End of the write-ahead log that it has written, or replayed, in bytes. */
  lsn: bigint
  positions: Readonly<Record<Network, JournalPosition>>
}

/** Asks a server, primary or standby, where it is. */
export async function readServerState(pool: pg.Pool): Promise<ServerState> {
  const [row] = await readRows<{
    isStandby: boolean
    isStreaming: boolean
    lsn: string
    heads: [number, number, number][]
  }>(
    pool,
    `SELECT pg_is_in_recovery() AS is_standby, EXISTS (SELECT FROM pg_stat_wal_receiver) AS is_streaming,
       (CASE WHEN pg_is_in_recovery() THEN pg_last_wal_replay_lsn() ELSE pg_current_wal_lsn() END - '0/0'::pg_lsn)::text AS lsn,
       (SELECT json_agg(json_build_array(network, generation, seq)) FROM journal_heads) AS heads`,
  )
  const { isStandby, isStreaming, lsn, heads } = row!
  const positionOf = (network: Network): JournalPosition => {
    const [, generation, seq] = heads.find(([code]) => code === NETWORK_CODE[network])!
    return { generation: Number(generation), seq: Number(seq) }
  }
  const [mainnet, testnet] = NETWORKS.map(positionOf) as [JournalPosition, JournalPosition]
  return { isStandby, isStreaming, lsn: BigInt(lsn), positions: { mainnet, testnet } }
}

/** Whether a place is at or behind another one. */
export const hasReached = (at: JournalPosition, wanted: JournalPosition): boolean =>
  at.generation > wanted.generation || (at.generation === wanted.generation && at.seq >= wanted.seq)
