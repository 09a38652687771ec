import { Keypair, PublicKey, SystemProgram } from '@solana/web3.js'
import bs58 from 'bs58'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { configureCommunity } from '../../src/api/communities/communities.js'
import { createRequestContexts } from '../../src/api/http/context.js'
import type { OpenedSolanaChain } from '../../src/daemon/families/solana.js'
import { communityRulesInputCodec } from '../../src/registry/community/rules.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { createMint } from '../support/solanaTokens.js'
import { useSolanaWorld } from './solanaWorld.js'

/** Work at a Solana node that anybody can cause without a key. */

/** What strangers may ask of a node for one kind of question: at once, and waiting. */
const AT_ONCE = 32
const WAITING = 200
/** More than a mint, or a token account, with what the node says of it. */
const ANSWER_CHARS = 1_000

const world = await useSolanaWorld()
let open: OpenedSolanaChain
beforeAll(async () => {
  open = await world.open()
  await world.hub.pool.query('UPDATE journal_heads SET caught_up = true')
})
afterEach(() => {
  world.proxy.counts.clear()
})

const address = () => Keypair.generate().publicKey.toBase58()
const statusOf = (signature: string) => world.request('GET', `/v1/names/register/tx/${signature}`)

describe('the balances of a requirement', () => {
  it('cost a small answer, whatever account is named as a token', async () => {
    const { programId } = world.registrar
    const loader = new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111')
    const [code] = PublicKey.findProgramAddressSync([programId.toBytes()], loader)
    expect((await world.connection.getAccountInfo(code))!.data.length).toBeGreaterThan(
      10 * ANSWER_CHARS,
    )
    const sizes: number[] = []
    world.proxy.alter = (_method, _params, result) => {
      sizes.push(JSON.stringify(result ?? null).length)
      return result
    }
    expect(await open.chain.tokenBalance(code.toBase58(), address())).toBe(0n)
    expect(await open.chain.isToken!(code.toBase58())).toBe(false)
    const price = { network: 'solana', token: code.toBase58(), amount: 1n, recipient: address() }
    const asked = { community: 'club', name: 'ann', price, payer: address(), referral: null }
    await expect(open.chain.communityPayment(asked)).rejects.toThrow('is no token of')
    for (const size of sizes) expect(size).toBeLessThan(ANSWER_CHARS)
  })

  it('are those of mints alone: a community can not name anything else', async () => {
    const chains = [(await world.hub.open()).chain]
    const config = { serviceDomain: 'localhost', tokenKey: Buffer.alloc(32, 7) }
    const { mainnet: context } = createRequestContexts({
      pool: world.hub.pool,
      chains: [...chains, open.chain],
      config,
    })
    const author = { wallet: fromHex(`0x01${'ab'.repeat(20)}`) }
    const configure = (token: string) => {
      const requirements = [{ kind: 'token', network: 'solana', token, minimum: '1' }]
      return configureCommunity(context, author, {
        name: 'club',
        rules: communityRulesInputCodec.parse({ requirements }),
      })
    }
    await expect(configure(world.registrar.id)).rejects.toMatchObject({
      code: 'invalid_request',
      extra: { details: [{ path: 'requirements[0].token', message: 'is no mint there' }] },
    })
    const mint = await createMint(world.connection, world.payer(2))
    // nobody holds the name
    await expect(configure(mint.toBase58())).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are asked for once in a while', async () => {
    const token = address()
    const wallet = address()
    await Promise.all(Array.from({ length: 50 }, () => open.chain.recentBalance!(token, wallet)))
    expect(world.proxy.counts.get('getTokenAccountsByOwner')).toBe(1)
  })

  it('delay no payment, however many are asked for', async () => {
    const ask = () => open.chain.tokenBalance(address(), address())
    const flood = Promise.allSettled(Array.from({ length: 1_000 }, ask))
    expect(await open.chain.balances.tokenBalance(address(), address())).toBe(0n)
    const refused = (await flood).filter(({ status }) => status === 'rejected')
    expect(refused.length).toBeGreaterThanOrEqual(1_000 - AT_ONCE - WAITING)
  })
})

describe('the status of a signature', () => {
  it('is not remembered while the node does not show what the transaction did', async () => {
    const from = world.payer(1)
    const to = Keypair.generate().publicKey
    const transfer = SystemProgram.transfer({
      fromPubkey: from.publicKey,
      toPubkey: to,
      lamports: 10_000_000,
    })
    const signature = await world.send(from, transfer)
    world.proxy.alter = (method, _, result) => (method === 'getTransaction' ? null : result)
    expect((await statusOf(signature)).body).toMatchObject({ tx: signature, status: 'pending' })
    const { rows } = await world.hub.pool.query('SELECT FROM tracked_txs WHERE hash = $1', [
      bs58.decode(signature),
    ])
    expect(rows).toEqual([])
  })

  it('is asked for once, by however many', async () => {
    const signature = bs58.encode(Buffer.alloc(64, 7))
    const all = await Promise.all(
      Array.from({ length: 50 }, () => open.chain.transaction(signature)),
    )
    for (const { state } of all) expect(state).toBe('unknown')
    expect(world.proxy.counts.get('getSignatureStatuses')).toBe(1)
  })
})
