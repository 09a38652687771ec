import { setImmediate } from 'node:timers/promises'
import { Keypair, PublicKey, Transaction, TransactionInstruction } from '@solana/web3.js'
import fc from 'fast-check'
import { encodeAbiParameters } from 'viem'
import { describe, expect, it } from 'vitest'
import type { SolanaConfig } from '../../config/index.js'
import { requireRpcAnswerForm } from '../rpc/forms.js'
import type { RpcCall, RpcNodes } from '../rpc/nodes.js'
import { createSolanaQuoter, encodeUnsignedTransaction } from './quote.js'
import { createRegistrarClient } from './registrar.js'

/**
 * More names than the API allows in a quote. test/solana/register.test.ts checks that wallets and the program accept
 * such transactions.
 */

const NAME_COUNT = 100
const newAddress = () => Keypair.generate().publicKey.toBase58()
const blockhash = newAddress()

const nodesWith = (answers: Readonly<Record<string, unknown>>): RpcNodes => {
  const call: RpcCall = async <T>(method: string, params: readonly unknown[]) => {
    const answer = answers[method]
    return requireRpcAnswerForm<T>(method, typeof answer === 'function' ? answer(params) : answer)
  }
  const onOneNode = <T>(work: (one: RpcCall) => Promise<T>) => work(call)
  const pool = { call, onOneNode, quorum: onOneNode, genesisHash: async () => newAddress() }
  return pool as unknown as RpcNodes
}

/** Answer to both `decimals` and `latestRoundData`: 8 decimals and a price of 8. */
const PRICE_ANSWER = encodeAbiParameters(
  ['uint256', 'int256', 'uint256', 'uint256', 'uint256'].map((type) => ({ type })),
  [8n, 8n, 0n, BigInt(Math.floor(Date.now() / 1_000)), 0n],
)

const registrar = createRegistrarClient(newAddress())
const priceFeeds = {
  ethUsd: '0x01',
  solUsd: '0x02',
  maxMovePercent: 10,
  maxAgeSeconds: { ethUsd: 3_600, solUsd: 3_600 },
}
const quoterAt = (recent: string, gasPrice = '0x1') =>
  createSolanaQuoter({
    config: { feeds: priceFeeds } as unknown as SolanaConfig,
    network: 'mainnet',
    registrar,
    quoteKey: Buffer.alloc(32, 1),
    rpc: nodesWith({
      getLatestBlockhash: { value: { blockhash: recent, lastValidBlockHeight: 1 } },
    }),
    hub: nodesWith({ eth_call: PRICE_ANSWER, eth_gasPrice: gasPrice }),
  })
const names = Array.from({ length: NAME_COUNT }, (_, i) => ({
  name: `name-${i}`,
  amountWei: 10n ** 16n + BigInt(i),
}))

it('adds the gas of a delivery with its margin to each name', async () => {
  const gasPrice = `0x${(10n ** 10n).toString(16)}`
  const { bridgeFee } = await quoterAt(
    blockhash,
    gasPrice,
  )({ sender: newAddress(), names: names.slice(0, 2), referral: null })
  // 150,000 gas at 10 gwei and a quarter more, with SOL as dear as ETH
  expect(bridgeFee).toBe(2n * 1_875_000n)
})

it('of 100 names lets other requests run in between, and each transaction is right, for two senders at once', async () => {
  const quote = quoterAt(blockhash)
  const senders = [newAddress(), newAddress()]
  const asked = Promise.all(senders.map((sender) => quote({ sender, names, referral: null })))
  let turns = 0
  let isOver = false
  void asked.finally(() => {
    isOver = true
  })
  for (; !isOver; turns++) await setImmediate()
  expect(turns).toBeGreaterThan(NAME_COUNT / 10)
  const accounts = new Set<string>()
  for (const [of, { transactions }] of (await asked).entries())
    for (const { base64, json: asJson } of transactions) {
      const json = asJson() as { instructions: { keys: { pubkey: string }[]; data: number[] }[] }
      const tx = Transaction.from(Buffer.from(base64, 'base64'))
      const [instruction] = tx.instructions
      expect(JSON.parse(JSON.stringify(tx))).toMatchObject({
        recentBlockhash: blockhash,
        feePayer: senders[of],
        instructions: [{ ...json.instructions[0], data: [...instruction!.data] }],
      })
      expect(json).toMatchObject({ recentBlockhash: blockhash, feePayer: senders[of] })
      expect(json.instructions[0]!.data).toEqual([...instruction!.data])
      // the account belongs to the quote in the data
      const quoteId = instruction!.data.subarray(8, 40)
      const account = registrar.payment({ payer: tx.feePayer!, quoteId }).toBase58()
      expect(json.instructions[0]!.keys[3]!.pubkey).toBe(account)
      accounts.add(account)
    }
  expect(accounts.size).toBe(senders.length * NAME_COUNT)
})

it.each(['', 'no hash', '1'.repeat(31), '2'.repeat(50)])(
  'fails with an invalid blockhash: "%s"',
  async (odd) => {
    await expect(quoterAt(odd)({ sender: newAddress(), names, referral: null })).rejects.toThrow(
      'getLatestBlockhash: the answer has another form',
    )
  },
)

describe('an unsigned transaction', () => {
  const keys = Array.from({ length: 6 }, () => new PublicKey(newAddress()))
  const account = fc.record({
    pubkey: fc.constantFrom(...keys),
    isSigner: fc.boolean(),
    isWritable: fc.boolean(),
  })
  const instruction = fc
    .record({
      programId: fc.constantFrom(...keys),
      keys: fc.array(account, { maxLength: 8 }),
      data: fc.uint8Array({ maxLength: 150 }).map((bytes) => Buffer.from(bytes)),
    })
    .map((fields) => new TransactionInstruction(fields))
  const instructions = fc.array(instruction, { minLength: 1, maxLength: 3 })

  it('has the payer, accounts and data of the legacy transaction that the library makes', () => {
    const [payer] = keys as [PublicKey]
    fc.assert(
      fc.property(instructions, (of) => {
        const read = Transaction.from(
          Buffer.from(encodeUnsignedTransaction(payer, blockhash, ...of), 'base64'),
        )
        const legacy = new Transaction({ feePayer: payer, recentBlockhash: blockhash }).add(...of)
        const bytes = legacy.serialize({ requireAllSignatures: false, verifySignatures: false })
        const expected = Transaction.from(bytes)
        expect(read.feePayer).toEqual(payer)
        expect(read.recentBlockhash).toBe(blockhash)
        expect(read.instructions).toEqual(expected.instructions)
        expect(new Set(read.signatures)).toEqual(new Set(expected.signatures))
      }),
    )
  })

  it('that is larger than a packet is refused', () => {
    const [payer, programId] = keys as [PublicKey, PublicKey]
    const data = Buffer.alloc(1_100)
    expect(() =>
      encodeUnsignedTransaction(
        payer,
        blockhash,
        new TransactionInstruction({ programId, keys: [], data }),
      ),
    ).toThrow(RangeError)
  })
})
