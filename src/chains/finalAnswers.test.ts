import { SystemProgram } from '@solana/web3.js'
import { encodeAbiParameters, encodeErrorResult, toFunctionSelector } from 'viem'
import { describe, expect, it } from 'vitest'
import { sent } from '../../test/model/nonceJobs.js'
import { parseChainsFile } from '../config/chainsFile.js'
import type { Hex } from './chain.js'
import { createEvmChain } from './evm/chain.js'
import { hubAbi } from './evm/contracts/index.js'
import { readLeastGasPriceWei } from './evm/gasPrice.js'
import type { JobCall } from './evm/jobView.js'
import { accountWithoutKey } from './evm/relayerAccount.js'
import { createEvmJobSender } from './evm/signer.js'
import { NodeError, RpcError, transientError } from './rpc/errors.js'
import { type RpcCall, RpcPool } from './rpc/nodes.js'
import { createSolanaChain } from './solana/chain.js'
import { createSolanaCommunityPaymentPort } from './solana/community/port.js'
import { createHubPriceReader } from './solana/rates.js'
import { createRegistrarClient } from './solana/registrar.js'
import { TOKEN_PROGRAM } from './solana/tokens.js'

/**
 * The questions, outside the indexer, whose answers become final: each is asked of two nodes where two are configured.
 * Journal entries, cursors and payments are in test/indexer and test/solana, the identity of a chain in
 * test/indexer/lazyChains.test.ts. `ONE_NODE` of test/support/oneNode.ts lists what one node answers.
 */

/** Result of a method, or an error to throw. */
type Answers = Record<string, unknown>
type Pool = RpcPool<Hex>

interface FinalQuestion {
  about: string
  ask(rpc: Pool): Promise<unknown>
  lie: Answers
  truth: Answers
  /** Result if the lie is accepted. */
  lied: unknown
  /** Result while two nodes contradict each other, where that is no error. */
  undecided?: unknown
}

const poolOf = (...nodes: Answers[]): Pool =>
  new RpcPool<Hex>({
    label: '1',
    urls: nodes.map((_, i) => `http://${i}`),
    behindBlocks: 3,
    readGenesis: async () => '0x',
    connect: (url): RpcCall => {
      const answers = nodes[Number(url.at(-1))]!
      return async <T>(method: string, params: readonly unknown[]) => {
        const silent = transientError(`${method}: no answer`)
        const answer = method in answers ? answers[method] : silent
        if (answer instanceof Error) throw answer
        return (typeof answer === 'function' ? answer(params) : answer) as T
      }
    },
    headOf: async () => ({ height: 10, timeMs: null }),
  })

const word = (value: bigint | number): string => value.toString(16).padStart(64, '0')
const ADDRESS: Hex = `0x${'11'.repeat(20)}`
const HASH: Hex = `0x${'ab'.repeat(32)}`
const KEY = SystemProgram.programId.toBase58()
const SIGNATURE = '1'.repeat(64)
const BLOCK = { number: '0xa', hash: HASH, parentHash: HASH, timestamp: '0x1' }

const [config] = parseChainsFile(
  {
    chains: [
      {
        network: 'mainnet',
        label: '1',
        role: 'hub',
        chainId: 1,
        rpcUrls: ['http://127.0.0.1:1'],
        contract: `0x${'22'.repeat(20)}`,
        confirmation: { blocks: 2 },
      },
    ],
  },
  'test',
).chains
const chainOn = (rpc: Pool) => createEvmChain({ config: config!, chain: 1, rpc })

const senderOn = (rpc: Pool, call: JobCall = { kind: 'noop' }) =>
  createEvmJobSender({ chain: chainOn(rpc), account: accountWithoutKey(ADDRESS) }, call)

const WORD = Buffer.alloc(32, 1)
const DELIVERY: JobCall = {
  kind: 'deliver',
  hub: ADDRESS,
  bids: [{ source: WORD, sequence: 1n, name: WORD, amountWei: 5n, from: WORD, referral: WORD }],
}

const registrar = createRegistrarClient(KEY)
const feeds = {
  ethUsd: `0x${'0e'.repeat(20)}`,
  solUsd: `0x${'05'.repeat(20)}`,
  maxAgeSeconds: { solUsd: 600, ethUsd: 600 },
  maxMovePercent: 10,
} as const
const NOW_S = 1_800_000_000

/** Answers of a node whose price feeds return this number of dollars. */
const dollars = (price: bigint): Answers => ({
  eth_gasPrice: '0x1',
  eth_call: ([{ data }]: [{ data: string }]) =>
    data.startsWith(toFunctionSelector('decimals()'))
      ? `0x${word(8)}`
      : encodeAbiParameters(
          Array.from({ length: 5 }, () => ({ type: 'uint256' })),
          [1n, price * 10n ** 8n, BigInt(NOW_S), BigInt(NOW_S), 1n],
        ),
})

const transaction = (blockNumber: string | null) => ({
  hash: HASH,
  from: ADDRESS,
  nonce: '0x4',
  blockNumber,
  to: ADDRESS,
  input: '0x',
})
const receipt = { transactionHash: HASH, blockNumber: '0x7', status: '0x1', logs: [] }
const heads = { eth_getBlockByNumber: { ...BLOCK, transactions: [transaction('0x0')] } }

const solanaStatus = (confirmationStatus: string) => ({
  value: [{ slot: 5, err: 'AccountInUse', confirmations: 3, confirmationStatus }],
})
const tokenAccount = (amount: bigint) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(amount)
  const data = [bytes.toString('base64'), 'base64']
  return { value: [{ pubkey: KEY, account: { data, owner: TOKEN_PROGRAM.toBase58() } }] }
}
const refusal = (code: number, message: string, data?: string) =>
  new RpcError('refused', message, null, { cause: new NodeError({ code, message, data }) })
/** Reverts a delivery because of its limit, which is 0. */
const aboveLimit = ([{ data }]: [{ data: string }]): Hex => {
  if (data.startsWith(toFunctionSelector('deliverLimit()'))) return `0x${word(0)}`
  const args = [5n, 0n, 0n] as const
  const errorName = 'DeliverLimitExceeded'
  throw refusal(3, 'execution reverted', encodeErrorResult({ abi: hubAbi, errorName, args }))
}
const fees = (baseFee: string) => ({ eth_feeHistory: { baseFeePerGas: [baseFee, baseFee] } })

const QUESTIONS: readonly FinalQuestion[] = [
  {
    about: 'a balance that a community name requires, free or paid',
    ask: (rpc) => chainOn(rpc).tokenBalance(ADDRESS, ADDRESS),
    lie: { eth_call: `0x${word(1)}${word(7)}` },
    truth: { eth_call: `0x${word(1)}${word(0)}` },
    lied: 7n,
  },
  {
    about: 'a balance of a Solana token that a community name requires',
    ask: (rpc) => createSolanaCommunityPaymentPort(rpc, registrar).tokenBalance(KEY, KEY),
    lie: { getTokenAccountsByOwner: tokenAccount(7n) },
    truth: { getTokenAccountsByOwner: tokenAccount(0n) },
    lied: 7n,
  },
  {
    about: 'the mint of a price, which rules in the journal name',
    ask: (rpc) => createSolanaCommunityPaymentPort(rpc, registrar).isToken!(KEY),
    lie: { getTokenSupply: { value: { decimals: 6 } } },
    truth: { getTokenSupply: refusal(-32_602, 'not a Token mint') },
    lied: true,
  },
  {
    about: 'the decimals of a token, in which a typed price is counted',
    ask: (rpc) => chainOn(rpc).tokenUnit!(ADDRESS),
    lie: { eth_call: `0x${word(1)}${word(6)}` },
    truth: { eth_call: `0x${word(1)}${word(18)}` },
    lied: { decimals: 6 },
  },
  {
    about: 'the decimals of a mint, in which a typed price is counted',
    ask: (rpc) => createSolanaCommunityPaymentPort(rpc, registrar).tokenUnit!(KEY),
    lie: { getTokenSupply: { value: { decimals: 6 } } },
    truth: { getTokenSupply: { value: { decimals: 9 } } },
    lied: { decimals: 6 },
  },
  {
    about: 'a smart wallet’s signature',
    ask: (rpc) =>
      chainOn(rpc).isValidSignature({
        wallet: ADDRESS,
        hash: HASH,
        signature: '0xabcd',
        deployment: null,
        onCall() {},
      }),
    lie: { eth_call: `0x${word(1)}` },
    truth: { eth_call: '0x' },
    lied: true,
    undecided: false,
  },
  {
    about: 'the verdict that a transaction is invalid',
    ask: (rpc) => chainOn(rpc).transaction(HASH, 8),
    lie: {
      ...heads,
      eth_getTransactionByHash: transaction('0x7'),
      eth_getTransactionReceipt: receipt,
    },
    truth: {
      ...heads,
      eth_getTransactionByHash: transaction('0x7'),
      eth_getTransactionReceipt: { ...receipt, status: '0x0' },
    },
    lied: { isConfirmed: true, succeeded: true, isRegistration: false },
  },
  {
    about: 'the transaction that replaced another one',
    ask: (rpc) => chainOn(rpc).replacement(ADDRESS, 4, 8),
    lie: {
      ...heads,
      eth_getTransactionCount: '0x5',
      eth_getTransactionByHash: transaction('0x0'),
    },
    truth: { ...heads, eth_getTransactionCount: '0x4', eth_getTransactionByHash: null },
    lied: HASH,
    undecided: null,
  },
  {
    about: 'the verdict that a transaction on Solana failed',
    ask: (rpc) =>
      createSolanaChain({
        config: { programId: KEY, commitment: 'finalized', feeds } as never,
        network: 'mainnet',
        rpc,
        hub: rpc,
        quoteKey: Buffer.alloc(32),
      }).transaction(SIGNATURE),
    lie: { getSignatureStatuses: solanaStatus('finalized'), getTransaction: null },
    truth: { getSignatureStatuses: solanaStatus('processed'), getTransaction: null },
    lied: { isConfirmed: true, succeeded: false },
  },
  {
    about: 'the prices of a quote on Solana',
    ask: (rpc) => createHubPriceReader(rpc, feeds, () => NOW_S * 1_000)(),
    lie: dollars(1n),
    truth: dollars(3_000n),
    lied: { solUsd: { answer: 10n ** 8n } },
  },
  {
    about: 'the end of a job of the relayer',
    ask: (rpc) => senderOn(rpc).look(sent),
    lie: {
      ...heads,
      eth_getTransactionCount: '0x4',
      eth_getTransactionReceipt: receipt,
    },
    truth: { ...heads, eth_getTransactionCount: '0x3', eth_getTransactionReceipt: null },
    lied: { mined: { isConfirmed: true } },
    undecided: { mined: { isConfirmed: false } },
  },
  {
    about: 'the limit of deliveries of a day that parks a job',
    ask: (rpc) => senderOn(rpc, DELIVERY).prepare('deliver', 0n, (one) => 'fees' in one),
    lie: { ...fees('0x1'), eth_getBalance: '0xffffffffff', eth_call: aboveLimit },
    truth: {
      ...fees('0x1'),
      eth_getBalance: '0xffffffffff',
      eth_call: '0x',
      eth_estimateGas: '0x5208',
    },
    lied: { failure: { class: 'permanent' } },
    undecided: { fees: {} },
  },
  {
    about: 'a gas price that leaves a payment to its payer',
    ask: (rpc) => readLeastGasPriceWei(rpc),
    lie: fees('0x9184e72a000'),
    truth: fees('0x3b9aca00'),
    lied: 10n ** 13n + 1_000_000n,
    undecided: 10n ** 9n + 1_000_000n,
  },
]

describe.each(QUESTIONS)('$about', ({ ask, lie, truth, lied, undecided }) => {
  it('is accepted from the only node', async () => {
    expect(await ask(poolOf(lie))).toEqual(matching(lied))
  })

  it('is accepted from two nodes that agree', async () => {
    expect(await ask(poolOf(lie, lie))).toEqual(matching(lied))
  })

  it.each([
    ['the first of two nodes', () => poolOf(lie, truth)],
    ['the second of two nodes', () => poolOf(truth, lie)],
    ['one node while the other is silent', () => poolOf(lie, {})],
  ])('is not accepted from %s', async (which, pool) => {
    const answer = await ask(pool()).catch((error: Error) => error)
    expect(answer).not.toEqual(matching(lied))
    if (answer instanceof Error) expect(answer.message).toMatch(/contradict|two nodes/)
    else if (undecided !== undefined && which !== 'one node while the other is silent')
      expect(answer).toEqual(matching(undecided))
  })
})

it('a node that refuses a delivery, and the question for the limit, fails none that another node simulates', async () => {
  const args = [5n, 0n, 0n] as const
  const data = encodeErrorResult({ abi: hubAbi, errorName: 'DeliverLimitExceeded', args })
  const [truth] = QUESTIONS.filter(({ about }) => about.startsWith('the limit')).map(
    (one) => one.truth,
  )
  const refuses = () => {
    throw refusal(3, 'execution reverted', data)
  }
  const rpc = poolOf({ ...truth, eth_call: refuses }, truth!)
  const simulated = await senderOn(rpc, DELIVERY).prepare('deliver', 0n, (one) => 'fees' in one)
  expect(simulated).toMatchObject({ fees: {} })
})

const matching = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? expect.objectContaining(nested(value)) : value

/** The fields of an expected object, which are compared the same way. */
const nested = (value: object): Record<string, unknown> =>
  Object.fromEntries(Object.entries(value).map(([name, field]) => [name, matching(field)]))
