import { encodeFunctionData, type Hex, maxUint256 } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { registerCommunityName } from '../../src/api/communities/registration.js'
import { createEvmChainRpc } from '../../src/chains/evm/chain.js'
import { createEvmCommunityPaymentPort } from '../../src/chains/evm/community/port.js'
import { communityPaymentsAbi as abi } from '../../src/chains/evm/contracts/index.js'
import { parseChainsFile } from '../../src/config/chainsFile.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { saveJobs } from '../../src/db/outbox/jobs.js'
import { countWronglyRefusedPayments } from '../../src/db/outbox/payouts.js'
import { countOpenJobs } from '../../src/db/outbox/stats.js'
import {
  readCallerRights,
  readCommunityNameAvailability,
} from '../../src/db/registry/communityNames.js'
import { decodeWallet } from '../../src/registry/primitives/address.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { executeOperatorJobAction } from '../../src/relayer/operatorActions.js'
import { storedOf } from '../support/airdrop.js'
import { startRpcProxy } from '../support/rpcProxy.js'
import { useWorld } from '../support/useWorld.js'
import { AWAY, NATIVE, startCommunityWorld } from './communityWorld.js'

/** How payments for community names end: none ends by mere silence, and nobody can keep a payer from the money. */

const PRICE = 1_000n
const DAY_MS = 86_400_000
const at = useWorld(() => startCommunityWorld(['club', 'trap']))
let token: Hex

beforeAll(async () => {
  token = await at.deployToken()
  await at.configure('club', { prices: [at.price('1', PRICE), at.price('8453', PRICE)] })
})

const outcomeOf = (tx: Hex) => at.outcomeOf(tx, { withPayout: true })
const tell = (mode: number) =>
  at.tokenCall(
    '1',
    token,
    encodeFunctionData({ abi: testTokenAbi, functionName: 'setMode', args: [mode] }),
  )
const jobOf = async (id: Hex | null) =>
  (await at.world.jobs()).find(({ subject }) => subject !== null && toHex(subject) === id)
const parkedJobs = async () =>
  (await countOpenJobs(at.pool, { network: 'mainnet', chain: 1 })).filter(
    ({ state }) => state === 'parked',
  )

describe('the money of a bought name', () => {
  it('belongs to the recipient with the relayer’s signature, as soon as the registration is final', async () => {
    const made = [await at.pay({ name: 'one' }), await at.pay({ name: 'two', by: 2 })]
    // a payment that bought nothing belongs to its payer, even if the relayer refuses it late
    await at.pay({ name: 'one', by: 5 })
    expect(await at.payouts('club'), 'not before').toEqual([])
    await at.judge()
    for (const { tx } of made) expect(await outcomeOf(tx)).toBe('finalized held')
    const [payout, ...others] = await at.payouts('club')
    expect(others).toEqual([])
    const { transaction, ...rest } = payout!
    // anybody may request it, and the relayer's key may be a remote signer that counts its signatures
    await Promise.all([1, 2, 3].map(() => at.payouts('club')))
    expect(at.signedWords).toHaveLength(1)
    expect(rest).toEqual({
      network: '1',
      recipient: at.treasury,
      token: 'native',
      amount: '2000',
      payments: 2,
    })
    const before = await at.world.hub.public.getBalance({ address: at.treasury })
    const hash = await at.world.hub.walletClient(8).sendTransaction({ ...transaction!, value: 0n })
    const receipt = await at.world.hub.public.waitForTransactionReceipt({ hash })
    const paid = (await at.world.hub.public.getBalance({ address: at.treasury })) - before
    expect(paid + receipt.gasUsed * receipt.effectiveGasPrice).toBe(2n * PRICE)
    await at.confirm()
    for (const { tx } of made) expect(await outcomeOf(tx)).toBe('finalized released')
    expect(await at.payouts('club')).toEqual([])
    await at.giveBack({ releaseAfterMs: 0 })
    for (const { id } of made) expect(await jobOf(id), 'nothing is left to release').toBeUndefined()
  })

  it('is released by the relayer, in batches, where the recipient does nothing', async () => {
    const made = [await at.pay({ name: 'slept' }), await at.pay({ name: 'dreamt' })]
    const cheap = await at.pay({ name: 'cheap', amount: 1n })
    await at.judge()
    await at.giveBack({ releaseAfterMs: DAY_MS })
    for (const { tx } of made) expect(await outcomeOf(tx)).toBe('finalized held')
    await at.pass(1)
    const transactions = await at.world.nonce()
    await at.giveBack({ releaseAfterMs: DAY_MS })
    expect(await at.world.nonce(), 'both in one transaction').toBe(transactions + 1)
    for (const { tx } of made) expect(await outcomeOf(tx)).toBe('finalized released')
    const released = await at.ended('Released')
    for (const { id } of made) expect(released.filter((one) => one === id)).toHaveLength(1)
    expect(await outcomeOf(cheap.tx)).toBe('invalid underpaid refused')
    expect(released).not.toContain(cheap.id)
  })

  it('is released before its payer could reclaim it, whatever the setting', async () => {
    const { tx } = await at.pay({ name: 'soon' })
    await at.judge()
    await at.pass(5)
    await at.giveBack({ releaseAfterMs: 1_000 * DAY_MS })
    expect(await outcomeOf(tx)).toBe('finalized released')
  })
})

describe('a payment that nobody decides', () => {
  it('can be reclaimed by its payer, buys nothing, and ends as reclaimed', async () => {
    const { tx, id } = await at.pay({ name: 'silent', by: 3 })
    await at.confirm()
    await at.pass(7)
    await at.reclaim(3, id)
    expect(await at.judge()).toMatchObject({ kind: 'entered', payments: 1 })
    expect(await outcomeOf(tx)).toBe('invalid requirements_not_met reclaimed')
    expect(await at.ownerOf('club', 'silent')).toBeNull()
    expect(await at.creditOf(3)).toBe(PRICE)
    await at.giveBack()
    expect(await jobOf(id), 'there is nothing left to refuse').toMatchObject({
      state: 'confirmed',
      txs: [],
    })
    expect(await outcomeOf(tx)).toBe('invalid requirements_not_met reclaimed')
  })

  it('buys nothing once its payer can almost reclaim it', async () => {
    const { tx } = await at.pay({ name: 'tardy', by: 3 })
    await at.confirm()
    const paidMs = Number((await at.world.hub.public.getBlock()).timestamp) * 1_000
    const judge = at.judgeOf({ nowMs: () => paidMs + 6.5 * DAY_MS })
    expect(await judge.step()).toMatchObject({ kind: 'entered', payments: 1 })
    expect(await outcomeOf(tx)).toBe('invalid requirements_not_met held')
    await at.giveBack()
    expect(await outcomeOf(tx)).toBe('invalid requirements_not_met refused')
  })

  it('below the cost of its refusal is left to its payer, and its status has the time of reclaiming', async () => {
    const dust = await at.pay({ name: 'dust', amount: 1n })
    const worth = await at.pay({
      name: 'worth',
      amount: 10n ** 18n,
      recipient: `0x${'77'.repeat(20)}`,
    })
    // the value of a token's unit is unknown
    await at.mint(token, 1, 1n)
    const inToken = await at.pay({ name: 'dust', token, amount: 1n })
    await at.judge()
    await at.giveBack({ refusalWorth: 1 })
    expect(await outcomeOf(inToken.tx)).toBe('invalid no_price refused')
    expect(await jobOf(dust.id)).toMatchObject({ state: 'parked', reason: 'below_refusal_cost' })
    expect(await outcomeOf(dust.tx)).toBe('invalid underpaid reclaim')
    const [struct] = await at.structsOf(dust.id!)
    const reclaimAfter = new Date(Number(struct!.reclaimableAt) * 1_000).toISOString()
    expect(await at.status(dust.tx)).toMatchObject({ reclaimAfter })
    expect(await outcomeOf(worth.tx)).toBe('invalid no_price refused')
    expect(await parkedJobs(), 'no alarm').toEqual([])
    // it bought nothing, so its recipient never gets it
    await at.giveBack({ refusalWorth: 1, releaseAfterMs: 0 })
    expect(await at.ended('Released')).not.toContain(dust.id)
    expect(await outcomeOf(dust.tx)).toBe('invalid underpaid reclaim')
  })

  it('is refused after all once gas is cheap again, so that an hour’s prices do not lock money for a week', async () => {
    const baseFee = (gwei: bigint) =>
      at.world.hub.test.setNextBlockBaseFeePerGas({ baseFeePerGas: gwei * 10n ** 9n })
    const worth = await at.pay({
      name: 'dear',
      amount: 10n ** 15n,
      recipient: `0x${'77'.repeat(20)}`,
    })
    const dust = await at.pay({ name: 'dear', amount: 1n, by: 4 })
    await at.judge()
    await baseFee(10_000n)
    await at.world.hub.test.mine({ blocks: 1 })
    await at.giveBack({ refusalWorth: 1 })
    for (const { id } of [worth, dust])
      expect(await jobOf(id)).toMatchObject({ reason: 'below_refusal_cost' })
    expect(await outcomeOf(worth.tx)).toBe('invalid no_price reclaim')
    await baseFee(1n)
    await at.world.hub.test.mine({ blocks: 1 })
    await at.giveBack({ refusalWorth: 1 })
    expect(await outcomeOf(worth.tx)).toBe('invalid no_price refused')
    expect(await outcomeOf(dust.tx)).toBe('invalid underpaid reclaim')
  })

  it.each(['cheap', 'silent'])(
    'is refused beside a %s node, whatever price the other has',
    async (name) => {
      const proxyWith = (answer: 'lost' | ((text: string) => string) | undefined) =>
        startRpcProxy(at.world.hub.anvil.rpcUrl, async (method) =>
          method === 'eth_feeHistory' ? answer : undefined,
        )
      const dear = await proxyWith((text) => text.replaceAll(/"0x\w{7,}"/g, '"0x9184e72a000"'))
      const other = await proxyWith(name === 'silent' ? 'lost' : undefined)
      const worth = await at.pay({ name, amount: 10n ** 15n, recipient: at.addressOf(9) })
      await at.judge()
      await at.giveBack({ refusalWorth: 1 }, { rpcUrls: [dear.url, other.url] })
      expect(await outcomeOf(worth.tx)).toBe('invalid no_price refused')
      await Promise.all([dear.stop(), other.stop()])
    },
  )

  it('is still refused when an operator resumes it, and ends when its payer has reclaimed it', async () => {
    const resumed = await at.pay({ name: 'dust', amount: 1n })
    const left = await at.pay({ name: 'dust', amount: 2n, by: 4 })
    await at.judge()
    await at.giveBack({ refusalWorth: 1 })
    for (const { id } of [resumed, left])
      expect(await jobOf(id)).toMatchObject({ reason: 'below_refusal_cost' })
    const job = (await jobOf(resumed.id))!
    await executeOperatorJobAction(at.pool, 'resume', job.id)
    await at.giveBack({ refusalWorth: 1 })
    const isSaved = await saveJobs(at.pool, [{ job, after: job }], {
      epoch: null,
      nowMs: Date.now(),
    })
    expect(isSaved, 'who read it before the change changes nothing').toBe(false)
    expect(await outcomeOf(resumed.tx)).toBe('invalid underpaid refused')
    expect(await jobOf(left.id)).toMatchObject({ state: 'parked' })
    await at.pass(7)
    await at.reclaim(4, left.id)
    await at.giveBack({ refusalWorth: 1 })
    expect(await jobOf(left.id)).toMatchObject({ state: 'confirmed', txs: [], reason: null })
    expect(await outcomeOf(left.tx)).toBe('invalid underpaid reclaimed')
  })
})

describe('a bought name', () => {
  const PAYER = 3
  const price = () => ({ ...at.price('1', PRICE), amount: PRICE })
  const isTaken = async (name: string, prices = [price()]) => {
    const asked = { community: 'club', name }
    return (await readCommunityNameAvailability(at.pool, 'mainnet', asked, prices)).isTaken
  }
  const isHeldByPayer = async (name: string) => {
    const wallet = storedOf(at.addressOf(PAYER))
    const asked = { community: 'club', name, caller: wallet, wallet }
    return (await readCallerRights(at.pool, 'mainnet', asked)).isHeld
  }

  const refusedNames = () =>
    countWronglyRefusedPayments(
      at.pool,
      { network: 'mainnet', chain: at.portOf('1').chain },
      Date.now() + at.world.aheadMs,
    )

  /** Registers a name for another wallet, as the community's owner. */
  const giveAway = (name: string) =>
    registerCommunityName(
      at.context,
      { wallet: storedOf(at.addressOf(0)) },
      {
        community: 'club',
        name,
        wallet: decodeWallet(storedOf(at.addressOf(6))),
        unnamed: 'own',
        preference: { network: null, token: null },
      },
    )

  it.each([
    {
      end: 'reclaimed',
      isAlarm: false,
      async finish(id: Hex | null) {
        await at.pass(7)
        await at.reclaim(PAYER, id)
      },
    },
    // as by a thief of the key, a second installation or an old copy of the database
    {
      end: 'refused',
      isAlarm: true,
      finish: (id: Hex | null) => at.endByKey('refuse', id),
    },
  ])('is for sale again once the payment was $end', async ({ end, isAlarm, finish }) => {
    const name = `bought-${end}`
    const { tx, id } = await at.pay({ name, by: PAYER })
    await at.judge()
    expect(await outcomeOf(tx)).toBe('finalized held')
    expect([await isTaken(name), await isHeldByPayer(name)]).toEqual([true, true])
    const credit = await at.creditOf(PAYER)
    const alarmed = await refusedNames()

    await finish(id)

    expect(await at.creditOf(PAYER), 'the payer has the money back').toBe(credit + PRICE)
    expect(await refusedNames()).toBe(alarmed + Number(isAlarm))
    expect(await outcomeOf(tx)).toBe(`finalized ${end}`)
    expect([await isTaken(name), await isHeldByPayer(name)]).toEqual([false, false])
    expect(await isTaken(name, []), 'without a price nothing buys it').toBe(true)
    expect(await at.ownerOf('club', name), 'nobody has bought it yet').toBe(at.addressOf(PAYER))

    await expect(
      giveAway(name),
      'nor does its community’s owner give it away',
    ).rejects.toMatchObject({
      code: 'not_available',
    })

    const dust = await at.pay({ name, by: 7, amount: 1n })
    const first = await at.pay({ name, by: 4 })
    const second = await at.pay({ name, by: 5 })
    await at.judge()
    expect(await outcomeOf(dust.tx)).toBe('invalid underpaid held')
    expect(await outcomeOf(first.tx)).toBe('finalized held')
    expect(await outcomeOf(second.tx)).toBe('lost_bid name_taken held')
    expect([await at.ownerOf('club', name), await isTaken(name)]).toEqual([at.addressOf(4), true])
    await at.giveBack({ releaseAfterMs: 0 })
    expect(await outcomeOf(first.tx)).toBe('finalized released')
    expect(await outcomeOf(second.tx)).toBe('lost_bid name_taken refused')
  })

  it('can be bought again by the same payer, who then has to pay', async () => {
    const { id } = await at.pay({ name: 'twice-bought', by: PAYER })
    await at.judge()
    await at.endByKey('refuse', id)
    const again = await at.pay({ name: 'twice-bought', by: PAYER })
    await at.judge()
    expect(await outcomeOf(again.tx)).toBe('finalized held')
    expect([await isTaken('twice-bought'), await isHeldByPayer('twice-bought')]).toEqual([
      true,
      true,
    ])
    await at.giveBack({ releaseAfterMs: 0 })
    expect(await isTaken('twice-bought')).toBe(true)
  })

  it('stays registered once its payment was released', async () => {
    const { tx, id } = await at.pay({ name: 'bought-released', by: PAYER })
    await at.judge()
    await at.endByKey('release', id)
    expect(await outcomeOf(tx)).toBe('finalized released')
    expect(await isTaken('bought-released')).toBe(true)
    const later = await at.pay({ name: 'bought-released', by: 4 })
    await at.judge()
    expect(await outcomeOf(later.tx)).toBe('lost_bid name_taken held')
    await at.giveBack()
  })
})

it('a late relayer reports the chain’s outcome, never that released money was refused', async () => {
  const { tx, id } = await at.pay({ name: 'released', amount: 1n })
  await at.judge()
  await at.endByKey('release', id)
  await at.giveBack()
  expect(await jobOf(id)).toMatchObject({ state: 'confirmed', txs: [] })
  expect(await outcomeOf(tx)).toBe('invalid underpaid released')
})

it('a payment below the price does not block the sale of a name', async () => {
  const rules = { community: 'club', name: 'wished' }
  const prices = [{ network: '1', token: 'native', amount: PRICE, recipient: at.treasury }]
  const availability = () => readCommunityNameAvailability(at.pool, 'mainnet', rules, prices)
  await at.pay({ name: 'wished', amount: 1n })
  await at.world.index()
  expect(await availability()).toEqual({ isTaken: false, payers: [] })
  const { tx } = await at.pay({ name: 'wished', by: 2 })
  await at.world.index()
  expect(await availability()).toEqual({ isTaken: false, payers: [storedOf(at.addressOf(2))] })
  await at.judge()
  expect(await outcomeOf(tx)).toBe('finalized held')
  await at.giveBack()
})

describe('an attack', () => {
  it('by a community whose token answers 0xEF… at the judgement: the payer gets the money back, and no node counts as faulty', async () => {
    await at.configure('trap', {
      prices: [at.price('1', PRICE)],
      requirements: [{ kind: 'token', network: '1', token, minimum: '100' }],
    })
    await at.mint(token, 6, 100n)
    const { tx, id } = await at.pay({ community: 'trap', name: 'bait', by: 6 })
    const faults: string[] = []
    const [config] = parseChainsFile(at.world.file, 'test').chains
    const rpc = createEvmChainRpc(config!, (_, error) => faults.push(error.message))
    const ports = [createEvmCommunityPaymentPort(rpc, config!)]
    await tell(9)
    expect(await ports[0]!.tokenBalance(token, at.addressOf(6))).toBe((0xefn << 248n) + 1n)
    // a balance of 0 at the time of the judgement: the token answers nothing at all
    await at.world.hub.test.setCode({ address: token, bytecode: '0x60ef5f5360015ff3' })
    expect(await ports[0]!.tokenBalance(token, at.addressOf(6))).toBe(0n)
    await at.confirm()
    expect(await at.judgeOf({ ports }).step()).toMatchObject({
      kind: 'entered',
      payments: 1,
      waiting: 0,
    })
    expect(faults).toEqual([])
    expect(await outcomeOf(tx)).toBe('invalid requirements_not_met held')
    await at.giveBack()
    expect(await at.refusals()).toContain(id)
    expect(await at.creditOf(6)).toBe(PRICE)
  })

  it('by a payment of 2^256−1 in a token of the attacker: it is refused at once, and later refusals work', async () => {
    const evil = await at.deployToken()
    for (const amount of [maxUint256, 2n ** 128n]) {
      await at.mint(evil, 7, amount === maxUint256 ? maxUint256 : 0n)
      expect((await at.pay({ name: 'bait', by: 7, token: evil, amount })).id).toBeNull()
    }
    const most = await at.pay({ name: 'bait', by: 7, token: evil, amount: 2n ** 128n - 1n })
    const small = await at.pay({ name: 'bait', by: 7, token: evil, amount: 5n })
    const honest = await at.pay({ name: 'bait', by: 1 })
    await at.judge()
    await at.giveBack()
    for (const { tx } of [most, small]) expect(await outcomeOf(tx)).toBe('invalid no_price refused')
    expect(await outcomeOf(honest.tx)).toBe('finalized held')
    expect(await at.creditOf(7, evil)).toBe(2n ** 128n + 4n)
  })

  it('by a chain that is unavailable while a payment waits: the payer reclaims it, and it ends as reclaimed', async () => {
    await at.configure('trap', {
      prices: [at.price('1', PRICE)],
      requirements: [{ kind: 'token', network: '8453', token, minimum: '1' }],
    })
    const { tx, id } = await at.pay({ community: 'trap', name: 'stalled', by: 6 })
    await at.confirm()
    expect(await at.judgeOf({ ports: [AWAY] }).step()).toEqual({ kind: 'waiting', waiting: 1 })
    const before = await at.creditOf(6)
    await at.pass(7)
    await at.reclaim(6, id)
    expect(await at.judgeOf({ ports: [AWAY] }).step()).toMatchObject({
      kind: 'entered',
      payments: 1,
      waiting: 0,
    })
    expect(await outcomeOf(tx)).toBe('invalid requirements_not_met reclaimed')
    expect(await at.creditOf(6)).toBe(before + PRICE)
  })
})

it('money is conserved to the unit: the contracts have exactly what is held and credited', async () => {
  for (const on of ['1', '8453'] as const) {
    const address = at.paymentsOn(on)
    const [owed] = await at
      .sideOf(on)
      .public.readContract({ address, abi, functionName: 'totalsOf', args: [NATIVE] })
    expect(await at.sideOf(on).public.getBalance({ address })).toBe(owed)
  }
})

it('the journal rebuilds to the same state', async () => {
  const { live, rebuilt } = await replayJournal(at.pool, 'mainnet')
  expect(rebuilt).toBe(live)
})
