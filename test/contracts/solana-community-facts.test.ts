import { Keypair, type PublicKey, Transaction, type TransactionInstruction } from '@solana/web3.js'
import bs58 from 'bs58'
import { beforeEach, describe, expect, it } from 'vitest'
import {
  type DecodedTransaction,
  decodeTransaction,
  type RawTransaction,
} from '../../src/chains/solana/decodeTransaction.js'
import { associatedTokenAddress } from '../../src/chains/solana/tokens.js'
import { createSolanaWorld, NOW, type SolanaWorld } from './support/solana.js'
import { callsOf, wordOf } from './support/solanaCalls.js'
import { AMOUNT, type CommunityCalls, communityOf, HOLD_SECONDS } from './support/solanaCommunity.js'

/** Facts decoded from transactions that the program itself executed. */

let world: SolanaWorld
let club: CommunityCalls
let mint: PublicKey
beforeEach(() => {
  world = createSolanaWorld()
  club = communityOf(world)
  mint = club.setMint(Keypair.generate().publicKey)
  club.giveTokens(world.keys.alice, mint)
})

/** Executes instructions, and reads what a node would show of them. @param logs what it has kept of the logs */
function read(
  calls: TransactionInstruction[],
  logs: (lines: string[]) => string[] | null = (lines) => lines,
): DecodedTransaction {
  const { error, logs: lines } = world.send(...calls)
  expect(error, lines.join('\n')).toBeUndefined()
  const [feePayer, recentBlockhash] = [world.keys.deployer, world.svm.latestBlockhash()]
  const message = new Transaction({ feePayer, recentBlockhash }).add(...calls).compileMessage()
  const tx: RawTransaction = {
    slot: 1,
    blockTime: Number(NOW),
    transaction: {
      signatures: [],
      message: { accountKeys: message.accountKeys.map((key) => key.toBase58()), instructions: message.instructions },
    },
    meta: { err: null, logMessages: logs(lines), innerInstructions: null },
  }
  return decodeTransaction(world.registrar, tx)
}

const seen = (name: string, sequence: bigint | null, isToken = false) => ({
  sequence,
  heldUntil: sequence === null ? null : NOW + HOLD_SECONDS,
  payer: Buffer.from(world.keys.alice.toBytes()),
  token: isToken ? Buffer.from(mint.toBytes()) : null,
  amount: AMOUNT,
  recipient: Buffer.from(world.keys.bob.toBytes()),
  community: Buffer.from(club.keyOf(name).community),
  name: Buffer.from(club.keyOf(name).name),
  referral: wordOf('referral'),
})
const NOTHING = { payments: [], closed: [], communityPayments: [], communityOutcomes: [], anomalies: [] }

describe('payments for names of communities', () => {
  it('are read in SOL and in tokens, beside those for names on the hub', () => {
    const facts = read([club.pay('ann'), callsOf(world).register(), club.payToken(mint, 'tok')])
    expect(facts.communityPayments).toEqual([seen('ann', 1n), seen('tok', 2n, true)])
    expect(facts.payments).toMatchObject([{ sequence: 1n, quoteId: wordOf('q') }])
    expect([facts.closed, facts.communityOutcomes, facts.anomalies]).toEqual([[], [], []])
  })

  it('show how they are closed', () => {
    read([club.pay('refused'), club.payToken(mint, 'released'), club.pay('reopened')])
    const outcome = (kind: string, name: string, sequence: bigint) => {
      const { community, name: word } = club.keyOf(name)
      return { kind, sequence, community: Buffer.from(community), name: Buffer.from(word) }
    }
    const { alice, bob } = world.keys
    const refused = read([club.refuse('refused'), club.release('refused', alice)])
    expect(refused).toEqual({
      ...NOTHING,
      communityOutcomes: [outcome('refused', 'refused', 1n), outcome('returned', 'refused', 1n)],
    })
    club.at(HOLD_SECONDS)
    club.setTokenAccount(associatedTokenAddress(bob, mint), bob, mint, 0n)
    expect(read([club.releaseToken(mint, 'released'), club.reopen('reopened')])).toEqual({
      ...NOTHING,
      communityOutcomes: [outcome('released', 'released', 2n), outcome('reopened', 'reopened', 3n)],
    })
  })

  it('in cut logs are filled from the instructions, by the sequence of one that is left', () => {
    const firstEvent = (lines: string[]) => lines.findIndex((line) => line.startsWith('Program data: ')) + 1
    const calls = [club.pay('ann'), callsOf(world).register(), club.payToken(mint, 'tok')]
    const facts = read(calls, (lines) => [...lines.slice(0, firstEvent(lines)), 'Log truncated'])
    expect(facts.communityPayments).toEqual([seen('ann', 1n), seen('tok', 2n, true)])
    expect(facts.payments).toMatchObject([{ sequence: null, quoteId: wordOf('q') }])
  })

  it.each<[string, string[] | null]>([
    ['cut before them', ['Log truncated']],
    ['not kept', null],
  ])('in logs that are %s have no sequence', (_, logs) => {
    const facts = read([club.pay('ann'), club.payToken(mint, 'tok')], () => logs)
    expect(facts.communityPayments).toEqual([seen('ann', null), seen('tok', null, true)])
  })

  it('are not read of another program’s log, nor of another length', () => {
    const other = bs58.encode(Buffer.alloc(32, 7))
    const around = (program: string, lines: string[]) => [
      `Program ${program} invoke [1]`,
      ...lines,
      `Program ${program} success`,
    ]
    const events = (lines: string[]) => lines.filter((line) => line.startsWith('Program data: '))
    const foreign = read([club.pay('ann')], (lines) => around(other, events(lines)))
    expect(foreign).toEqual({ ...NOTHING, anomalies: [expect.stringMatching(/^foreign: /)] })
    const long = read([club.pay('bob')], (lines) => {
      const [line = ''] = events(lines)
      const bytes = Buffer.concat([Buffer.from(line.slice('Program data: '.length), 'base64'), Buffer.of(0)])
      return around(world.programId.toBase58(), [`Program data: ${bytes.toString('base64')}`])
    })
    expect(long).toEqual({ ...NOTHING, anomalies: [expect.stringMatching(/^malformed: /)] })
  })
})
