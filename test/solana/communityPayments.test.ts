import { describe, expect, it } from 'vitest'
import {
  createCommunityPaymentInstructions,
  derivePaymentNumber,
} from '../../src/chains/solana/community/program.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { keypairOfAccount } from '../../src/testing/solana/accounts.js'
import { createMint, mintTokens } from '../support/solanaTokens.js'
import { useSolanaWorld } from './solanaWorld.js'
import { notFinalized, registerOrder, settle, without } from './support.js'

const world = await useSolanaWorld()

describe('payments for names of communities', () => {
  const program = () => createCommunityPaymentInstructions(world.registrar)
  const order = (name: string, index = 0) => ({
    payer: world.payer(index).publicKey,
    recipient: world.payer(1).publicKey,
    amount: 1_000_000n,
    community: nameToWord('club'),
    name: nameToWord(name),
    referral: Buffer.alloc(32),
    number: derivePaymentNumber(nameToWord('club'), nameToWord(name)),
  })
  const pay = (name: string, index = 0) => program().pay(order(name, index))
  const payments = async () => {
    const sql = `SELECT sequence, name, token, amount::int, state > 0 AS confirmed, reclaimable_ms - paid_ms AS held_ms, block,
      number::text, outcome
      FROM payments WHERE kind = 2 ORDER BY sequence`
    return (await world.hub.pool.query(sql)).rows
  }
  const names = async () => (await payments()).map(({ sequence, name }) => [sequence, name])

  it('come out of the same transactions, with SOL and tokens, counted apart', async () => {
    const { connection } = world
    const payer = world.payer(0)
    const authority = world.payer(2)
    const mint = await createMint(connection, authority)
    await mintTokens(connection, authority, { mint, owner: payer.publicKey, amount: 500n })
    const inTokens = { ...order('spl'), amount: 300n }
    await world.send(
      payer,
      pay('ann'),
      registerOrder(world, 'beside'),
      program().pay(inTokens, { mint, decimals: 6 }),
    )
    await world.send(payer, world.throughCaller(pay('called')))
    const watcher = await world.watcher()
    expect(await settle(watcher)).toMatchObject([
      { kind: 'took', payments: 1, communityPayments: 3 },
      { kind: 'idle' },
    ])
    const shown = { token: 'native', amount: 1_000_000, confirmed: true }
    expect(await payments()).toMatchObject([
      { ...shown, sequence: 1, name: 'ann', number: String(order('ann').number), outcome: null },
      { ...shown, sequence: 2, name: 'spl', token: mint.toBase58(), amount: 300 },
      { ...shown, sequence: 3, name: 'called' },
    ])
    for (const { name, held_ms: heldMs } of await payments())
      expect(Math.abs(heldMs - 604_800_000), name).toBeLessThan(60_000)
    expect(await settle(await world.watcher())).toMatchObject([{ kind: 'idle' }])
  })

  it('show what became of them, known once however often they are read', async () => {
    const relay = keypairOfAccount(world.solana.relayAuthority)
    const counted = (name: string, sequence: bigint) => ({ ...order(name), sequence, token: null })
    await world.send(world.payer(0), pay('back'), pay('on'))
    await settle(await world.watcher())
    await world.send(
      relay,
      program().refuse(relay.publicKey, [counted('back', 4n)]),
      program().release(relay.publicKey, [counted('on', 5n)]),
    )
    const took = { kind: 'took', communityPayments: 0, outcomes: 2 }
    expect(await settle(await world.watcher())).toMatchObject([took, { kind: 'idle' }])
    const REFUSED = 1
    const RELEASED = 2
    const outcomes = async () => (await payments()).slice(-2).map(({ outcome }) => outcome)
    expect(await outcomes()).toEqual([REFUSED, RELEASED])
    await world.hub.pool.query('DELETE FROM payments')
    await world.hub.pool.query('DELETE FROM payment_cursors')
    await settle(await world.watcher())
    expect(await outcomes()).toEqual([REFUSED, RELEASED])
    expect((await names()).slice(-2)).toEqual([
      [4, 'back'],
      [5, 'on'],
    ])
  })

  it('that were judged stay so, however often they are read', async () => {
    await world.hub.pool.query('UPDATE payments SET state = 2 WHERE kind = 2')
    await world.hub.pool.query('DELETE FROM payment_cursors')
    expect((await settle(await world.watcher()))[0]).toMatchObject({
      kind: 'took',
      communityPayments: 5,
    })
    const { rows } = await world.hub.pool.query(
      'SELECT DISTINCT state FROM payments WHERE kind = 2',
    )
    expect(rows).toEqual([{ state: 2 }])
  })

  it('that no node lists are missed, looked for and found, also after a restart', async () => {
    let nowMs = Date.now()
    const hidden = await world.send(world.payer(0), pay('late'))
    await world.send(world.payer(0), pay('after'))
    world.proxy.alter = without(hidden)
    const text = expect.stringMatching(/of \d+ for names and 5 for community names are listed$/)
    const gap = { kind: 'missing', text, isAlarm: false }
    expect((await settle(await world.watcher())).at(-1)).toMatchObject(gap)
    const watcher = await world.watcher({ nowMs: () => nowMs })
    expect((await settle(watcher)).at(-1)).toMatchObject(gap)
    nowMs += 61_000
    expect(await watcher.step()).toMatchObject({ ...gap, isAlarm: true })
    expect(watcher.state.lastError).toMatch('payments are missing')
    world.proxy.alter = null
    nowMs += 6_000
    expect((await settle(watcher)).map(({ kind }) => kind)).toEqual(['took', 'idle'])
    expect((await names()).slice(-2)).toEqual([
      [6, 'late'],
      [7, 'after'],
    ])
  })

  it('that are not finalized are pending, and may vanish', async () => {
    const watcher = await world.watcher({ commitment: 'finalized' })
    await settle(watcher)
    const slot = await world.connection.getSlot('confirmed')
    const known = (await world.rows()).length
    world.proxy.alter = notFinalized(slot, known, 7)
    const signature = await world.send(world.payer(0), pay('tail'))
    expect((await settle(watcher)).at(-1)).toMatchObject({ unconfirmed: 1 })
    expect((await payments()).at(-1)).toMatchObject({ name: 'tail', confirmed: false })
    const fork = without(signature)
    world.proxy.alter = (...asked) =>
      fork(asked[0], asked[1], notFinalized(slot, known, 7)(...asked))
    await settle(watcher)
    expect((await names()).at(-1)).toEqual([7, 'after'])
    world.proxy.alter = null
    await settle(watcher)
    expect((await payments()).at(-1)).toMatchObject({ sequence: 8, name: 'tail', confirmed: true })
  })

  it('that were made long before the cursor are looked for ever further back', async () => {
    await settle(await world.watcher())
    await world.hub.pool.query('UPDATE payment_cursors SET slot = slot + 1000')
    await world.send(world.payer(0), pay('long-ago'))
    let nowMs = Date.now()
    const watcher = await world.watcher({ nowMs: () => nowMs })
    for (let search = 0; search < 5; search++) {
      await settle(watcher)
      nowMs += 6_000
    }
    expect((await names()).at(-1)).toEqual([9, 'long-ago'])
  })
})
