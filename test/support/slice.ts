import type pg from 'pg'
import { completeSlice, probeKeys } from '../../src/db/journal/slice.js'
import type { JournalHead, RowKeys, Slice } from '../../src/registry/fold/rows.js'
import type { Network } from '../../src/registry/primitives/network.js'

/** Loads the rows that a batch reads. */
export async function loadSlice(
  client: pg.ClientBase,
  network: Network,
  head: JournalHead,
  keys: RowKeys,
): Promise<Slice> {
  return completeSlice(client, { network, head }, await probeKeys(client, network, keys))
}
