import { BaseError, HttpRequestError, InternalRpcError, RpcRequestError } from 'viem'
import { describe, expect, it } from 'vitest'
import { ChainUnavailableError } from '../chain.js'
import { classifyRpcError, NodeError, RpcError, WrongChainError } from '../rpc/errors.js'
import { classifyTxError, TX_ERROR_TABLE, type TxErrorClass } from './txErrors.js'

/** Messages as in the source code of the nodes, and as providers write them. */
const WORDINGS: Record<`${TxErrorClass} ${string}`, string[]> = {
  'known already_known': [
    'already known', // geth, reth
    'ALREADY_EXISTS: already known',
    'AlreadyKnown', // nethermind
    'existing tx with same hash', // erigon
    'Known transaction', // besu
    'transaction already imported', // anvil
    'Transaction with the same hash was already imported.', // parity's kin
  ],
  'used nonce_too_low': [
    'nonce too low',
    'nonce too low: next nonce 5, tx nonce 4', // geth, reth
    'nonce too low: address 0x12, tx: 4 state: 5', // nitro, older geth
    'OldNonce, Current nonce: 5, nonce of rejected tx: 4.', // nethermind
    'Nonce too low', // besu
    'Transaction nonce is too low. Try incrementing the nonce.', // parity's kin
    'nonce has already been used',
  ],
  'fee replacement_underpriced': [
    'replacement transaction underpriced', // geth, reth, anvil
    'replacement transaction underpriced: new tx gas fee cap 1 <= 2 queued', // geth
    'could not replace existing tx', // erigon
    'ReplacementNotAllowed', // nethermind
    'Replacement transaction underpriced', // besu
    'There is another transaction with same nonce in the queue. Try increasing the gas price or incrementing the nonce.',
    'future transaction tries to replace pending', // geth
  ],
  'fee underpriced': [
    'transaction underpriced', // geth
    'transaction underpriced: gas tip cap 1, minimum needed 1000000', // geth
    'underpriced', // erigon
    'fee too low', // erigon
    'FeeTooLow, MaxFeePerGas too low. MaxFeePerGas: 1, BaseFee: 2', // nethermind
    'FeeTooLowToCompete', // nethermind
    'Gas price below configured minimum gas price', // besu
    'gas price is below current base fee', // besu
    'max fee per gas less than block base fee', // anvil, reth
    'max fee per gas less than block base fee: address 0x12, maxFeePerGas: 1, baseFee: 2', // geth, nitro
    'max priority fee per gas (1) is lower than the minimum 2', // chains with a floor of their own
    'gas price less than minimum: 30 gwei required',
    'feeCap 1 below chain minimum 2', // Filecoin
    'effective gas price lower than minimum: 1 < 2', // Ethermint
    'Transaction gas price supplied is too low. There is another transaction in the pool',
  ],
  'transient insufficient_funds': [
    'insufficient funds for gas * price + value: balance 0, tx cost 21000, overshot 21000', // geth
    'insufficient funds for transfer',
    'InsufficientFunds, Account balance: 0, cumulative cost: 1', // nethermind
    'Upfront cost exceeds account balance', // besu
    'Insufficient funds for gas * price + value', // anvil
    'Insufficient funds. The account you tried to send transaction from does not have enough funds.',
    'transaction would cause overdraft', // geth
    'gas required exceeds allowance (0)', // geth, anvil: the allowance is what the balance buys
  ],
  'transient nonce_too_high': [
    'nonce too high',
    'NonceGap, Future nonce. Expected nonce: 3',
    'An invalid transaction with a lower nonce exists',
  ],
  'transient pool_full': [
    'txpool is full',
    'pending sub-pool is full',
    'transaction pool limit reached',
    'account limit exceeded',
    'sender has too many transactions in txpool',
  ],
  'revert reverted': [
    'execution reverted',
    'execution reverted: custom error 0xd93c0665',
    'VM execution error: Reverted 0x',
    'Always failing transaction',
  ],
  'revert out_of_gas': ['out of gas', 'EVM error OutOfGas: out of gas'],
  'permanent gas_limit': [
    'intrinsic gas too low',
    'intrinsic gas too low: gas 20000, minimum needed 21000', // geth
    'exceeds block gas limit',
    'gas limit is too high', // erigon
    'GasLimitExceeded, Gas limit: 1, gas limit of rejected tx: 2', // nethermind
    'Transaction gas limit exceeds block gas limit', // besu
    'transaction gas limit too high (cap: 16777216, tx: 30000000)', // geth from Osaka on
    'Intrinsic gas exceeds gas limit', // besu
  ],
  'permanent fee_cap_of_node': ['tx fee (1.50 ether) exceeds the configured cap (1.00 ether)'],
  'permanent wrong_chain': [
    'invalid chain id for signer: have 1 want 2',
    'invalid chain ID',
    'chain id mismatch',
  ],
  'permanent malformed_transaction': [
    'invalid sender',
    'transaction type not supported',
    'max priority fee per gas higher than max fee per gas',
    'rlp: expected List',
    'sender not an eoa',
    'oversized data: transaction size 1, limit 0',
  ],
  'transient unreachable': [
    '',
    'fetch failed',
    'socket hang up',
    'Internal error',
    'something nobody has ever written',
    'header not found',
  ],
}

const found = (error: unknown): string => {
  const { class: kind, reason } = classifyTxError(error)
  return `${kind} ${reason}`
}

const refusal = (message: string, status = 200) =>
  classifyRpcError(new NodeError({ code: -32_000, message }), 'eth_sendRawTransaction', {
    response: { status, headers: new Headers() },
  })

describe('classifyTxError', () => {
  it('distinguishes an answer with unknown wording from a missing answer', () => {
    expect(found(refusal('something nobody has ever written'))).toBe('transient unknown_refusal')
    expect(found(refusal('no healthy upstream', 503))).toBe('transient unreachable')
    expect(found(refusal('Method not found', 404))).toBe('transient unreachable')
  })

  const cases = Object.entries(WORDINGS).flatMap(([expected, texts]) =>
    texts.map((text) => ({ expected, text })),
  )

  it.each(cases)('calls "$text" $expected', ({ expected, text }) => {
    expect(found(new Error(text)), 'an error').toBe(expected)
    expect(found(text), 'a text').toBe(expected)
  })

  it.each(TX_ERROR_TABLE)('has a text above for the row %s %s, %s', (...row) => {
    const rowOf = (text: string) => TX_ERROR_TABLE.find(([, , wording]) => wording.test(text))
    expect(cases.map(({ text }) => rowOf(text))).toContainEqual(row)
  })

  it('reads a message that a transport wrapped', () => {
    const rpc = new RpcRequestError({
      body: {},
      url: 'http://node/key',
      error: { code: -32000, message: 'nonce too low' },
    })
    expect(found(new InternalRpcError(rpc))).toBe('used nonce_too_low')
    expect(found(new BaseError('sending', { cause: rpc }))).toBe('used nonce_too_low')
  })

  it('knows the code of a revert and the status of too many requests', () => {
    expect(found({ code: 3, message: 'nothing said' })).toBe('revert reverted')
    const busy = new ChainUnavailableError('', { cause: new RpcError('rate_limited', 'HTTP 429') })
    expect(found(busy)).toBe('transient rate_limited')
  })

  it('does not mistake the URL or the request for the node’s message', () => {
    const url = 'http://throttle.example/capacity'
    const http = new HttpRequestError({
      url,
      status: 500,
      body: { method: 'already known' },
      details: 'Internal error',
    })
    expect(found(http)).toBe('transient unreachable')
  })

  const AWAY = new RpcError('transient', 'eth_chainId: "upstream request timeout"')
  const WRAPPED = new ChainUnavailableError(`chain "1": no RPC URL answers (${AWAY.message})`, {
    cause: AWAY,
  })
  const WRONG = new WrongChainError('http://127.0.0.1:1 is on chain id 5, not 1 (chain "1")')
  const CIRCLE: { cause?: unknown } = {}
  CIRCLE.cause = CIRCLE

  it.each([
    ['the name of a method that failed', AWAY],
    ['the name of a method that failed, wrapped', WRAPPED],
    ['a node of another chain', WRONG],
  ])('does not take %s for the transaction’s chain', (_, error) => {
    expect(found(error)).toBe('transient unreachable')
  })

  it.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['an empty object', {}],
    ['empty causes', { cause: { cause: {} } }],
    ['a symbol', Symbol('x')],
  ])('takes whatever was thrown: %s', (_, thrown) => {
    expect(found(thrown)).toBe('transient unreachable')
  })

  it('takes an error that is its own cause', () => {
    expect(classifyTxError(CIRCLE).class).toBe('transient')
  })

  it('never exposes a node’s message, which may hold the key of its URL', () => {
    const failure = classifyTxError(
      new Error('fetch failed: https://rpc.example/v3/0123456789abcdef'),
    )
    expect(JSON.stringify(failure)).not.toContain('0123456789abcdef')
  })
})
