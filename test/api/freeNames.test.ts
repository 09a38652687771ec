import { randomBytes } from 'node:crypto'
import { json } from 'node:stream/consumers'
import { afterAll, beforeEach, expect, it } from 'vitest'
import { storedOf } from '../support/airdrop.js'
import { serve } from '../support/httpServer.js'
import { RECIPIENT, TOKEN, useCommunities } from './communityApi.js'
import { type Member, memberOf } from './members.js'
import { randomAddress } from './support.js'

/** A free name that requires a token is registered for good, so two nodes have to return the wallet's balance. */

const BLOCK = {
  number: '0x0',
  hash: `0x${'00'.repeat(32)}`,
  parentHash: `0x${'00'.repeat(32)}`,
  timestamp: '0x1',
}
/** Balance of the required token that each of two nodes returns, for any wallet. Null: the node cuts the connection. */
let balances: (bigint | null)[] = []
/** Wallet about which the first node lies: it returns 0. */
let robbed = ''
const nodes = await Promise.all(
  [0, 1].map((i) =>
    serve(async (request, response) => {
      const { id, method, params } = (await json(request)) as {
        id: number
        method: string
        params: unknown[]
      }
      const isRobbed = i === 0 && robbed !== '' && JSON.stringify(params).includes(robbed.slice(2))
      const balance = isRobbed ? 0n : (balances[i] ?? null)
      if (balance === null) return void request.socket.destroy()
      const word = (value: bigint) => value.toString(16).padStart(64, '0')
      const results: Record<string, unknown> = {
        eth_chainId: '0x7a69',
        eth_getBlockByNumber: BLOCK,
        eth_call: `0x${word(1n)}${word(balance)}`,
      }
      const body = { id, jsonrpc: '2.0', result: results[method] }
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    }),
  ),
)
afterAll(() => Promise.all(nodes.map((node) => node.stop())))

const { world, community } = useCommunities({ rpcUrls: { 1: nodes.map(({ url }) => url) } })
beforeEach(() => {
  balances = [0n, 0n]
  robbed = ''
})

const requirements = [{ kind: 'token', network: '1', token: TOKEN, minimum: '1' }]

/** Sends a registration below a community. @returns the response, and whether the name has an owner afterwards */
async function register(by: Member, name: string, of: object = {}) {
  const { status, body } = await by.call('POST', `/v1/names/community/${name}/register`, {
    name: 'ann',
    ...of,
  })
  const { rowCount } = await world.pool.query(
    `SELECT FROM community_names WHERE community = $1 AND name = 'ann'`,
    [name],
  )
  return { status, body, isRegistered: rowCount === 1 }
}

it('is given when two nodes return that the wallet has the token', async () => {
  balances = [1n, 1n]
  const { name } = await community({ requirements })
  const registered = { status: 200, isRegistered: true }
  expect(await register(await memberOf(world), name)).toMatchObject(registered)
})

it('is refused when two nodes return that the wallet does not have the token', async () => {
  const { name } = await community({ requirements })
  const refused = { status: 403, body: { error: 'requirements_not_met' }, isRegistered: false }
  expect(await register(await memberOf(world), name)).toMatchObject(refused)
})

it('is not given to an owner’s friend while one node hides the token of a wallet that pays for it', async () => {
  balances = [1n, 1n]
  const payer = randomAddress()
  const price = { network: '1', token: 'native', amount: '100', recipient: RECIPIENT }
  const { name, owner } = await community({ prices: [price], requirements })
  await storePayment(name, payer)
  robbed = payer
  const taken = { status: 409, body: { error: 'not_available' }, isRegistered: false }
  expect(await register(owner, name, { walletAddress: randomAddress() })).toMatchObject(taken)
})

it.each([
  ['the first node invents the token', [1n, 0n], /contradict each other/],
  ['the first node hides the token', [0n, 1n], /contradict each other/],
  ['the second node does not answer', [1n, null], /does not answer/],
  ['the first node does not answer', [null, 1n], /does not answer/],
])('is neither given nor refused while %s', async (_, given, sentence) => {
  balances = given
  const { name } = await community({ requirements })
  const body = { error: 'unavailable', message: expect.stringMatching(sentence) }
  const undecided = { status: 503, body, isRegistered: false }
  expect(await register(await memberOf(world), name)).toMatchObject(undecided)
})

/** Stores an unconfirmed payment, as the indexer does. */
async function storePayment(community: string, payer: string): Promise<void> {
  const sql = `INSERT INTO payments (network, id, kind, chain, state, tx, block, sequence, payer, token, amount, name_word,
      name, paid_ms, community_word, community, recipient, number)
    SELECT 0, $1, 2, chain, 0, $1, 5, 1, $2, 'native', 100, '\\x00', 'ann', 1, '\\x00', $3, $4, 1
    FROM chains WHERE network = 0 AND label = '1'`
  await world.pool.query(sql, [randomBytes(32), storedOf(payer), community, RECIPIENT])
}
