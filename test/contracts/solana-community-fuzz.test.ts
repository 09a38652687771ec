import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CountedPayment } from '../../src/chains/solana/community/program.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.js'
import {
  base58Of,
  createSolanaWorld,
  eventsOf,
  NOW,
  RECLAIM_SECONDS,
  type SolanaEvent,
  type SolanaWorld,
} from './support/solana.js'
import { type CommunityCalls, communityOf, DECIMALS } from './support/solanaCommunity.js'
import {
  type CommunityModel,
  createCommunityModel,
  type OpenPayment,
} from './support/solanaCommunityModel.js'
import { describeCall, mutateCall, mutation } from './support/solanaMutations.js'

/** Calls of one history; `FUZZ_CALLS=100000` for a long run, `FUZZ_SEED` for the same again. */
const CALLS = Number(process.env.FUZZ_CALLS ?? 500)
const STEPS = Math.min(1_000, CALLS)
const RUNS = Math.ceil(CALLS / STEPS)
const SEED = process.env.FUZZ_SEED === undefined ? undefined : Number(process.env.FUZZ_SEED)
const NUMBERS = [0n, 1n, 2n, 3n, 2n ** 64n - 1n]
const KINDS = [
  ...(['pay', 'pay', 'payToken', 'payToken', 'refuse', 'refuse'] as const),
  ...(['release', 'release', 'claim', 'claim', 'freeze'] as const),
]

const amount = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt(1n, 10n ** 9n) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 10n ** 15n, 2n ** 63n, 2n ** 64n - 1n) },
)
const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  number: fc.nat(NUMBERS.length - 1),
  payer: fc.nat(1),
  recipient: fc.nat(3),
  mint: fc.nat(1),
  count: fc.integer({ min: 1, max: 3 }),
  /** Index among the candidates. */
  which: fc.nat(9),
  amount,
  /** Time that passes before. */
  seconds: fc.constantFrom(0n, 0n, 0n, 60n, 86_400n),
  /** Another account of the payer's or recipient's than the associated one. */
  other: fc.boolean(),
  gift: fc.oneof(
    { weight: 9, arbitrary: fc.constant(false) },
    { weight: 1, arbitrary: fc.constant(true) },
  ),
  mutations: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 2 }) },
  ),
})
type Drawn = typeof step extends fc.Arbitrary<infer S> ? S : never
type Step = Omit<Drawn, 'seconds'> & { seconds: bigint }

const PLAIN = {
  number: 0,
  payer: 0,
  recipient: 1,
  mint: 0,
  count: 1,
  which: 1,
  amount: 10n ** 7n,
  seconds: 0n,
  other: false,
  gift: false,
  mutations: [] as const,
}
/** Every instruction goes through once, whatever chance brings afterwards. */
const OPENING: readonly Step[] = [
  { ...PLAIN, kind: 'pay' },
  { ...PLAIN, kind: 'payToken', number: 1 },
  { ...PLAIN, kind: 'refuse' },
  { ...PLAIN, kind: 'release' },
  { ...PLAIN, kind: 'pay', number: 2 },
  { ...PLAIN, kind: 'claim', seconds: RECLAIM_SECONDS },
]

test(`${RUNS * STEPS} payments and how they end: the program does what its description says, to the unit`, {
  timeout: 3_000_000,
}, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }), (steps) => {
      const scene = enter()
      for (const one of OPENING) play(scene, one)
      const { freeze: _, ...opened } = scene.accepted
      expect(Math.min(...Object.values(opened))).toBe(1)
      for (const one of steps) play(scene, one)
      empty(scene)
      // refusals prove little unless as many calls succeed
      const accepted = Object.values(scene.accepted).reduce((sum, count) => sum + count, 0)
      expect(accepted).toBeGreaterThan(STEPS / 20)
    }),
    // a failure names its instruction: thousands of steps are not worth shrinking
    { numRuns: RUNS, endOnFailure: true, ...(SEED === undefined ? {} : { seed: SEED }) },
  )
})

interface Scene {
  world: SolanaWorld
  club: CommunityCalls
  model: CommunityModel
  payers: readonly [PublicKey, PublicKey]
  recipients: PublicKey[]
  mints: readonly [PublicKey, PublicKey]
  /** Vaults in the mints' order. */
  vaults: PublicKey[]
  /** Token accounts beside the associated ones, by owner and mint. */
  others: Map<string, PublicKey>
  /** Accounts of payments. */
  accounts: PublicKey[]
  pool: PublicKey[]
  wallets: Set<string>
  /** The state account's data after the last step. */
  state: Buffer
  /** Instructions that went through. */
  accepted: Record<(typeof KINDS)[number], number>
}

function enter(): Scene {
  const world = createSolanaWorld()
  const club = communityOf(world)
  const { keys, registrar, programId, programData } = world
  const newKey = () => Keypair.generate().publicKey
  const mints = [club.setMint(newKey()), club.setMint(newKey())] as const
  const payers = [keys.alice, keys.bob] as const
  // the last has nothing: neither lamports nor, of the second token, an account
  const recipients = [keys.bob, keys.stranger, keys.alice, newKey()]
  const others = new Map<string, PublicKey>()
  const tokenAccounts = new Map<string, { mint: string; owner: string }>()
  for (const owner of new Set([...payers, ...recipients])) {
    for (const mint of mints) {
      const names = { mint: base58Of(mint), owner: base58Of(owner) }
      const other = club.setTokenAccount(newKey(), owner, mint, 10n ** 12n)
      others.set(names.owner + names.mint, other)
      tokenAccounts.set(base58Of(other), names)
      if (owner === recipients[3] && mint === mints[1]) continue
      tokenAccounts.set(base58Of(club.giveTokens(owner, mint)), names)
    }
  }
  const wallets = [...Object.values(keys), ...recipients]
  const payments = new Map(
    [...new Set(wallets)].flatMap((payer) =>
      NUMBERS.map((number): [string, PublicKey] => [
        `${base58Of(payer)} ${number}`,
        club.program.paymentAccount({ payer, number }),
      ]),
    ),
  )
  const vaults = mints.map(club.program.vault)
  const tokenKeys = [...tokenAccounts.keys()].map((account) => new PublicKey(account))
  const log = registrar.log.map(({ pubkey }) => pubkey)
  return {
    world,
    club,
    payers,
    recipients,
    mints,
    vaults,
    others,
    accounts: [...payments.values()],
    model: createCommunityModel(world, {
      payments: new Map([...payments].map(([key, account]) => [key, base58Of(account)])),
      mints: new Map(
        mints.map((mint, i) => [
          base58Of(mint),
          { decimals: DECIMALS, vault: base58Of(vaults[i]!) },
        ]),
      ),
      tokenAccounts,
      associated: (owner, mint) =>
        base58Of(associatedTokenAddress(new PublicKey(owner), new PublicKey(mint))),
      textOf: (hex) => bs58.encode(Buffer.from(hex, 'hex')),
    }),
    pool: [
      ...[
        ...new Set(wallets),
        registrar.state,
        registrar.treasury,
        programData,
        ...log,
        ...vaults,
        ...mints,
      ],
      ...[...payments.values(), ...tokenKeys, SystemProgram.programId, TOKEN_PROGRAM, programId],
    ],
    wallets: new Set(wallets.map(base58Of)),
    state: world.accountOf(registrar.state)!.data,
    accepted: { pay: 0, payToken: 0, refuse: 0, release: 0, claim: 0, freeze: 0 },
  }
}

/** Runs one step and compares its effects with the model's. */
function play(scene: Scene, one: Step): void {
  const { world, model, pool, wallets } = scene
  prepare(scene, one)
  if (one.kind === 'freeze') return
  const call = mutateCall(rightCall(scene, one), one.mutations, pool, (key) =>
    wallets.has(base58Of(key)),
  )
  const effect = model.predict(call)
  const before = holdings(scene, call)
  const outcome = world.send(call)
  if ((outcome.error === undefined) !== (effect !== undefined)) {
    throw new Error(
      `${describeCall(call)}: ${outcome.error ?? 'went through'}\n${outcome.logs.join('\n')}`,
    )
  }
  const after = holdings(scene, call)
  const wrong = [...before].filter(([account, { lamports, tokens }]) => {
    const now = after.get(account)!
    const moved = effect?.lamports.get(account) ?? 0n
    const movedTokens = effect?.tokens.get(account) ?? 0n
    return now.lamports - lamports !== moved || now.tokens - tokens !== movedTokens
  })
  expect(wrong, describeCall(call)).toEqual([])
  const { data } = world.accountOf(world.registrar.state)!
  if (effect) {
    effect.apply()
    scene.accepted[one.kind]++
    expect(eventsOf(outcome).map(eventText)).toEqual(effect.events)
    const counts = {
      sequence: 0n,
      keptLamports: 0n,
      heldLamports: 0n,
      communitySequence: model.communitySequence(),
    }
    expect(world.stateOf()).toMatchObject(counts)
    checkVaults(scene)
  } else if (!data.equals(scene.state)) {
    throw new Error(`${describeCall(call)}: refused, and the state has changed`)
  }
  scene.state = data
}

/** Each vault holds what the open payments in its token come to. */
function checkVaults({ club, model, mints, vaults }: Scene): void {
  for (const [i, mint] of mints.entries()) {
    const open = [...model.open.values()].filter((payment) => payment.mint === base58Of(mint))
    const held = open.reduce((sum, payment) => sum + payment.amount, 0n)
    expect(club.tokensAt(vaults[i]!)).toBe(held)
  }
}

/** Time passes, somebody sends lamports to an account that may be made, an issuer freezes an account or thaws it. */
function prepare(scene: Scene, one: Step): void {
  const { world, model, accounts } = scene
  model.setNow(model.now() + one.seconds)
  world.at(model.now() - NOW)
  if (one.kind === 'freeze') freeze(scene, one)
  if (!one.gift) return
  const gift = {
    fromPubkey: world.keys.deployer,
    toPubkey: accounts[one.which]!,
    lamports: 1_000_000,
  }
  expect(world.send(SystemProgram.transfer(gift)).error).toBeUndefined()
}

function freeze(scene: Scene, one: Step): void {
  const { mints, payers, recipients, vaults } = scene
  const mint = mints[one.mint]!
  const owner = one.other ? payers[one.payer]! : recipients[one.recipient]!
  const isVault = one.which === 0
  if (!isVault && owner === recipients[3] && one.mint === 1) return
  if (isVault) setFrozen(scene, vaults[one.mint]!, vaults[one.mint]!, mint, one.count === 1)
  else setFrozen(scene, associatedTokenAddress(owner, mint), owner, mint, one.count === 1)
}

function setFrozen(
  { club, world, model }: Scene,
  account: PublicKey,
  owner: PublicKey,
  mint: PublicKey,
  is: boolean,
) {
  if (!world.accountOf(account)) return
  club.setTokenAccount(account, owner, mint, club.tokensAt(account), is ? 'frozen' : 'open')
  if (is) model.frozen.add(base58Of(account))
  else model.frozen.delete(base58Of(account))
}

function rightCall(scene: Scene, one: Step): TransactionInstruction {
  const { club, world, payers, recipients, mints, others, model } = scene
  const payer = payers[one.payer]!
  const mint = mints[one.mint]!
  const terms = { payer, recipient: recipients[one.recipient]!, amount: one.amount }
  switch (one.kind) {
    case 'pay':
      return club.pay(NUMBERS[one.number], terms)
    case 'payToken': {
      const source = one.other ? { source: others.get(base58Of(payer) + base58Of(mint))! } : {}
      return club.payToken(mint, NUMBERS[one.number], { ...terms, ...source })
    }
    case 'refuse':
    case 'release':
      return club.program[one.kind](
        world.keys.relay,
        pick(scene, one, ({ state }) => state === 'held'),
      )
    case 'claim': {
      const isDue = ({ state, reclaimableAt }: OpenPayment) =>
        state !== 'held' || reclaimableAt <= model.now()
      const [payment] = pick(scene, { ...one, count: 1 }, isDue)
      return claimCall(scene, payment!, one.other)
    }
    case 'freeze':
      throw new Error('is no instruction')
  }
}

const countedOf = ({ payer, number, sequence, mint, recipient }: OpenPayment): CountedPayment => ({
  payer: new PublicKey(payer),
  number,
  sequence,
  recipient: new PublicKey(recipient),
  token: mint === undefined ? null : new PublicKey(mint),
})

/** Payments that are open, mostly of those that would do. */
function pick(
  { model, club }: Scene,
  { which, count }: Step,
  wanted: (payment: OpenPayment) => boolean,
) {
  const open = [...model.open.values()]
  const fitting = open.filter(wanted)
  const candidates = fitting.length > 0 && which > 0 ? fitting : open
  if (candidates.length === 0) return [club.paid(1n)]
  const found = Array.from(
    { length: count },
    (_, i) => candidates[(which + i) % candidates.length]!,
  )
  return [...new Set(found)].map(countedOf)
}

function claimCall(
  { club, others, model }: Scene,
  payment: CountedPayment,
  isOther: boolean,
): TransactionInstruction {
  const account = base58Of(club.program.paymentAccount(payment))
  const owner = model.open.get(account)?.state === 'released' ? payment.recipient : payment.payer
  const { token } = payment
  return club.claim(
    owner,
    payment,
    token && isOther ? others.get(base58Of(owner) + base58Of(token)) : undefined,
  )
}

/** Nothing is ever stuck: everything that is open goes to whose it is, without the relay authority. */
function empty(scene: Scene): void {
  const { world, club, model, vaults, mints } = scene
  model.setNow(model.now() + RECLAIM_SECONDS)
  world.at(model.now() - NOW)
  for (const [i, vault] of vaults.entries()) setFrozen(scene, vault, vault, mints[i]!, false)
  for (const [account, payment] of [...model.open]) {
    const to = new PublicKey(payment.state === 'released' ? payment.recipient : payment.payer)
    if (payment.mint !== undefined) club.giveTokens(to, new PublicKey(payment.mint), 0n)
    if (world.balanceOf(to) === 0n) world.give(to, world.rentOf(0))
    const before = world.balanceOf(to)
    const { error, logs } = world.send(claimCall(scene, countedOf(payment), false))
    expect(error, logs.join('\n')).toBeUndefined()
    if (payment.mint === undefined)
      expect(world.balanceOf(to)).toBeGreaterThanOrEqual(before + payment.amount)
    else
      expect(club.tokensAt(associatedTokenAddress(to, new PublicKey(payment.mint)))).toBe(
        payment.amount,
      )
    model.open.delete(account)
  }
  checkVaults(scene)
}

/** Accounts of the call, and the vaults: the runtime changes no account that a transaction doesn't name. */
function holdings({ world, model, vaults }: Scene, { keys }: TransactionInstruction) {
  const accounts = [...vaults, ...keys.map(({ pubkey }) => pubkey)]
  return new Map(
    accounts.map((account) => [
      base58Of(account),
      { lamports: world.balanceOf(account), tokens: model.tokensAt(account) },
    ]),
  )
}

function eventText({ name, data }: SolanaEvent): string {
  const { sequence, payer, recipient, beneficiary, token, amount: units, paid, number } = data
  const { community, name: word, reclaimable_at: at } = data
  return [
    name,
    sequence,
    payer ?? recipient ?? beneficiary,
    token,
    units,
    paid,
    number,
    community,
    word,
    at,
  ]
    .filter((field) => field !== undefined)
    .join(' ')
}
