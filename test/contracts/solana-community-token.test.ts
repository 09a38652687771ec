import { Keypair, PublicKey } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { associatedTokenAddress, createAssociated, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.js'
import { createSolanaWorld, RICH_LAMPORTS, type SolanaWorld } from './support/solana.js'
import {
  AMOUNT,
  accepted,
  type Calls,
  COMMUNITY_PAYMENT_BYTES,
  type CommunityCalls,
  communityOf,
  HOLD_SECONDS,
  RICH_TOKENS,
  stockTokens,
  TOKEN_2022,
  TOKEN_ACCOUNT_BYTES,
} from './support/solanaCommunity.js'

let world: SolanaWorld
let club: CommunityCalls
const mint = Keypair.generate().publicKey
const otherMint = Keypair.generate().publicKey
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
})

const ok = (...calls: Calls) => accepted(world, ...calls)
const refused = (...calls: Calls) => world.send(...calls).error

const setTokens = (): PublicKey => stockTokens(world, club, mint, otherMint)

describe('pay_community_token', () => {
  it('holds the tokens in a vault that its first payer makes', () => {
    const source = setTokens()
    const { alice } = world.keys
    const events = ok(club.payToken(mint))
    const vault = club.program.vault(mint)
    expect([club.tokensAt(source), club.tokensAt(vault)]).toEqual([RICH_TOKENS - AMOUNT, AMOUNT])
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - club.rents() - world.rentOf(TOKEN_ACCOUNT_BYTES))
    expect(world.balanceOf(club.program.paymentAccount(club.keyOf()))).toBe(world.rentOf(COMMUNITY_PAYMENT_BYTES))
    expect(club.paymentAt()).toMatchObject({ token: mint, amount: AMOUNT, sequence: 1n })
    expect(events.map(({ name, data }) => [name, data.token, data.amount])).toEqual([
      ['CommunityPaid', mint.toBase58(), String(AMOUNT)],
    ])
    const before = world.balanceOf(alice)
    ok(club.payToken(mint, 'bob'))
    expect(before - world.balanceOf(alice)).toBe(club.rents())
    expect(club.tokensAt(vault)).toBe(2n * AMOUNT)
  })

  it('makes the vault where lamports lie', () => {
    setTokens()
    world.give(club.program.vault(mint), 10n ** 9n)
    ok(club.payToken(mint))
    expect(club.tokensAt(club.program.vault(mint))).toBe(AMOUNT)
  })

  it('takes no token of another program, nor what is no mint', () => {
    const source = setTokens()
    club.setMint(mint, 6, TOKEN_2022)
    expect(refused(club.payToken(mint))).toBe('UnsupportedToken')
    expect(refused(club.payToken(source, 'ann', { source }))).toBe('UnsupportedToken')
    expect(refused(club.payToken(PublicKey.default, 'ann', { source }))).toBe('UnsupportedToken')
  })

  it('takes nothing that is not initialized', () => {
    const source = setTokens()
    const [ofMint, ofSource] = [world.accountOf(mint)!, world.accountOf(source)!]
    world.setAccount(mint, TOKEN_PROGRAM, ofMint.lamports, ofMint.data.fill(0, 45, 46))
    expect(refused(club.payToken(mint))).toBe('UnsupportedToken')
    club.setMint(mint)
    world.setAccount(source, TOKEN_PROGRAM, ofSource.lamports, ofSource.data.fill(0, 108, 109))
    expect(refused(club.payToken(mint))).toBe('NotATokenAccount')
  })

  it('takes a token by its decimals', () => {
    setTokens()
    expect(refused(club.payToken(mint, 'ann', { decimals: 9 }))).toBe('WrongDecimals')
    expect(refused(club.payToken(mint, 'ann', { decimals: 0 }))).toBe('WrongDecimals')
  })

  it('takes tokens from an account of the payer alone', () => {
    const source = setTokens()
    const { stranger, alice } = world.keys
    const theirs = associatedTokenAddress(stranger, mint)
    // alice may move them, yet they are not hers
    const { owner, lamports, data } = world.accountOf(theirs)!
    data.writeUInt32LE(1, 72)
    data.set(alice.toBytes(), 76)
    data.writeBigUInt64LE(RICH_TOKENS, 121)
    world.setAccount(theirs, new PublicKey(owner), lamports, data)
    expect(refused(club.payToken(mint, 'ann', { source: theirs }))).toBe('WrongTokenOwner')
    const other = associatedTokenAddress(alice, otherMint)
    expect(refused(club.payToken(mint, 'ann', { source: other }))).toBe('WrongTokenMint')
    expect(refused(club.payToken(mint, 'ann', { source: mint }))).toBe('NotATokenAccount')
    world.setAccount(source, stranger, 10n ** 9n, world.accountOf(source)!.data)
    expect(refused(club.payToken(mint))).toBe('NotATokenAccount')
  })

  it('takes no more than there is, and nothing that is frozen', () => {
    setTokens()
    expect(refused(club.payToken(mint, 'ann', { amount: RICH_TOKENS + 1n }))).toBe('runtime')
    expect(refused(club.payToken(mint, 'ann', { amount: 0n }))).toBe('ZeroAmount')
    club.giveTokens(world.keys.alice, mint, RICH_TOKENS, 'frozen')
    expect(refused(club.payToken(mint))).toBe('runtime')
    expect(world.accountOf(club.program.vault(mint))).toBeUndefined()
  })
})

describe('release_community_token', () => {
  beforeEach(() => {
    setTokens()
    ok(club.payToken(mint), club.payToken(mint, 'second'))
    club.at(HOLD_SECONDS)
  })

  it('pays into the recipient’s associated account, whoever asks', () => {
    const { alice, bob, stranger } = world.keys
    const at = associatedTokenAddress(bob, mint)
    ok(createAssociated(stranger, bob, mint), club.releaseToken(mint))
    expect([club.tokensAt(at), club.tokensAt(club.program.vault(mint))]).toEqual([AMOUNT, AMOUNT])
    expect(world.balanceOf(alice)).toBeGreaterThan(RICH_LAMPORTS - 3n * club.rents())
    expect(refused(club.releaseToken(mint))).toBe('CommunityPaymentNotHeld')
  })

  it('pays into another account of the recipient where the recipient signs', () => {
    const { bob, stranger } = world.keys
    const other = club.setTokenAccount(Keypair.generate().publicKey, bob, mint, 0n)
    const call = club.releaseToken(mint, 'ann', bob, other)
    const unsigned = call.keys.map((meta) => ({ ...meta, isSigner: false }))
    expect(refused(Object.assign(club.releaseToken(mint, 'ann', bob, other), { keys: unsigned }))).toBe(
      'NotAssociatedAccount',
    )
    const theirs = associatedTokenAddress(stranger, mint)
    expect(refused(club.releaseToken(mint, 'ann', bob, theirs))).toBe('WrongTokenOwner')
    const wrong = club.setTokenAccount(Keypair.generate().publicKey, bob, otherMint, 0n)
    expect(refused(club.releaseToken(mint, 'ann', bob, wrong))).toBe('WrongTokenMint')
    expect(refused(club.releaseToken(mint, 'ann', bob, club.program.vault(mint)))).toBe('WrongTokenOwner')
    ok(call)
    expect(club.tokensAt(other)).toBe(AMOUNT)
  })

  it('waits for a recipient that can’t receive, and for nobody else', () => {
    const { bob, stranger } = world.keys
    expect(refused(club.releaseToken(mint))).toBe('NotATokenAccount')
    club.giveTokens(bob, mint, 0n, 'frozen')
    expect(refused(club.releaseToken(mint))).toBe('runtime')
    ok(club.payToken(mint, 'third', { payer: stranger }))
    ok(club.program.refuse(world.keys.relay, club.keyOf('third', stranger), 3n))
    ok(club.program.release({ ...club.keyOf('third', stranger), token: mint }, stranger))
    expect(club.tokensAt(associatedTokenAddress(stranger, mint))).toBe(RICH_TOKENS)
    // the name is not lost with the recipient
    ok(club.reopen())
    ok(club.payToken(mint, 'ann', { payer: stranger }))
    club.giveTokens(bob, mint, 0n)
    ok(club.releaseToken(mint))
  })
})
