import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { appendEntries } from '../../src/db/journal/append.js'
import {
  type ArchiveOptions,
  dropArchives,
  restoreArchives,
  writeArchives,
} from '../../src/db/journal/archive/index.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { decodeEntry } from '../../src/registry/journal/decode.js'
import { type Member, memberOf } from '../api/members.js'
import { type ApiWorld, bid, freshName, randomAddress, startApi } from '../api/support.js'
import { readGolden } from '../golden/journal.js'
import { age, cutJournal } from '../support/smallPartitions.js'

const golden = readGolden(join(import.meta.dirname, '../golden/journal.json.gz'))

/** A registry whose journal is old enough and cut small, beside a folder for its archives. */
export interface ArchiveWorld extends ApiWorld {
  dir: string
  members: readonly Member[]
  write(): ReturnType<typeof writeArchives>
  drop(): ReturnType<typeof dropArchives>
  restore(): ReturnType<typeof restoreArchives>
}

/** Entries of a partition, and of a block of its file. */
export const PARTITION = 40
const BLOCK = 16

/** Starts a registry of everything that the journal knows. @param rounds of its members' changes */
export async function startArchiveWorld(rounds = 16): Promise<ArchiveWorld> {
  const world = await startApi()
  const dir = mkdtempSync(join(tmpdir(), 'clusterd-archive-'))
  await inTransaction(world.pool, (client) =>
    appendEntries(client, 'mainnet', golden.entries.slice(1).map(decodeEntry), { writerMs: Number.MAX_SAFE_INTEGER }),
  )
  const members = [await memberOf(world), await memberOf(world), await memberOf(world)]
  for (let round = 0; round < rounds; round++) await liveOn(world, members)
  await age(world.pool)
  await world.pool.query('UPDATE chains SET next_block = 1000000 WHERE network = 0')
  await cutJournal(world.pool, PARTITION)
  const options: ArchiveOptions = { network: 'mainnet', dir, blockEntries: BLOCK }
  return {
    ...world,
    ...{ dir, members },
    write: () => writeArchives(world.pool, options),
    drop: () => dropArchives(world.pool, options),
    restore: () => restoreArchives(world.pool, options),
    async stop() {
      await world.stop()
      rmSync(dir, { recursive: true, force: true })
    },
  }
}

/** Wallets come, go, hide and are renamed, among registrations, lost and refused bids. */
async function liveOn(world: ApiWorld, members: readonly Member[]): Promise<void> {
  const [alice, bob, carol] = members as [Member, Member, Member]
  const name = freshName()
  await world.append('mainnet', [
    bid({ from: alice.address, name }),
    bid({ from: bob.address, name }),
    bid({ from: bob.address, name: freshName(), amountWei: 1n }),
    ...Array.from({ length: 4 }, () => bid({ from: randomAddress(), name: freshName() })),
  ])
  const [open, hidden] = [randomAddress(), randomAddress()]
  const wallets = [
    { address: open, name: 'open' },
    { address: hidden, name: 'hidden', isPrivate: true },
    { address: carol.address, name: 'carol', isPrivate: true },
  ]
  await alice.add(wallets)
  const id = (await world.get(`/v1/clusters/name/${name}`)).body.id
  await carol.verify(id)
  await alice.rename(open, 'renamed')
  await alice.remove(carol.address)
  await alice.remove(open, hidden)
}
