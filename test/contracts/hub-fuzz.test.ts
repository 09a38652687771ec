import { randomInt } from 'node:crypto'
import fc from 'fast-check'
import { type Address, type Hex, pad, zeroAddress, zeroHash } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { useWorld } from '../support/useWorld.js'
import {
  DELIVER_LIMIT_WEI,
  deliver,
  eventsOf,
  type HubWorld,
  hubCall,
  MINIMUM_WEI,
  messageOf,
  OTHER_EID,
  SPOKE_EID,
  startHubWorld,
  sumOf,
  withdrawRefund,
  word,
} from './support/hub.js'
import {
  createModel,
  type Log,
  type Model,
  type ModelBid,
  type ModelDelivery,
  type Outcome,
} from './support/hubModel.js'
import { EXAMPLES, encodeBids, KINDS, MOST_WEI, type Step, step } from './support/hubSteps.js'
import { expectRecord } from './support/record.js'
import { GREEDY, REFUSE, startWallet } from './support/wallet.js'

/** Approximate number of calls in a run. `FUZZ_CALLS=100000` makes a long one, `FUZZ_SEED` repeats one. */
const CALLS = Number(process.env.FUZZ_CALLS ?? 300)
const SEED = Number(process.env.FUZZ_SEED ?? randomInt(2 ** 31))
const MAX_STEPS = 48
const DAY_S = 86_400n
const EIDS = [SPOKE_EID, OTHER_EID]
const SOURCES = [`0x${'50'.repeat(32)}`, `0x${'5a'.repeat(32)}`] as const
/** Accounts that only receive, so that their balance is the sum of their payments. */
const QUIET: readonly Address[] = [
  '0x00000000000000000000000000000000000000e0',
  '0x00000000000000000000000000000000000000e1',
]

const world = useWorld(() => startHubWorld())
let callers: readonly Address[]
let receivers: readonly Address[]
let refuser: Address

beforeAll(async () => {
  const { hub, owner, relayer, pauser, alice, bob, endpoint } = world
  const refusing = await startWallet(world, hub)
  const greedy = await startWallet(world, hub)
  await refusing.call('setMode', [REFUSE])
  await greedy.call('setCallBack', [hub, hubCall('withdrawRefundFor', [greedy.address])])
  await greedy.call('setMode', [GREEDY])
  refuser = refusing.address
  callers = [owner, relayer, pauser, alice, bob, refuser, greedy.address, endpoint]
  receivers = [...QUIET, greedy.address, refuser, hub, zeroAddress]
  for (const address of callers) {
    await world.impersonate(address)
    await world.testClient.setBalance({ address, value: MOST_WEI * 2n ** 8n })
  }
})

test.each(EXAMPLES)('%s', (_, steps) => world.takenBack(() => runSteps(steps)))

test(
  'the hub behaves like its model, for any calls of any callers in any order',
  async () => {
    const runs = fc.array(step, { minLength: 1, maxLength: MAX_STEPS, size: 'max' })
    const property = fc.asyncProperty(runs, (steps: readonly Step[]) =>
      world.takenBack(() => runSteps(steps)),
    )
    await fc.assert(property, { numRuns: Math.ceil((2 * CALLS) / MAX_STEPS), seed: SEED })
    // the examples already cover success and revert of every kind of step
    const ends = KINDS.flatMap((kind) => [`${kind} ok`, `${kind} reverted`]).filter(
      (end) => !NEVER.has(end),
    )
    expect(ends.filter((end) => !seen.has(end))).toEqual([])
    if (CALLS > 10_000) console.log({ seed: SEED, ...Object.fromEntries([...seen].sort()) })
  },
  60_000 + 100 * CALLS,
)

/** Number of steps of the examples and the runs, by kind and end. */
const seen = new Map<string, number>()
/** Ends that a kind of step can't have. */
const NEVER: ReadonlySet<string> = new Set(['forged ok', 'forced reverted'])

async function runSteps(steps: readonly Step[]) {
  // A run starts with a new day, and is over before that day ends.
  const { timestamp } = await world.publicClient.getBlock()
  await world.testClient.setNextBlockTimestamp({ timestamp: (timestamp / DAY_S + 1n) * DAY_S })
  const [owner, relayer, pauser] = callers as [Address, Address, Address]
  const settings = { owner, relayer, pauser, minimum: MINIMUM_WEI, deliverLimit: DELIVER_LIMIT_WEI }
  const model = createModel(settings, {
    deaf: [refuser, world.hub, world.endpoint],
    greedy: receivers[2]!,
  })
  const names = new Set<Hex>()
  const books = createBooks()

  for (const step of steps) {
    const { tx, expected } = planStep(step, model)
    const logs = tx === null ? await force(step, model) : await logsOf(tx)
    expect(logs, print(step)).toEqual(expected)
    const end = `${step.kind} ${typeof logs === 'string' ? 'reverted' : 'ok'}`
    seen.set(end, (seen.get(end) ?? 0) + 1)
    for (const log of typeof logs === 'string' ? [] : logs) {
      if (log[0] === 'Bid') names.add(log[3] as Hex)
      books.record(log)
    }
    const money = await world.money()
    expect(money, print(step)).toEqual(model.money())
    expect(money.balance).toBeGreaterThanOrEqual(money.owed)
  }

  const owners = await Promise.all([...names].map(world.ownerOf))
  expect(owners).toEqual([...names].map((name) => model.owners.get(name) ?? zeroHash))
  for (const [key, amount] of books.credits) {
    const [eid, from] = key.split(':') as [string, Hex]
    expect([key, model.creditOf(Number(eid), from)]).toEqual([key, amount])
    expect([key, await world.refundOf(from, Number(eid))]).toEqual([key, amount])
  }
  await expectRecord(world.publicClient, { hub: world.hub })
  for (const to of QUIET)
    expect(await world.balance(to)).toBe(books.paid.get(to.toLowerCase()) ?? 0n)
}

/** Owed and paid amounts by account, from the hub's logs only. */
function createBooks() {
  const credits = new Map<string, bigint>()
  const paid = new Map<string, bigint>()
  const add = (to: Map<string, bigint>, key: string, amount: bigint) =>
    to.set(key, (to.get(key) ?? 0n) + amount)
  return {
    credits,
    paid,
    record([event, ...values]: Log) {
      if (event === 'Credited') {
        const [from, eid, amount] = values as [Hex, number, bigint]
        add(credits, `${eid}:${from}`, amount)
      } else if (event === 'RefundWithdrawn') {
        const [from, eid, to, amount] = values as [Hex, number, Address, bigint]
        add(credits, `${eid}:${from}`, -amount)
        add(paid, to.toLowerCase(), amount)
      } else if (event === 'KeptWithdrawn') {
        const [to, amount] = values as [Address, bigint]
        add(paid, to.toLowerCase(), amount)
      }
    },
  }
}

async function logsOf(tx: Transaction): Promise<Outcome> {
  const receipt = await world.send(tx)
  if (receipt.status === 'success') return eventsOf(receipt) as readonly Log[]
  return (await world.revertOf(tx, world.abi)) ?? 'nothing on a second try'
}

async function force(step: Step, model: Model): Promise<Outcome> {
  const { value } = step as Extract<Step, { kind: 'forced' }>
  await world.testClient.setBalance({ address: world.hub, value: model.money().balance })
  return value >= 0n ? [] : 'no money'
}

type Transaction = Parameters<HubWorld['send']>[0]
type Plan = { tx: Transaction | null; expected: Outcome }

/** The transaction of a step, and the logs that the model expects. */
function planStep(step: Step, model: Model): Plan {
  const { hub } = world
  const call = (from: Address, data: Hex, expected: Outcome): Plan => ({
    tx: { from, to: hub, data },
    expected,
  })
  const to = 'receiver' in step ? receivers[step.receiver]! : zeroAddress
  const caller = 'who' in step ? callers[step.who]! : world.owner
  switch (step.kind) {
    case 'single':
    case 'direct':
      return planBids(step, model, caller)
    case 'bridged': {
      const value = valueFor(step.bids, step.excess)
      return planMessage(step, model, encodeBids(step.bids, step.referral), value)
    }
    case 'broken':
      return planMessage(step, model, step.hubCalldata, step.value)
    case 'withdrawnByMessage':
      return planMessage(step, model, withdrawRefund(to), step.value)
    case 'forged':
      return planForged(step, caller)
    case 'delivered': {
      const deliveries = step.deliveries.map(deliveryOf)
      const data = deliver(
        ...deliveries.map(({ bids, ...rest }) => ({ ...rest, ...columnsOf(bids) })),
      )
      return call(caller, data, model.deliver(caller, deliveries))
    }
    case 'withdrawn':
      return call(caller, withdrawRefund(to), model.withdrawRefund(caller, to))
    case 'withdrawnFor': {
      const account = callers[step.account]!
      return call(caller, hubCall('withdrawRefundFor', [account]), model.withdrawRefundFor(account))
    }
    case 'keptWithdrawn':
      return call(caller, hubCall('withdrawKept', [to]), model.withdrawKept(caller, to))
    case 'forced':
      model.force(step.value)
      return { tx: null, expected: [] }
    case 'paused':
      return call(caller, hubCall('pause', []), model.pause(caller))
    case 'unpaused':
      return call(caller, hubCall('unpause', []), model.unpause(caller))
    case 'minimumSet':
      return call(caller, hubCall('setMinimum', [step.value]), model.setMinimum(caller, step.value))
    case 'limitSet':
      return call(
        caller,
        hubCall('setDeliverLimit', [step.value]),
        model.setDeliverLimit(caller, step.value),
      )
    case 'relayerSet': {
      const relayer = callers[step.relayer]!
      return call(caller, hubCall('setRelayer', [relayer]), model.setRelayer(caller, relayer))
    }
  }
}

function planBids(
  step: Extract<Step, { kind: 'single' | 'direct' }>,
  model: Model,
  caller: Address,
): Plan {
  const { referral } = step
  const bids = step.kind === 'single' ? [step.bid] : step.bids
  const value = valueFor(bids, step.kind === 'single' ? 0n : step.excess)
  if (step.kind === 'direct') {
    const tx = { from: caller, to: world.hub, data: encodeBids(bids, referral), value }
    return { tx, expected: model.direct(caller, bids, referral, value) }
  }
  // the amount is the value that is sent
  const bid = { ...step.bid, amount: value }
  const data = hubCall('placeBid', referral === zeroHash ? [bid.name] : [bid.name, referral])
  const tx = { from: caller, to: world.hub, data, value }
  return { tx, expected: model.direct(caller, [bid], referral, value) }
}

type MessageStep = Extract<Step, { kind: 'bridged' | 'broken' | 'withdrawnByMessage' }>

function planMessage(step: MessageStep, model: Model, hubCalldata: Hex, value: bigint): Plan {
  const from = payerOf(step.payer)
  const eid = EIDS[step.eid]!
  const { guid, tx } = world.receiving(messageOf(from, hubCalldata), value, undefined, eid)
  return { tx, expected: model.message(eid, guid, from, hubCalldata, value) }
}

/** A message that is not from the endpoint, or not from a peer. */
function planForged({ wrong, bids }: Extract<Step, { kind: 'forged' }>, caller: Address): Plan {
  const message = messageOf(word(caller), encodeBids(bids, zeroHash))
  const { tx } = world.receiving(message, 0n, undefined, wrong === 'eid' ? EIDS[1]! + 1 : EIDS[0])
  if (wrong === 'peer')
    return { tx: { ...tx, data: tx.data.replaceAll('5b0c', '5b0d') as Hex }, expected: 'OnlyPeer' }
  if (wrong === 'eid') return { tx, expected: 'NoPeer' }
  return {
    tx: { ...tx, from: caller === world.endpoint ? world.owner : caller },
    expected: 'OnlyEndpoint',
  }
}

type DeliveryStep = Extract<Step, { kind: 'delivered' }>['deliveries'][number]

const deliveryOf = ({ source, sequence, payer, bids, referral }: DeliveryStep): ModelDelivery => ({
  source: SOURCES[source]!,
  sequence,
  from: payerOf(payer),
  bids,
  referral,
})

const payerOf = (payer: number | Hex): Hex =>
  typeof payer === 'number' ? pad(word(callers[payer]!)) : payer
const columnsOf = (bids: readonly ModelBid[]) => ({
  amounts: bids.map(({ amount }) => amount),
  names: bids.map(({ name }) => name),
})

/** The value of some bids. Almost zero where nobody has that much. */
function valueFor(bids: readonly ModelBid[], excess: bigint): bigint {
  const value = sumOf(bids.map(({ amount }) => amount)) + excess
  return value >= 0n && value <= MOST_WEI ? value : 0n
}

const print = (step: Step) =>
  JSON.stringify(step, (_, value) => (typeof value === 'bigint' ? `${value}` : value))
