import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { LogReader, verifyBundle } from '../../src/client/verify.js'
import { evidenceMirrorWorker } from '../../src/mirror/evidence.js'
import { sha256InOneCall } from '../../src/registry/transparencyLog/hash.js'
import { key, membershipsOf } from '../api/memberships.js'
import { secondApi, startApi } from '../api/support.js'
import { readEpoch } from '../support/epoch.js'
import { useWorld } from '../support/useWorld.js'
import { type Database, mirrorFrom, useEmptyDatabases } from './support.js'

const { signal } = new AbortController()
const world = useWorld(() => startApi())
const { publish, newAccount, named, join } = membershipsOf(world)
const emptyDatabase = useEmptyDatabases()

/** Copies both logs of the world. */
async function copyInto({ pool }: Pick<Database, 'pool'>): Promise<void> {
  await mirrorFrom({ pool }, world.url)
  const epoch = await readEpoch(pool, 'mainnet', 'index')
  const client = new Client({ url: world.url, retries: 0 })
  const reader = new LogReader(client, {
    key,
    network: 'mainnet/evidence',
    sha256: sha256InOneCall,
  })
  const worker = evidenceMirrorWorker({ network: 'mainnet', pool, epoch, reader })
  while ((await worker.step(signal, () => {})) !== 'idle');
}

describe('a mirror of the evidence log', () => {
  it('serves it under the same name, and goes on', async () => {
    const copy = await emptyDatabase()
    const bundle = await named()
    for (const count of [1, 2]) {
      await join(newAccount(), bundle)
      await publish()
      await copyInto(copy)
      const mirror = await secondApi(copy, { chains: [] })
      const [ours, theirs] = await Promise.all(
        [world.url, mirror.url].map((url) =>
          verifyBundle(new Client({ url, retries: 0 }), bundle.name, { key }),
        ),
      )
      expect(theirs).toEqual(ours)
      expect(theirs!.wallets.filter(({ evidence }) => evidence === 'signed')).toHaveLength(count)
      const answer = await fetch(`${mirror.url}/v1/clusters/id/${bundle.clusterId}`)
      const { wallets } = (await answer.json()) as { wallets: object[] }
      expect(wallets).toHaveLength(1 + count)
      expect(wallets[0]).not.toHaveProperty('evidence')
      await mirror.stop()
    }
  })
})
