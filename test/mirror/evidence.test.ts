import type pg from 'pg'
import { describe, expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { LogReader, verifyBundle } from '../../src/client/verify.js'
import { resetFeedOnceAfterRestore } from '../../src/db/deployment/restored.js'
import { readTransparencyLogState } from '../../src/db/feed/transparencyLog.js'
import { createEvidenceMirrorWorker } from '../../src/mirror/evidence.js'
import { sha256InOneCall } from '../../src/registry/transparencyLog/hash.js'
import { key, membershipsOf } from '../api/memberships.js'
import { secondApi, startApi } from '../api/support.js'
import { readEpoch } from '../support/epoch.js'
import { useWorld } from '../support/useWorld.js'
import { type Database, filesOf, mirrorFrom, serving, useEmptyDatabases } from './support.js'

const { signal } = new AbortController()
const world = useWorld(() => startApi())
const { publish, newAccount, named, join } = membershipsOf(world)
const emptyDatabase = useEmptyDatabases()

/** Copies both logs of the world. */
async function copyInto(copy: Pick<Database, 'pool'>): Promise<void> {
  await mirrorFrom(copy, world.url)
  await copyEvidenceInto(copy, { url: world.url })
}

async function copyEvidenceInto(
  { pool }: Pick<Database, 'pool'>,
  source: { url: string; fetch?: typeof fetch },
): Promise<void> {
  const epoch = await readEpoch(pool, 'mainnet', 'index')
  const client = new Client({ ...source, retries: 0 })
  const reader = new LogReader(client, {
    key,
    network: 'mainnet/evidence',
    sha256: sha256InOneCall,
  })
  const worker = createEvidenceMirrorWorker({ network: 'mainnet', pool, epoch, reader })
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

  it('goes on with the next generation of the log that it has, and with no other', async () => {
    const copies = [await emptyDatabase(), await emptyDatabase()] as const
    await join(newAccount(), await named())
    await publish()
    for (const copy of copies) await copyInto(copy)
    const [mirror, other] = copies
    const logOf = async (pool: pg.Pool) =>
      (await readTransparencyLogState(pool, 'mainnet/evidence')).log
    const first = (await logOf(mirror.pool))!
    // what this one has is another history
    await other.pool.query('UPDATE logs SET root = $1 WHERE network = 2', [Buffer.alloc(32, 1)])
    await resetFeedOnceAfterRestore(world.pool, 'mainnet', first.generation, null)
    await world.pool.query('UPDATE journal_heads SET caught_up = true')
    await publish()
    await copyInto(mirror)
    const { log, previous } = await readTransparencyLogState(mirror.pool, 'mainnet/evidence')
    expect(log).toMatchObject({ ...(await logOf(world.pool)), server: null })
    const { origin, size, root } = first
    expect(previous).toMatchObject({ origin, size, root })
    await expect(copyInto(other)).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining('has forked'),
    })
  })

  it('refuses a source whose log is gone', async () => {
    const copy = await emptyDatabase()
    const gone = { url: 'http://log.invalid', fetch: serving({ files: new Map() }) }
    await join(newAccount(), await named())
    await publish()
    await mirrorFrom(copy, world.url)
    // an earlier version has none
    await copyEvidenceInto(copy, gone)
    await copyInto(copy)
    await expect(copyEvidenceInto(copy, gone)).rejects.toMatchObject({ status: 404 })
  })

  it('refuses an entry that no table can have, by its number', async () => {
    const copy = await emptyDatabase()
    await mirrorFrom(copy, world.url)
    const { generation } = await readTransparencyLogState(copy.pool, 'mainnet')
    const { files } = filesOf(['a\0b'], { origin: `localhost/mainnet/evidence/${generation}` })
    const below = new Map([...files].map(([path, bytes]) => [`evidence/${path}`, bytes]))
    const source = { url: 'http://log.invalid', fetch: serving({ files: below }) }
    await expect(copyEvidenceInto(copy, source)).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining('Entry 0 of'),
    })
  })
})
