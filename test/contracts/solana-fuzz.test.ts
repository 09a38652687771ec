import { PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { initialize, withdraw } from '../../src/chains/solana/admin.js'
import {
  base58Of,
  changed,
  createSolanaWorld,
  eventsOf,
  NOW,
  RECLAIM_SECONDS,
  type SolanaEvent,
  type SolanaWorld,
  termsOf,
} from './support/solana.js'
import { callsOf, type SolanaCalls, wordOf, writes } from './support/solanaCalls.js'
import { createSolanaModel, type SolanaModel } from './support/solanaModel.js'
import { describeCall, mutateCall, mutation } from './support/solanaMutations.js'

/** Calls of one history; `FUZZ_CALLS=100000` for a long run, `FUZZ_SEED` for the same again. */
const STEPS = 2_000
const RUNS = Math.ceil(Number(process.env.FUZZ_CALLS ?? 1_000) / STEPS)
const SEED = process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED)
const QUOTES = ['q0', 'q1', 'q2', 'q3', 'q4']
const KINDS = [
  ...(['register', 'register', 'register', 'settle', 'refund', 'reclaim', 'withdraw'] as const),
  ...(['set_authorities', 'propose_admin', 'accept_admin', 'initialize'] as const),
] as const
const GIFT_LAMPORTS = 1_000_000n

const lamports = fc.oneof(
  { weight: 6, arbitrary: fc.bigInt(1n, 10n ** 9n) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 10n ** 15n, 2n ** 63n, 2n ** 64n - 1n) },
)
const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  quote: fc.nat(QUOTES.length - 1),
  count: fc.integer({ min: 1, max: 3 }),
  who: fc.nat(3),
  lamports,
  expiresIn: fc.constantFrom(0n, 600n, 600n, 600n, 600n, -1n),
  /** Time that passes before. */
  seconds: fc.constantFrom(0n, 0n, 0n, 60n, 86_400n),
  gift: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  mutations: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
  ),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

test(`${RUNS * STEPS} payloads and account lists: the program does what its description says, to the lamport`, {
  timeout: 3_000_000,
}, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }), (steps) => {
      const scene = enter()
      for (const one of steps) play(scene, one)
      empty(scene)
      // refusals prove little unless as many calls succeed
      const { initialize: again, ...others } = scene.accepted
      expect(again).toBe(0)
      expect(Math.min(...Object.values(others))).toBeGreaterThan(0)
      expect(Object.values(others).reduce((sum, count) => sum + count, 0)).toBeGreaterThan(
        STEPS / 5,
      )
    }),
    // a failure names its instruction: thousands of steps are not worth shrinking
    { numRuns: RUNS, endOnFailure: true, ...(SEED === undefined ? {} : { seed: SEED }) },
  )
})

interface Scene {
  world: SolanaWorld
  calls: SolanaCalls
  model: SolanaModel
  /** Accounts that stand in for others. */
  pool: PublicKey[]
  /** Wallets: what else signs is no wish of anybody. */
  wallets: PublicKey[]
  known: Map<string, PublicKey>
  gifts: bigint
  /** The state account's data after the last step. */
  state: Buffer
  /** Instructions that went through. */
  accepted: Record<(typeof KINDS)[number], number>
  /** Accounts of payments by payer in base58 and quote id in hex. */
  payments: Map<string, PublicKey>
  /** Instructions made once: finding an address takes longer than running the program. */
  templates: Record<'settle' | 'refund' | 'initialize', TransactionInstruction>
}

function enter(): Scene {
  const world = createSolanaWorld()
  const { registrar, keys, programId, programData } = world
  const calls = callsOf(world)
  const wallets = Object.values(keys)
  const payments = new Map(
    wallets.flatMap((payer) =>
      QUOTES.map((quote): [string, PublicKey] => [
        base58Of(payer) + wordOf(quote).toString('hex'),
        calls.paymentAt(quote, payer),
      ]),
    ),
  )
  const foreign = world.addForeignProgram(keys.stranger)
  const others = [
    programData,
    ...Object.values(foreign),
    ...registrar.log.map(({ pubkey }) => pubkey),
  ]
  const accounts = [
    ...wallets,
    registrar.state,
    registrar.treasury,
    ...others,
    ...payments.values(),
  ]
  return {
    world,
    calls,
    wallets,
    payments,
    gifts: 0n,
    model: createSolanaModel(world, payments),
    pool: [...accounts, SystemProgram.programId, programId],
    known: new Map(
      [...accounts, SystemProgram.programId, programId].map((account) => [
        base58Of(account),
        account,
      ]),
    ),
    state: world.accountOf(registrar.state)!.data,
    accepted: {
      register: 0,
      settle: 0,
      refund: 0,
      reclaim: 0,
      withdraw: 0,
      set_authorities: 0,
      propose_admin: 0,
      accept_admin: 0,
      initialize: 0,
    },
    templates: {
      settle: calls.settle({ any: 1n }),
      refund: calls.refund({ any: 1n }),
      initialize: initialize(registrar, keys.deployer, termsOf(keys)),
    },
  }
}

/** Runs one step and compares its effects with the model's. */
function play(scene: Scene, one: Step): void {
  const { world, model } = scene
  model.setNow(model.now() + one.seconds)
  world.at(model.now() - NOW)
  if (one.gift) give(scene, one)
  const call = mutateCall(rightCall(scene, one), one.mutations, scene.pool, (key) =>
    mayHaveSigned(scene, key),
  )
  const effect = model.predict(call, (bytes) =>
    bytes.length === 32 ? new PublicKey(bytes).toBase58() : '',
  )
  const before = balances(world, call)
  const outcome = world.send(call)
  if ((outcome.error === undefined) !== (effect !== undefined)) {
    throw new Error(
      `${describeCall(call)}: ${outcome.error ?? 'went through'}\n${outcome.logs.join('\n')}`,
    )
  }
  const after = balances(world, call)
  const wrong = [...before].filter(
    ([account, lamports]) => after.get(account)! - lamports !== (effect?.moves.get(account) ?? 0n),
  )
  expect(wrong).toEqual([])
  const { data } = world.accountOf(world.registrar.state)!
  if (effect) {
    effect.apply()
    scene.accepted[one.kind]++
    expect(eventsOf(outcome).map(eventText)).toEqual(effect.events)
    checkLedger(scene)
  } else if (!data.equals(scene.state)) {
    throw new Error(`${describeCall(call)}: refused, and the state has changed`)
  }
  scene.state = data
}

/** Compares state and treasury with the model. */
function checkLedger({ world, model, gifts }: Scene): void {
  const { keptLamports, heldLamports } = model.money()
  const { relay, treasurer, admin, proposed } = model.authorities()
  const { relayAuthority, treasuryAuthority, adminAuthority, proposedAdmin, ...numbers } =
    world.stateOf()
  expect(numbers).toEqual({
    ...model.money(),
    communitySequence: 0n,
    reclaimSeconds: RECLAIM_SECONDS,
  })
  const named = [
    relayAuthority,
    treasuryAuthority,
    adminAuthority,
    proposedAdmin ?? SystemProgram.programId,
  ]
  expect(named.map(String)).toEqual([relay, treasurer, admin, proposed])
  const balance = world.balanceOf(world.registrar.treasury)
  expect(balance).toBe(world.reserve + keptLamports + heldLamports + gifts)
}

/** Nothing is ever stuck: all that is held goes back, by its payer where nobody decides, all that is kept comes out. */
function empty({ world, calls, model, known, gifts }: Scene): void {
  const { keys, registrar } = world
  const admin = known.get(model.authorities().admin) ?? new PublicKey(model.authorities().admin)
  expect(world.send(calls.setAuthorities(keys.relay, keys.treasurer, admin)).error).toBeUndefined()
  world.at(model.now() - NOW + RECLAIM_SECONDS)
  for (const { payer, quote, lamports, sequence } of model.held.values()) {
    const key = { quoteId: Buffer.from(quote, 'hex'), payer: new PublicKey(payer), sequence }
    const before = world.balanceOf(key.payer)
    const call = sequence % 2n === 0n ? registrar.refund(keys.relay, [key]) : registrar.reclaim(key)
    expect(world.send(call).error).toBeUndefined()
    expect(world.balanceOf(key.payer)).toBeGreaterThan(before + lamports)
  }
  const { keptLamports } = model.money()
  if (keptLamports > 0n) expect(world.send(calls.withdraw(keptLamports)).error).toBeUndefined()
  expect(world.balanceOf(registrar.treasury)).toBe(world.reserve + gifts)
}

function give(scene: Scene, { who, quote }: Step): void {
  const { registrar, balanceOf, send, keys } = scene.world
  const to = who === 0 ? registrar.treasury : [...scene.payments.values()][quote]!
  if (who === 0) scene.gifts += GIFT_LAMPORTS
  const before = balanceOf(to)
  const lamports = Number(GIFT_LAMPORTS)
  expect(
    send(SystemProgram.transfer({ fromPubkey: keys.stranger, toPubkey: to, lamports })).error,
  ).toBeUndefined()
  expect(balanceOf(to)).toBe(before + GIFT_LAMPORTS)
}

function rightCall(scene: Scene, one: Step): TransactionInstruction {
  const { world, model, wallets, calls, templates } = scene
  const { keys } = world
  const keyAt = (address: string) => scene.known.get(address) ?? new PublicKey(address)
  const { relay, treasurer, admin, proposed } = model.authorities()
  switch (one.kind) {
    case 'register':
      return registerCall(scene, one)
    case 'settle':
    case 'refund':
      return batchCall(scene, one, keyAt(relay), templates[one.kind])
    case 'reclaim': {
      const due = [...model.held.values()].filter(
        ({ reclaimableAt }) => one.who === 0 || reclaimableAt <= model.now(),
      )
      const found = due[one.quote % Math.max(1, due.length)]
      if (!found) return calls.reclaim()
      const key = {
        quoteId: Buffer.from(found.quote, 'hex'),
        payer: keyAt(found.payer),
        sequence: found.sequence,
      }
      return world.registrar.reclaim(key)
    }
    case 'withdraw': {
      const { keptLamports } = model.money()
      const lamports =
        one.who > 0 && keptLamports > 0n ? one.lamports % (keptLamports + 1n) : one.lamports
      return withdraw(world.registrar, keyAt(treasurer), wallets[one.who]!, lamports)
    }
    case 'set_authorities':
      return calls.setAuthorities(
        [keys.relay, keys.bob][one.who % 2]!,
        [keys.treasurer, keys.alice][one.count % 2]!,
        keyAt(admin),
      )
    case 'propose_admin':
      return calls.proposeAdmin(wallets[one.who]!, keyAt(admin))
    case 'accept_admin':
      return calls.acceptAdmin(keyAt(proposed))
    case 'initialize':
      return templates.initialize
  }
}

function registerCall({ world, payments, calls, model }: Scene, one: Step): TransactionInstruction {
  const { keys } = world
  const payer = [keys.alice, keys.bob, keys.relay, keys.deployer][one.who]!
  const quote = QUOTES[one.quote]!
  const right = calls.register(
    'template',
    { lamports: one.lamports, expiresAt: model.now() + one.expiresIn },
    payer,
  )
  const data = Buffer.from(right.data)
  wordOf(quote).copy(data, 8)
  const account = payments.get(base58Of(payer) + wordOf(quote).toString('hex'))!
  return changed(right, { data, keys: (metas) => metas.with(3, writes(account)) })
}

/** Mostly of payments that there are. */
function batchCall(
  { model, known, payments }: Scene,
  one: Step,
  relay: PublicKey,
  template: TransactionInstruction,
) {
  const open = [...model.held]
  const held = Array.from(
    { length: Math.min(one.count, open.length) },
    (_, n) => open[(one.quote + n) % open.length]!,
  )
  const never = [...payments][one.quote]!
  const groups =
    held.length > 0
      ? held.map(([account, { payer, sequence }]) => ({ account, payer, sequence }))
      : []
  if (groups.length === 0 || one.who === 0)
    groups.push({ account: base58Of(never[1]), payer: never[0].slice(0, -64), sequence: 1n })
  const data = Buffer.alloc(12 + 8 * groups.length)
  template.data.copy(data, 0, 0, 8)
  data.writeUInt32LE(groups.length, 8)
  for (const [i, { sequence }] of groups.entries()) data.writeBigUInt64LE(sequence, 12 + 8 * i)
  const keyAt = (address: string) => known.get(address) ?? new PublicKey(address)
  const pairs = groups.flatMap(({ account, payer }) => [
    writes(keyAt(account)),
    writes(keyAt(payer)),
  ])
  return changed(template, {
    data,
    keys: (all) => [{ ...all[0]!, pubkey: relay }, ...all.slice(1, -2), ...pairs],
  })
}

/** The program's own addresses have no key that could sign. */
function mayHaveSigned({ wallets, known }: Scene, key: PublicKey): boolean {
  return !known.has(base58Of(key)) || wallets.some((one) => one.equals(key))
}

/** Accounts of the call, and the treasury: the runtime changes no account that a transaction doesn't name. */
function balances(world: SolanaWorld, { keys }: TransactionInstruction): Map<string, bigint> {
  const accounts = [world.registrar.treasury, ...keys.map(({ pubkey }) => pubkey)]
  return new Map(accounts.map((account) => [base58Of(account), world.balanceOf(account)]))
}

function eventText({ name, data }: SolanaEvent): string {
  const { sequence, payer, quote_id: quote, lamports, name: word, reclaimable_at: at } = data
  return [name, sequence, payer, quote, word, lamports, at]
    .filter((field) => field !== undefined)
    .join(' ')
}
