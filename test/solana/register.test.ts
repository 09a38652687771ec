import { PublicKey, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import { createWalletClient, type Hex, http } from 'viem'
import { foundry } from 'viem/chains'
import { beforeAll, describe, expect, it } from 'vitest'
import { priceFeedAbi } from '../../contracts/evm/artifacts/local/PriceFeed.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { HUB_DELIVERY_GAS } from '../../src/chains/solana/quote.js'
import { writePaymentOutcomes } from '../../src/db/payments/payments.js'
import { inTransaction } from '../../src/db/pg/pool.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { MINIMUM_WEI } from '../support/hubWorld.js'
import { waitForReceipt } from '../support/receipt.js'
import type { LegacyTransaction } from '../support/solanaTokens.js'
import { useSolanaWorld } from './solanaWorld.js'

const world = await useSolanaWorld()
beforeAll(() => index())

/** Longer than the quotes of two seconds, which share one reading of prices and blockhash. */
const SERVED_MS = 2_100
const PATH = '/v1/names/register/solana'
const owner = () =>
  createWalletClient({
    chain: chain(),
    account: world.hub.wallet(9),
    transport: http(world.hub.anvil.rpcUrl),
  })
const chain = () => ({ ...foundry, id: world.hub.config.chainId })
const sender = (i = 0) => world.payer(i).publicKey.toBase58()
const quote = (names: unknown[], changes: object = {}, path = PATH) =>
  world.request('POST', path, { network: 'solana', sender: sender(), names, ...changes })
const status = async (tx: string, query = '') =>
  (await world.request('GET', `/v1/names/register/tx/${tx}${query}`)).body
const watch = async () => {
  const watcher = await world.watcher()
  while ((await watcher.step()).kind === 'took');
}

/** Indexes the hub as far as it is. */
async function index(): Promise<void> {
  await world.hub.test.mine({ blocks: 3 })
  const indexer = await world.hub.restart()
  for (let i = 0; i < 20; i++) if ((await indexer.step()).kind === 'idle') return
}

/** Brings a payment to the hub, as the relayer does. @returns gas used */
async function deliver(name: string): Promise<bigint> {
  const { rows } = await world.hub.pool.query<{
    id: Buffer
    payer: Buffer
    amount_wei: string
    source: Buffer
    sequence: string
    referral: Buffer | null
  }>(
    'SELECT id, payer, amount_wei, referral, source, sequence FROM payments WHERE name_word = $1',
    [nameToWord(name)],
  )
  const { payer, amount_wei: wei, referral, source, sequence } = rows[0]!
  const delivery = {
    source: toHex(source),
    sequence: BigInt(sequence),
    from: toHex(payer.subarray(1)),
    amounts: [BigInt(wei)],
    names: [toHex(nameToWord(name))],
    referral: toHex(referral ?? Buffer.alloc(32)),
  }
  const hash = await owner().writeContract({
    address: world.hub.hub,
    abi: hubAbi,
    functionName: 'deliver',
    args: [[delivery]],
  })
  return (await waitForReceipt(world.hub.public, hash)).gasUsed
}

const setPrice = async (feed: Hex, answer: bigint, ageS = 0) => {
  const { timestamp } = await world.hub.public.getBlock()
  const at = BigInt(Math.floor(Date.now() / 1_000) - ageS)
  const args = [answer, ageS === 0 && timestamp > at ? timestamp : at] as const
  const hash = await owner().writeContract({
    address: feed,
    abi: priceFeedAbi,
    functionName: 'setRound',
    args,
  })
  await waitForReceipt(world.hub.public, hash)
  await new Promise((resolve) => setTimeout(resolve, SERVED_MS))
}

describe('a quote on Solana', () => {
  it('has one transaction a name, which a wallet signs and the program takes', async () => {
    const { status: http_, body } = await quote([
      { name: 'Quoted-A' },
      { name: 'quoted-b', amountWei: '20000000000000000' },
    ])
    expect(http_, JSON.stringify(body)).toBe(200)
    const q = body as { [key: string]: never } & Quote
    // 3,000 $ an ETH, 150 $ a SOL: 0.01 ETH are 0.2 SOL
    expect(q).toMatchObject({
      type: 'solana',
      gasToken: { symbol: 'SOL', decimals: 'lamports' },
      registrationFee: '600000000',
      names: [
        { name: 'quoted-a', amountWei: MINIMUM_WEI.toString(), amount: '200000000' },
        { name: 'quoted-b', amountWei: '20000000000000000', amount: '400000000' },
      ],
    })
    expect(BigInt(q.bridgeFee) % 2n).toBe(0n)
    expect(q.transactionData).toHaveLength(2)
    const fee = BigInt(q.bridgeFee) / 2n
    const before = await world.connection.getBalance(world.registrar.treasury)
    await world.sign(world.payer(0), q.transactionData[0]!)
    expect(BigInt((await world.connection.getBalance(world.registrar.treasury)) - before)).toBe(
      200_000_000n + fee,
    )
    await world.sign(world.payer(0), q.transactionData[1]!)
    await watch()
    const { rows } = await world.hub.pool.query(
      'SELECT verdict FROM payments ORDER BY sequence DESC LIMIT 2',
    )
    expect(rows).toEqual([{ verdict: 1 }, { verdict: 1 }])
  })

  it('has an alias, and comes in the old shape from v0.1', async () => {
    expect((await quote([{ name: 'aliased' }], {}, '/v1/register/solana')).status).toBe(200)
    const { status: http_, body } = await quote([{ name: 'old-shape' }], {}, '/v0.1/register')
    expect(http_, JSON.stringify(body)).toBe(200)
    const [tx] = (body as { transactionData: LegacyTransaction[] }).transactionData
    const fields = [
      'bridgeFee',
      'expiresAt',
      'gasToken',
      'names',
      'registrationFee',
      'transactionData',
    ]
    expect(Object.keys(body).sort()).toEqual(fields)
    expect(tx).toMatchObject({ feePayer: sender(), nonceInfo: null, signers: [] })
    // clients assemble the transaction like this
    const rebuilt = new Transaction({
      feePayer: new PublicKey(tx!.feePayer),
      recentBlockhash: tx!.recentBlockhash,
    })
    for (const { keys, programId, data } of tx!.instructions)
      rebuilt.add(
        new TransactionInstruction({
          keys: keys.map(({ pubkey, ...meta }) => ({ pubkey: new PublicKey(pubkey), ...meta })),
          programId: new PublicKey(programId),
          data: Buffer.from(data),
        }),
      )
    expect(rebuilt.instructions).toHaveLength(1)
    await world.sign(
      world.payer(0),
      rebuilt.serialize({ requireAllSignatures: false }).toString('base64'),
    )
    await watch()
  })

  it.each<[string, object, number, string]>([
    ['an EVM sender', { sender: `0x${'ab'.repeat(20)}` }, 400, 'invalid_sender'],
    ['no address', { sender: 'nobody' }, 400, 'unsupported_address'],
    ['a sender of 50,000 characters', { sender: '1'.repeat(50_000) }, 400, 'unsupported_address'],
    ['an EVM network', { network: '1' }, 400, 'unsupported_network'],
    ['an invalid name', { names: [{ name: 'ä' }] }, 400, 'invalid_name'],
    ['a name twice', { names: [{ name: 'a' }, { name: 'A' }] }, 400, 'invalid_request'],
    ['no names', { names: [] }, 400, 'invalid_request'],
    ['less than the minimum', { names: [{ name: 'a', amountWei: '1' }] }, 400, 'invalid_amount'],
    [
      'more than the program counts',
      { names: [{ name: 'a', amountWei: (2n ** 128n).toString() }] },
      400,
      'invalid_amount',
    ],
    [
      'more lamports than there are',
      { names: [{ name: 'a', amountWei: String(2n ** 127n) }] },
      400,
      'invalid_amount',
    ],
    [
      'two amounts',
      { names: [{ name: 'a', amountWei: '1', weiAmount: '1' }] },
      400,
      'invalid_amount',
    ],
    [
      '101 names',
      { names: Array.from({ length: 101 }, (_, i) => ({ name: `n${i}` })) },
      400,
      'too_many',
    ],
    ['an invalid referrer', { referralClusterId: '0x00' }, 400, 'invalid_request'],
  ])('is refused for %s', async (_, changes, http_, error) => {
    expect(await quote([{ name: 'fine' }], changes)).toMatchObject({
      status: http_,
      body: { status: http_, error },
    })
  })

  it('is not given on the testnet, which has no cluster here', async () => {
    expect(await quote([{ name: 'x' }], {}, `${PATH}?testnet=true`)).toMatchObject({
      status: 400,
      body: {
        error: 'unsupported_network',
        message: expect.stringContaining(' solana (mainnet) at /v1/names/register/solana'),
      },
    })
  })

  it('costs what a delivery burns, and no less', async () => {
    const first = await deliver('quoted-a')
    expect(first).toBeLessThan(HUB_DELIVERY_GAS)
    expect(HUB_DELIVERY_GAS).toBeLessThan((first * 3n) / 2n)
  })

  it('is 503 while a price is stale, has jumped or can’t be read, and recovers automatically', async () => {
    const { solUsd } = world.feeds
    const unavailable = { status: 503, body: { status: 503, error: 'unavailable' } }
    const prices = [
      { name: 'stale', dollars: 150n, ageS: 100_000 },
      { name: 'halved', dollars: 75n, ageS: 0 },
      { name: 'zero', dollars: 0n, ageS: 0 },
    ]
    for (const { name, dollars, ageS } of prices) {
      await setPrice(solUsd, dollars * 10n ** 8n, ageS)
      expect(await quote([{ name: 'x' }]), name).toMatchObject(unavailable)
    }
    await setPrice(solUsd, 155n * 10n ** 8n)
    expect(await quote([{ name: 'x' }])).toMatchObject({ status: 200 })
    world.proxy.isDown = true
    await new Promise((resolve) => setTimeout(resolve, SERVED_MS))
    expect(await quote([{ name: 'x' }])).toMatchObject(unavailable)
  })
})

describe('the status of a payment', () => {
  it('is bridging, then what the hub decided, and a name that is taken is quoted no more', async () => {
    const won = await world.pay(world.payer(1), 'wanted')
    expect(await status(won)).toMatchObject({
      tx: won,
      status: 'pending',
      confirmations: { have: 1, need: 1 },
    })
    const lost = await world.pay(world.payer(2), 'wanted-too', 'second')
    await watch()
    expect(await status(won)).toMatchObject({
      status: 'bridging',
      network: 'solana',
      paid: { token: 'native', amount: expect.stringMatching(/^[1-9][0-9]*$/) },
      names: [{ name: 'wanted', outcome: 'bridging' }],
    })
    await world.hub.bid(3, ['wanted-too'])
    await deliver('wanted')
    await deliver('wanted-too')
    await index()
    expect(await status(won)).toMatchObject({
      status: 'finalized',
      hubTx: expect.stringMatching(/^0x/),
      block: expect.any(Number),
      hubBlock: expect.any(Number),
    })
    expect(await status(lost)).toMatchObject({
      status: 'lost_bid',
      reason: 'name_taken',
      refund: 'held',
      names: [
        { name: 'wanted-too', outcome: 'lost' },
        { name: 'second', outcome: 'bridging' },
      ],
    })
    expect(await quote([{ name: 'free' }, { name: 'wanted' }])).toMatchObject({
      status: 409,
      body: { error: 'names_unavailable', names: ['wanted'] },
    })
    // terminal ones are answered from our rows
    world.proxy.isDown = true
    expect(await status(won)).toMatchObject({ status: 'finalized' })
    expect((await world.request('GET', `/v0.1/register/tx/${won}`)).body).toEqual({
      tx: won,
      status: 'finalized',
    })
  })

  it('that keeps to no quote of ours is invalid', async () => {
    const { terms, id } = world.quoted(world.payer(1).publicKey, 'cheap')
    const { registrar } = world
    const tx = await world.send(world.payer(1), registrar.register({ ...terms, lamports: 5n }, id))
    await watch()
    expect(await status(tx)).toMatchObject({
      status: 'invalid',
      reason: 'quote_mismatch',
      names: [{ name: 'cheap', outcome: 'refused' }],
    })
  })

  it('that its payer took back, before the hub had it, is invalid', async () => {
    const tx = await world.pay(world.payer(1), 'taken-back')
    await watch()
    expect(await status(tx)).toMatchObject({ status: 'bridging' })
    const { pool } = world.hub
    const { rows } = await pool.query('SELECT chain, id FROM payments WHERE tx = $1', [
      Buffer.from(bs58.decode(tx)),
    ])
    const outcome = { id: rows[0].id, outcome: 'reclaimed', block: 1 } as const
    await inTransaction(pool, (client) =>
      writePaymentOutcomes(client, { network: 'mainnet', chain: rows[0].chain }, [outcome]),
    )
    expect(await status(tx)).toMatchObject({
      status: 'invalid',
      reason: 'reclaimed',
      names: [{ name: 'taken-back', outcome: 'refused' }],
    })
  })
})

describe('the status of another transaction', () => {
  it('that failed is invalid, and stays so when the cluster has forgotten it', async () => {
    const { terms, id } = world.quoted(world.payer(0).publicKey, 'expired', { expiresAt: 1n })
    const tx = await world.send(world.payer(0), world.registrar.register(terms, id))
    expect(await status(tx)).toMatchObject({ status: 'invalid', reason: 'reverted' })
    world.proxy.isDown = true
    expect(await status(tx)).toMatchObject({ status: 'invalid', reason: 'reverted' })
  })

  it('that paid nothing is invalid', async () => {
    const from = world.payer(0)
    const to = world.payer(1).publicKey
    const transfer = SystemProgram.transfer({
      fromPubkey: from.publicKey,
      toPubkey: to,
      lamports: 1_000_000,
    })
    const signature = await world.send(from, transfer)
    expect(await status(signature)).toMatchObject({
      status: 'invalid',
      reason: 'not_a_registration',
    })
    const row = await world.hub.pool.query('SELECT FROM tracked_txs WHERE hash = $1', [
      bs58.decode(signature),
    ])
    expect(row.rowCount).toBe(0)
  })

  it('is refused for a network that is not deployed', async () => {
    const unknown = bs58.encode(Buffer.alloc(64, 200))
    expect(await status(unknown, '?testnet=true')).toMatchObject({
      status: 400,
      error: 'unsupported_network',
    })
  })

  it('that nobody knows is not found; a wrong length is refused, a cluster that is away is 503', async () => {
    const unknown = bs58.encode(Buffer.alloc(64, 200))
    expect(await status(unknown)).toEqual({ tx: unknown, status: 'not_found' })
    const { rows } = await world.hub.pool.query('SELECT 1 FROM tracked_txs WHERE hash = $1', [
      Buffer.alloc(64, 200),
    ])
    expect(rows).toEqual([])
    for (const length of [32, 63, 65])
      expect(await status(bs58.encode(Buffer.alloc(length, 200))), `${length} bytes`).toMatchObject(
        { error: 'invalid_request' },
      )
    world.proxy.isDown = true
    expect(await status(bs58.encode(Buffer.alloc(64, 201)))).toMatchObject({
      status: 503,
      error: 'unavailable',
    })
  })
})

interface Quote {
  bridgeFee: string
  transactionData: string[]
}
