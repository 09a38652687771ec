import { type AccountMeta, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { initializeInstruction } from '../../src/testing/solana/registrar.js'
import { base58Of, changed, createSolanaWorld, NOW, type SolanaEvent, type SolanaWorld } from './support/solana.js'
import { callsOf, TREASURY_BYTES, wordOf, writes } from './support/solanaCalls.js'
import { createSolanaModel, type SolanaModel } from './support/solanaModel.js'
import { describeCall, mutateCall, mutation } from './support/solanaMutations.js'

const RUNS = 5
const STEPS = 2_000
const QUOTES = ['q0', 'q1', 'q2', 'q3', 'q4', 'q5', 'q6', 'q7']
const KINDS = [
  'register',
  'register',
  'register',
  'settle',
  'refund',
  'withdraw',
  'set_authorities',
  'initialize',
] as const
/** Offsets in the data of `register`. */
const LAMPORTS_OFFSET = 88
const EXPIRY_OFFSET = 96
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
  gift: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  mutations: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 3 }) },
  ),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

test(`${RUNS * STEPS} payloads and account lists: the program does what its description says, to the lamport`, {
  timeout: 300_000,
}, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }), (steps) => {
      const scene = enter()
      for (const one of steps) play(scene, one)
      empty(scene)
      // refusals prove little unless as many calls succeed
      const { initialize, ...others } = scene.accepted
      expect(initialize).toBe(0)
      expect(Math.min(...Object.values(others))).toBeGreaterThan(STEPS / 100)
    }),
    // a failure names its instruction: thousands of steps are not worth shrinking
    { numRuns: RUNS, endOnFailure: true },
  )
})

interface Scene {
  world: SolanaWorld
  model: SolanaModel
  /** Accounts that stand in for others. */
  pool: PublicKey[]
  /** Wallets: what else signs is no wish of anybody. */
  wallets: PublicKey[]
  watched: Map<string, PublicKey>
  gifts: bigint
  /** The state account's data after the last step. */
  state: Buffer
  /** Instructions that went through. */
  accepted: Record<(typeof KINDS)[number], number>
  /** Accounts of the quotes, in their order. */
  payments: PublicKey[]
  templates: ReturnType<typeof templatesOf>
  treasuryRent: bigint
}

function enter(): Scene {
  const world = createSolanaWorld()
  const { registrar, keys, programId, programData } = world
  const payments = new Map(QUOTES.map((quote) => [wordOf(quote).toString('hex'), registrar.payment(wordOf(quote))]))
  const wallets = Object.values(keys)
  const accounts = [...wallets, registrar.state, registrar.treasury, programData, ...payments.values()]
  return {
    world,
    model: createSolanaModel(world, payments),
    pool: [...accounts, SystemProgram.programId, programId],
    wallets,
    watched: new Map(accounts.map((account) => [base58Of(account), account])),
    gifts: 0n,
    state: world.accountOf(registrar.state)!.data,
    accepted: { register: 0, settle: 0, refund: 0, withdraw: 0, set_authorities: 0, initialize: 0 },
    payments: [...payments.values()],
    templates: templatesOf(world),
    treasuryRent: world.rentOf(TREASURY_BYTES),
  }
}

/** Runs one step and compares its effects with the model's. */
function play(scene: Scene, one: Step): void {
  const { world, model } = scene
  if (one.gift) give(scene, one)
  const call = mutateCall(rightCall(scene, one), one.mutations, scene.pool, (key) => mayHaveSigned(scene, key))
  const effect = model.predict(call, (bytes) => (bytes.length === 32 ? new PublicKey(bytes).toBase58() : ''))
  const before = balances(world, call)
  const { error, logs } = world.send(call)
  if ((error === undefined) !== (effect !== undefined)) {
    throw new Error(`${describeCall(call)}: ${error ?? 'went through'}\n${logs.join('\n')}`)
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
    expect(world.eventsOf(logs).map(eventText)).toEqual(effect.events)
    checkLedger(scene)
  } else if (!data.equals(scene.state)) {
    throw new Error(`${describeCall(call)}: refused, and the state has changed`)
  }
  scene.state = data
}

/** Compares state and treasury with the model. */
function checkLedger({ world, model, gifts, treasuryRent }: Scene): void {
  const { keptLamports, heldLamports } = model.money()
  const { relay, treasurer } = model.authorities()
  const { relayAuthority, treasuryAuthority, communitySequence, holdSeconds, ...numbers } = world.stateOf()
  expect(numbers).toEqual(model.money())
  expect([communitySequence, holdSeconds]).toEqual([0n, 3_600n])
  expect([base58Of(relayAuthority), base58Of(treasuryAuthority)]).toEqual([relay, treasurer])
  const balance = world.balanceOf(world.registrar.treasury)
  expect(balance).toBe(treasuryRent + keptLamports + heldLamports + gifts)
}

/** Nothing is ever stuck: all that is held goes back, all that is kept comes out. */
function empty(scene: Scene): void {
  const { world, model, watched } = scene
  const { keys, registrar } = world
  const calls = callsOf(world)
  expect(world.send(calls.setAuthorities(keys.relay, keys.treasurer)).error).toBeUndefined()
  for (const [account, { payer, lamports }] of model.held) {
    const quote = QUOTES.find((name) => registrar.payment(wordOf(name)).toBase58() === account)!
    const payerKey = watched.get(payer) ?? new PublicKey(payer)
    const before = world.balanceOf(payerKey)
    const refund = registrar.refund(keys.relay, { quoteId: wordOf(quote), payer: payerKey })
    expect(world.send(refund).error).toBeUndefined()
    expect(world.balanceOf(payerKey)).toBeGreaterThan(before + lamports)
  }
  const { keptLamports } = model.money()
  if (keptLamports > 0n) expect(world.send(calls.withdraw(keptLamports)).error).toBeUndefined()
  expect(world.balanceOf(registrar.treasury)).toBe(world.rentOf(TREASURY_BYTES) + scene.gifts)
}

function give(scene: Scene, { who, quote }: Step): void {
  const { registrar, balanceOf, send, keys } = scene.world
  const to = who === 0 ? registrar.treasury : scene.payments[quote]!
  if (who === 0) scene.gifts += GIFT_LAMPORTS
  const before = balanceOf(to)
  const lamports = Number(GIFT_LAMPORTS)
  expect(send(SystemProgram.transfer({ fromPubkey: keys.stranger, toPubkey: to, lamports })).error).toBeUndefined()
  expect(balanceOf(to)).toBe(before + GIFT_LAMPORTS)
}

/** Instructions made once: finding an address takes longer than running the program. */
function templatesOf(world: SolanaWorld) {
  const { keys, programId } = world
  const calls = callsOf(world)
  return {
    register: new Map(QUOTES.map((quote) => [quote, calls.register(quote)])),
    settle: calls.settle('any'),
    refund: calls.refund('any'),
    withdraw: calls.withdraw(1n),
    setAuthorities: (relay: PublicKey, treasurer: PublicKey) => calls.setAuthorities(relay, treasurer),
    initialize: initializeInstruction(programId, keys.deployer, keys.relay, keys.treasurer),
  }
}

function rightCall({ world, model, wallets, payments, templates }: Scene, one: Step): TransactionInstruction {
  const { keys } = world
  const authority = (role: 'relay' | 'treasurer') => (metas: AccountMeta[]) =>
    metas.with(0, { ...metas[0]!, pubkey: new PublicKey(model.authorities()[role]) })
  // mostly payments that there are, and no more than is kept
  const open = payments.filter((payment) => model.held.has(base58Of(payment)))
  const candidates = open.length >= one.count && one.who > 0 ? open : payments
  const { keptLamports } = model.money()
  const pairs = Array.from({ length: one.count }, (_, n) => {
    const payment = candidates[(one.quote + n) % candidates.length]!
    const payer = model.held.get(base58Of(payment))?.payer
    return [writes(payment), writes(payer === undefined ? keys.alice : new PublicKey(payer))]
  })
  switch (one.kind) {
    case 'register': {
      const right = templates.register.get(QUOTES[one.quote]!)!
      const data = Buffer.from(right.data)
      data.writeBigUInt64LE(one.lamports, LAMPORTS_OFFSET)
      data.writeBigInt64LE(NOW + one.expiresIn, EXPIRY_OFFSET)
      const payer = [keys.alice, keys.bob, keys.relay, keys.deployer][one.who]!
      return changed(right, { data, keys: (metas) => metas.with(0, { ...metas[0]!, pubkey: payer }) })
    }
    case 'settle':
      return changed(templates.settle, { keys: (all) => [...authority('relay')(all).slice(0, 2), ...pairs.flat()] })
    case 'refund':
      return changed(templates.refund, { keys: (all) => [...authority('relay')(all).slice(0, 3), ...pairs[0]!] })
    case 'withdraw': {
      const data = Buffer.from(templates.withdraw.data)
      data.writeBigUInt64LE(one.who > 0 && keptLamports > 0n ? one.lamports % (keptLamports + 1n) : one.lamports, 8)
      const to = writes(wallets[one.who]!)
      return changed(templates.withdraw, { data, keys: (metas) => authority('treasurer')(metas).with(3, to) })
    }
    case 'set_authorities':
      return templates.setAuthorities(
        [keys.relay, keys.bob][one.who % 2]!,
        [keys.treasurer, keys.alice][one.count % 2]!,
      )
    case 'initialize':
      return templates.initialize
  }
}

/** The program's own addresses have no key that could sign. */
function mayHaveSigned({ wallets, watched, pool }: Scene, key: PublicKey): boolean {
  const isKnown = watched.has(base58Of(key)) || pool.some((one) => one.equals(key))
  return !isKnown || wallets.some((one) => one.equals(key))
}

/** Accounts of the call, and the treasury: the runtime changes no account that a transaction doesn't name. */
function balances(world: SolanaWorld, { keys }: TransactionInstruction): Map<string, bigint> {
  const accounts = [world.registrar.treasury, ...keys.map(({ pubkey }) => pubkey)]
  return new Map(accounts.map((account) => [base58Of(account), world.balanceOf(account)]))
}

function eventText({ name, data }: SolanaEvent): string {
  const { sequence, payer, quote_id: quote, lamports, name: word } = data
  return [name, sequence, payer, quote, word, lamports].filter((field) => field !== undefined).join(' ')
}
