import { decodeFunctionResult, encodeDeployData, erc20Abi, isHex, zeroHash } from 'viem'
import type { ChainConfig } from '../../../config/index.js'
import { fallbackOnExpectedError } from '../../../ops/logger/errors.js'
import { NATIVE_COIN } from '../../../registry/community/rules.js'
import { toHex } from '../../../registry/primitives/bytes.js'
import { nameToWord } from '../../../registry/primitives/name.js'
import {
  ChainUnavailableError,
  type CommunityPaymentPort,
  type CommunityPaymentRequest,
  type EvmChainPort,
  type Hex,
  rethrowAsUnavailable,
  type TokenUnit,
} from '../../chain.js'
import { createTokenBalancePort } from '../../requirementInputs.js'
import { isErrorAnswer, isEvmFailure, transientError } from '../../rpc/errors.js'
import type { EvmRpc, RpcCall } from '../../rpc/evm.js'
import { communityPaymentsAbi, tokenProbeAbi, tokenProbeBytecode } from '../contracts/index.js'
import { encodeContractCall } from '../contracts/read.js'
import { contractTokenAddress, releaseAndWithdrawCalldata } from './ending.js'

/** Gas limit of an `eth_call` that runs TokenProbe.sol: the gas that the probe gives to the token, plus overhead. */
const PROBE_GAS = '0x1e8480' // 2 million
/** Number of characters of an answer of TokenProbe.sol in hex: `0x`, a flag word and a number word. */
const PROBE_ANSWER_CHARS = 2 + 2 * 64

export function createEvmCommunityPaymentPort(
  rpc: EvmRpc,
  {
    label,
    chainId,
    communityPayments,
  }: Pick<ChainConfig, 'label' | 'chainId' | 'communityPayments'>,
): Pick<EvmChainPort, keyof CommunityPaymentPort> {
  return {
    ...createTokenBalancePort(rpc, readTokenBalance),
    communityPayments: communityPayments ?? null,
    tokenUnit: (token) =>
      rethrowAsUnavailable(`chain "${label}"`, () =>
        rpc.quorum((call) => readTokenUnit(call, token as Hex)),
      ),
    async communityPayment(request) {
      if (!communityPayments)
        throw new ChainUnavailableError(`chain "${label}" takes no payments for community names`)
      const payment = placeBidTransaction(communityPayments, request)
      const { token, amount } = request.price
      if (token === NATIVE_COIN) return payment
      const approve = (value: bigint) => approvalOf(token as Hex, communityPayments, value)
      const question = encodeContractCall(erc20Abi, 'allowance', [
        request.payer as Hex,
        communityPayments,
      ])
      const allowed = await rethrowAsUnavailable(`chain "${label}"`, () =>
        rpc.onOneNode((call) => askToken(call, token as Hex, question)),
      )
      if (allowed >= amount) return payment
      return {
        ...payment,
        approval: approve(amount),
        ...(allowed > 0n && { approvalReset: approve(0n) }),
      }
    },
    async communityPayout(payments, sign) {
      const [first] = payments
      if (!communityPayments || !first) return null
      const permission = await sign({
        chainId,
        contract: communityPayments,
        paymentIds: payments.map(({ id }) => id),
      })
      return { to: communityPayments, data: releaseAndWithdrawCalldata(payments, permission) }
    },
  }
}

/**
 * Reads a wallet's balance of a token at the newest block, in base units (ERC-721: number of tokens). 0 where `token`
 * is not the address of a token.
 * @throws RpcError
 */
export const readTokenBalance = (call: RpcCall, token: string, wallet: string): Promise<bigint> =>
  askToken(call, token as Hex, encodeContractCall(erc20Abi, 'balanceOf', [wallet as Hex]))

/** Gas limit of the call of `symbol()`, which also bounds the length of its answer. */
const SYMBOL_GAS = '0x493e0' // 300 thousand
const SYMBOL_PATTERN = /^[\x21-\x7e]{1,16}$/

async function readTokenUnit(call: RpcCall, token: Hex): Promise<TokenUnit> {
  const [decimals, answer] = await Promise.all([
    askToken(call, token, encodeContractCall(erc20Abi, 'decimals', [])),
    // calls the token directly: the probe contract of `askToken` returns only one word of the answer, and a symbol is a
    // string. Any JSON-RPC error except a rate limit means "no symbol", because a precompile's error may have any text.
    fallbackOnExpectedError(
      call<unknown>('eth_call', [{ to: token, data: SYMBOL_CALL, gas: SYMBOL_GAS }, 'latest']),
      isErrorAnswer,
      null,
    ),
  ])
  return { symbol: symbolOf(answer), decimals: decimals > MAX_DECIMALS ? 0 : Number(decimals) }
}

const SYMBOL_CALL = encodeContractCall(erc20Abi, 'symbol', [])
/** Maximum number of decimals that has a meaning: an amount of 256 bits has at most 78 digits. */
const MAX_DECIMALS = 77n

/** Symbol in a token's answer. Null for a malformed answer, or for a text that is not fit to be shown as a symbol. */
function symbolOf(answer: unknown): string | null {
  try {
    const text = decodeFunctionResult({
      abi: erc20Abi,
      functionName: 'symbol',
      data: answer as Hex,
    })
    return SYMBOL_PATTERN.test(text) ? text : null
  } catch {
    return null
  }
}

/**
 * Calls a token through a probe contract (TokenProbe.sol): an `eth_call` without a receiver returns as "deployed code"
 * a flag and the token's answer. Returns 0 where the token gives no answer, or where the probe itself fails in the EVM,
 * because that failure is the same on every node.
 */
async function askToken(call: RpcCall, token: Hex, question: Hex): Promise<bigint> {
  const data = encodeDeployData({
    abi: tokenProbeAbi,
    bytecode: tokenProbeBytecode,
    args: [token, question],
  })
  const answer = await fallbackOnExpectedError(
    call<unknown>('eth_call', [{ data, gas: PROBE_GAS }, 'latest']),
    isEvmFailure,
    EMPTY_PROBE_ANSWER,
  )
  if (!isHex(answer) || answer.length !== PROBE_ANSWER_CHARS)
    throw transientError('eth_call did not answer with two words')
  return BigInt(`0x${answer.slice(2 + 64)}`)
}

const EMPTY_PROBE_ANSWER: Hex = `0x${'0'.repeat(2 * 64)}`

const placeBidTransaction = (
  payments: Hex,
  { community, name, price, referral }: CommunityPaymentRequest,
) => ({
  type: 'evm' as const,
  to: payments,
  data: encodeContractCall(communityPaymentsAbi, 'placeBid', [
    {
      token: contractTokenAddress(price.token),
      amount: price.amount,
      paymentRecipient: price.recipient as Hex,
      communityName: toHex(nameToWord(community)),
      walletName: toHex(nameToWord(name)),
      referralAddress: referral ? toHex(referral) : zeroHash,
    },
  ]),
  value: price.token === NATIVE_COIN ? price.amount : 0n,
})

const approvalOf = (token: Hex, spender: Hex, amount: bigint) => ({
  to: token,
  data: encodeContractCall(erc20Abi, 'approve', [spender, amount]),
})
