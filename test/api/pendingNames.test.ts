import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { afterAll, expect, it } from 'vitest'
import { storedOf } from '../support/airdrop.js'
import { RECIPIENT, useCommunities } from './communityApi.js'
import { memberOf } from './members.js'
import { randomAddress } from './support.js'

/** A pending payment reserves a name below a community only if its payer meets the requirements. */

let isSilent = false
/** A node that does not answer, or only answers with its chain id. */
const node = createServer(async (req, res) => {
  const { id, method } = (await json(req)) as { id: number; method: string }
  const block = {
    number: '0x0',
    hash: `0x${'00'.repeat(32)}`,
    parentHash: `0x${'00'.repeat(32)}`,
    timestamp: '0x1',
  }
  const results: Record<string, unknown> = { eth_chainId: '0x7a69', eth_getBlockByNumber: block }
  const result = results[method]
  if (!isSilent) req.socket.destroy()
  else if (result)
    res
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ id, jsonrpc: '2.0', result }))
})
await once(node.listen(0, '127.0.0.1'), 'listening')
afterAll(() => {
  node.closeAllConnections()
  node.close()
})
const { world, community } = useCommunities({
  rpcUrls: { 1: `http://127.0.0.1:${(node.address() as AddressInfo).port}` },
})

/** Stores a payment like the indexer that has seen it. */
async function seen(name: string, below: string, payer: string, amount = '100'): Promise<void> {
  const { pool } = world
  const { rows } = await pool.query(`SELECT chain FROM chains WHERE network = 0 AND label = '1'`)
  const sql = `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word,
      name, paid_ms, community_word, community, recipient, number)
    VALUES (0, $1, 2, $2, 0, $1, 5, $3, $4, 'native', $5, '\\x00', $6, $3, '\\x00', $7, $8, 1)`
  const at = Date.now() + Math.floor(Math.random() * 1e6)
  await pool.query(sql, [
    randomBytes(32),
    rows[0].chain,
    at,
    storedOf(payer),
    amount,
    below,
    name,
    RECIPIENT,
  ])
}

const available = async (name: string, below: string) =>
  (await world.get(`/v1/names/community/${name}/check/${below}`)).body

it('a payment by a payer who does not meet the requirements reserves no name', async () => {
  const buyer = await memberOf(world)
  const friend = randomAddress()
  const requirements = [{ kind: 'allowlist', addresses: [buyer.address, friend] }]
  const { name } = await community({
    prices: [{ network: '1', token: 'native', amount: '100', recipient: RECIPIENT }],
    requirements,
  })
  for (let i = 0; i < 9; i++) await seen(name, 'wished', randomAddress())
  expect(await available(name, 'wished')).toMatchObject({ isAvailable: true })
  expect(
    (await buyer.call('POST', `/v1/names/community/${name}/register`, { name: 'wished' })).body,
  ).toMatchObject({
    transactionInfo: { type: 'evm' },
  })
  await seen(name, 'other', friend)
  expect(await available(name, 'other')).toMatchObject({ isAvailable: false, reason: 'pending' })
  expect(
    await buyer.call('POST', `/v1/names/community/${name}/register`, { name: 'other' }),
  ).toMatchObject({ status: 409, body: { error: 'not_available' } })
})

it('a payment reserves the name without requirements, and where their chain is unavailable', async () => {
  const { name } = await community({
    prices: [{ network: '1', token: 'native', amount: '100', recipient: RECIPIENT }],
  })
  await seen(name, 'wished', randomAddress(), '99')
  expect(await available(name, 'wished')).toMatchObject({ isAvailable: true })
  await seen(name, 'wished', randomAddress())
  expect(await available(name, 'wished')).toMatchObject({ isAvailable: false, reason: 'pending' })
  const token = { kind: 'token', network: '1', token: `0x${'66'.repeat(20)}`, minimum: '1' }
  const gated = await community({
    prices: [{ network: '1', token: 'native', amount: '100', recipient: RECIPIENT }],
    requirements: [token],
  })
  await seen(gated.name, 'wished', randomAddress())
  expect(await available(gated.name, 'wished')).toMatchObject({
    isAvailable: false,
    reason: 'pending',
  })
})

it('a payment reserves the name, after a short wait, where the chain never answers', async () => {
  const token = { kind: 'token', network: '1', token: `0x${'66'.repeat(20)}`, minimum: '1' }
  const { name } = await community({
    prices: [{ network: '1', token: 'native', amount: '100', recipient: RECIPIENT }],
    requirements: [token],
  })
  await seen(name, 'wished', randomAddress())
  isSilent = true
  const beganMs = performance.now()
  expect(await available(name, 'wished')).toMatchObject({ isAvailable: false, reason: 'pending' })
  expect(performance.now() - beganMs).toBeLessThan(20_000)
})
