import type pg from 'pg'
import { findRowsOfKeys, loadRegistrySlice } from '../../src/db/journal/slice.js'
import type { JournalHead, JournalRowKeys, RegistrySlice } from '../../src/registry/fold/rows.js'
import type { Network } from '../../src/registry/primitives/network.js'

/** Loads the rows that a batch reads. */
export async function loadSlice(
  client: pg.ClientBase,
  network: Network,
  head: JournalHead,
  keys: JournalRowKeys,
): Promise<RegistrySlice> {
  return loadRegistrySlice(client, { network, head }, await findRowsOfKeys(client, network, keys))
}
