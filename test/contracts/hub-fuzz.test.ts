import fc from 'fast-check'
import { type Address, bytesToHex, concatHex, type Hex, toHex, zeroHash } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import {
  DELIVER_LIMIT_WEI,
  eventsOf,
  type HubWorld,
  hubCall,
  MINIMUM_WEI,
  messageOf,
  nameOf,
  placeBids,
  startHubWorld,
  sumOf,
  withdrawRefund,
  word,
} from './support/hub.js'
import { createModel, type Log, type ModelBid, type Outcome, readCall } from './support/model.js'

const RUNS = 80
const MAX_STEPS = 40
const DAY_S = 86_400n
/** Accounts that only receive, so that what they hold is what they were paid. */
const RECEIVERS: readonly Address[] = [
  '0x00000000000000000000000000000000000000e0',
  '0x00000000000000000000000000000000000000e1',
]

const amountsOf = (bids: readonly ModelBid[]) => bids.map(({ amount }) => amount)
const namesOf = (bids: readonly ModelBid[]) => bids.map(({ name }) => name)
const encode = (bids: readonly ModelBid[], referral: Hex) =>
  placeBids(amountsOf(bids), namesOf(bids), referral === zeroHash ? undefined : referral)

// Few names, so that most are contended; words of any bytes beside them.
const name = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('a', 'b-1', '_', '0123456789abcdefghijklmnopqrstuv').map(nameOf) },
  { weight: 1, arbitrary: fc.constantFrom('', 'A', 'a b', 'a\0b', 'é', '{').map(nameOf) },
  { weight: 1, arbitrary: fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => bytesToHex(bytes)) },
)
const amount = fc.oneof(
  { weight: 5, arbitrary: fc.bigInt(MINIMUM_WEI, 20n * MINIMUM_WEI) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, MINIMUM_WEI - 1n, MINIMUM_WEI) },
)
const bids = fc.array(fc.record({ amount, name }), { minLength: 1, maxLength: 6 })
const referral = fc.constantFrom<Hex>(zeroHash, `0x${'ab'.repeat(32)}`)
const who = fc.nat(2)
const receiver = fc.constantFrom(...RECEIVERS)
/** Value sent beyond the sum. */
const excess = fc.oneof({ weight: 6, arbitrary: fc.constant(0n) }, { weight: 1, arbitrary: fc.constantFrom(1n, -1n) })

const oddWord = fc.oneof(
  fc.constantFrom(0n, 1n, 31n, 32n, 33n, 64n, 96n, 128n, 100n, 101n, 2n ** 64n, 2n ** 251n + 1n, 2n ** 256n - 1n),
  fc.constantFrom(2n ** 256n - 32n, 2n ** 255n, 2n ** 160n),
)
/** Calldata of a right call, with words replaced, cut short or extended; or just bytes. */
const brokenCalldata = fc.oneof(
  fc.uint8Array({ maxLength: 300 }).map((bytes) => bytesToHex(bytes)),
  fc
    .record({
      call: fc.oneof(
        bids.map((bids) => encode(bids, zeroHash)),
        bids.map((bids) => encode(bids, `0x${'ab'.repeat(32)}`)),
        receiver.map(withdrawRefund),
      ),
      words: fc.array(fc.record({ at: fc.nat(12), value: oddWord }), { maxLength: 2 }),
      cut: fc.option(fc.nat(400), { nil: undefined }),
      tail: fc.uint8Array({ maxLength: 40 }).map((bytes) => bytesToHex(bytes)),
    })
    .map(({ call, words, cut, tail }) => {
      const bytes = Buffer.from(call.slice(2), 'hex')
      for (const { at, value } of words) {
        if (4 + 32 * at + 32 <= bytes.length) bytes.write(toHex(value, { size: 32 }).slice(2), 4 + 32 * at, 'hex')
      }
      return concatHex([bytesToHex(bytes.subarray(0, cut)), tail])
    }),
)

const step = fc.oneof(
  fc.record({ kind: fc.constant('direct' as const), who, bids, referral, excess }),
  fc.record({ kind: fc.constant('single' as const), who, bid: fc.record({ amount, name }), referral }),
  fc.record({ kind: fc.constant('bridged' as const), who, bids, referral, excess }),
  fc.record({ kind: fc.constant('broken' as const), who, hubCalldata: brokenCalldata, value: fc.bigInt(0n, 5n) }),
  fc.record({ kind: fc.constant('delivered' as const), who, bids, referral, id: fc.nat(30) }),
  fc.record({ kind: fc.constant('withdrawn' as const), who, receiver }),
  fc.record({ kind: fc.constant('withdrawnByMessage' as const), who, receiver, value: fc.bigInt(0n, 5n) }),
  fc.record({ kind: fc.constant('keptWithdrawn' as const), receiver }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Each kind that goes through and, where it can revert, that reverts: a random run may lack the rarer ones. */
const OPENING: readonly Step[] = (() => {
  const [bid, other] = [MINIMUM_WEI, MINIMUM_WEI].map((amount, i) => ({ amount, name: nameOf(['a', 'b-1'][i]!) }))
  const more = { ...bid!, amount: 2n * MINIMUM_WEI }
  const tooLow = { ...other!, amount: 0n }
  const tooMuch = { ...other!, amount: 2n ** 255n }
  const plain = { who: 0, referral: zeroHash, excess: 0n } as const
  return [
    { ...plain, kind: 'direct', bids: [bid!, more] },
    { ...plain, kind: 'direct', bids: [more], excess: 1n },
    { ...plain, kind: 'single', bid: other! },
    { ...plain, kind: 'single', bid: tooLow },
    { ...plain, kind: 'bridged', bids: [bid!, tooLow] },
    { ...plain, kind: 'bridged', bids: [bid!], excess: -1n },
    { kind: 'broken', who: 1, hubCalldata: '0x', value: 5n },
    { kind: 'broken', who: 1, hubCalldata: encode([tooMuch], zeroHash), value: 0n },
    { ...plain, kind: 'delivered', bids: [bid!, tooLow], id: 0 },
    { ...plain, kind: 'delivered', bids: [other!], id: 0 },
    { kind: 'withdrawn', who: 0, receiver: RECEIVERS[0]! },
    { kind: 'withdrawn', who: 0, receiver: RECEIVERS[1]! },
    { kind: 'withdrawnByMessage', who: 1, receiver: RECEIVERS[1]!, value: 1n },
    { kind: 'keptWithdrawn', receiver: RECEIVERS[0]! },
  ]
})()

let world: HubWorld
beforeAll(async () => {
  world = await startHubWorld()
})
afterAll(() => world.stop())

test('the hub does what its model does, whatever is called in whatever order', async () => {
  const seen = new Map<string, number>()
  const runs = fc.array(step, { minLength: 5, maxLength: MAX_STEPS })
  const property = fc.asyncProperty(runs, async (steps: readonly Step[]) => {
    const id = await world.testClient.snapshot()
    try {
      await runSteps(steps, (kind) => seen.set(kind, (seen.get(kind) ?? 0) + 1))
    } finally {
      await world.testClient.revert({ id })
    }
  })
  await fc.assert(property, { numRuns: RUNS, examples: [[[...OPENING]]] })
  // every kind of step went through and, where it can revert, reverted at least once
  const kinds = ['direct', 'single', 'bridged', 'broken', 'delivered', 'withdrawn']
  for (const kind of kinds) {
    expect([kind, seen.get(`${kind} ok`)! > 0, seen.get(`${kind} reverted`)! > 0]).toEqual([kind, true, true])
  }
}, 300_000)

async function runSteps(steps: readonly Step[], count: (kind: string) => void) {
  // A run starts with a day of its own, and is over before that ends.
  const { timestamp } = await world.publicClient.getBlock()
  await world.testClient.setNextBlockTimestamp({ timestamp: (timestamp / DAY_S + 1n) * DAY_S })
  const model = createModel(MINIMUM_WEI, DELIVER_LIMIT_WEI)
  const bidLogs: ModelBid[] = []
  const winners = new Map<Hex, Hex>()
  const paid = new Map<Address, bigint>()

  for (const step of steps) {
    const { tx, expected } = planStep(step, model)
    const receipt = await world.send(tx)
    const logs = receipt.status === 'success' ? eventsOf(receipt) : undefined
    expect(
      logs,
      JSON.stringify(step, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).toEqual(expected)
    count(`${step.kind} ${logs ? 'ok' : 'reverted'}`)
    for (const log of logs ?? []) recordLog(log)
    const money = await world.money()
    expect(money).toEqual(model.money())
    expect(money.balance).toBeGreaterThanOrEqual(money.kept + money.owed)
  }

  const names = [...new Set(bidLogs.map(({ name }) => name))]
  const owners = await Promise.all(names.map(world.ownerOf))
  expect(owners).toEqual(names.map((name) => model.owners.get(name) ?? zeroHash))
  expect(owners, 'the first good bid of the logs owns').toEqual(names.map((name) => winners.get(name) ?? zeroHash))
  for (const [from, amount] of model.refunds) expect(await world.refundOf(from)).toBe(amount)
  for (const [to, amount] of paid) expect(await world.balance(to)).toBe(amount)

  function recordLog(log: Log) {
    if (log[0] === 'Bid') {
      const [, from, amount, name] = log as ['Bid', Hex, bigint, Hex]
      bidLogs.push({ amount, name })
      if (amount >= MINIMUM_WEI && isWellFormed(name) && !winners.has(name)) winners.set(name, from)
    }
    if (log[0] === 'RefundWithdrawn' || log[0] === 'KeptWithdrawn') {
      const [to, amount] = log.slice(-2) as [Address, bigint]
      paid.set(to, (paid.get(to) ?? 0n) + amount)
    }
  }
}

const isWellFormed = (name: Hex) => /^[a-z0-9_-]+\0*$/.test(Buffer.from(name.slice(2), 'hex').toString('latin1'))

/** The transaction of a step, and the logs that the model expects of it. */
function planStep(
  step: Step,
  model: ReturnType<typeof createModel>,
): { tx: Parameters<HubWorld['send']>[0]; expected: Outcome } {
  const { hub, owner, relayer } = world
  const sender = 'who' in step ? [world.alice, world.bob, world.carol][step.who]! : owner
  const from = word(sender)
  switch (step.kind) {
    case 'single': {
      const { amount, name } = step.bid
      const plain = step.referral === zeroHash
      const data = hubCall('placeBid', plain ? [name] : [name, step.referral])
      const expected = model.direct(from, [step.bid], step.referral, amount)
      return { tx: { from: sender, to: hub, data, value: amount }, expected }
    }
    case 'direct': {
      const value = atLeastZero(sumOf(amountsOf(step.bids)) + step.excess)
      const expected = model.direct(from, step.bids, step.referral, value)
      return { tx: { from: sender, to: hub, data: encode(step.bids, step.referral), value }, expected }
    }
    case 'bridged': {
      const value = atLeastZero(sumOf(amountsOf(step.bids)) + step.excess)
      return planMessage(encode(step.bids, step.referral), value)
    }
    case 'broken': {
      const call = readCall(step.hubCalldata)
      const sum = call && 'bids' in call ? sumOf(amountsOf(call.bids)) : step.value
      // Some sums are more than there is; the hub has to say so, whatever comes.
      return planMessage(step.hubCalldata, sum < 10n ** 20n ? sum : step.value)
    }
    case 'delivered': {
      const id = toHex(step.id, { size: 32 })
      const args = [id, from, amountsOf(step.bids), namesOf(step.bids), step.referral] as const
      const expected = model.deliver(id, from, step.bids, step.referral)
      return { tx: { from: relayer, to: hub, data: hubCall('deliver', args) }, expected }
    }
    case 'withdrawn': {
      const data = withdrawRefund(step.receiver)
      return { tx: { from: sender, to: hub, data }, expected: model.withdrawRefund(from, step.receiver) }
    }
    case 'withdrawnByMessage':
      return planMessage(withdrawRefund(step.receiver), step.value)
    case 'keptWithdrawn': {
      const data = hubCall('withdrawKept', [step.receiver])
      return { tx: { from: owner, to: hub, data }, expected: model.withdrawKept(step.receiver) }
    }
  }

  function planMessage(hubCalldata: Hex, value: bigint) {
    const { guid, tx } = world.receiving(messageOf(from, hubCalldata), value)
    return { tx, expected: model.message(guid, from, hubCalldata, value) }
  }
}

const atLeastZero = (value: bigint) => (value < 0n ? 0n : value)
