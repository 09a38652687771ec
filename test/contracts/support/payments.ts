import {
  type Abi,
  type Address,
  type ContractEventArgs,
  encodeDeployData,
  encodeFunctionData,
  type Hex,
  maxUint256,
  parseEventLogs,
  type TransactionReceipt,
  zeroAddress,
  zeroHash,
} from 'viem'
import { testTokenAbi, testTokenBytecode } from '../../../contracts/evm/artifacts/test-doubles/TestToken.js'
import { communityPaymentsAbi, communityPaymentsBytecode } from '../../../src/chains/evm/contracts/index.js'
import { startChain } from './chain.js'
import { nameOf } from './hub.js'

export const HOLD_S = 3_600n
export const NATIVE = zeroAddress
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
} as const

export interface BidRequest {
  token: Address
  amount: bigint
  paymentRecipient: Address
  communityName: Hex
  walletName: Hex
  referralAddress: Hex
}

export type PaymentsWorld = Awaited<ReturnType<typeof startPaymentsWorld>>

/** The payments contract on a chain of its own, with two tokens that the payers hold and have approved. */
export async function startPaymentsWorld() {
  const chain = await startChain()
  const accounts = chain.accounts as [Address, Address, Address, Address, Address, Address, Address, Address]
  const [owner, relayer, pauser, alice, bob, carol, treasury, till] = accounts
  const payments = await chain.deploy(
    encodeDeployData({
      abi: communityPaymentsAbi,
      bytecode: communityPaymentsBytecode,
      args: [owner, relayer, pauser, HOLD_S],
    }),
  )

  async function deployToken() {
    const token = await chain.deploy(encodeDeployData({ abi: testTokenAbi, bytecode: testTokenBytecode }))
    const tokenCall = { abi: testTokenAbi }
    for (const from of [alice, bob, carol]) {
      const mint = encodeFunctionData({ ...tokenCall, functionName: 'mint', args: [from, 10n ** 24n] })
      const approve = encodeFunctionData({ ...tokenCall, functionName: 'approve', args: [payments, maxUint256] })
      await chain.succeed({ from, to: token, data: mint })
      await chain.succeed({ from, to: token, data: approve })
    }
    return token
  }
  const [token, otherToken] = [await deployToken(), await deployToken()]

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

  const bidTx = (from: Address, bid: BidRequest, value = bid.token === NATIVE ? bid.amount : 0n) => ({
    from,
    to: payments,
    data: encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'placeBid', args: [bid] }),
    value,
  })
  const tx = (from: Address, data: Hex) => ({ from, to: payments, data })
  const refuseTx = (id: Hex, from = relayer) =>
    tx(from, encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'refuse', args: [id] }))
  const releaseTx = (ids: readonly Hex[], from = bob) =>
    tx(from, encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'release', args: [ids] }))
  const withdrawTx = (from: Address, of: Address, to: Address) =>
    tx(from, encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'withdraw', args: [of, to] }))
  const takeTx = (from: Address, ids: readonly Hex[], of: Address, to: Address) =>
    tx(from, encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'releaseAndWithdraw', args: [ids, of, to] }))
  const reopenTx = (community: Hex, name: Hex, from = owner) =>
    tx(from, encodeFunctionData({ abi: communityPaymentsAbi, functionName: 'reopen', args: [community, name] }))

  const setTokenTx = (mode: number, of: Address) => ({
    from: owner,
    to: of,
    data: encodeFunctionData({ abi: testTokenAbi, functionName: 'setMode', args: [mode] }),
  })

  /** Pays, and gives the payment's id. */
  async function pay(from: Address, changes: Partial<BidRequest> = {}): Promise<Hex> {
    return paymentIdOf(await chain.succeed(bidTx(from, request(changes))))
  }

  /** The error that a transaction would revert with, of the contract or a token; undefined if it would go through. */
  const reasonOf = (tx: Parameters<typeof chain.revertOf>[0]) =>
    chain.revertOf(tx, [...communityPaymentsAbi, ...testTokenAbi.filter(({ type }) => type === 'error')] as Abi)

  const at = { address: payments, abi: communityPaymentsAbi } as const
  const balanceOf = (of: Address, account: Address) =>
    of === NATIVE
      ? chain.balance(account)
      : chain.publicClient.readContract({ address: of, abi: testTokenAbi, functionName: 'balanceOf', args: [account] })

  async function money(of: Address) {
    const [balance, held, credited] = await Promise.all([
      balanceOf(of, payments),
      chain.publicClient.readContract({ ...at, functionName: 'held', args: [of] }),
      chain.publicClient.readContract({ ...at, functionName: 'credited', args: [of] }),
    ])
    return { balance, held, credited }
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
    refuseTx,
    releaseTx,
    withdrawTx,
    takeTx,
    reopenTx,
    pay,
    reasonOf,
    balanceOf,
    money,
    wait,
    setToken: (mode: number) => chain.succeed(setTokenTx(mode, token)),
    setTokenTx,
    paymentOf: (community: Hex, name: Hex) =>
      chain.publicClient.readContract({ ...at, functionName: 'paymentOf', args: [community, name] }),
    creditOf: (account: Address, of: Address) =>
      chain.publicClient.readContract({ ...at, functionName: 'creditOf', args: [account, of] }),
  }
}

/** The contract's logs of a transaction, in order, as `[name, ...values]`. */
export function paymentEvents(receipt: TransactionReceipt) {
  return parseEventLogs({ abi: communityPaymentsAbi, logs: receipt.logs }).map(
    ({ eventName, args }) =>
      [eventName, ...Object.values(args as ContractEventArgs<typeof communityPaymentsAbi>)] as const,
  )
}

export function paymentIdOf(receipt: TransactionReceipt): Hex {
  const [log] = parseEventLogs({ abi: communityPaymentsAbi, eventName: 'Held', logs: receipt.logs })
  if (!log) throw new Error(`no payment in ${receipt.transactionHash}`)
  return log.args.paymentId
}
