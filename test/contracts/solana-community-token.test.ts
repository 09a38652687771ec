import { Keypair, PublicKey } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import type { CountedPayment } from '../../src/chains/solana/community/program.js'
import { associatedTokenAddress, createAssociated, TOKEN_PROGRAM } from '../../src/chains/solana/tokens.js'
import { changed, createSolanaWorld, RECLAIM_SECONDS, RICH_LAMPORTS, type SolanaWorld } from './support/solana.js'
import { writes } from './support/solanaCalls.js'
import {
  AMOUNT,
  accepted,
  type Calls,
  COMMUNITY_PAYMENT_BYTES,
  type CommunityCalls,
  communityOf,
  RICH_TOKENS,
  stockTokens,
  TOKEN_2022,
  TOKEN_ACCOUNT_BYTES,
} from './support/solanaCommunity.js'

let world: SolanaWorld
let club: CommunityCalls
const mint = Keypair.generate().publicKey
const otherMint = Keypair.generate().publicKey
/** Alice's associated account. */
let source: PublicKey
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
  source = stockTokens(world, club, mint, otherMint)
})

const ok = (...calls: Calls) => accepted(world, ...calls)
const refused = (...calls: Calls) => world.send(...calls).error
const inTokens = (number = 1n, change: Partial<CountedPayment> = {}) => club.paid(number, { token: mint, ...change })
const inVault = () => club.tokensAt(club.program.vault(mint))

describe('pay_community_token', () => {
  it('holds the tokens in a vault that its first payer makes', () => {
    const { alice } = world.keys
    const events = ok(club.payToken(mint))
    expect([club.tokensAt(source), inVault()]).toEqual([RICH_TOKENS - AMOUNT, AMOUNT])
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - club.rent() - world.rentOf(TOKEN_ACCOUNT_BYTES))
    const account = club.program.paymentAccount({ payer: alice, number: 1n })
    expect(world.balanceOf(account)).toBe(world.rentOf(COMMUNITY_PAYMENT_BYTES))
    expect(club.paymentAt()).toMatchObject({ token: mint, amount: AMOUNT, sequence: 1n, state: 'held' })
    expect(events.map(({ name, data }) => [name, data.token, data.amount])).toEqual([
      ['CommunityPaid', mint.toBase58(), String(AMOUNT)],
    ])
    const before = world.balanceOf(alice)
    ok(club.payToken(mint, 2n))
    expect(before - world.balanceOf(alice)).toBe(club.rent())
    expect(inVault()).toBe(2n * AMOUNT)
  })

  it('makes the vault where lamports lie', () => {
    world.give(club.program.vault(mint), 10n ** 9n)
    ok(club.payToken(mint))
    expect(inVault()).toBe(AMOUNT)
  })

  it('takes no token of another program, nor what is no mint', () => {
    club.setMint(mint, 6, TOKEN_2022)
    expect(refused(club.payToken(mint))).toBe('UnsupportedToken')
    expect(refused(club.payToken(source, 1n, { source }))).toBe('UnsupportedToken')
    expect(refused(club.payToken(PublicKey.default, 1n, { source }))).toBe('UnsupportedToken')
  })

  it('takes nothing that is not initialized', () => {
    const [ofMint, ofSource] = [world.accountOf(mint)!, world.accountOf(source)!]
    world.setAccount(mint, TOKEN_PROGRAM, ofMint.lamports, ofMint.data.fill(0, 45, 46))
    expect(refused(club.payToken(mint))).toBe('UnsupportedToken')
    club.setMint(mint)
    world.setAccount(source, TOKEN_PROGRAM, ofSource.lamports, ofSource.data.fill(0, 108, 109))
    expect(refused(club.payToken(mint))).toBe('NotATokenAccount')
  })

  it('takes a token by its decimals', () => {
    expect(refused(club.payToken(mint, 1n, { decimals: 9 }))).toBe('WrongDecimals')
    expect(refused(club.payToken(mint, 1n, { decimals: 0 }))).toBe('WrongDecimals')
  })

  it('takes tokens from an account of the payer alone', () => {
    const { stranger, alice } = world.keys
    const theirs = associatedTokenAddress(stranger, mint)
    // alice may move them, yet they are not hers
    const { owner, lamports, data } = world.accountOf(theirs)!
    data.writeUInt32LE(1, 72)
    data.set(alice.toBytes(), 76)
    data.writeBigUInt64LE(RICH_TOKENS, 121)
    world.setAccount(theirs, new PublicKey(owner), lamports, data)
    expect(refused(club.payToken(mint, 1n, { source: theirs }))).toBe('WrongTokenOwner')
    const other = associatedTokenAddress(alice, otherMint)
    expect(refused(club.payToken(mint, 1n, { source: other }))).toBe('WrongTokenMint')
    expect(refused(club.payToken(mint, 1n, { source: mint }))).toBe('NotATokenAccount')
    world.setAccount(source, stranger, 10n ** 9n, world.accountOf(source)!.data)
    expect(refused(club.payToken(mint))).toBe('NotATokenAccount')
  })

  it('takes no more than there is, and nothing that is frozen', () => {
    expect(refused(club.payToken(mint, 1n, { amount: RICH_TOKENS + 1n }))).toBe('runtime')
    expect(refused(club.payToken(mint, 1n, { amount: 0n }))).toBe('ZeroAmount')
    club.giveTokens(world.keys.alice, mint, RICH_TOKENS, 'frozen')
    expect(refused(club.payToken(mint))).toBe('runtime')
    expect(world.accountOf(club.program.vault(mint))).toBeUndefined()
  })
})

describe('refuse_community of tokens', () => {
  beforeEach(() => {
    ok(club.payToken(mint))
  })

  it('pays back into the payer’s associated account, beside payments in SOL and other tokens', () => {
    const { alice } = world.keys
    ok(club.pay(2n), club.payToken(otherMint, 3n))
    ok(club.refuse(inTokens(), club.paid(2n), club.paid(3n, { token: otherMint })))
    expect([club.tokensAt(source), inVault()]).toEqual([RICH_TOKENS, 0n])
    expect(club.tokensAt(associatedTokenAddress(alice, otherMint))).toBe(RICH_TOKENS)
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - 2n * world.rentOf(TOKEN_ACCOUNT_BYTES))
  })

  it.each([
    ['is frozen', () => club.giveTokens(world.keys.alice, mint, 0n, 'frozen')],
    ['is gone', () => world.setAccount(source, PublicKey.default, 0n, Buffer.alloc(0))],
    ['belongs to somebody else by now', () => club.setTokenAccount(source, world.keys.bob, mint, 0n)],
    ['was closed and holds another token', () => club.setTokenAccount(source, world.keys.alice, otherMint, 0n)],
    ['is another program’s', () => world.setAccount(source, world.keys.bob, 10n ** 9n, Buffer.alloc(165, 1))],
  ])('can’t be stopped: where the payer’s account %s, the payer collects', (_, spoil) => {
    const { alice, bob } = world.keys
    spoil()
    const [event] = ok(club.refuse(inTokens()))
    expect(event?.data).toMatchObject({ amount: String(AMOUNT), paid: '0' })
    expect([club.paymentAt()?.state, inVault()]).toEqual(['refused', AMOUNT])
    for (const call of [club.refuse(inTokens()), club.release(inTokens())])
      expect(refused(call)).toBe('CommunityPaymentNotHeld')
    const other = club.setTokenAccount(Keypair.generate().publicKey, alice, mint, 0n)
    expect(refused(club.claim(bob, inTokens(), other))).toBe('WrongBeneficiary')
    const [collected] = ok(club.claim(alice, inTokens(), other))
    const data = { sequence: '1', beneficiary: alice.toBase58(), token: mint.toBase58(), amount: String(AMOUNT) }
    expect(collected).toEqual({ name: 'CommunityCollected', data })
    expect([club.tokensAt(other), inVault()]).toEqual([AMOUNT, 0n])
  })

  it('can’t be stopped by who froze the vault', () => {
    const vault = club.program.vault(mint)
    club.setTokenAccount(vault, vault, mint, AMOUNT, 'frozen')
    ok(club.refuse(inTokens()))
    expect(refused(club.claim(world.keys.alice, inTokens()))).toBe('runtime')
    club.setTokenAccount(vault, vault, mint, AMOUNT)
    ok(club.claim(world.keys.alice, inTokens()))
    expect(club.tokensAt(source)).toBe(RICH_TOKENS)
  })

  it('takes the payment’s own accounts alone', () => {
    const { bob } = world.keys
    club.giveTokens(bob, mint)
    expect(refused(club.refuse(club.paid(1n)))).toBe('WrongAccountCount')
    expect(refused(club.refuse(inTokens(1n, { token: otherMint })))).toBe('WrongToken')
    const call = club.refuse(inTokens())
    const put = (at: number, account: PublicKey) =>
      refused(changed(call, { keys: (keys) => keys.with(keys.length + at, writes(account)) }))
    expect(put(-1, associatedTokenAddress(bob, mint))).toBe('NotAssociatedAccount')
    expect(put(-1, club.setTokenAccount(Keypair.generate().publicKey, world.keys.alice, mint, 0n))).toBe(
      'NotAssociatedAccount',
    )
    expect(put(-2, source)).toBe('WrongAddress')
    expect(put(-3, otherMint)).toBe('WrongToken')
  })
})

describe('release_community of tokens', () => {
  beforeEach(() => {
    ok(club.payToken(mint))
  })

  it('pays into the recipient’s associated account', () => {
    const { alice, bob, stranger } = world.keys
    ok(createAssociated(stranger, bob, mint), club.release(inTokens()))
    expect([club.tokensAt(associatedTokenAddress(bob, mint)), inVault()]).toEqual([AMOUNT, 0n])
    expect(world.balanceOf(alice)).toBe(RICH_LAMPORTS - world.rentOf(TOKEN_ACCOUNT_BYTES))
    expect(refused(club.release(inTokens()))).toBe('CommunityPaymentNotHeld')
  })

  it('makes the money the recipient’s where that can’t receive yet, and holds up nothing else', () => {
    const { bob, alice } = world.keys
    ok(club.pay(2n))
    const events = ok(club.release(inTokens(), club.paid(2n)))
    expect(events.map(({ data }) => data.paid)).toEqual(['0', String(AMOUNT)])
    expect(club.paymentAt()?.state).toBe('released')
    world.at(RECLAIM_SECONDS)
    expect(refused(club.claim(alice, inTokens()))).toBe('WrongBeneficiary')
    const theirs = club.setTokenAccount(Keypair.generate().publicKey, alice, mint, 0n)
    expect(refused(club.claim(bob, inTokens(), theirs))).toBe('WrongTokenOwner')
    const wrong = club.setTokenAccount(Keypair.generate().publicKey, bob, otherMint, 0n)
    expect(refused(club.claim(bob, inTokens(), wrong))).toBe('WrongTokenMint')
    expect(refused(club.claim(bob, inTokens(), club.program.vault(mint)))).toBe('WrongTokenOwner')
    club.giveTokens(bob, mint, 0n)
    ok(club.claim(bob, inTokens()))
    expect(club.tokensAt(associatedTokenAddress(bob, mint))).toBe(AMOUNT)
  })
})

describe('claim_community of tokens', () => {
  it('pays the payer back, into any account of the payer’s, once nobody has decided in time', () => {
    const { alice } = world.keys
    ok(club.payToken(mint), club.pay(2n))
    expect(refused(club.claim(alice, inTokens()))).toBe('NotReclaimable')
    world.at(RECLAIM_SECONDS)
    expect(refused(club.claim(alice, club.paid(1n)))).toBe('WrongAccountCount')
    expect(refused(club.claim(alice, inTokens(1n, { token: otherMint })))).toBe('WrongToken')
    expect(refused(club.claim(alice, inTokens(2n)))).toBe('WrongAccountCount')
    const [event] = ok(club.claim(alice, inTokens()))
    expect(event?.name).toBe('CommunityReclaimed')
    expect([club.tokensAt(source), inVault()]).toEqual([RICH_TOKENS, 0n])
  })
})
