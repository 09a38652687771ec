import { randomBytes } from 'node:crypto'
import type { EventEmitter } from 'node:events'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../../test/storage/database.js'
import { appendSignedChanges } from './appendSignedChanges.js'

const database = useDatabase()
let roundTrips = 0

beforeAll(async () => {
  await database.pool.query('UPDATE journal_heads SET caught_up = true')
  const client = await database.pool.connect()
  const { connection } = client as unknown as { connection: EventEmitter }
  connection.on('readyForQuery', () => roundTrips++)
  client.release()
})

const wallet = (): Buffer => Buffer.concat([Buffer.of(1), randomBytes(20)])

async function add(actor: Buffer, name: string): Promise<number> {
  const before = roundTrips
  const wallets = [{ address: wallet(), name, isPrivate: false }]
  const made = await appendSignedChanges(database.pool, {
    network: 'mainnet',
    changes: [{ kind: 'add_wallets', actor, wallets }],
  })
  expect(made.kind).toBe('made')
  return roundTrips - before
}

it('a change of a new wallet takes two round trips, and one of a known cluster three', async () => {
  const actor = wallet()
  expect(await add(actor, 'first')).toBe(2)
  expect(await add(actor, 'second')).toBe(3)
})

it('what names its cluster changes no other, and none with a wallet that is not verified there', async () => {
  const [actor, other, added] = [wallet(), wallet(), wallet()]
  const ask = (by: Buffer, within?: Buffer) => {
    const wallets = [{ address: added, name: 'added', isPrivate: false }]
    const change = { kind: 'add_wallets', actor: by, wallets } as const
    return appendSignedChanges(database.pool, { network: 'mainnet', changes: [change], ...(within && { within }) })
  }
  const made = await ask(actor)
  if (made.kind !== 'made') throw new Error(made.kind)
  expect((await ask(other)).kind).toBe('made')
  for (const [by, within] of [
    [other, made.clusterId],
    [added, made.clusterId],
    [actor, Buffer.alloc(32)],
  ] as const)
    expect(await ask(by, within)).toEqual({ kind: 'elsewhere' })
  expect(await ask(actor, made.clusterId)).toEqual(made)
})
