import { randomBytes } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
import { readBuckets } from '../auth/limitBuckets.js'
import { appendSignedChanges } from './appendSignedChanges.js'

const database = useDatabase()

beforeAll(() => database.pool.query('UPDATE journal_heads SET caught_up = true'))

const wallet = (): Buffer => Buffer.concat([Buffer.of(1), randomBytes(20)])

it('a change that names its cluster changes no other cluster, and needs a wallet that is verified there', async () => {
  const actor = wallet()
  const other = wallet()
  const added = wallet()
  const ask = (by: Buffer, within?: Buffer) => {
    const wallets = [{ address: added, name: 'added', isPrivate: false }]
    const change = { kind: 'add_wallets', actor: by, wallets } as const
    return appendSignedChanges(database.pool, {
      network: 'mainnet',
      changes: [change],
      ...(within && { within }),
    })
  }
  const made = await ask(actor)
  if (made.kind !== 'made') throw new Error(made.kind)
  expect((await ask(other)).kind).toBe('made')
  const forbidden = { kind: 'refused', refusal: { code: 'forbidden' } }
  expect(await ask(other, made.clusterId!)).toEqual(forbidden)
  expect(await ask(added, made.clusterId!)).toEqual(forbidden)
  expect(await ask(actor, Buffer.alloc(32))).toEqual(forbidden)
  expect(await ask(actor, made.clusterId!)).toEqual(made)
})

it('a change over one of its limits writes nothing, and takes nothing from the others', async () => {
  const quota = (name: string, burst: number) => ({
    kind: name,
    bucket: `${name} ${randomBytes(8).toString('hex')}`,
    rate: { perSecond: 0.001, burst },
    per: 'changes' as const,
  })
  const limits = [
    quota('wide', 100),
    quota('narrow', 2),
    { ...quota('new', 1), per: 'clusters' as const },
  ]
  const actor = wallet()
  const add = (name: string) =>
    appendSignedChanges(database.pool, {
      network: 'mainnet',
      changes: [
        { kind: 'add_wallets', actor, wallets: [{ address: wallet(), name, isPrivate: true }] },
      ],
      limits,
    })
  const read = async () => {
    const { fullMs } = await readBuckets(
      database.pool,
      limits.map(({ bucket }) => bucket),
    )
    const { rows } = await database.pool.query('SELECT seq FROM journal_heads WHERE network = 0')
    return { fullMs, rows }
  }
  // the first change makes a cluster, with two rows of wallets
  expect((await add('a')).kind).toBe('made')
  const before = await read()
  expect(await add('b')).toMatchObject({
    kind: 'limited',
    reached: { quota: { kind: 'narrow' }, waitMs: expect.any(Number) },
  })
  expect(await read()).toEqual(before)
})
