import type pg from 'pg'
import { findRowsOfKeys, loadRegistryRowsOfBatch } from '../../src/db/journal/slice.js'
import type {
  JournalHead,
  LoadedRegistryRows,
  RegistryRowKeys,
} from '../../src/registry/fold/rows.js'
import type { Network } from '../../src/registry/primitives/network.js'

/** Loads the rows that a batch reads. */
export async function loadSlice(
  client: pg.ClientBase,
  network: Network,
  head: JournalHead,
  keys: RegistryRowKeys,
): Promise<LoadedRegistryRows> {
  return loadRegistryRowsOfBatch(
    client,
    { network, head },
    await findRowsOfKeys(client, network, keys),
  )
}
