import { randomBytes } from 'node:crypto'
import { beforeAll, expect, it } from 'vitest'
import { useDatabase } from '../../../test/support/database.js'
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
