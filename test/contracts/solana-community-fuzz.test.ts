import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CommunityPaymentKey } from '../../src/chains/solana/community/program.js'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.js'
import { nameToWord } from '../../src/registry/primitives/name.js'
import { base58Of, createSolanaWorld, type SolanaEvent, type SolanaWorld } from './support/solana.js'
import { type CommunityCalls, communityOf, DECIMALS, HOLD_SECONDS } from './support/solanaCommunity.js'
import { type CommunityModel, createCommunityModel, type OpenPayment } from './support/solanaCommunityModel.js'
import { describeCall, mutateCall, mutation } from './support/solanaMutations.js'

const RUNS = 2
const STEPS = 1_000
const NAMES = ['n0', 'n1', 'n2', 'n3', 'n4']
const KINDS = [
  ...(['pay', 'pay', 'payToken', 'payToken', 'refuse', 'refuse'] as const),
  ...(['release', 'release', 'reopen', 'reopen', 'setHold'] as const),
]

const amount = fc.oneof(
  { weight: 8, arbitrary: fc.bigInt(1n, 10n ** 9n) },
  { weight: 1, arbitrary: fc.constantFrom(0n, 1n, 10n ** 15n, 2n ** 63n, 2n ** 64n - 1n) },
)
const step = fc.record({
  kind: fc.constantFrom(...KINDS),
  name: fc.nat(NAMES.length - 1),
  payer: fc.nat(1),
  recipient: fc.nat(3),
  mint: fc.nat(1),
  /** Index among the candidates. */
  which: fc.nat(9),
  amount,
  holdSeconds: fc.constantFrom(0n, 60n, HOLD_SECONDS, HOLD_SECONDS, 7_200n, 604_801n),
  /** Time that passes before. */
  seconds: fc.constantFrom(0n, 0n, 0n, 0n, 60n, 1_800n),
  /** Another account of the payer's or recipient's than the associated one. */
  other: fc.boolean(),
  gift: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  mutations: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    { weight: 3, arbitrary: fc.array(mutation, { minLength: 1, maxLength: 2 }) },
  ),
})
type Drawn = typeof step extends fc.Arbitrary<infer S> ? S : never
type Step = Omit<Drawn, 'holdSeconds' | 'seconds'> & { holdSeconds: bigint; seconds: bigint }

const PLAIN = {
  ...{ name: 0, payer: 0, recipient: 1, mint: 0, which: 1, amount: 10n ** 7n, holdSeconds: HOLD_SECONDS, seconds: 0n },
  ...{ other: false, gift: false, mutations: [] as const },
}
/** Every instruction goes through once, whatever chance brings afterwards. */
const OPENING: readonly Step[] = [
  { ...PLAIN, kind: 'setHold' },
  { ...PLAIN, kind: 'pay' },
  { ...PLAIN, kind: 'payToken', name: 1 },
  { ...PLAIN, kind: 'refuse' },
  { ...PLAIN, kind: 'release' },
  { ...PLAIN, kind: 'release', seconds: 2n * HOLD_SECONDS },
  { ...PLAIN, kind: 'reopen' },
]

test(`${RUNS * STEPS} payments and how they are closed: the program does what its description says, to the unit`, {
  timeout: 300_000,
}, () => {
  fc.assert(
    fc.property(fc.array(step, { minLength: STEPS, maxLength: STEPS, size: 'max' }), (steps) => {
      const scene = enter()
      for (const one of OPENING) play(scene, one)
      expect(Math.min(...Object.values(scene.accepted))).toBe(1)
      for (const one of steps) play(scene, one)
      empty(scene)
      // refusals prove little unless as many calls succeed
      const accepted = Object.values(scene.accepted).reduce((sum, count) => sum + count, 0)
      expect(accepted).toBeGreaterThan(STEPS / 20)
    }),
    // a failure names its instruction: thousands of steps are not worth shrinking
    { numRuns: RUNS, endOnFailure: true },
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
  /** Accounts of names, by community and name in hex. */
  nameAt: ReadonlyMap<string, string>
  /** Payments by their accounts. */
  keyAt: Map<string, CommunityPaymentKey>
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
  const recipients = [keys.bob, keys.stranger, keys.alice, newKey()]
  const others = new Map<string, PublicKey>()
  const tokenAccounts = new Map<string, { mint: string; owner: string; isAssociated: boolean }>()
  for (const owner of new Set([...payers, ...recipients])) {
    for (const mint of mints) {
      const other = club.setTokenAccount(newKey(), owner, mint, 10n ** 12n)
      others.set(base58Of(owner) + base58Of(mint), other)
      const names = { mint: base58Of(mint), owner: base58Of(owner) }
      tokenAccounts.set(base58Of(club.giveTokens(owner, mint)), { ...names, isAssociated: true })
      tokenAccounts.set(base58Of(other), { ...names, isAssociated: false })
    }
  }
  const all = NAMES.flatMap((name) => payers.map((payer) => club.keyOf(name, payer)))
  const payments = all.map((key) => ({ key, account: club.program.paymentAccount(key) }))
  const wordsOf = ({ community, name }: CommunityPaymentKey) => hexOf(community, name)
  const names = new Map(all.map((key) => [wordsOf(key), club.program.nameAccount(key.community, key.name)]))
  const vaults = mints.map(club.program.vault)
  const wallets = [...Object.values(keys), ...recipients]
  const tokenKeys = [...tokenAccounts.keys()].map((account) => new PublicKey(account))
  const pool = [...new Set(wallets), registrar.state, programData, ...names.values(), ...vaults, ...mints]
  const nameAt = new Map([...names].map(([words, account]) => [words, base58Of(account)]))
  return {
    nameAt,
    ...{ world, club, payers, recipients, mints, vaults, others },
    model: createCommunityModel(world, {
      names: nameAt,
      payments: new Map(payments.map(({ key, account }) => [wordsOf(key) + base58Of(key.payer), base58Of(account)])),
      mints: new Map(mints.map((mint, i) => [base58Of(mint), { decimals: DECIMALS, vault: base58Of(vaults[i]!) }])),
      tokenAccounts,
      textOf: (hex) => bs58.encode(Buffer.from(hex, 'hex')),
    }),
    keyAt: new Map(payments.map(({ key, account }) => [base58Of(account), key])),
    pool: [
      ...pool,
      ...payments.map(({ account }) => account),
      ...tokenKeys,
      ...[SystemProgram.programId, TOKEN_PROGRAM, programId],
    ],
    wallets: new Set(wallets.map(base58Of)),
    state: world.accountOf(registrar.state)!.data,
    accepted: { pay: 0, payToken: 0, refuse: 0, release: 0, reopen: 0, setHold: 0 },
  }
}

const hexOf = (...words: Uint8Array[]): string => Buffer.concat(words).toString('hex')

/** Runs one step and compares its effects with the model's. */
function play(scene: Scene, one: Step): void {
  const { world, model, pool, wallets } = scene
  prepare(scene, one)
  const call = mutateCall(rightCall(scene, one), one.mutations, pool, (key) => wallets.has(base58Of(key)))
  const effect = model.predict(call)
  const before = holdings(scene, call)
  const { error, logs } = world.send(call)
  if ((error === undefined) !== (effect !== undefined)) {
    throw new Error(`${describeCall(call)}: ${error ?? 'went through'}\n${logs.join('\n')}`)
  }
  const after = holdings(scene, call)
  const wrong = [...before].filter(([account, { lamports, tokens }]) => {
    const now = after.get(account)!
    const [moved, movedTokens] = [effect?.lamports.get(account) ?? 0n, effect?.tokens.get(account) ?? 0n]
    return now.lamports - lamports !== moved || now.tokens - tokens !== movedTokens
  })
  expect(wrong, describeCall(call)).toEqual([])
  const { data } = world.accountOf(world.registrar.state)!
  if (effect) {
    effect.apply()
    scene.accepted[one.kind]++
    expect(world.eventsOf(logs).map(eventText)).toEqual(effect.event === undefined ? [] : [effect.event])
    expect(world.stateOf()).toMatchObject({ ...model.numbers(), sequence: 0n, keptLamports: 0n, heldLamports: 0n })
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

/** Time passes, and somebody sends lamports to an account that may be made. */
function prepare({ world, club, model, keyAt }: Scene, one: Step): void {
  model.setNow(model.now() + one.seconds)
  club.at(model.now())
  if (!one.gift) return
  const key = [...keyAt.values()][one.which % keyAt.size]!
  const { paymentAccount, nameAccount } = club.program
  const to = one.other ? paymentAccount(key) : nameAccount(key.community, key.name)
  const gift = { fromPubkey: world.keys.deployer, toPubkey: to, lamports: 1_000_000 }
  expect(world.send(SystemProgram.transfer(gift)).error).toBeUndefined()
}

function rightCall(scene: Scene, one: Step): TransactionInstruction {
  const { club, world, payers, recipients, mints, others, model } = scene
  const { keys, programData } = world
  const [payer, mint] = [payers[one.payer]!, mints[one.mint]!]
  const terms = { payer, recipient: recipients[one.recipient]!, amount: one.amount }
  switch (one.kind) {
    case 'pay':
      return club.pay(NAMES[one.name], terms)
    case 'payToken': {
      const source = one.other ? { source: others.get(base58Of(payer) + base58Of(mint))! } : {}
      return club.payToken(mint, NAMES[one.name], { ...terms, ...source })
    }
    case 'refuse': {
      const [key, payment] = pick(scene, one, ({ isRefused, heldUntil }) => !isRefused && heldUntil > model.now())
      return club.program.refuse(keys.relay, key, payment?.sequence ?? 1n)
    }
    case 'release': {
      const [key, payment] = pick(scene, one, ({ isRefused, heldUntil }) => isRefused || heldUntil <= model.now())
      return payment ? releaseCall(scene, key, payment, one.other) : club.release(NAMES[one.name])
    }
    case 'reopen': {
      const over = [...model.taken].filter(([, { heldUntil }]) => heldUntil <= model.now())
      const account = over[one.which % Math.max(1, over.length)]?.[0]
      const paid = [...scene.keyAt.values()].find(
        ({ community, name, payer: by }) =>
          scene.nameAt.get(hexOf(community, name)) === account &&
          base58Of(by) === model.taken.get(account ?? '')?.payer,
      )
      return club.program.reopen(keys.deployer, programData, paid ?? { ...payment0(scene), name: nameToWord('n0') })
    }
    case 'setHold':
      return club.setHold(one.holdSeconds)
  }
}

const payment0 = ({ keyAt }: Scene): CommunityPaymentKey => [...keyAt.values()][0]!

/** A payment that is open, mostly one of those that would do. */
function pick(
  scene: Scene,
  { which }: Step,
  wanted: (payment: OpenPayment) => boolean,
): [CommunityPaymentKey, OpenPayment | undefined] {
  const open = [...scene.model.open]
  const fitting = open.filter(([, payment]) => wanted(payment))
  const candidates = fitting.length > 0 && which > 0 ? fitting : open
  const found = candidates[which % Math.max(1, candidates.length)]
  return found ? [scene.keyAt.get(found[0])!, found[1]] : [payment0(scene), undefined]
}

function releaseCall(
  { club, others }: Scene,
  key: CommunityPaymentKey,
  { mint, isRefused, payer, recipient }: OpenPayment,
  isOther: boolean,
): TransactionInstruction {
  const to = new PublicKey(isRefused ? payer : recipient)
  const token = mint === undefined ? null : new PublicKey(mint)
  const destination = token && isOther ? others.get(base58Of(to) + mint) : undefined
  return club.program.release({ ...key, token }, to, destination)
}

/** Nothing is ever stuck: everything that is open is paid out. */
function empty(scene: Scene): void {
  const { world, club, model, keyAt } = scene
  model.setNow(model.now() + 604_800n)
  club.at(model.now())
  for (const [account, payment] of [...model.open]) {
    const to = new PublicKey(payment.isRefused ? payment.payer : payment.recipient)
    if (payment.mint !== undefined) club.giveTokens(to, new PublicKey(payment.mint), 0n)
    else if (world.balanceOf(to) === 0n) world.give(to, world.rentOf(0))
    const before = world.balanceOf(to)
    expect(world.send(releaseCall(scene, keyAt.get(account)!, payment, false)).error).toBeUndefined()
    if (payment.mint === undefined) expect(world.balanceOf(to)).toBeGreaterThanOrEqual(before + payment.amount)
    else expect(club.tokensAt(associatedTokenAddress(to, new PublicKey(payment.mint)))).toBe(payment.amount)
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
  const { sequence, payer, recipient, token, amount: paid, community, name: word } = data
  return [name, sequence, payer ?? recipient, token, paid, community, word]
    .filter((field) => field !== undefined)
    .join(' ')
}
