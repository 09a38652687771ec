import { encodeFunctionData } from 'viem'
import { describe, expect, it } from 'vitest'
import { hubAbi } from '../../src/chains/evm/contracts/index.js'
import { until } from '../../src/testing/index.js'
import { walletOf } from '../../src/testing/localChain.js'
import { ask, freshName, freshWallet, hubOf, sendRegistration, world } from '../support/world.js'

const word = (address: string) => `0x${'0'.repeat(24)}${address.slice(2).toLowerCase()}` as const

describe('two wallets that bid for one name in one block', () => {
  it('one gets the name, the other lost_bid and its money back', async () => {
    const [first, second, name] = [await freshWallet(), await freshWallet(), freshName()]
    const { test, reader, contracts, rpcUrl, chainId } = hubOf()
    await test.setIntervalMining({ interval: 0 })
    let won: `0x${string}`
    let lost: `0x${string}`
    try {
      won = await sendRegistration(first, [{ name }])
      lost = await sendRegistration(second, [{ name }])
      expect((await ask(`GET`, `/v1/names/register/tx/${won}`)).body).toMatchObject({ tx: won, status: 'pending' })
      await test.mine({ blocks: 1 })
    } finally {
      await test.setIntervalMining({ interval: 0.2 })
    }
    const [a, b] = await Promise.all([won, lost].map((hash) => reader.waitForTransactionReceipt({ hash })))
    expect(a!.blockNumber).toBe(b!.blockNumber)
    const inOrder = a!.transactionIndex < b!.transactionIndex
    const [winner, loser, winning, losing] = inOrder ? [first, second, won, lost] : [second, first, lost, won]

    const beaten = await until.status(world(), losing, 'lost_bid')
    expect(beaten).toMatchObject({ tx: losing, names: [{ name, outcome: 'lost' }] })
    await until.status(world(), winning, 'finalized')
    expect((await ask('GET', `/v1/names/address/${winner.address}`)).body).toMatchObject({
      address: winner.address.toLowerCase(),
      type: 'evm',
      clusterName: name,
      walletName: 'main',
      isVerified: true,
    })
    expect(await ask('GET', `/v1/names/address/${loser.address}`)).toMatchObject({
      status: 404,
      body: { clusterName: null },
    })
    const owner = await reader.readContract({
      address: contracts.hub,
      abi: hubAbi,
      functionName: 'ownerOf',
      args: [nameWord(name)],
    })
    expect(owner).toBe(word(winner.address))

    const refund = () =>
      reader.readContract({
        address: contracts.hub,
        abi: hubAbi,
        functionName: 'refundOf',
        args: [word(loser.address)],
      })
    expect(await refund()).toBe(10n ** 16n)
    const before = await reader.getBalance({ address: loser.address })
    const hash = await walletOf({ rpcUrl }, chainId, loser).sendTransaction({
      to: contracts.hub,
      data: encodeFunctionData({ abi: hubAbi, functionName: 'withdrawRefund', args: [loser.address] }),
    })
    const receipt = await reader.waitForTransactionReceipt({ hash })
    expect(await refund()).toBe(0n)
    expect(await reader.getBalance({ address: loser.address })).toBe(
      before + 10n ** 16n - receipt.gasUsed * receipt.effectiveGasPrice,
    )
    // a withdrawal is no registration
    expect(await until.status(world(), hash, 'invalid')).toMatchObject({ reason: 'not_a_registration' })
  })
})

describe('a registration of several names', () => {
  it('has the status of its first, and tells the outcome of each', async () => {
    const [early, late, taken, free] = [await freshWallet(), await freshWallet(), freshName(), freshName()]
    await until.status(world(), await sendRegistration(early, [{ name: taken }]), 'finalized')
    const quote = await ask('POST', '/v1/names/register/evm', {
      network: '1',
      sender: late.address,
      names: [{ name: free }, { name: taken }],
    })
    expect(quote).toMatchObject({ status: 409, body: { error: 'names_unavailable', names: [taken] } })
    const { contracts, rpcUrl, chainId } = hubOf()
    const tx = await walletOf({ rpcUrl }, chainId, late).sendTransaction({
      to: contracts.hub,
      value: 2n * 10n ** 16n,
      data: encodeFunctionData({
        abi: hubAbi,
        functionName: 'placeBids',
        args: [
          [10n ** 16n, 10n ** 16n],
          [nameWord(free), nameWord(taken)],
        ],
      }),
    })
    expect(await until.status(world(), tx, 'finalized')).toMatchObject({
      names: [
        { name: free, outcome: 'won' },
        { name: taken, outcome: 'lost' },
      ],
    })
  })

  it('is one cluster, with a name record and owner records of each', async () => {
    const [account, one, two] = [await freshWallet(), freshName(), freshName()]
    await until.status(
      world(),
      await sendRegistration(account, [{ name: one }, { name: two, amountWei: '20000000000000000' }]),
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
      await until.event(
        world(),
        ({ type, data }) => type === 'CREATE_CLUSTER' && data.cluster_id === owned[0]!.clusterId,
      ),
      await until.event(world(), ({ type, data }) => type === 'ADD_WALLET' && data.cluster_id === owned[0]!.clusterId),
      await until.event(world(), ({ type, data }) => type === 'REGISTER_NAME' && data.name === one),
      await until.event(world(), ({ type, data }) => type === 'REGISTER_NAME' && data.name === two),
    ]
    const numbers = events.map(({ id }) => Number(id.split('-')[2]))
    expect(numbers).toEqual([0, 1, 2, 3].map((i) => numbers[0]! + i))
  })
})

describe('what is not on the mainnet', () => {
  it('is on the testnet alone, under the same route', async () => {
    const [account, name] = [await freshWallet('testnet'), freshName()]
    const tx = await sendRegistration(account, [{ name }], 'testnet')
    await until.status(world(), tx, 'finalized', { testnet: true })
    expect((await ask('GET', `/v1/clusters/name/${name}`)).status).toBe(404)
    expect(await ask('GET', `/v1/clusters/name/${name}?testnet=true`)).toMatchObject({
      status: 200,
      body: { isTestnet: true },
    })
  })
})

function nameWord(name: string): `0x${string}` {
  return `0x${Buffer.from(name).toString('hex').padEnd(64, '0')}`
}
