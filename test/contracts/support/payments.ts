import {
  type Abi,
  type Address,
  type ContractEventArgs,
  concat,
  decodeErrorResult,
  encodeDeployData,
  encodeFunctionData,
  getAddress,
  type Hex,
  keccak256,
  maxUint256,
  pad,
  parseEventLogs,
  type TransactionReceipt,
  toHex,
  zeroAddress,
  zeroHash,
} from 'viem'
import {
  testTokenAbi,
  testTokenBytecode,
} from '../../../contracts/evm/artifacts/test-doubles/TestToken.js'
import {
  communityPaymentsAbi,
  communityPaymentsBytecode,
} from '../../../src/chains/evm/contracts/index.js'
import { startChain } from './chain.js'
import { nameOf } from './hub.js'

export const RECLAIM_S = 7n * 86_400n
export const NATIVE = zeroAddress
export const MAX_AMOUNT = 2n ** 128n - 1n
/** Behaviour of a TestToken. */
export const TOKEN = {
  plain: 0,
  feeFromReceiver: 1,
  feeFromSender: 2,
  sayNo: 3,
  sayNothing: 4,
  lie: 5,
  revert: 6,
  callBack: 7,
  roundDown: 8,
  answerEf: 9,
} as const
/** Outcomes of a payment, as `outcomeOf` gives them. */
export const OUTCOME = { none: 0, held: 1, refused: 2, released: 3, reclaimed: 4 } as const
/** Calls that end payments by their structs alone. */
export type EndingCall = 'refuse' | 'release' | 'reclaim'

/** A payment as the contract hashes it. */
export interface Payment {
  number: bigint
  reclaimableAt: bigint
  payer: Address
  recipient: Address
  token: Address
  amount: bigint
  communityName: Hex
  walletName: Hex
  referralAddress: Hex
}

export interface BidRequest {
  token: Address
  amount: bigint
  paymentRecipient: Address
  communityName: Hex
  walletName: Hex
  referralAddress: Hex
}

/** The payments contract on a chain of its own, with two tokens that the payers hold and have approved. */
export async function startPaymentsWorld(options: { extraArgs?: readonly string[] } = {}) {
  const chain = await startChain(31_337, options)
  const accounts = chain.accounts as [
    Address,
    Address,
    Address,
    Address,
    Address,
    Address,
    Address,
    Address,
  ]
  const [owner, relayer, pauser, alice, bob, carol, treasury, till] = accounts
  /** Creation of the contract with a time after which payers may reclaim. */
  const deployment = (reclaimS: bigint, relayer_ = relayer) =>
    encodeDeployData({
      abi: communityPaymentsAbi,
      bytecode: communityPaymentsBytecode,
      args: [owner, relayer_, pauser, reclaimS],
    })
  const payments = await chain.deploy(deployment(RECLAIM_S))

  async function deployToken() {
    const token = getAddress(
      await chain.deploy(encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode })),
    )
    const tokenCall = { abi: testTokenAbi }
    for (const from of options.extraArgs ? accounts : [alice, bob, carol]) {
      const mint = encodeFunctionData({
        ...tokenCall,
        functionName: 'mint',
        args: [from, 2n ** 200n],
      })
      const approve = encodeFunctionData({
        ...tokenCall,
        functionName: 'approve',
        args: [payments, maxUint256],
      })
      await chain.succeed({ from, to: token, data: mint })
      await chain.succeed({ from, to: token, data: approve })
    }
    return token
  }
  const token = await deployToken()
  const otherToken = await deployToken()

  /** Request to pay for `club/foobar` with 1,000 units of the chain's coin, where nothing is changed. */
  const request = (changes: Partial<BidRequest> = {}): BidRequest => ({
    token: NATIVE,
    amount: 1_000n,
    paymentRecipient: treasury,
    communityName: nameOf('club'),
    walletName: nameOf('foobar'),
    referralAddress: zeroHash,
    ...changes,
  })

  const bidTx = (
    from: Address,
    bid: BidRequest,
    value = bid.token === NATIVE ? bid.amount : 0n,
  ) => ({
    from,
    to: payments,
    data: encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'placeBid', args: [bid] }),
    value,
  })
  const call = (from: Address, functionName: string, args: readonly unknown[]) => ({
    from,
    to: payments,
    data: encodeFunctionData<Abi, string>({ abi: communityPaymentsAbi, functionName, args }),
  })
  const endTx = (kind: EndingCall, of: readonly Payment[], from: Address) => call(from, kind, [of])
  const withdrawTx = (from: Address, of: Address, to: Address) => call(from, 'withdraw', [of, to])
  const domain = {
    name: 'CommunityPayments',
    version: '1',
    chainId: chain.chain.id,
    verifyingContract: payments,
  }
  /** Typed data of the relayer role's signed release. */
  const release = (paymentIds: readonly Hex[], changes: Partial<typeof domain> = {}) =>
    ({
      domain: { ...domain, ...changes },
      types: { Release: [{ name: 'paymentIds', type: 'bytes32[]' }] },
      primaryType: 'Release',
      message: { paymentIds },
    }) as const
  /** Signed release by one of the chain's accounts. */
  const sign = (ids: readonly Hex[], account = relayer, changes: Partial<typeof domain> = {}) =>
    chain.unlocked.signTypedData({ account, ...release(ids, changes) })

  const setTokenTx = (mode: number, of: Address) => ({
    from: owner,
    to: of,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: 'setMode', args: [mode] }),
  })

  /** Pays, and gives the payment. */
  async function pay(from: Address, changes: Partial<BidRequest> = {}): Promise<Payment> {
    return paymentInReceipt(await chain.succeed(bidTx(from, request(changes))))
  }

  /** Error, of the contract or a token, with which a transaction reverts; undefined if it succeeds. */
  const reasonOf = (tx: Parameters<typeof chain.revertOf>[0]) => chain.revertOf(tx, ERRORS)

  const at = { address: payments, abi: communityPaymentsAbi } as const
  const balanceOf = (of: Address, account: Address) =>
    of === NATIVE
      ? chain.balance(account)
      : chain.publicClient.readContract({
          address: of,
          abi: testTokenAbi,
          functionName: 'balanceOf',
          args: [account],
        })

  const totalsOf = (of: Address) =>
    chain.publicClient.readContract({ ...at, functionName: 'totalsOf', args: [of] })

  /** What the contract has of a token, and what it owes. */
  async function money(of: Address) {
    const [balance, [owed]] = await Promise.all([balanceOf(of, payments), totalsOf(of)])
    return { balance, owed }
  }

  /** Moves the time of the next block forward. */
  async function wait(seconds: bigint) {
    const { timestamp } = await chain.publicClient.getBlock()
    await chain.testClient.setNextBlockTimestamp({ timestamp: timestamp + seconds })
    await chain.testClient.mine({ blocks: 1 })
  }

  return {
    ...chain,
    payments,
    deployment,
    owner,
    relayer,
    pauser,
    alice,
    bob,
    carol,
    treasury,
    till,
    token,
    otherToken,
    request,
    bidTx,
    endTx,
    withdrawTx,
    call,
    release,
    sign,
    pay,
    reasonOf,
    balanceOf,
    money,
    wait,
    setToken: (mode: number) => chain.succeed(setTokenTx(mode, token)),
    setTokenTx,
    totalsOf,
    outcomeOf: (payment: Payment) =>
      chain.publicClient.readContract({
        ...at,
        functionName: 'outcomeOf',
        args: [paymentId(payment, payments)],
      }),
    creditOf: (account: Address, of: Address) =>
      chain.publicClient.readContract({ ...at, functionName: 'creditOf', args: [account, of] }),
  }
}

const ERRORS: Abi = [...communityPaymentsAbi, ...testTokenAbi].filter(
  ({ type }) => type === 'error',
)

/** The name of an error of the contract or a token. */
export const errorOf = (data: Hex): string => decodeErrorResult({ abi: ERRORS, data }).errorName

/** The contract's logs of a transaction, in order, as `[name, ...values]`. */
export function paymentEvents(receipt: Pick<TransactionReceipt, 'logs'>) {
  return parseEventLogs({ abi: communityPaymentsAbi, logs: receipt.logs }).map(
    ({ eventName, args }) =>
      [
        eventName,
        ...Object.values(args as ContractEventArgs<typeof communityPaymentsAbi>),
      ] as const,
  )
}

/** The one payment that a transaction made. */
export function paymentInReceipt(receipt: TransactionReceipt): Payment {
  const abi = communityPaymentsAbi
  const [bid] = parseEventLogs({ abi, eventName: 'Bid', logs: receipt.logs })
  const [held] = parseEventLogs({ abi, eventName: 'Held', logs: receipt.logs })
  if (!bid || !held) throw new Error(`no payment in ${receipt.transactionHash}`)
  const { from, token, amount, paymentRecipient, communityName, walletName, referralAddress } =
    bid.args
  const { number, reclaimableAt } = held.args
  return {
    number,
    reclaimableAt,
    payer: getAddress(`0x${from.slice(26)}`),
    recipient: paymentRecipient,
    token,
    amount,
    communityName,
    walletName,
    referralAddress,
  }
}

/** A payment's id by its description: each field a word, then the chain and the contract. */
export function paymentId(payment: Payment, contract: Address, chainId = 31_337n): Hex {
  const word = (value: bigint | Hex) =>
    pad(typeof value === 'bigint' ? toHex(value) : value, { size: 32 })
  const {
    number,
    reclaimableAt,
    payer,
    recipient,
    token,
    amount,
    communityName,
    walletName,
    referralAddress,
  } = payment
  const terms = [payer, recipient, token, amount, communityName, walletName, referralAddress]
  return keccak256(concat([number, reclaimableAt, ...terms, chainId, contract].map(word)))
}
