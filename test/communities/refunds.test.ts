import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { encodeFunctionData, type Hex, pad } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import {
  testSmartWalletAbi,
  testSmartWalletBytecode,
} from '../../contracts/evm/artifacts/test-doubles/TestSmartWallet.js'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { createLocalBuckets, RequestMeter } from '../../src/api/limits/meter.js'
import { refundsJson, refundsOfAddress } from '../../src/api/v1/refunds.js'
import { createEvmChain, createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { readFormerPaymentsContracts, storePaymentsContract } from '../../src/db/outbox/contract.js'
import { MAX_OWED_ITEMS_PER_RESPONSE } from '../../src/db/outbox/owed.js'
import { fromHex, toHex } from '../../src/registry/primitives/bytes.js'
import { deployPayments, SPOKE_EID } from '../support/bridgeContracts.js'
import { MINIMUM_WEI, placeBids } from '../support/bridgeWorld.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'
import { type Label, startCommunityWorld } from './communityWorld.js'

/** Owed money is shown, and the offered transaction withdraws it when it is sent unchanged. */

const PRICE = 1_000n
const NOBODY = `0x${'ab'.repeat(20)}` as const
const at = useWorld(() => startCommunityWorld(['club', 'taken']))
let token: Hex

beforeAll(async () => {
  token = await at.deployToken()
  await at.configure('club', {
    prices: [at.price('1', PRICE), at.price('8453', PRICE), at.price('1', PRICE, token)],
  })
})

const refunds = async (by: number, to?: string) =>
  refundsJson(await refundsOfAddress(at.context, at.addressOf(by), to))
type Shown = Awaited<ReturnType<typeof refunds>>['refunds'][number]

/** Sends the offered transaction. @returns its sender's gain on that chain, without gas */
async function take(
  by: number,
  { network, transaction }: Shown,
  of: Hex | 'native' = 'native',
): Promise<bigint> {
  if (transaction?.type !== 'evm') throw new Error('no transaction is offered')
  const { public: chain, walletClient } = at.sideOf(network as Label)
  const balance = () =>
    of === 'native'
      ? chain.getBalance({ address: at.addressOf(by) as Hex })
      : chain.readContract({
          address: of,
          abi: testTokenAbi,
          functionName: 'balanceOf',
          args: [at.addressOf(by) as Hex],
        })
  const before = await balance()
  const { to, data, value } = transaction
  const hash = await walletClient(by).sendTransaction({
    to: to as Hex,
    data: data as Hex,
    value: BigInt(value),
  })
  const receipt = await chain.waitForTransactionReceipt({ hash })
  expect(receipt.status).toBe('success')
  const gas = of === 'native' ? receipt.gasUsed * receipt.effectiveGasPrice : 0n
  return (await balance()) - before + gas
}
async function bid(by: number, names: string[]): Promise<Hex> {
  const value = MINIMUM_WEI * BigInt(names.length)
  const call = { to: at.world.contracts.hub, data: placeBids(names), value }
  const hash = await at.world.hub.walletClient(by).sendTransaction(call)
  await at.confirm()
  return hash
}
async function carry(): Promise<void> {
  await at.world.finish(await at.world.restart())
  await at.confirm()
}

describe('a bid on the hub that came too late', () => {
  it('is shown by its status and listed, and the offered transaction pays it out', async () => {
    const BIDDER = 2
    expect((await refunds(BIDDER)).refunds).toEqual([])
    const tx = await bid(BIDDER, ['taken'])
    expect(await at.status(tx)).toMatchObject({
      status: 'lost_bid',
      credit: { eid: 0, amountWei: String(MINIMUM_WEI) },
    })
    const { refunds: owed, unavailable, truncated } = await refunds(BIDDER)
    expect({ unavailable, truncated }).toEqual({ unavailable: [], truncated: false })
    const credit = {
      owedBy: 'hub',
      network: '1',
      token: 'native',
      amount: String(MINIMUM_WEI),
      eid: 0,
    }
    expect(owed).toEqual([
      { ...credit, transaction: expect.objectContaining({ type: 'evm', value: '0' }) },
    ])
    expect(await take(BIDDER, owed[0]!)).toBe(MINIMUM_WEI)
    await at.confirm()
    expect((await refunds(BIDDER)).refunds).toEqual([])
  })

  it('goes to another receiver where one is named', async () => {
    const BIDDER = 3
    await bid(BIDDER, ['taken'])
    const [owed] = (await refunds(BIDDER, NOBODY)).refunds
    expect(await take(BIDDER, owed!)).toBe(0n)
    expect(await at.world.hub.public.getBalance({ address: NOBODY })).toBe(MINIMUM_WEI)
  })
})

describe('a bid from a spoke that came too late', () => {
  it('is withdrawn by a message from that spoke, with the bridge’s fee', async () => {
    const BIDDER = 4
    await at.world.send(BIDDER, ['taken'])
    await carry()
    const [owed, ...others] = (await refunds(BIDDER)).refunds
    expect(others).toEqual([])
    expect(owed).toMatchObject({
      owedBy: 'hub',
      network: '8453',
      eid: SPOKE_EID,
      amount: String(MINIMUM_WEI),
    })
    const address = at.addressOf(BIDDER) as Hex
    const before = await at.world.hub.public.getBalance({ address })
    expect(await take(BIDDER, owed!)).toBeLessThan(0n)
    await at.confirm()
    await carry()
    expect((await at.world.hub.public.getBalance({ address })) - before).toBe(MINIMUM_WEI)
    expect((await refunds(BIDDER)).refunds).toEqual([])
  })

  it('of a contract asks for a receiver: nobody may control the same address on the hub', async () => {
    const wallet = at.world.spoke.walletClient(9)
    const hash = await wallet.deployContract({
      abi: testSmartWalletAbi,
      bytecode: testSmartWalletBytecode,
      args: [at.addressOf(9) as Hex],
    })
    const { contractAddress } = await at.world.spoke.public.waitForTransactionReceipt({ hash })
    const address = contractAddress!.toLowerCase()
    const sql = `INSERT INTO hub_credits (network, block, log_index, tx_hash, wallet, eid, amount_wei)
      VALUES (0, 1, 999, $1, $2, $3, 5)`
    await at.pool.query(sql, [
      Buffer.alloc(32),
      Buffer.concat([Buffer.of(1), fromHex(address as Hex)]),
      SPOKE_EID,
    ])
    const ask = async (to?: string) =>
      refundsJson(await refundsOfAddress(at.context, address, to)).refunds
    expect(await ask()).toEqual([
      {
        owedBy: 'hub',
        network: '8453',
        token: 'native',
        amount: '5',
        eid: SPOKE_EID,
        needsReceiver: true,
      },
    ])
    const [offered] = await ask(NOBODY)
    expect(offered!.transaction).toMatchObject({ type: 'evm', to: at.world.contracts.spoke })
    const { data } = offered!.transaction as { data: Hex }
    expect(data).toContain(pad(NOBODY).slice(2))

    // a node that does not show the code can't send the money to an address that nobody may control
    const { config, chain } = at.portOf('8453')
    const blind = await startRpcProxy(at.world.spoke.anvil.rpcUrl, async (method) =>
      method === 'eth_getCode'
        ? (answer) => JSON.stringify({ ...JSON.parse(answer), result: '0x' })
        : undefined,
    )
    const rpcUrls = [blind.url, at.world.spoke.anvil.rpcUrl]
    const rpc = createEvmChainRpc({ ...config, rpcUrls })
    const context = { ...at.context, chains: [createEvmChain({ config, chain, rpc })] }
    expect(refundsJson(await refundsOfAddress(context, address, undefined)).refunds).toEqual(
      await ask(),
    )
    await blind.stop()
  })

  it.each([['first'], ['last']])(
    'does not wait for the %s of three nodes, which hangs',
    async (place) => {
      const stored = Buffer.concat([Buffer.of(1), fromHex(at.addressOf(6) as Hex)])
      const sql = `INSERT INTO hub_credits (network, block, log_index, tx_hash, wallet, eid, amount_wei)
      VALUES (0, 1, $1, $2, $3, $4, 5)`
      await at.pool.query(sql, [place === 'first' ? 997 : 996, Buffer.alloc(32), stored, SPOKE_EID])
      const { config, chain } = at.portOf('8453')
      const { rpcUrl } = at.world.spoke.anvil
      const hanging = await startRpcProxy(rpcUrl, async (method) => {
        // the calls that check a node's chain have a shorter time limit
        if (method === 'eth_getCode' || method === 'eth_call') await setTimeout(6_000)
        return undefined
      })
      const good = [rpcUrl, rpcUrl]
      const rpcUrls = place === 'first' ? [hanging.url, ...good] : [...good, hanging.url]
      const rpc = createEvmChainRpc({ ...config, rpcUrls })
      const port = createEvmChain({ config, chain, rpc }).forStrangers()
      const context = { ...at.context, chains: [port] }
      const answer = await refundsOfAddress(context, at.addressOf(6), undefined)
      await hanging.stop()
      await at.pool.query('DELETE FROM hub_credits WHERE wallet = $1', [stored])
      expect(answer.unavailable).toEqual([])
      expect(answer.refunds).toMatchObject([{ eid: SPOKE_EID, transaction: { type: 'evm' } }])
    },
  )

  it('from a chain that this deployment does not have is shown without a transaction', async () => {
    const stored = Buffer.concat([Buffer.of(1), fromHex(NOBODY)])
    const sql = `INSERT INTO hub_credits (network, block, log_index, tx_hash, wallet, eid, amount_wei)
      VALUES (0, 1, 998, $1, $2, 77, 6)`
    await at.pool.query(sql, [Buffer.alloc(32), stored])
    expect(refundsJson(await refundsOfAddress(at.context, NOBODY, undefined)).refunds).toEqual([
      { owedBy: 'hub', network: null, token: 'native', amount: '6', eid: 77 },
    ])
  })
})

describe('payments for names of communities', () => {
  const PAYER = 5

  it('that are refused are credits, per token, that the offered transactions pay out', async () => {
    await at.mint(token, PAYER, PRICE)
    for (const paid of [
      { name: 'low', amount: 7n },
      { name: 'lower', amount: 5n },
      { name: 'spent', amount: 3n, token },
    ])
      await at.pay({ by: PAYER, ...paid })
    await at.judge()
    const waiting = (await refunds(PAYER)).refunds
    expect(waiting.map(({ payments }) => payments?.[0]?.name).sort()).toEqual([
      'club/low',
      'club/lower',
      'club/spent',
    ])
    for (const one of waiting)
      expect([one.transaction, Date.parse(one.reclaimAfter!) > Date.now()]).toEqual([
        undefined,
        true,
      ])
    await at.giveBack()
    const { refunds: owed } = await refunds(PAYER)
    const credit = (of: string, amount: string) => ({
      owedBy: 'payments',
      network: '1',
      token: of,
      amount,
      transaction: expect.anything(),
    })
    expect([...owed].sort((a, b) => a.token.localeCompare(b.token))).toEqual([
      credit(token, '3'),
      credit('native', '12'),
    ])
    const of = (wanted: string) => owed.find((one) => one.token === wanted)!
    expect(await take(PAYER, of('native'))).toBe(12n)
    expect(await take(PAYER, of(token), token)).toBe(3n)
    expect((await refunds(PAYER)).refunds).toEqual([])
  })

  it('that bought their names can’t be reclaimed', async () => {
    await at.pay({ by: PAYER, name: 'bought' })
    await at.judge()
    expect(await at.ownerOf('club', 'bought')).toBe(at.addressOf(PAYER))
    expect((await refunds(PAYER)).refunds).toEqual([])
  })

  it('that nobody decided can be reclaimed after their time, together if in the same token', async () => {
    const SILENT = 6
    const made = [
      await at.pay({ by: SILENT, name: 'a' }),
      await at.pay({ by: SILENT, name: 'b' }),
      await at.pay({ by: SILENT, name: 'c', on: '8453' }),
    ]
    await at.confirm()
    const before = (await refunds(SILENT)).refunds
    expect(before.map(({ network, transaction }) => [network, transaction])).toEqual([
      ['1', undefined],
      ['1', undefined],
      ['8453', undefined],
    ])
    await at.pass(7)
    const { refunds: owed } = await refunds(SILENT)
    expect(
      owed.map(({ network, amount, payments }) => [network, amount, payments!.map(({ tx }) => tx)]),
    ).toEqual([
      ['1', String(2n * PRICE), [made[0]!.tx, made[1]!.tx]],
      ['8453', String(PRICE), [made[2]!.tx]],
    ])
    expect(await take(SILENT, owed[0]!)).toBe(2n * PRICE)
    // not indexed yet, so the contract is asked
    expect((await refunds(SILENT)).refunds).toHaveLength(1)
    expect(await take(SILENT, owed[1]!)).toBe(PRICE)
    expect((await refunds(SILENT)).refunds).toEqual([])
  })
})

describe('a chain that does not answer', () => {
  it('is reported, and does not delay others', async () => {
    const PAYER = 7
    await at.pay({ by: PAYER, name: 'one', amount: 1n })
    await at.pay({ by: PAYER, name: 'two', amount: 1n, on: '8453' })
    await bid(PAYER, ['taken'])
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const { config, chain } = at.portOf('8453')
    const rpcUrls = [`http://127.0.0.1:${(silent.address() as AddressInfo).port}`]
    const rpc = createEvmChainRpc({ ...config, rpcUrls })
    const mute = createEvmChain({ config, chain, rpc })
    const context = { ...at.context, chains: [at.portOf('1'), mute] }
    const { refunds: owed, unavailable } = await refundsOfAddress(
      context,
      at.addressOf(PAYER),
      undefined,
    )
    expect(unavailable).toEqual(['8453'])
    expect(owed.map(({ owedBy, network }) => [owedBy, network])).toEqual([
      ['hub', '1'],
      ['payments', '1'],
    ])
    silent.close()
  })
})

it('are charged before the chain is asked', async () => {
  const PAYER = 3
  await at.pay({ by: PAYER, name: 'charged', amount: 1n })
  await at.confirm()
  const quota = { kind: 'client', bucket: 'a', rate: { burst: 100, perSecond: 1 } } as const
  const meter = new RequestMeter(createLocalBuckets(), [quota])
  const port = at.portOf('1')
  const left: string[][] = []
  const owed: typeof port.refunds.owed = (query) => {
    left.push([...meter.rateLimitHeaders()])
    return port.refunds.owed(query)
  }
  const chains = [{ ...port, refunds: { ...port.refunds, owed } }]
  await refundsOfAddress(
    { ...at.context, caller: { meter }, chains },
    at.addressOf(PAYER),
    undefined,
  )
  expect(left.map(([, , , state]) => state)).toEqual([expect.stringMatching(/r=9\d;/)])
})

describe('a payer of very many payments', () => {
  it('gets the first ones, and a flag that there are more', async () => {
    const PAYER = 8
    const { id } = await at.pay({ by: PAYER, name: 'many', amount: 1n })
    await at.confirm()
    const { rows } =
      await at.pool.query(`SELECT array_agg(attname)::text[] AS names FROM pg_attribute
      WHERE attrelid = 'payments'::regclass AND attnum > 0 AND attname NOT IN ('id', 'token')`)
    const columns = (rows[0].names as string[]).map((name) => `"${name}"`).join()
    await at.pool.query(
      `INSERT INTO payments (id, token, ${columns})
       SELECT sha256(i::text::bytea), '0x' || lpad(i::text, 40, '0'), ${columns} FROM payments, generate_series(1, $2::int) i WHERE id = $1`,
      [fromHex(id!), 3 * MAX_OWED_ITEMS_PER_RESPONSE],
    )
    const asked = await refundsOfAddress(at.context, at.addressOf(PAYER), undefined)
    expect(asked.isTruncated).toBe(true)
    // the contract has neither these payments nor credits in their tokens
    expect(
      asked.refunds.every(({ payments }) => payments.every((one) => toHex(one.id) === id)),
    ).toBe(true)
    await at.pool.query(
      'DELETE FROM payments WHERE id <> $1 AND payer = (SELECT payer FROM payments WHERE id = $1)',
      [fromHex(id!)],
    )
    const { refunds: owed, isTruncated } = await refundsOfAddress(
      at.context,
      at.addressOf(PAYER),
      undefined,
    )
    expect([owed.length, isTruncated]).toEqual([1, false])
  })
})

it('a withdrawal that is offered is the hub’s own call', async () => {
  const BIDDER = 2
  await bid(BIDDER, ['taken'])
  const [owed] = (await refunds(BIDDER)).refunds
  const args = [at.addressOf(BIDDER) as Hex] as const
  expect(owed!.transaction).toMatchObject({
    data: encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args }),
  })
})

describe('a payments contract that another has replaced', () => {
  it('still pays its credits, and payments that were left to their payers', async () => {
    const PAYER = 9
    await at.pay({ by: PAYER, name: 'left', amount: 2n })
    await at.judge()
    await at.giveBack({ refusalWorth: 1, releaseAfterMs: 0 })
    await at.pass(7)
    await at.confirm()
    const { config, chain, rpc } = at.portOf('1')
    const row = { network: 'mainnet', chain, label: '1' } as const
    const keep = (contract: Hex) => storePaymentsContract(at.pool, row, fromHex(contract))
    const before = (await refunds(PAYER)).refunds
    expect(before).toMatchObject([
      { owedBy: 'payments', amount: '2', payments: [{ name: 'club/left' }] },
    ])
    await keep(at.paymentsOn('1'))
    // configured by mistake, between the two
    await keep(NOBODY)
    const { hub: next } = await deployPayments(
      at.world.hub,
      at.world.spoke,
      at.world.relayer as Hex,
    )
    await keep(next)
    const changed = createEvmChain({ config: { ...config, communityPayments: next }, chain, rpc })
    const context = { ...at.context, chains: [changed, at.portOf('8453')] }
    const { refunds: owed, unavailable } = refundsJson(
      await refundsOfAddress(context, at.addressOf(PAYER), undefined),
    )
    expect({ owed, unavailable }).toEqual({ owed: before, unavailable: [] })
    expect(await take(PAYER, owed[0]!)).toBe(2n)
    expect((await refundsOfAddress(context, at.addressOf(PAYER), undefined)).refunds).toEqual([])
    await keep(at.paymentsOn('1'))
    expect(await readFormerPaymentsContracts(at.pool, 'mainnet')).toEqual(
      new Map([[chain, [NOBODY, next]]]),
    )
  })
})
