import { type Address, getAddress, zeroAddress, zeroHash } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testWalletAbi } from '../../contracts/evm/artifacts/test-doubles/TestWallet.js'
import { endpointAbi, hubAbi } from '../../src/chains/evm/contracts/index.js'
import { freshEach } from './support/chain.js'
import { eventsOf, HERE, type HubWorld, hubCall, MINIMUM_WEI, nameOf, startHubWorld, word } from './support/hub.js'
import { REFUSE, startWallet } from './support/wallet.js'

const REFERRAL = `0x${'ab'.repeat(32)}` as const
const HALF = MINIMUM_WEI / 2n
/** Gas of a bid that wins, name and referral of any length, from an account's second bid on and for its first. */
const MAX_BID_GAS = 49_000n

let world: HubWorld

beforeAll(async () => {
  world = await startHubWorld()
})
freshEach(() => world)
afterAll(() => world.stop())

const read = <const name extends 'minimum' | 'relayer' | 'pauser' | 'owner' | 'paused' | 'deliverLimit'>(
  functionName: name,
) => world.publicClient.readContract({ address: world.hub, abi: hubAbi, functionName })

const bid = (from: Address, name: `0x${string}`, value = MINIMUM_WEI) =>
  world.succeed({ from, to: world.hub, data: hubCall('placeBid', [name]), value })

test('is deployed with its roles and its minimum in a log', async () => {
  expect(await read('owner')).toBe(getAddress(world.owner))
  expect(await read('relayer')).toBe(getAddress(world.relayer))
  expect(await read('pauser')).toBe(getAddress(world.pauser))
  expect(await read('minimum')).toBe(MINIMUM_WEI)
  const logs = await world.publicClient.getContractEvents({
    address: world.hub,
    abi: hubAbi,
    eventName: 'MinimumSet',
    fromBlock: 0n,
  })
  expect(logs.map(({ args }) => args.minimum)).toEqual([MINIMUM_WEI])
})

describe('one bid', () => {
  test('wins a free name, for the caller', async () => {
    const receipt = await bid(world.alice, nameOf('foobar'))
    expect(eventsOf(receipt)).toEqual([['Bid', word(world.alice), MINIMUM_WEI, nameOf('foobar')]])
    expect(await world.ownerOf(nameOf('foobar'))).toBe(word(world.alice))
    expect(await world.money()).toEqual({ balance: MINIMUM_WEI, kept: MINIMUM_WEI, owed: 0n })
  })

  test('costs little, whoever bids first', async () => {
    const names = ['first', 'second', '0123456789abcdefghijklmnopqrstuv'].map(nameOf)
    for (const name of names) expect((await bid(world.alice, name)).gasUsed).toBeLessThan(MAX_BID_GAS)
  })

  test('carries its referral in the log', async () => {
    const data = hubCall('placeBid', [nameOf('foobar'), REFERRAL])
    const receipt = await world.succeed({ from: world.alice, to: world.hub, data, value: MINIMUM_WEI })
    expect(eventsOf(receipt)).toEqual([['Bid', word(world.alice), MINIMUM_WEI, nameOf('foobar'), REFERRAL]])
    const none = hubCall('placeBid', [nameOf('other'), zeroHash])
    const second = await world.succeed({ from: world.alice, to: world.hub, data: none, value: MINIMUM_WEI })
    expect(eventsOf(second)).toEqual([['Bid', word(world.alice), MINIMUM_WEI, nameOf('other')]])
  })

  test('that comes second is logged, credited, and paid back exactly once', async () => {
    await bid(world.alice, nameOf('foobar'))
    const receipt = await bid(world.bob, nameOf('foobar'), 3n * MINIMUM_WEI)
    expect(eventsOf(receipt)).toEqual([
      ['Bid', word(world.bob), 3n * MINIMUM_WEI, nameOf('foobar')],
      ['Credited', word(world.bob), HERE, 3n * MINIMUM_WEI],
    ])
    expect(await world.ownerOf(nameOf('foobar'))).toBe(word(world.alice))
    expect(await world.refundOf(word(world.bob))).toBe(3n * MINIMUM_WEI)
    expect(await world.money()).toEqual({ balance: 4n * MINIMUM_WEI, kept: MINIMUM_WEI, owed: 3n * MINIMUM_WEI })

    const to = '0x00000000000000000000000000000000000000b0'
    const paid = await world.succeed({ from: world.bob, to: world.hub, data: hubCall('withdrawRefund', [to]) })
    expect(eventsOf(paid)).toEqual([['RefundWithdrawn', word(world.bob), HERE, getAddress(to), 3n * MINIMUM_WEI]])
    expect(await world.balance(to)).toBe(3n * MINIMUM_WEI)
    expect(await world.money()).toEqual({ balance: MINIMUM_WEI, kept: MINIMUM_WEI, owed: 0n })
    expect(await world.reasonOf(world.bob, hubCall('withdrawRefund', [to]))).toBe('NothingOwed')
  })

  test('for a name of its own bidder is credited too', async () => {
    await bid(world.alice, nameOf('foobar'))
    await bid(world.alice, nameOf('foobar'))
    expect(await world.refundOf(word(world.alice))).toBe(MINIMUM_WEI)
  })

  test('below the minimum reverts', async () => {
    expect(await world.reasonOf(world.alice, hubCall('placeBid', [nameOf('foobar')]), MINIMUM_WEI - 1n)).toBe(
      'BelowMinimum',
    )
    expect(await world.reasonOf(world.alice, hubCall('placeBid', [nameOf('foobar'), REFERRAL]), 0n)).toBe(
      'BelowMinimum',
    )
  })

  test.each(
    [
      ['a', '-', '_', '0', '9', 'z', 'a-b_c-0', '0123456789abcdefghijklmnopqrstuv', 'w-yz____________________________'],
    ].flat(),
  )('takes the name %s', async (text) => {
    await bid(world.alice, nameOf(text))
    expect(await world.ownerOf(nameOf(text))).toBe(word(world.alice))
  })

  test.each([
    ['empty', zeroHash],
    ['upper case', nameOf('Foobar')],
    ['a space', nameOf('foo bar')],
    ['a dot', nameOf('foo.bar')],
    ['a slash', nameOf('foo/main')],
    ['the bytes around the alphabet', nameOf('a`')],
    ['the byte after z', nameOf('a{')],
    ['the byte before 0', nameOf('a/')],
    ['the byte after 9', nameOf('a:')],
    ['a byte beyond ASCII', nameOf('é')],
    ['not left-aligned', word('0x0000000000000000000000000000000000000061')],
    ['a zero in the middle', nameOf('foo\0bar')],
    ['something after 31 zeros', `0x${'61'}${'00'.repeat(30)}61` as const],
    ['32 bytes, the last one bad', `0x${'61'.repeat(31)}41` as const],
  ])('refuses a name: %s', async (_, name) => {
    expect(await world.reasonOf(world.alice, hubCall('placeBid', [name]), MINIMUM_WEI)).toBe('MalformedName')
  })
})

describe('a batch of bids', () => {
  const names = ['one', 'two', 'three'].map(nameOf)
  const amounts = [MINIMUM_WEI, 2n * MINIMUM_WEI, 3n * MINIMUM_WEI]
  const sum = 6n * MINIMUM_WEI

  test('judges each name alone and logs them in order', async () => {
    await bid(world.bob, names[1]!)
    const data = hubCall('placeBids', [amounts, names])
    const receipt = await world.succeed({ from: world.alice, to: world.hub, data, value: sum })
    expect(eventsOf(receipt)).toEqual([
      ...names.map((name, i) => ['Bid', word(world.alice), amounts[i], name]),
      ['Credited', word(world.alice), HERE, 2n * MINIMUM_WEI],
    ])
    const owners = await Promise.all(names.map(world.ownerOf))
    expect(owners).toEqual([world.alice, world.bob, world.alice].map(word))
    expect(await world.refundOf(word(world.alice))).toBe(2n * MINIMUM_WEI)
    expect(await world.money()).toEqual({ balance: 7n * MINIMUM_WEI, kept: 5n * MINIMUM_WEI, owed: 2n * MINIMUM_WEI })
  })

  test('with a referral logs it with each', async () => {
    const data = hubCall('placeBids', [amounts, names, REFERRAL])
    const receipt = await world.succeed({ from: world.alice, to: world.hub, data, value: sum })
    expect(eventsOf(receipt)).toEqual(names.map((name, i) => ['Bid', word(world.alice), amounts[i], name, REFERRAL]))
  })

  test('that repeats a name wins it once', async () => {
    const data = hubCall('placeBids', [amounts, [names[0]!, names[0]!, names[1]!]])
    await world.succeed({ from: world.alice, to: world.hub, data, value: sum })
    expect(await world.money()).toEqual({ balance: sum, kept: 4n * MINIMUM_WEI, owed: 2n * MINIMUM_WEI })
  })

  test('takes 100 names, not 101', async () => {
    const many = Array.from({ length: 101 }, (_, i) => nameOf(`name-${i}`))
    const each = many.map(() => MINIMUM_WEI)
    const data = hubCall('placeBids', [each.slice(1), many.slice(1)])
    await world.succeed({ from: world.alice, to: world.hub, data, value: 100n * MINIMUM_WEI })
    expect(await world.reasonOf(world.alice, hubCall('placeBids', [each, many]), 101n * MINIMUM_WEI)).toBe('BadBatch')
  })

  test.each([
    ['no names', [], [], 0n, 'BadBatch'],
    ['fewer names than amounts', amounts, names.slice(1), sum, 'BadBatch'],
    ['fewer amounts than names', amounts.slice(1), names, sum, 'BadBatch'],
    ['a sum beyond 256 bits', [2n ** 255n, 2n ** 255n], names.slice(1), 0n, 'BadBatch'],
    ['too little money', amounts, names, sum - 1n, 'WrongValue'],
    ['too much money', amounts, names, sum + 1n, 'WrongValue'],
    [
      'one amount below the minimum',
      [MINIMUM_WEI, HALF, 3n * MINIMUM_WEI],
      names,
      4n * MINIMUM_WEI + HALF,
      'BelowMinimum',
    ],
    ['one name malformed', amounts, [names[0]!, nameOf('B'), names[2]!], sum, 'MalformedName'],
  ])('reverts: %s', async (_, amounts, names, value, error) => {
    expect(await world.reasonOf(world.alice, hubCall('placeBids', [amounts, names]), value)).toBe(error)
    expect(await world.reasonOf(world.alice, hubCall('placeBids', [amounts, names, REFERRAL]), value)).toBe(error)
  })
})

describe('money', () => {
  test('comes in by bids only', async () => {
    const receipt = await world.send({ from: world.alice, to: world.hub, value: 1n })
    expect(receipt.status).toBe('reverted')
  })

  test('kept is for the owner, who never touches what is owed, also while paused', async () => {
    await bid(world.alice, nameOf('foobar'))
    await bid(world.bob, nameOf('foobar'))
    expect(await world.reasonOf(world.alice, hubCall('withdrawKept', [world.alice]))).toBe('OwnableUnauthorizedAccount')
    expect(await world.reasonOf(world.owner, hubCall('withdrawKept', [zeroAddress]))).toBe('ZeroAddress')
    await world.succeed({ from: world.pauser, to: world.hub, data: hubCall('pause', []) })
    const to = '0x00000000000000000000000000000000000000c0'
    const receipt = await world.succeed({ from: world.owner, to: world.hub, data: hubCall('withdrawKept', [to]) })
    expect(eventsOf(receipt)).toEqual([['KeptWithdrawn', getAddress(to), MINIMUM_WEI]])
    expect(await world.money()).toEqual({ balance: MINIMUM_WEI, kept: 0n, owed: MINIMUM_WEI })
    await world.succeed({ from: world.bob, to: world.hub, data: hubCall('withdrawRefund', [world.bob]) })
    expect(await world.money()).toEqual({ balance: 0n, kept: 0n, owed: 0n })
  })

  test('that came otherwise is kept too: forced in, or a reward of the block', async () => {
    await bid(world.alice, nameOf('foobar'))
    await bid(world.bob, nameOf('foobar'))
    const balance = 2n * MINIMUM_WEI + 7n
    await world.testClient.setBalance({ address: world.hub, value: balance })
    expect(await world.money()).toEqual({ balance, kept: MINIMUM_WEI + 7n, owed: MINIMUM_WEI })
    const to = '0x00000000000000000000000000000000000000c1'
    await world.succeed({ from: world.owner, to: world.hub, data: hubCall('withdrawKept', [to]) })
    expect(await world.balance(to)).toBe(MINIMUM_WEI + 7n)
    expect(await world.money()).toEqual({ balance: MINIMUM_WEI, kept: 0n, owed: MINIMUM_WEI })
  })

  test('owed to an account is paid to that account by anybody, also while paused', async () => {
    const wallet = await startWallet(world, world.hub)
    await bid(world.alice, nameOf('foobar'))
    await wallet.execute(hubCall('placeBid', [nameOf('foobar')]), MINIMUM_WEI)
    await world.succeed({ from: world.pauser, to: world.hub, data: hubCall('pause', []) })
    const data = hubCall('withdrawRefundFor', [wallet.address])
    await wallet.call('setMode', [REFUSE])
    expect(await world.reasonOf(world.carol, data)).toBe('PaymentFailed')
    await wallet.call('setMode', [0])
    const receipt = await world.succeed({ from: world.carol, to: world.hub, data })
    expect(eventsOf(receipt)).toEqual([
      ['RefundWithdrawn', word(wallet.address), HERE, getAddress(wallet.address), MINIMUM_WEI],
    ])
    expect(await world.balance(wallet.address)).toBe(MINIMUM_WEI)
    expect(await world.reasonOf(world.carol, data)).toBe('NothingOwed')
    expect(await world.reasonOf(world.carol, hubCall('withdrawRefundFor', [world.alice]))).toBe('NothingOwed')
  })

  test('is not paid to nobody, nor to a receiver that refuses it; the credit stands', async () => {
    const wallet = await startWallet(world, world.hub)
    await bid(world.alice, nameOf('foobar'))
    await wallet.execute(hubCall('placeBid', [nameOf('foobar')]), MINIMUM_WEI)
    await wallet.call('setMode', [REFUSE])
    for (const to of [wallet.address, world.hub, zeroAddress]) {
      const data = wallet.encode('execute', [world.hub, hubCall('withdrawRefund', [to])])
      expect((await world.send({ from: world.alice, to: wallet.address, data })).status).toBe('reverted')
    }
    expect(await world.refundOf(word(wallet.address))).toBe(MINIMUM_WEI)
    expect(await world.money()).toEqual({ balance: 2n * MINIMUM_WEI, kept: MINIMUM_WEI, owed: MINIMUM_WEI })
  })

  test('is not paid twice to a receiver that calls back', async () => {
    const wallet = await startWallet(world, world.hub)
    await bid(world.alice, nameOf('foobar'))
    await bid(world.bob, nameOf('foobar'), 5n * MINIMUM_WEI)
    await wallet.execute(hubCall('placeBid', [nameOf('foobar')]), MINIMUM_WEI)
    const again = hubCall('withdrawRefund', [wallet.address])
    await wallet.call('setCallBack', [world.hub, again])
    await wallet.execute(again)
    const calledBack = await world.publicClient.readContract({
      address: wallet.address,
      abi: testWalletAbi,
      functionName: 'calledBack',
    })
    expect(calledBack).toBe(false)
    expect(await world.balance(wallet.address)).toBe(MINIMUM_WEI)
    expect(await world.money()).toEqual({ balance: 6n * MINIMUM_WEI, kept: MINIMUM_WEI, owed: 5n * MINIMUM_WEI })
  })
})

describe('roles', () => {
  test('only the owner sets anything', async () => {
    const calls = [
      hubCall('setMinimum', [1n]),
      hubCall('setDeliverLimit', [1n]),
      hubCall('setRelayer', [world.alice]),
      hubCall('setPauser', [world.alice]),
      hubCall('setPeer', [1, zeroHash]),
      hubCall('setDelegate', [world.alice]),
      hubCall('transferOwnership', [world.alice]),
      hubCall('renounceOwnership', []),
      hubCall('unpause', []),
      hubCall('withdrawKept', [world.alice]),
    ]
    for (const stranger of [world.alice, world.relayer, world.pauser]) {
      const errors = await Promise.all(calls.map((data) => world.reasonOf(stranger, data)))
      expect(errors).toEqual(calls.map(() => 'OwnableUnauthorizedAccount'))
    }
  })

  test('each setting logs its new value and counts at once', async () => {
    const set = (data: `0x${string}`) => world.succeed({ from: world.owner, to: world.hub, data }).then(eventsOf)
    expect(await set(hubCall('setMinimum', [5n]))).toEqual([['MinimumSet', 5n]])
    expect(await set(hubCall('setDeliverLimit', [7n]))).toEqual([['DeliverLimitSet', 7n]])
    expect(await set(hubCall('setRelayer', [world.alice]))).toEqual([['RelayerSet', getAddress(world.alice)]])
    expect(await set(hubCall('setPauser', [world.bob]))).toEqual([['PauserSet', getAddress(world.bob)]])
    expect(await read('deliverLimit')).toBe(7n)
    const highest = 2n ** 88n - 1n
    expect(await world.reasonOf(world.owner, hubCall('setMinimum', [highest + 1n]))).toBe('MinimumTooHigh')
    await set(hubCall('setMinimum', [highest]))
    expect(await read('minimum')).toBe(highest)
    expect(await read('paused')).toBe(false)
    await set(hubCall('setMinimum', [5n]))
    expect(await read('minimum')).toBe(5n)
    await bid(world.alice, nameOf('cheap'), 5n)
    expect(await world.reasonOf(world.pauser, hubCall('pause', []))).toBe('NotPauser')
    await world.succeed({ from: world.bob, to: world.hub, data: hubCall('pause', []) })
  })

  test('the pauser stops bids, only the owner lets them go on', async () => {
    expect(await world.reasonOf(world.alice, hubCall('pause', []))).toBe('NotPauser')
    await world.succeed({ from: world.pauser, to: world.hub, data: hubCall('pause', []) })
    expect(await read('paused')).toBe(true)
    expect(await read('minimum')).toBe(MINIMUM_WEI)
    expect(await world.reasonOf(world.alice, hubCall('placeBid', [nameOf('foobar')]), MINIMUM_WEI)).toBe(
      'EnforcedPause',
    )
    const batch = hubCall('placeBids', [[MINIMUM_WEI], [nameOf('foobar')]])
    expect(await world.reasonOf(world.alice, batch, MINIMUM_WEI)).toBe('EnforcedPause')
    await world.succeed({ from: world.owner, to: world.hub, data: hubCall('unpause', []) })
    await bid(world.alice, nameOf('foobar'))
    await world.succeed({ from: world.owner, to: world.hub, data: hubCall('pause', []) })
  })

  test('ownership moves in two steps, the endpoint delegate with it, and is never given up', async () => {
    const delegateOf = () =>
      world.publicClient.readContract({
        address: world.endpoint,
        abi: endpointAbi,
        functionName: 'delegates',
        args: [world.hub],
      })
    expect(await world.reasonOf(world.owner, hubCall('renounceOwnership', []))).toBe('OwnerRequired')
    await world.succeed({ from: world.owner, to: world.hub, data: hubCall('transferOwnership', [world.carol]) })
    expect(await read('owner')).toBe(getAddress(world.owner))
    expect(await delegateOf()).toBe(getAddress(world.owner))
    expect(await world.reasonOf(world.alice, hubCall('acceptOwnership', []))).toBe('OwnableUnauthorizedAccount')
    await world.succeed({ from: world.carol, to: world.hub, data: hubCall('acceptOwnership', []) })
    expect(await read('owner')).toBe(getAddress(world.carol))
    expect(await delegateOf()).toBe(getAddress(world.carol))
  })
})
