import type { Hex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { createLocalWalletClient } from '../../src/testing/chains/localClients.js'
import { until } from '../../src/testing/index.js'
import { waitForReceipt } from '../support/receipt.js'
import {
  addressWord,
  ask,
  callOf,
  freshName,
  freshWallet,
  hubOf,
  nameWord,
  quoteOn,
  readOwner,
  sendRegistration,
  world,
} from '../support/world.js'

describe('two wallets that bid for one name in one block', () => {
  it('one gets the name, the other lost_bid and a credit', async () => {
    const { winner, loser, winning, losing, name } = await contest()
    const beaten = await until.status(world(), losing, 'lost_bid')
    const credit = { eid: 0, amountWei: `${10n ** 16n}` }
    expect(beaten).toMatchObject({ tx: losing, names: [{ name, outcome: 'lost' }], credit })
    await until.status(world(), winning, 'finalized')
    const record = {
      address: winner.address.toLowerCase(),
      clusterName: name,
      walletName: 'main',
      isVerified: true,
    }
    expect((await ask('GET', `/v1/names/address/${winner.address}`)).body).toMatchObject(record)
    expect(await ask('GET', `/v1/names/address/${loser.address}`)).toMatchObject({
      status: 404,
      body: { clusterName: null },
    })
    expect(await readOwner(nameWord(name))).toBe(addressWord(winner.address))
  })
})

interface Contest {
  winner: PrivateKeyAccount
  loser: PrivateKeyAccount
  winning: Hex
  losing: Hex
  name: string
}

/** Two bids for one name in one block: both are signed in advance, and sent together just after a block. */
async function contest(attempts = 10): Promise<Contest> {
  const { reader, rpcUrl, chainId } = hubOf()
  const a = await freshWallet()
  const b = await freshWallet()
  const name = freshName()
  const sign = async (account: PrivateKeyAccount): Promise<Hex> => {
    const quote = await quoteOn('1', account.address, [{ name }])
    const wallet = createLocalWalletClient({ rpcUrl, chainId }, account)
    // a gas limit with a margin, as wallets set it: the estimate is for a winning bid, and crediting a lost bid costs
    // more
    const request = await wallet.prepareTransactionRequest({ ...callOf(quote), gas: 300_000n })
    return wallet.signTransaction(request)
  }
  const signed = await Promise.all([sign(a), sign(b)])
  const block = await reader.getBlockNumber()
  while ((await reader.getBlockNumber()) === block);
  const hashes = await Promise.all(
    signed.map((serializedTransaction) => reader.sendRawTransaction({ serializedTransaction })),
  )
  const [x, y] = await Promise.all(hashes.map((hash) => waitForReceipt(reader, hash)))
  if (x!.blockNumber !== y!.blockNumber) {
    if (attempts <= 1) throw new Error('two transactions sent at once never came into one block')
    return contest(attempts - 1)
  }
  const isInOrder = x!.transactionIndex < y!.transactionIndex
  return isInOrder
    ? { winner: a, loser: b, winning: hashes[0]!, losing: hashes[1]!, name }
    : { winner: b, loser: a, winning: hashes[1]!, losing: hashes[0]!, name }
}

describe('a registration of several names', () => {
  it('gives one cluster, with a name record and an owner record of each name', async () => {
    const account = await freshWallet()
    const one = freshName()
    const two = freshName()
    await until.status(
      world(),
      await sendRegistration(account, [
        { name: one },
        { name: two, amountWei: '20000000000000000' },
      ]),
      'finalized',
    )
    const { body: owned } = await ask<{ name: string; clusterId: string }[]>(
      'GET',
      `/v1/names/owner/address/${account.address}`,
    )
    expect(owned).toMatchObject([
      { name: one, totalWeiAmount: '10000000000000000', expiresAt: null },
      { name: two, totalWeiAmount: '20000000000000000', isTestnet: false },
    ])
    const { body: byName } = await ask('GET', `/v1/clusters/name/${two}`)
    expect(byName).toMatchObject({
      id: owned[0]!.clusterId,
      createdBy: account.address.toLowerCase(),
      wallets: [{ name: 'main', isVerified: true }],
    })
    const events = [
      ...['CREATE_CLUSTER', 'ADD_WALLET'].map((kind) =>
        until.event(
          world(),
          ({ type, data }) => type === kind && data.cluster_id === owned[0]!.clusterId,
        ),
      ),
      ...[one, two].map((name) =>
        until.event(world(), ({ type, data }) => type === 'REGISTER_NAME' && data.name === name),
      ),
    ]
    const numbers = (await Promise.all(events)).map(({ id }) => Number(id.split('-')[2]))
    expect(numbers).toEqual([0, 1, 2, 3].map((i) => numbers[0]! + i))
  })
})
