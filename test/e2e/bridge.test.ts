import { isDeepStrictEqual } from 'node:util'
import type { PrivateKeyAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { bridgeCall, until } from '../../src/testing/index.js'
import { waitForCondition } from '../../src/testing/processes/processes.js'
import { withdrawRefund } from '../contracts/support/hub.js'
import { deployBatch, runBatch } from '../support/batch.js'
import {
  addressWord,
  ask,
  callOf,
  freshName,
  freshWallet,
  hubOf,
  nameWord,
  quoteOn,
  readCredit,
  readOwner,
  registerOn,
  sendQuoted,
  spokeOf,
  world,
} from '../support/world.js'

const BID_WEI = 10n ** 16n
const DEADLINE = { deadlineMs: 45_000 }

/** Longest wait of a long poll. */
const WAIT_S = 30
interface Status {
  status: string
}

/** Fee of the local bridge per message without its value, in the chain's gas token, and the price of one ether. */
const CHAINS = [
  {
    label: '8453',
    symbol: 'ETH',
    base: 2n * 10n ** 14n,
    price: { numerator: 1n, denominator: 1n },
  },
  { label: '10', symbol: 'LOC', base: 7n * 10n ** 14n, price: { numerator: 7n, denominator: 2n } },
]

describe.each(CHAINS)(
  'a registration from spoke $label, whose gas is $symbol',
  ({ label, symbol, base, price }) => {
    const inGasToken = (wei: bigint) => (wei * price.numerator) / price.denominator

    it('needs one long poll for each of its statuses', async () => {
      const tx = await registerOn(label, await freshWallet(), [{ name: freshName() }])
      let since = (await ask<Status>('GET', `/v1/names/register/tx/${tx}`)).body.status
      while (since !== 'finalized') {
        const startedMs = performance.now()
        const { body } = await ask<Status>(
          'GET',
          `/v1/names/register/tx/${tx}?wait=${WAIT_S}&since=${since}`,
        )
        // a long poll ends only when the status changes, or after its time
        const isOver = performance.now() - startedMs >= WAIT_S * 1_000
        expect([body.status === since, since]).toEqual([isOver, since])
        since = body.status
      }
    })

    it('is quoted as the delivered amount plus the bridge’s fee with a margin', async () => {
      const sender = (await freshWallet()).address
      const names = [
        { name: freshName() },
        { name: freshName(), amountWei: String(3n * BID_WEI + 1n) },
      ]
      const quote = await quoteOn(label, sender, names)
      const delivered = ceilDiv((4n * BID_WEI + 1n) * price.numerator, price.denominator)
      const bridgeFee = (base * 105n) / 100n
      const { contracts } = spokeOf(label)
      expect(quote).toEqual({
        type: 'evm',
        gasToken: { symbol, decimals: 18 },
        transactionData: {
          to: contracts.spoke,
          data: expect.stringMatching(/^0xef76678a/),
          value: String(delivered + bridgeFee),
        },
        registrationFee: String(delivered),
        bridgeFee: String(bridgeFee),
        names: [
          { name: names[0]!.name, amountWei: String(BID_WEI), amount: String(inGasToken(BID_WEI)) },
          {
            name: names[1]!.name,
            amountWei: names[1]!.amountWei,
            amount: String(delivered - inGasToken(BID_WEI)),
          },
        ],
        referral: null,
      })
    })

    it('goes through pending and bridging to finalized; the endpoint pays the margin back', async () => {
      const account = await freshWallet()
      const name = freshName()
      const { reader } = spokeOf(label)
      const quote = await quoteOn(label, account.address, [{ name }])
      const before = await reader.getBalance({ address: account.address })
      const tx = await sendQuoted(label, account, quote)
      const seen: string[] = []
      const answer = await until.status(world(), tx, 'finalized', {
        ...DEADLINE,
        onChange: ({ status }) => seen.push(status),
      })
      expect(seen.filter((status) => status !== 'pending')).toEqual(['bridging', 'finalized'])
      expect(answer).toMatchObject({
        names: [{ name, outcome: 'won' }],
        hubTx: expect.stringMatching(/^0x/),
      })
      expect(await readOwner(nameWord(name))).toBe(addressWord(account.address))
      const { body } = await ask('GET', `/v1/names/address/${account.address}`)
      expect(body).toMatchObject({ clusterName: name, walletName: 'main', isVerified: true })

      const { gasUsed, effectiveGasPrice } = await reader.getTransactionReceipt({ hash: tx })
      const paid =
        before -
        (await reader.getBalance({ address: account.address })) -
        gasUsed * effectiveGasPrice
      expect(paid).toBe(BigInt(quote.registrationFee) + base)
      expect(paid).toBeLessThan(BigInt(quote.transactionData.value))
    })
  },
)

describe('two wallets that bid for one name from two chains', () => {
  it('one gets the name; the other lost_bid, and its money back over the bridge', async () => {
    const a = await freshWallet()
    const b = await freshWallet()
    const name = freshName()
    // both get a quote while the name is free
    const quotes = await Promise.all([
      quoteOn('8453', a.address, [{ name }]),
      quoteOn('10', b.address, [{ name }]),
    ])
    const bids = [
      { account: a, label: '8453', tx: await sendQuoted('8453', a, quotes[0]) },
      { account: b, label: '10', tx: await sendQuoted('10', b, quotes[1]) },
    ]
    const ended = await Promise.all(
      bids.map(async (bid) => ({
        ...bid,
        ...(await until.status(world(), bid.tx, ['finalized', 'lost_bid'], DEADLINE)),
      })),
    )
    expect(ended.map(({ status }) => status).sort()).toEqual(['finalized', 'lost_bid'])
    const winner = ended.find(({ status }) => status === 'finalized')!
    const loser = ended.find(({ status }) => status === 'lost_bid')!
    const eid = loser.label === '8453' ? 30_184 : 30_111
    expect(loser).toMatchObject({
      names: [{ name, outcome: 'lost' }],
      credit: { eid, amountWei: `${BID_WEI}` },
      block: expect.any(Number),
      hubBlock: expect.any(Number),
    })
    expect(await readOwner(nameWord(name))).toBe(addressWord(winner.account.address))
    expect(await readCredit(addressWord(loser.account.address), loser.label)).toBe(BID_WEI)

    const { reader } = hubOf()
    const before = await reader.getBalance({ address: loser.account.address })
    await withdrawOver(loser.label, loser.account)
    expect(
      await waitForCondition(
        async () => (await readCredit(addressWord(loser.account.address), loser.label)) === 0n,
        30_000,
      ),
    ).toBe(true)
    expect(await reader.getBalance({ address: loser.account.address })).toBe(before + BID_WEI)
  })
})

describe('several messages in one transaction', () => {
  it('are delivered separately, and the status lists all of their names', async () => {
    const account = await freshWallet()
    const names = [freshName(), freshName(), freshName()]
    const spoke = spokeOf('8453')
    const batch = await deployBatch(spoke, account)
    const [one, two] = await Promise.all([
      quoteOn('8453', batch, [{ name: names[0]! }]),
      quoteOn('8453', batch, [{ name: names[1]! }, { name: names[2]! }]),
    ])
    const tx = await runBatch(spoke, account, batch, [callOf(one), callOf(two)])
    await until.status(world(), tx, 'finalized', DEADLINE)
    // the first name decides; the second message may still be under way
    const won = names.map((name) => ({ name, outcome: 'won' }))
    const answer = async () =>
      (await ask<{ names: unknown }>('GET', `/v1/names/register/tx/${tx}`)).body.names
    expect(await waitForCondition(async () => isDeepStrictEqual(await answer(), won), 30_000)).toBe(
      true,
    )
    for (const name of names) expect(await readOwner(nameWord(name)), name).toBe(addressWord(batch))
  })
})

describe('the testnet', () => {
  it('has its own bridge', async () => {
    const account = await freshWallet('testnet')
    const name = freshName()
    const tx = await registerOn('17000', account, [{ name }])
    await until.status(world(), tx, 'finalized', { ...DEADLINE, testnet: true })
    expect(await readOwner(nameWord(name), 'testnet')).toBe(addressWord(account.address))
    const { body } = await ask('POST', '/v1/names/register/check', [name])
    expect(body).toEqual([{ name, isAvailable: true }])
  })

  it.each([
    ['56', '', ['1', '8453', '10', '11155111', '17000']],
    ['8453', '?testnet=true', ['11155111', '17000']],
  ])(
    'network %s%s is refused with a list of the enabled networks',
    async (network, query, enabled) => {
      const order = {
        network,
        sender: (await freshWallet()).address,
        names: [{ name: freshName() }],
      }
      const { status, body } = await ask<{ error: string; message: string }>(
        'POST',
        `/v1/names/register/evm${query}`,
        order,
      )
      expect([status, body.error]).toEqual([400, 'unsupported_network'])
      for (const label of enabled) expect(body.message, label).toMatch(new RegExp(`\\b${label}\\b`))
    },
  )
})

const ceilDiv = (a: bigint, b: bigint): bigint => (a + b - 1n) / b

/** Requests the account's credit from the hub, over the bridge. */
async function withdrawOver(label: string, account: PrivateKeyAccount): Promise<void> {
  const spoke = spokeOf(label)
  const call = await bridgeCall(spoke, {
    from: account.address,
    hubCalldata: withdrawRefund(account.address),
    valueWei: 0n,
  })
  await createLocalWalletClient(spoke, account).sendTransaction(call)
}
