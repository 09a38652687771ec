import http from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, describe, expect, it } from 'vitest'
import { LIMITS } from '../push/limits.js'
import { alive } from '../push/memory.js'
import { storedOf } from '../support/airdrop.js'
import { listWallet, plantPrivate } from './plant.js'
import { bid, freshName, randomAddress, useApi } from './support.js'
import { solanaAccount } from './wallets.js'

const HOLDERS = 100_000
const MOST_BYTES = 30 * 1024 * 1024
/** Largest body that a join accepts. */
const MOST_JOINED = 8 * 1024 * 1024
const WAIT = { timeout: 60_000, interval: 100 }

const world = useApi({ limits: LIMITS })
const name = freshName()
const alice = randomAddress()
const listed = randomAddress()
const warm = randomAddress()
const cold = solanaAccount().address

/** Address with its own cluster, a name and a Solana wallet. */
const holder = (i: number): string => `0x${(i + 1).toString(16).padStart(40, '0')}`
const holders = Array.from({ length: HOLDERS }, (_, i) => holder(i)).join('\n')

beforeAll(async () => {
  await world.append('mainnet', [bid({ from: alice, name })])
  for (const [wallet, address] of Object.entries({ cold, listed }))
    await listWallet(world, { name, address, wallet, isPrivate: false })
  await world.pool.query('UPDATE wallets SET verified = true WHERE address = $1', [storedOf(cold)])
  const each = `generate_series(0, ${HOLDERS - 1}) i`
  await world.pool.query(
    `INSERT INTO names SELECT 0, 1000 + i, NULL, 'h-' || i, 1000 + i, 1, false, 10 FROM ${each}`,
  )
  for (const [type, digits, wallet] of ['01 40 main', '02 64 sol'].map((row) => row.split(' ')))
    await world.pool.query(
      `INSERT INTO wallets SELECT 0, 1000 + i, decode($1 || lpad(to_hex(i + 1), $2, '0'), 'hex'), $3, true, false,
         false, 10, 10 FROM ${each}`,
      [type, digits, wallet],
    )
})

/** Sends a body, and takes the response without reading it. */
const open = (body: string | Buffer, query = ''): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    const sent = http.request(
      `${world.url}/v1/wallets?${query}`,
      { method: 'POST', agent: false },
      resolve,
    )
    sent.on('error', reject)
    sent.end(body)
  })
const rowsOf = (lines: string) => JSON.parse(`[${lines.trimEnd().replaceAll('\n', ',')}]`)
const join = async (body: unknown, query = '') => {
  const answer = await open(typeof body === 'string' ? body : JSON.stringify(body), query)
  expect(answer.headers['content-type']).toBe('application/x-ndjson')
  return rowsOf(await text(answer))
}
/** Counts the joins' statements. A spy would keep their rows in memory. */
function counted(each = (_count: number, _values: readonly unknown[]): unknown => 0) {
  const plain = world.pool.query
  const asked = { count: 0, end: () => Object.assign(world.pool, { query: plain }) }
  const query = (config: { text?: string; values: readonly unknown[] }) => {
    if (config.text?.includes('string_agg(w.name')) each(++asked.count, config.values)
    return Reflect.apply(plain, world.pool, [config])
  }
  Object.assign(world.pool, { query })
  return asked
}
const asOf = async () => (await world.get('/v1/events?orderBy=newest&limit=1')).body.items[0].id

describe('POST /v1/wallets', () => {
  const main = { address: alice, type: 'evm', name: 'main' }
  const sol = { address: cold, type: 'solana', name: 'cold' }

  it('returns a line for each address, in order, from the bundle in which it is verified', async () => {
    const inputs = [
      cold,
      'junk',
      alice.toUpperCase().replace('X', 'x'),
      listed,
      randomAddress(),
      cold,
    ]
    const known = { clusterName: name, wallets: [main, sol], asOf: await asOf() }
    const unknown = { clusterName: null, wallets: null, asOf: known.asOf }
    const rows = inputs.map((input, i) => ({
      input,
      ...(i % 5 === 0 || i === 2 ? known : unknown),
    }))
    expect(await join(inputs)).toEqual(rows)
    expect(await join(`${inputs.join('\n')}\n`), 'lines').toEqual(rows)
    expect(await join(`${inputs.join('\r\n')}\r\n`), 'lines of Windows').toEqual(rows)
    expect(await join(inputs.map((one) => JSON.stringify(one)).join('\n'))).toEqual(rows)
    expect((await join([alice], 'testnet=true'))[0]).toEqual({
      ...unknown,
      input: alice,
      asOf: 't-1-0',
    })
    expect(await text(await open('[]'))).toBe('')
  })

  it('lists wallets of the types asked for, and refuses others', async () => {
    expect(await join([alice], 'types=solana')).toMatchObject([{ wallets: [sol] }])
    expect(await join([alice], 'types=evm')).toMatchObject([{ wallets: [main] }])
    let asked = ' '.repeat(999)
    const { end } = counted((_, values) => (asked = String(values)))
    expect(await join([alice], `types=${'cosmos,'.repeat(500)}solana,evm`)).toMatchObject([
      { wallets: [main, sol] },
    ])
    end()
    expect(asked.length, 'each kind once').toBeLessThan(500)
    await world.append('mainnet', [bid({ from: warm, name: freshName() })])
    expect(await join([warm], 'types=solana')).toMatchObject([{ wallets: [] }])
  })

  it.each(['types=tron', 'types=evm,', 'types=evm&types=solana'])('refuses %s', async (query) => {
    expect((await open(`["${alice}"]`, query)).statusCode).toBe(400)
  })

  it('shows no private wallet, and at most twenty wallets of a bundle', async () => {
    const { hidden } = await plantPrivate(world)
    expect(await join([hidden])).toMatchObject([{ clusterName: null, wallets: null }])
    await world.pool.query(
      `INSERT INTO wallets SELECT 0, 1000, decode('01' || lpad(to_hex(i), 40, 'f'), 'hex'), 'w' || i, true, i < 110,
         false, i, i FROM generate_series(100, 140) i`,
    )
    const [{ wallets }] = await join([holder(0)])
    const rest = Array.from({ length: 18 }, (_, i) => `w${110 + i}`)
    expect(wallets.map((wallet: { name: string }) => wallet.name)).toEqual(['main', 'sol', ...rest])
    await world.pool.query(
      `UPDATE wallets SET created_seq = 200 WHERE cluster = 1000 AND name = 'sol'`,
    )
    expect(await join([holder(0)], 'types=solana')).toMatchObject([{ wallets: [{ name: 'sol' }] }])
  })

  it.each([
    ['0x12,5\n', 'invalid_request', 400],
    [`${alice}\n{"address":"${alice}"}`, 'invalid_request', 400],
    ['x'.repeat(129), 'invalid_request', 400],
    ['x\n'.repeat(HOLDERS + 1), 'too_many', 400],
    [Buffer.alloc(MOST_JOINED + 1, ' '), 'invalid_request', 413],
  ])('refuses %#, before a line is sent', async (body, error, status) => {
    const answer = await open(body)
    expect(answer.statusCode).toBe(status)
    expect(JSON.parse(await text(answer))).toMatchObject({ error, status })
  })

  it('reads a thousand addresses per statement, and uses at most 30 MiB', async () => {
    const before = alive()
    const kept: number[] = []
    const asked = counted((count) => count % 30 === 1 && kept.push(alive() - before))
    let lines = 0
    for await (const chunk of await open(holders)) lines += String(chunk).split('\n').length - 1
    asked.end()
    expect([lines, asked.count]).toEqual([HOLDERS, HOLDERS / 1_000])
    expect(Math.max(...kept)).toBeLessThan(MOST_BYTES)
  })

  it('waits for a slow reader without a database connection, and reports why it ends', async () => {
    const asked = counted()
    const [slow, gone] = await Promise.all([open(holders), open(holders)])
    const third = await open(Buffer.alloc(MOST_JOINED, ' '))
    expect([third.statusCode, third.headers['retry-after']]).toEqual([429, '5'])
    for (let before = -1; before < asked.count; await setTimeout(1_000)) before = asked.count
    expect(asked.count).toBeLessThan((2 * HOLDERS) / 1_000)
    expect([world.pool.idleCount, world.pool.waitingCount]).toEqual([world.pool.totalCount, 0])
    gone.destroy()
    await expect.poll(async () => (await open(alice)).statusCode, WAIT).toBe(200)
    await world.pool.query('ALTER TABLE wallets_mainnet RENAME TO wallets_away')
    expect((await open(alice)).statusCode).toBe(500)
    const rows = rowsOf(await text(slow))
    await world.pool.query('ALTER TABLE wallets_away RENAME TO wallets_mainnet')
    expect(rows.at(-1)).toMatchObject({ status: 500, error: 'internal' })
    expect(rows.length % 1_000).toBe(1)
    expect(rows[0].input).toBe(holder(0))
    asked.end()
  })
})

/** Lines of the largest join. */
const MOST_LINES = Array.from({ length: HOLDERS }, (_, i) => holder(i).padEnd(82))
  .join('\n')
  .padEnd(MOST_JOINED)

/** Opens joins of the largest size from an address, whose answers are not read. @returns their connections */
const holdJoins = (localAddress: string, count: number, body = '') =>
  Array.from({ length: count }, () => {
    const length = body === '' ? MOST_JOINED : body.length
    const socket = connect({
      port: Number(new URL(world.url).port),
      host: '127.0.0.1',
      localAddress,
    })
    socket.on('error', () => {})
    socket.pause()
    socket.write(`POST /v1/wallets HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\n${body}`)
    return socket
  })

describe.each([
  ['heads without bodies', ''],
  ['answers that are not read', MOST_LINES],
])('joins of four addresses that hold all bytes by %s', (_what, body) => {
  it('give way to a join of another address', async () => {
    const held = [2, 3, 4, 5].flatMap((i) => holdJoins(`127.0.0.${i}`, 3, body))
    await setTimeout(body === '' ? 500 : 3_000)
    expect(await join([alice])).toHaveLength(1)
    expect(await join(Array(1_000).fill(alice))).toHaveLength(1_000)
    for (const socket of held) socket.destroy()
    await expect.poll(async () => (await open(alice)).statusCode, WAIT).toBe(200)
  })
})

it('a join whose connection ends before its turn frees its place', async () => {
  const join = 'POST /v1/wallets HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n[]'
  for (let i = 0; i < 4; i++) {
    const socket = connect(Number(new URL(world.url).port), '127.0.0.1')
    socket.on('error', () => {})
    socket.write(
      `GET /v1/names/address/${randomAddress()} HTTP/1.1\r\nHost: a\r\n\r\n${join}${join}`,
    )
    await setTimeout(1)
    socket.destroy()
  }
  const ask = async () =>
    (await fetch(`${world.url}/v1/wallets`, { method: 'POST', body: '[]' })).status
  await expect.poll(ask, { timeout: 10_000, interval: 500 }).toBe(200)
})
