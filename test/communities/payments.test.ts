import { encodeFunctionData, type Hex } from 'viem'
import { beforeAll, describe, expect, it } from 'vitest'
import { testTokenAbi } from '../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { communityPaymentsAbi } from '../../src/chains/evm/contracts/index.js'
import { replayJournal } from '../../src/db/journal/replay.js'
import { fromHex } from '../../src/registry/primitives/bytes.js'
import { waitForReceipt } from '../support/receipt.js'
import { useWorld } from '../support/useWorld.js'
import {
  AWAY,
  type CommunityWorld,
  type Label,
  NATIVE,
  startCommunityWorld,
} from './communityWorld.js'

const PRICE = 1_000n
const TOKEN_PRICE = 50n
const at = useWorld(() => startCommunityWorld(['club', 'early', 'gated']))
let token: Hex
let gate: Hex

beforeAll(async () => {
  token = await at.deployToken()
  gate = await at.deployToken('8453')
  const prices = [at.price('1', PRICE), at.price('8453', PRICE), at.price('1', TOKEN_PRICE, token)]
  await at.configure('club', { prices })
  await at.configure('early', { prices, startsAt: '2999-01-01T00:00:00Z' })
  await at.configure('gated', { prices, requirements: gated() })
  await at.mint(token, 1, 1_000n)
})

const gated = () => [{ kind: 'token', network: '8453', token: gate, minimum: '5' }]
const outcomeOf = (tx: Hex) => at.outcomeOf(tx)

describe('a payment', () => {
  it.each(['1', '8453'] as const)(
    'in the coin of chain %s buys a name once it is confirmed and judged',
    async (on) => {
      const { tx } = await at.pay({ on, name: `coin-${on}` })
      await at.world.index()
      const names = [{ name: `club/coin-${on}`, outcome: 'pending' }]
      expect(await at.status(tx)).toMatchObject({
        status: 'pending',
        names,
        network: on,
        paid: { token: 'native', amount: String(PRICE) },
        confirmations: { have: 0, need: 2 },
      })
      expect(await at.judgeOf().step()).toEqual({ kind: 'idle' })
      await at.confirm()
      expect(await at.status(tx)).toMatchObject({ status: 'pending', names })
      expect(await at.judgeOf().step()).toEqual({ kind: 'entered', payments: 1, waiting: 0 })
      expect(await at.status(tx)).toMatchObject({
        status: 'finalized',
        names: [{ outcome: 'won' }],
      })
      expect(await at.ownerOf('club', `coin-${on}`)).toBe(at.addressOf(1))
      expect(await at.judgeOf().step()).toEqual({ kind: 'idle' })
    },
  )

  it('in a token asks for an approval where there is none', async () => {
    const what = { name: 'token', token, amount: TOKEN_PRICE }
    const { approval, value } = await at.quote(what)
    expect(value).toBe(0n)
    expect(approval?.to).toBe(token)
    const { tx } = await at.pay(what)
    await at.judge()
    expect(await outcomeOf(tx)).toBe('finalized')
    expect(await at.quote({ ...what, amount: 0n })).not.toHaveProperty('approval')
    await at.tokenCall('1', token, approval!.data)
    const more = await at.quote({ ...what, by: 9, amount: TOKEN_PRICE + 1n })
    expect(more.approvalReset, 'some tokens change no allowance that is left').toMatchObject({
      to: token,
    })
  })

  it('is no journal entry for the indexer, nor is a message of a spoke', async () => {
    await at.judge()
    const before = at.world.reportedEntries
    for (const on of ['1', '8453'] as const) await at.pay({ on, name: `uncounted-${on}` })
    await at.confirm()
    await at.world.send(2, ['uncounted'])
    expect(at.world.reportedEntries - before).toBe(0)
  })

  it('is found by its transaction before it is indexed', async () => {
    const { tx } = await at.pay({ name: 'unindexed' })
    for (const side of [at.world.hub, at.world.spoke]) await side.test.mine({ blocks: 3 })
    expect(await at.status(tx)).toMatchObject({ status: 'pending' })
    await at.judge()
    expect(await outcomeOf(tx)).toBe('finalized')
  })
})

describe('a payment that buys nothing', () => {
  const cases: [string, Parameters<CommunityWorld['pay']>[0], string][] = [
    ['too little', { name: 'cheap', amount: PRICE - 1n }, 'invalid underpaid'],
    ['to somebody else', { name: 'astray', recipient: `0x${'77'.repeat(20)}` }, 'invalid no_price'],
    ['for an unknown community', { community: 'nobody', name: 'foo' }, 'invalid not_found'],
    ['before the start', { community: 'early', name: 'foo' }, 'invalid not_active'],
    [
      'without what is required',
      { community: 'gated', name: 'foo' },
      'invalid requirements_not_met',
    ],
  ]

  it.each(['1', '8453'] as const)(
    'is refunded on chain %s, and its payer withdraws the money',
    async (on) => {
      const before = await at.creditOf(3, NATIVE, on)
      const made: { tx: Hex; id: Hex | null }[] = []
      for (const [, what] of cases) made.push(await at.pay({ ...what, on, by: 3 }))
      await at.judge()
      for (const [i, { tx }] of made.entries())
        expect(await outcomeOf(tx)).toBe(`${cases[i]![2]} held`)
      await at.giveBack()
      for (const [i, { tx }] of made.entries())
        expect(await outcomeOf(tx)).toBe(`${cases[i]![2]} refused`)
      const refused = await at.refusals(on)
      for (const { id } of made) expect(refused.filter((one) => one === id)).toHaveLength(1)
      const sum = cases.reduce((total, [, { amount = PRICE }]) => total + amount, 0n)
      expect(await at.creditOf(3, NATIVE, on)).toBe(before + sum)
      await withdraw(3, on)
      expect(await at.creditOf(3, NATIVE, on)).toBe(0n)
    },
  )

  it('loses its name to an older payment on another chain', async () => {
    const first = await at.pay({ on: '1', name: 'wanted', by: 1 })
    await at.world.spoke.test.setNextBlockTimestamp({ timestamp: (await timeOf('1')) + 60n })
    const second = await at.pay({ on: '8453', name: 'wanted', by: 4 })
    expect(await at.judge()).toMatchObject({ kind: 'entered', payments: 2 })
    expect(await outcomeOf(first.tx)).toBe('finalized')
    expect(await outcomeOf(second.tx)).toBe('lost_bid name_taken held')
    await at.giveBack()
    expect(await outcomeOf(second.tx)).toBe('lost_bid name_taken refused')
    expect(await at.ownerOf('club', 'wanted')).toBe(at.addressOf(1))
    expect(await at.creditOf(4, NATIVE, '8453')).toBe(PRICE)
  })

  it('in a token too', async () => {
    const { tx } = await at.pay({ name: 'token-cheap', token, amount: TOKEN_PRICE - 1n })
    await at.judge()
    await at.giveBack()
    expect(await outcomeOf(tx)).toBe('invalid underpaid refused')
    expect(await at.creditOf(1, token)).toBe(TOKEN_PRICE - 1n)
  })
})

describe('requirements', () => {
  it('are read when the payment is confirmed', async () => {
    const { tx } = await at.pay({ community: 'gated', name: 'member', by: 5 })
    await at.mint(gate, 5, 5n, '8453')
    await at.judge()
    expect(await outcomeOf(tx)).toBe('finalized')
  })

  it('of an unavailable chain delay only their own payments', async () => {
    const waiting = await at.pay({ community: 'gated', name: 'patient', by: 5 })
    const other = await at.pay({ name: 'prompt' })
    await at.confirm()
    let nowMs = Date.now()
    const ports = [at.portOf('1'), AWAY]
    const judge = at.judgeOf({ ports, nowMs: () => nowMs })
    expect(await judge.step()).toEqual({ kind: 'entered', payments: 1, waiting: 1 })
    expect(judge.state).toEqual({ waiting: 1, sinceMs: nowMs, reason: 'away' })
    expect(await outcomeOf(other.tx)).toBe('finalized')
    expect(await judge.step()).toEqual({ kind: 'waiting', waiting: 1 })
    ports[1] = at.portOf('8453')
    expect(await judge.step()).toEqual({ kind: 'waiting', waiting: 1 })
    nowMs += 1_000
    expect(await judge.step()).toEqual({ kind: 'entered', payments: 1, waiting: 0 })
    expect(judge.state).toEqual({ waiting: 0, sinceMs: null, reason: null })
    expect(await outcomeOf(waiting.tx)).toBe('finalized')
  })

  it('continue where the clock was set back while they waited', async () => {
    const { tx } = await at.pay({ community: 'gated', name: 'set-back', by: 5 })
    await at.confirm()
    let nowMs = Date.now()
    const ports = [AWAY]
    const judge = at.judgeOf({ ports, nowMs: () => nowMs })
    expect(await judge.step()).toEqual({ kind: 'waiting', waiting: 1 })
    ports[0] = at.portOf('8453')
    nowMs -= 3_600_000
    expect(await judge.step()).toEqual({ kind: 'entered', payments: 1, waiting: 0 })
    expect(await outcomeOf(tx)).toBe('finalized')
  })

  it('count an address that is not a token, reverts, loops or answers nothing as a balance of 0', async () => {
    const port = at.portOf('1')
    const code = async (bytecode: Hex): Promise<Hex> => {
      const address: Hex = `0x${bytecode.slice(2, 12).padStart(40, 'e')}`
      await at.world.hub.test.setCode({ address, bytecode })
      return address
    }
    const of = (address: Hex) => port.tokenBalance(address, at.addressOf(1))
    // a revert with a text like a node's refusal, a loop, a stop, and half a word
    const words = Buffer.from('rate limit exceeded').toString('hex').padEnd(64, '0')
    expect(await of(await code(`0x7f${words}6000526020 6000fd`.replace(' ', '') as Hex))).toBe(0n)
    expect(await of(await code('0x5b600056'))).toBe(0n)
    expect(await of(await code('0x00'))).toBe(0n)
    expect(await of(await code('0x60ff5f53 60105ff3'.replace(' ', '') as Hex))).toBe(0n)
    expect(await of(`0x${'ab'.repeat(20)}`)).toBe(0n)
    // 0xEF followed by zeros, with which no code may begin (EIP-3541). It is a valid answer.
    expect(await of(await code('0x60ef5f53 60205ff3'.replace(' ', '') as Hex))).toBe(0xefn << 248n)
    expect(await of(token)).toBeGreaterThan(0n)
  })
})

it('a payment that reverts, for example in its token, buys no name and holds nothing', async () => {
  const liar = await at.deployToken()
  const revert = encodeFunctionData({ abi: testTokenAbi, functionName: 'setMode', args: [6] })
  await at.tokenCall('1', liar, revert)
  const { tx, id } = await at.pay({ name: 'liar', token: liar, amount: 10n })
  expect(id).toBeNull()
  await at.judge()
  // the chain's head is requested a few times a second
  await expect.poll(() => outcomeOf(tx)).toBe('invalid reverted')
})

describe('the judge', () => {
  it('waits while its network catches up, since earlier payments may still be read', async () => {
    await at.pay({ name: 'waits' })
    await at.confirm()
    const setCaughtUp = (is: boolean) =>
      at.pool.query('UPDATE journal_heads SET caught_up = $1 WHERE network = 0', [is])
    await setCaughtUp(false)
    expect(await at.judgeOf().step()).toEqual({ kind: 'catching_up' })
    await setCaughtUp(true)
    expect(await at.judgeOf().step()).toMatchObject({ kind: 'entered', payments: 1 })
  })

  it('applies the rules of each payment’s own time', async () => {
    await at.configure('early', { prices: [at.price('1', PRICE)], requirements: gated() })
    const first = await at.pay({ community: 'early', name: 'first', by: 5 })
    const pastMs = 1_000 * Number((await timeOf('1')) + 1n)
    await expect.poll(() => Date.now(), { interval: 50, timeout: 5_000 }).toBeGreaterThan(pastMs)
    await at.configure('early', { prices: [at.price('1', 2n * PRICE)] })
    // a block's time may be ahead of our clock
    await at.world.hub.test.increaseTime({ seconds: 60 })
    const second = await at.pay({ community: 'early', name: 'second', by: 6, amount: 2n * PRICE })
    expect(await at.judge()).toMatchObject({ kind: 'entered', payments: 2 })
    expect([await outcomeOf(first.tx), await outcomeOf(second.tx)]).toEqual([
      'finalized',
      'finalized',
    ])
  })
})

describe('a change while a payment is judged', () => {
  it('of its requirements makes the judge read them again, and nobody is refused by the earlier ones', async () => {
    // a block's time may be ahead of our clock
    await at.world.hub.test.increaseTime({ seconds: 60 })
    const { tx } = await at.pay({ community: 'gated', name: 'changed', by: 6 })
    await at.confirm()
    const tokenBalance = async () => {
      await at.configure('gated', { prices: [at.price('1', PRICE)] })
      return 5n
    }
    const judge = at.judgeOf({ ports: [{ label: '8453', tokenBalance }] })
    expect(await judge.step()).toEqual({ kind: 'idle' })
    expect(await judge.step()).toMatchObject({ kind: 'entered', payments: 1 })
    expect(await outcomeOf(tx)).toBe('finalized')
  })

  it('by a rewind that removes the payment ends the wait for it', async () => {
    await at.configure('early', { prices: [at.price('1', PRICE)], requirements: gated() })
    const { id } = await at.pay({ community: 'early', name: 'gone' })
    await at.confirm()
    let nowMs = Date.now()
    const judge = at.judgeOf({ ports: [AWAY], nowMs: () => nowMs })
    expect(await judge.step()).toEqual({ kind: 'waiting', waiting: 1 })
    await at.pool.query('DELETE FROM payments WHERE id = $1', [fromHex(id!)])
    nowMs += 1_000
    expect(await judge.step()).toEqual({ kind: 'idle' })
    expect(judge.state).toEqual({ waiting: 0, sinceMs: null, reason: null })
  })
})

it('the journal rebuilds to the same state', async () => {
  const { live, rebuilt } = await replayJournal(at.pool, 'mainnet')
  expect(rebuilt).toBe(live)
})

const timeOf = async (on: Label): Promise<bigint> =>
  (await at.sideOf(on).public.getBlock()).timestamp

async function withdraw(by: number, on: Label): Promise<void> {
  const { address } = at.world.wallet(by)
  const data = encodeFunctionData({
    abi: communityPaymentsAbi,
    functionName: 'withdraw',
    args: [NATIVE, address],
  })
  const hash = await at
    .sideOf(on)
    .walletClient(by)
    .sendTransaction({ to: at.paymentsOn(on), data })
  const { status } = await waitForReceipt(at.sideOf(on).public, hash)
  expect(status).toBe('success')
}
