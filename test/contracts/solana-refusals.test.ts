import { Keypair, type PublicKey } from '@solana/web3.js'
import { beforeEach, describe, expect, it } from 'vitest'
import { type CountedPayment, planRefusal, type RefusalStep } from '../../src/chains/solana/community/refusal.js'
import { associatedTokenAddress } from '../../src/chains/solana/tokens.js'
import { createSolanaWorld, NOW, type SolanaWorld } from './support/solana.js'
import { type CommunityCalls, communityOf, HOLD_SECONDS } from './support/solanaCommunity.js'

/** Instructions that refund payments, by the state of the accounts, and their execution by the program. */

let world: SolanaWorld
let club: CommunityCalls
let mint: PublicKey
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
  mint = club.setMint(Keypair.generate().publicKey)
  club.giveTokens(world.keys.alice, mint)
  expect(world.send(club.pay('sol'), club.payToken(mint, 'spl')).error).toBeUndefined()
})

const SLOT = 9
/** A node that shows the accounts of this runtime. */
const call = <T>(_method: string, [addresses]: readonly unknown[]): Promise<T> => {
  const value = (addresses as string[]).map((address) => {
    const found = world.svm.getAccount(address as Parameters<typeof world.svm.getAccount>[0])
    const data = found.exists ? Buffer.from(found.data) : null
    return data && found.exists ? { owner: found.programAddress, data: [data.toString('base64'), 'base64'] } : null
  })
  return Promise.resolve({ context: { slot: SLOT }, value } as T)
}
const plan = (
  name: string,
  sequence: bigint,
  afterSeconds = 0n,
  look: { minSlot?: number; isAlone?: boolean } = {},
): Promise<RefusalStep> => {
  const payment: CountedPayment = { ...club.keyOf(name), sequence }
  const at = { commitment: 'confirmed', nowMs: Number(NOW + afterSeconds) * 1_000, ...look } as const
  return planRefusal(call, world.registrar, payment, { authority: world.keys.relay, ...at })
}
/** Carries a step out. @returns its kind */
const carryOut = (step: RefusalStep): string => {
  const { error, logs } = world.send(...('instructions' in step ? step.instructions : []))
  expect(error, logs.join('\n')).toBeUndefined()
  return step.kind
}

describe('a payment that is to be refunded', () => {
  it.each([
    ['sol', 1n],
    ['spl', 2n],
  ])('goes back at once where it can: %s', async (name, sequence) => {
    const step = await plan(name, sequence)
    expect(step).toMatchObject({ kind: 'refuse', isPaidBack: true })
    carryOut(step)
    expect(await plan(name, sequence)).toEqual({ kind: 'gone' })
    expect(await plan(name, 7n)).toEqual({ kind: 'gone' })
  })

  it.each(['payer', 'vault'])('is refused, and waits, where the account of the %s is frozen', async (whose) => {
    const { alice } = world.keys
    const vault = club.program.vault(mint)
    const [address, owner] = whose === 'vault' ? [vault, vault] : [associatedTokenAddress(alice, mint), alice]
    const amount = club.tokensAt(address)
    club.setTokenAccount(address, owner, mint, amount, 'frozen')
    const step = await plan('spl', 2n)
    expect(step).toMatchObject({ kind: 'refuse', isPaidBack: false })
    carryOut(step)
    // the hold's end changes nothing any more
    expect(await plan('spl', 2n, HOLD_SECONDS)).toEqual({ kind: 'waiting' })
    club.setTokenAccount(address, owner, mint, amount)
    expect(carryOut(await plan('spl', 2n))).toBe('pay_back')
    expect(await plan('spl', 2n)).toEqual({ kind: 'gone' })
  })

  it('is refused alone where that is asked for', async () => {
    const step = await plan('sol', 1n, 0n, { isAlone: true })
    expect(step).toMatchObject({ kind: 'refuse', isPaidBack: false })
    carryOut(step)
    expect(await plan('sol', 1n, 0n, { isAlone: true })).toEqual({ kind: 'waiting' })
    expect(carryOut(await plan('sol', 1n))).toBe('pay_back')
  })

  it('is looked at by a node that is far enough', async () => {
    expect(await plan('sol', 1n, 0n, { minSlot: SLOT })).toMatchObject({ kind: 'refuse' })
    await expect(plan('sol', 1n, 0n, { minSlot: SLOT + 1 })).rejects.toThrow('the node is at slot 9, before 10')
  })

  it('is its recipient’s once the hold is over', async () => {
    expect(await plan('sol', 1n, HOLD_SECONDS - 1n)).toMatchObject({ kind: 'refuse' })
    expect(await plan('sol', 1n, HOLD_SECONDS)).toEqual({ kind: 'over' })
  })
})
