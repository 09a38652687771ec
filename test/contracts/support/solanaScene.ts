import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import { expect } from 'vitest'
import { associatedTokenAddress, TOKEN_PROGRAM } from '../../../src/chains/solana/tokens.js'
import {
  base58Of,
  createSolanaWorld,
  eventsOf,
  NOW,
  type Outcome,
  RECLAIM_SECONDS,
  type SolanaEvent,
  type SolanaWorld,
} from './solana.js'
import { callsOf, type SolanaCalls, wordOf } from './solanaCalls.js'
import { type CommunityCalls, communityOf, DECIMALS } from './solanaCommunity.js'
import { createSolanaModel, type SolanaModel } from './solanaModel.js'
import {
  type Addresses,
  type Books,
  type Chain,
  type Effect,
  heldLamports,
} from './solanaModelParts.js'
import { describeCall } from './solanaMutations.js'

/** The registrar beside its model. */
export interface Scene {
  world: SolanaWorld
  calls: SolanaCalls
  club: CommunityCalls
  model: SolanaModel
  books: Books
  known: Addresses
  chain: Chain
  mints: readonly [PublicKey, PublicKey]
  /** Vaults in the mints' order. */
  vaults: readonly [PublicKey, PublicKey]
  /** Somebody who holds no lamports, and no account of the second token. */
  newcomer: PublicKey
  /** Keys that may sign. */
  wallets: PublicKey[]
  /** Token accounts beside the associated ones, by owner and mint. */
  others: Map<string, PublicKey>
  /** Lamports that the treasury was sent without the program. */
  gifts: bigint
}

interface Start {
  isInitialized?: boolean
  /** Texts of the quotes that may be paid. */
  quotes: readonly string[]
  /** Payers' numbers of payments for names of communities. */
  numbers: readonly bigint[]
}

const mints = [Keypair.generate().publicKey, Keypair.generate().publicKey] as const
const newcomer = Keypair.generate().publicKey
const OTHER_TOKENS = 10n ** 12n

export function createScene({ isInitialized = true, quotes, numbers }: Start): Scene {
  const world = createSolanaWorld({ isInitialized })
  const club = communityOf(world)
  const { keys } = world
  const wallets = [...Object.values(keys), newcomer]
  const vaults = [club.program.vault(mints[0]), club.program.vault(mints[1])] as const
  const { others, tokenAccounts } = giveTokens(world, club)
  const known = { ...addressesOf(world, wallets, quotes, numbers), tokenAccounts }
  const books = booksOf(world, isInitialized)
  const vaultAddresses = vaults.map(base58Of)
  const isOfTokens = (account: string) =>
    tokenAccounts.has(account) || vaultAddresses.includes(account)
  const chain: Chain = {
    lamportsAt: (account) => world.balanceOf(keyOf(account)),
    // reading any other account copies its data, of programs 100 KB
    tokensAt: (account) => (isOfTokens(account) ? club.tokensAt(keyOf(account)) : 0n),
    rentOf: world.rentOf,
  }
  return {
    world,
    club,
    mints,
    vaults,
    newcomer,
    wallets,
    others,
    known,
    books,
    chain,
    calls: callsOf(world),
    model: createSolanaModel(books, known, chain),
    gifts: 0n,
  }
}

/** Two tokens, and accounts of theirs for everybody who pays or is paid: an associated one and another. */
function giveTokens({ keys }: SolanaWorld, club: CommunityCalls) {
  const others = new Map<string, PublicKey>()
  const tokenAccounts = new Map<string, { mint: string; owner: string }>()
  for (const mint of mints) {
    club.setMint(mint)
    for (const owner of [keys.alice, keys.bob, keys.stranger, newcomer]) {
      const names = { mint: base58Of(mint), owner: base58Of(owner) }
      const other = club.setTokenAccount(Keypair.generate().publicKey, owner, mint, OTHER_TOKENS)
      others.set(names.owner + names.mint, other)
      tokenAccounts.set(base58Of(other), names)
      const isMissing = owner === newcomer && mint === mints[1]
      if (!isMissing) tokenAccounts.set(base58Of(club.giveTokens(owner, mint)), names)
    }
  }
  return { others, tokenAccounts }
}

function addressesOf(
  world: SolanaWorld,
  wallets: readonly PublicKey[],
  quotes: readonly string[],
  numbers: readonly bigint[],
): Omit<Addresses, 'tokenAccounts'> {
  const { registrar, keys, programId, programData } = world
  const { program } = communityOf(world)
  const { paymentAt } = callsOf(world)
  const payments = new Map<string, string>()
  const communityPayments = new Map<string, string>()
  for (const payer of wallets) {
    for (const quote of quotes) {
      const key = base58Of(payer) + wordOf(quote).toString('hex')
      payments.set(
        key,
        derivedOnce(key, () => paymentAt(quote, payer)),
      )
    }
    for (const number of numbers) {
      const key = `${base58Of(payer)} ${number}`
      const address = () => program.paymentAccount({ payer, number })
      communityPayments.set(key, derivedOnce(key, address))
    }
  }
  return {
    payments,
    communityPayments,
    state: base58Of(registrar.state),
    treasury: base58Of(registrar.treasury),
    program: base58Of(programId),
    programData: base58Of(programData),
    eventAuthority: base58Of(registrar.eventAuthority),
    upgradeAuthority: base58Of(keys.deployer),
    system: base58Of(SystemProgram.programId),
    tokenProgram: base58Of(TOKEN_PROGRAM),
    mints: new Map(
      mints.map((mint) => [
        base58Of(mint),
        { decimals: DECIMALS, vault: base58Of(program.vault(mint)) },
      ]),
    ),
    associated: (owner, mint) => base58Of(associatedTokenAddress(keyOf(owner), keyOf(mint))),
  }
}

function booksOf({ keys }: SolanaWorld, isInitialized: boolean): Books {
  const nobody = base58Of(SystemProgram.programId)
  const authorities = {
    relay: base58Of(keys.relay),
    treasurer: base58Of(keys.treasurer),
    admin: base58Of(keys.admin),
    proposed: nobody,
  }
  return {
    isInitialized,
    authorities,
    now: NOW,
    reclaimSeconds: RECLAIM_SECONDS,
    sequence: 0n,
    keptLamports: 0n,
    held: new Map(),
    communitySequence: 0n,
    open: new Map(),
    vaults: new Set(),
    frozen: new Set(),
  }
}

const derived = new Map<string, string>()

/** An address that the program derives, which is the same in each world. Deriving takes a millisecond. */
function derivedOnce(key: string, derive: () => PublicKey): string {
  const address = derived.get(key) ?? base58Of(remember(derive()))
  derived.set(key, address)
  return address
}

const keys = new Map<string, PublicKey>()

function remember(key: PublicKey): PublicKey {
  keys.set(base58Of(key), key)
  return key
}

/** The key of an address. Decoding takes longer than many an instruction, so keys are kept. */
export const keyOf = (address: string): PublicKey =>
  keys.get(address) ?? remember(new PublicKey(address))

/** Lets time pass for the program and the model. */
export function wait({ world, books }: Scene, seconds: bigint): void {
  books.now += seconds
  world.at(books.now - NOW)
}

/** Lets an issuer freeze a token account that exists, or thaw it. */
export function setFrozen(
  { club, world, books }: Scene,
  account: PublicKey,
  owner: PublicKey,
  mint: PublicKey,
  isFrozen: boolean,
): void {
  if (!world.accountOf(account)) return
  const state = isFrozen ? 'frozen' : 'open'
  club.setTokenAccount(account, owner, mint, club.tokensAt(account), state)
  if (isFrozen) books.frozen.add(base58Of(account))
  else books.frozen.delete(base58Of(account))
}

/**
 * Sends an instruction and compares all of its effects with the model: success, lamports and tokens of each account,
 * events, state, treasury and vaults.
 */
export function run(scene: Scene, call: TransactionInstruction): Outcome {
  const { world, model } = scene
  for (const { pubkey } of call.keys) remember(pubkey)
  const effect = model.predict(call)
  const stateBefore = world.accountOf(world.registrar.state)?.data
  const before = holdings(scene, call)
  const outcome = world.send(call)
  if ((outcome.error === undefined) !== (effect !== undefined)) {
    throw new Error(
      `${describeCall(call)}: ${outcome.error ?? 'went through'}\n${outcome.logs.join('\n')}`,
    )
  }
  checkMoves(before, holdings(scene, call), effect, describeCall(call))
  if (effect) {
    effect.apply()
    expect(eventsOf(outcome).map(eventText)).toEqual(effect.events)
    checkBooks(scene)
  } else {
    const { data } = world.accountOf(world.registrar.state) ?? {}
    const isSame = data === undefined ? stateBefore === data : stateBefore?.equals(data)
    if (!isSame) throw new Error(`${describeCall(call)}: refused, and the state has changed`)
  }
  return outcome
}

/** Sends an instruction that has to succeed. */
export function succeed(scene: Scene, call: TransactionInstruction): void {
  const { error, logs } = run(scene, call)
  expect(error, logs.join('\n')).toBeUndefined()
}

type Holdings = Map<string, { lamports: bigint; tokens: bigint }>

/** Accounts of the call, the treasury and the vaults: the runtime changes no account that a transaction doesn't name. */
function holdings({ world, vaults, chain }: Scene, call: TransactionInstruction): Holdings {
  const accounts = [world.registrar.treasury, ...vaults, ...call.keys.map(({ pubkey }) => pubkey)]
  return new Map(
    accounts
      .map(base58Of)
      .map((account) => [
        account,
        { lamports: chain.lamportsAt(account), tokens: chain.tokensAt(account) },
      ]),
  )
}

function checkMoves(
  before: Holdings,
  after: Holdings,
  effect: Effect | undefined,
  what: string,
): void {
  const wrong = [...before].filter(([account, { lamports, tokens }]) => {
    const now = after.get(account)!
    const moved = effect?.lamports.get(account) ?? 0n
    const movedTokens = effect?.tokens.get(account) ?? 0n
    return now.lamports - lamports !== moved || now.tokens - tokens !== movedTokens
  })
  expect(wrong, what).toEqual([])
}

/** Checks that state and books agree, and that the treasury and each vault hold the sum of the payments. */
export function checkBooks({ world, club, books, mints, vaults, gifts }: Scene): void {
  const { adminAuthority, proposedAdmin, relayAuthority, treasuryAuthority, ...numbers } =
    world.stateOf()
  expect({
    admin: base58Of(adminAuthority),
    proposed: base58Of(proposedAdmin ?? SystemProgram.programId),
    relay: base58Of(relayAuthority),
    treasurer: base58Of(treasuryAuthority),
  }).toEqual(books.authorities)
  expect(numbers).toEqual({
    sequence: books.sequence,
    keptLamports: books.keptLamports,
    heldLamports: heldLamports(books),
    communitySequence: books.communitySequence,
    reclaimSeconds: books.reclaimSeconds,
  })
  const treasury = world.balanceOf(world.registrar.treasury)
  expect(treasury).toBe(world.reserve + books.keptLamports + heldLamports(books) + gifts)
  for (const [i, mint] of mints.entries()) {
    const open = [...books.open.values()].filter((payment) => payment.mint === base58Of(mint))
    const held = open.reduce((sum, { amount }) => sum + amount, 0n)
    expect(club.tokensAt(vaults[i]!)).toBe(held)
  }
}

/** An event's name and all of its fields, in the interface's order. */
const eventText = ({ name, data }: SolanaEvent): string => [name, ...Object.values(data)].join(' ')
