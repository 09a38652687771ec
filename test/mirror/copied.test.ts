import { beforeAll, describe, expect, it, vi } from 'vitest'
import { restartFeedsAfterRestore } from '../../src/cli/journal/restored.js'
import { readTransparencyLogState } from '../../src/db/feed/transparencyLog.js'
import { readJournalHead } from '../../src/db/journal/head.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { computeStateHash } from '../../src/db/journal/stateHash.js'
import {
  markMirrorVerified,
  markNamesProved,
  readMirroredNetworks,
} from '../../src/db/mirror/mirrors.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { readEntryBundle } from '../../src/push/leaves.js'
import type { TreeHead } from '../../src/registry/transparencyLog/note.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { bundlePath } from '../../src/registry/transparencyLog/tiles.js'
import { printed } from '../support/cli.js'
import { queryOn } from '../support/database.js'
import { readEpoch } from '../support/epoch.js'
import { isNoteSignedBy } from '../support/notes.js'
import { alice, cluster, honest, registered } from './liars.js'
import {
  createdBy,
  type Database,
  type Files,
  filesOf,
  key,
  leavesOf,
  mirrorFrom,
  mirrorOf,
  ORIGIN,
  serving,
  useEmptyDatabases,
  writtenRows,
} from './support.js'

const database = useEmptyDatabases()

describe('a mirror with a copied log', () => {
  const first = () => honest().slice(0, 300)
  let copy: Database
  let before: number
  beforeAll(async () => {
    copy = await database()
    await mirrorFrom(copy, serving(filesOf(first())))
    before = await writtenRows(copy.pool)
  })

  const other = () => first().with(200, first()[200]!.replace('"1"', '"7"'))
  /** A log that begins where another one ended. */
  const following = (previous: { origin: string; size?: number }) =>
    filesOf(leavesOf(createdBy(cluster('3'), alice)), {
      origin: 'names.example/mainnet/3',
      previous: { size: 301, root: filesOf(first()).head.root, ...previous },
    })
  /** Files of two logs: the second log's files come first. */
  const both = (a: Files, b: Files) => serving({ files: new Map([...a.files, ...b.files]) })

  it.each<[what: string, from: () => typeof fetch, why: string]>([
    [
      'an older checkpoint',
      () => serving(filesOf(first().slice(0, -5))),
      'The checkpoint is older than the last one: 296 of 301 entries.',
    ],
    [
      'another history of the same length',
      () => serving(filesOf(other())),
      `The log ${ORIGIN} has forked`,
    ],
    [
      'another history that goes on',
      () => serving(filesOf([...other(), ...honest().slice(300)])),
      `The log ${ORIGIN} has forked`,
    ],
    [
      'a new generation that begins with another end',
      () =>
        both(
          filesOf(first()),
          filesOf(honest(), { origin: 'names.example/mainnet/2', previous: filesOf(other()).head }),
        ),
      'has forked',
    ],
    [
      'a new generation that begins with nothing',
      () => serving(filesOf(honest(), { origin: 'names.example/mainnet/2' })),
      `The log names.example/mainnet/2 does not begin where ${ORIGIN} ended: it is another log. To go on with it nevertheless, accept names.example/mainnet/2.`,
    ],
    [
      'a generation whose one before was missed',
      () => serving(following({ origin: 'names.example/mainnet/2' })),
      `The log names.example/mainnet/3 does not begin where ${ORIGIN} ended: names.example/mainnet/2, the generation before it, was missed. To go on`,
    ],
    [
      'a generation that lost entries, as after a restored backup',
      () => serving(following({ origin: ORIGIN, size: 280 })),
      `begins behind entry 280 of ${ORIGIN}, of which 301 were known: the others were lost, as where a backup is restored. To go on`,
    ],
    [
      'the log of another service',
      () => serving(filesOf(honest(), { origin: 'other.example/mainnet/1' })),
      `The log other.example/mainnet/1 does not begin where ${ORIGIN} ended: it is another log. To go on`,
    ],
    [
      'a new generation with entries that do not fit',
      () =>
        both(
          filesOf(first()),
          filesOf([...honest(), ...leavesOf([registered(alice)])], {
            origin: 'names.example/mainnet/2',
            previous: filesOf(first()).head,
          }),
        ),
      'is older than the one before it',
    ],
  ])('refuses %s, and serves what it has', async (_what, from, why) => {
    await expect(mirrorFrom(copy, from())).rejects.toMatchObject({
      code: 'log_mismatch',
      message: expect.stringContaining(why),
    })
    expect(await writtenRows(copy.pool)).toBe(before)
  })

  it('follows the true history after that, and a true generation', async () => {
    await mirrorFrom(copy, serving(filesOf(honest())))
    const old = filesOf(honest())
    const next = filesOf(leavesOf([...createdBy(cluster('3'), alice)]), {
      origin: 'names.example/mainnet/4',
      previous: old.head,
    })
    await mirrorFrom(copy, both(old, next))
    const { rows } = await copy.pool.query(
      'SELECT (SELECT count(*)::int FROM names) AS names, (SELECT count(*)::int FROM clusters) AS clusters, (SELECT count(*)::int FROM journal) AS entries',
    )
    expect(rows).toEqual([{ names: 0, clusters: 1, entries: 2 }])
    const logs = await copy.pool.query('SELECT generation, size::int FROM logs ORDER BY generation')
    expect(logs.rows).toEqual([
      { generation: 1, size: 602 },
      { generation: 4, size: 3 },
    ])
  })

  it('writes nothing where a checkpoint has an additional signature of a stranger', async () => {
    const written = async () =>
      (await copy.pool.query('SELECT xmin::text, note FROM logs ORDER BY generation')).rows
    const next = filesOf(leavesOf([...createdBy(cluster('3'), alice)]), {
      origin: 'names.example/mainnet/4',
      previous: filesOf(honest()).head,
    })
    const before = await written()
    const more = (lines: string) => {
      const files = new Map(next.files)
      const note = Buffer.from(files.get('checkpoint')!).toString()
      return serving({ files: files.set('checkpoint', Buffer.from(note + lines)) })
    }
    for (const name of ['stranger.example', 'names.example/mainnet/4'])
      await mirrorFrom(copy, more(`— ${name} AAAAAAAA\n`))
    expect(await written()).toEqual(before)
  })

  it('refuses the log that has ended', async () => {
    await expect(mirrorFrom(copy, serving(filesOf(honest())))).rejects.toThrow(
      `The checkpoint is of ${ORIGIN}, older than names.example/mainnet/4.`,
    )
  })
})

it('a mirror pins the key that it was given', async () => {
  const fresh = await database()
  const stranger = Buffer.alloc(32, 1).toString('base64')
  expect(stranger).not.toBe(key)
  await expect(mirrorFrom(fresh, serving(filesOf(honest())), { key: stranger })).rejects.toThrow(
    'signed by other keys',
  )
})

describe('a mirror continues, without an empty database, with an accepted log', () => {
  const created = () => leavesOf(createdBy(cluster('3'), alice))
  const root = Buffer.alloc(32, 5)

  it.each<[what: string, origin: string, previous: TreeHead | null]>([
    [
      'whose generation before it missed',
      'names.example/mainnet/4',
      { origin: 'names.example/mainnet/3', size: 9, root },
    ],
    [
      'that lost entries of the one before',
      'names.example/mainnet/5',
      { origin: 'names.example/mainnet/2', size: 280, root },
    ],
    ['of another service, with the same number', 'other.example/mainnet/2', null],
    ['of another service, with a lower number', 'other.example/mainnet/1', null],
    ['of another service, with a higher number', 'other.example/mainnet/5', null],
    [
      'that follows an earlier one than the copied one',
      'names.example/mainnet/5',
      { origin: 'names.example/mainnet/1', size: 9, root },
    ],
  ])('%s', async (_what, accept, previous) => {
    const copy = await database()
    const old = filesOf(honest(), { origin: 'names.example/mainnet/2' })
    await mirrorFrom(copy, serving(old))
    const next = filesOf(created(), { origin: accept, previous })
    await expect(mirrorFrom(copy, serving(next))).rejects.toThrow(`accept ${accept}`)
    await mirrorFrom(copy, serving(next), { accept })
    const { log } = await readTransparencyLogState(copy.pool, 'mainnet')
    expect(log).toMatchObject({ origin: accept, size: 3 })
    // the mirror serves the same entries; the first one names the previous log
    const bundle = { index: 0, width: 3 }
    const served = await readEntryBundle(copy.pool, { ...log!, network: 'mainnet' }, bundle)
    const path = `${log!.generation}/${bundlePath(bundle)}`
    expect(Buffer.from(served!)).toEqual(Buffer.from(next.files.get(path)!))
    const { rows } = await copy.pool.query(
      'SELECT (SELECT count(*)::int FROM names) AS names, (SELECT count(*)::int FROM clusters) AS clusters',
    )
    expect(rows).toEqual([{ names: 0, clusters: 1 }])
    // and follows it, without the name of what was accepted
    const more = leavesOf([...createdBy(cluster('3'), alice), registered(alice, cluster('3'))])
    await mirrorFrom(copy, serving(filesOf(more, { origin: accept, previous })))
    expect((await readTransparencyLogState(copy.pool, 'mainnet')).log).toMatchObject({ size: 4 })
  })

  it('but does not return to it from a later one', async () => {
    const copy = await database()
    await mirrorFrom(copy, serving(filesOf(honest())))
    const accept = 'names.example/mainnet/4'
    const accepted = filesOf(created(), { origin: accept })
    await mirrorFrom(copy, serving(accepted), { accept })
    const origin = 'names.example/mainnet/5'
    const later = filesOf(created(), { origin, previous: accepted.head })
    const files = new Map([...accepted.files, ...later.files])
    await mirrorFrom(copy, serving({ files }), { accept })
    await expect(mirrorFrom(copy, serving(accepted), { accept })).rejects.toThrow(
      `The checkpoint is of ${accept}, older than ${origin}.`,
    )
    expect((await readTransparencyLogState(copy.pool, 'mainnet')).log).toMatchObject({ origin })
  })

  it('refuses any other one', async () => {
    const copy = await database()
    await mirrorFrom(copy, serving(filesOf(honest())))
    const next = filesOf(created(), { origin: 'names.example/mainnet/2' })
    await expect(
      mirrorFrom(copy, serving(next), { accept: 'names.example/mainnet/3' }),
    ).rejects.toThrow('it is another log')
  })
})

it('a mirror proves the names again after it has accepted another log', async () => {
  const copy = await database()
  const shown = async () => (await readMirroredNetworks(copy.pool)).get('mainnet')
  await mirrorFrom(copy, serving(filesOf(honest())))
  const { seq, generation } = await readJournalHead(copy.pool, 'mainnet')
  await markNamesProved(copy.pool, 'mainnet', { block: 9, generation, seq })
  expect(await shown()).toMatchObject({ provedBlock: 9, provedSeq: seq, isProved: true })
  const accept = 'names.example/mainnet/4'
  const other = [...createdBy(cluster('3'), alice), registered(alice, cluster('3'))]
  await mirrorFrom(copy, serving(filesOf(leavesOf(other), { origin: accept })), { accept })
  expect(await shown()).toMatchObject({ provedBlock: 0, provedSeq: 0, isProved: false })
})

it('only the leading process marks a mirror as verified', async () => {
  const copy = await database()
  await mirrorFrom(copy, serving(filesOf(honest())))
  const epoch = await readEpoch(copy.pool, 'mainnet', 'index')
  const marked = (by: number) => markMirrorVerified(copy.pool, 'mainnet', by)
  expect([await marked(epoch - 1), await marked(epoch), await marked(epoch + 1)]).toEqual([0, 1, 0])
})

it('a mirror copies no log of another domain than the configured one', async () => {
  const fresh = await database()
  const source = serving(filesOf(honest(), { origin: 'staging.example/mainnet/1' }))
  await expect(mirrorFrom(fresh, source, { domain: 'names.example' })).rejects.toThrow(
    'The checkpoint is of another log, staging.example/mainnet/1.',
  )
  expect(await writtenRows(fresh.pool)).toBe(0)
})

it('a mirror takes over the signature of a new key, though the log has not grown', async () => {
  const copy = await database()
  const renewed = logKeysOfSeeds([Buffer.alloc(32, 8), Buffer.alloc(32, 7)])
  await mirrorFrom(copy, serving(filesOf(honest())))
  const worker = await mirrorOf(copy, serving(filesOf(honest(), { by: renewed })))
  const step = () => worker.step(new AbortController().signal, () => {})
  const isSigned = async () => {
    const { log } = await readTransparencyLogState(copy.pool, 'mainnet')
    return renewed.map(({ publicKey }) => isNoteSignedBy(log!.note!, ORIGIN, publicKey))
  }
  expect([await step(), await isSigned()]).toEqual(['idle', [false, true]])
  let nowMs = performance.now() + 61_000
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  expect([await step(), await isSigned()]).toEqual(['progressed', [true, true]])
  nowMs += 1_000
  expect(await step()).toBe('idle')
  clock.mockRestore()
})

it('a mirror with damaged tiles appends nothing to them', async () => {
  const copy = await database()
  await mirrorFrom(copy, serving(filesOf(honest().slice(0, 300))))
  await queryOn(
    copy.url,
    'UPDATE log_tiles SET hashes = set_byte(hashes, 5, get_byte(hashes, 5) # 1) WHERE level = 0 AND index = 1',
  )
  const before = await writtenRows(copy.pool)
  await expect(mirrorFrom(copy, serving(filesOf(honest().slice(0, 310))))).rejects.toThrow(
    `The entries of ${ORIGIN} do not make its checkpoint.`,
  )
  expect(await writtenRows(copy.pool)).toBe(before)
})

it('a value that the database can not store is a refusal of its source', async () => {
  const fresh = await database()
  await fresh.pool.query(`ALTER TABLE names ADD CONSTRAINT short CHECK (name <> 'name-500')`)
  await expect(mirrorFrom(fresh, serving(filesOf(honest())))).rejects.toMatchObject({
    code: 'log_mismatch',
    message: expect.stringContaining('violates check constraint "short"'),
  })
  expect(await writtenRows(fresh.pool)).toBe(0)
})

it('two mirrors of one source, of which one is behind, end with the same', async () => {
  const source = serving(filesOf(honest()))
  const early = await database()
  const late = await database()
  await mirrorFrom(early, serving(filesOf(honest().slice(0, 300))))
  await Promise.all([mirrorFrom(early, source), mirrorFrom(late, source)])
  const statesOf = ({ pool }: Database) =>
    inTransaction(pool, (db) => computeStateHash(db, 'mainnet', 1))
  expect(await statesOf(early)).toEqual(await statesOf(late))
})

it('`clusterd journal restored` does not change a mirror', async () => {
  const copy = await database()
  await mirrorFrom(copy, serving(filesOf(honest())))
  const before = await readTransparencyLogState(copy.pool, 'mainnet')
  const shown = await printed({ DATABASE_URL: copy.url }, () =>
    restartFeedsAfterRestore({ yes: true, json: true }),
  )
  expect(Object.keys(JSON.parse(shown).networks)).toEqual(['testnet'])
  expect(await readTransparencyLogState(copy.pool, 'mainnet')).toEqual(before)
  await queryOn(copy.url, 'UPDATE journal_heads SET proved_block = 0')
  const text = await printed({ DATABASE_URL: copy.url }, () => restartFeedsAfterRestore({}))
  expect(text).toContain('Nothing begins anew: a mirror continues from its own state.')
})

it('`clusterd journal replay` names a mirror in place of an invalid journal', async () => {
  const copy = await database()
  await mirrorFrom(copy, serving(filesOf(honest())))
  await expect(replayJournal(copy.pool, 'mainnet')).rejects.toThrow('a mirror copies a signed log')
  expect((await replayJournal(copy.pool, 'testnet')).entries).toBe(0)
})
