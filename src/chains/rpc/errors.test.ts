import { afterEach, describe, expect, it } from 'vitest'
import { bodyOf, serve } from '../../../test/support/httpServer.js'
import { useWorld } from '../../../test/support/useWorld.js'
import { startAnvil } from '../../testing/chains/anvil.js'
import { type FaultProxy, startFaultProxy } from '../../testing/faultProxy/faultProxy.js'
import type { FaultKind } from '../../testing/faultProxy/kinds.js'
import {
  type NodeErrorText,
  PROXY_SERVER_ERRORS,
  RANGE_LIMIT_ERRORS,
  RATE_LIMIT_ERRORS,
} from '../../testing/faultProxy/nodeErrorTexts.js'
import { isEvmFailure, type RpcError } from './errors.js'
import { createEvmRpc } from './evm.js'

const CHAIN_ID = 31_337

/** Failures by the rules of the EVM: created code that begins with 0xEF (EIP-3541), and others. */
const EVM_FAILURES: readonly NodeErrorText[] = [
  // geth, Erigon, older Nethermind
  { status: 200, code: -32000, message: 'invalid code: must not begin with 0xef' },
  { status: 200, code: -32000, message: 'invalid opcode: INVALID' },
  { status: 200, code: -32000, message: 'max code size exceeded: code size 24608, limit 24576' },
  { status: 200, code: -32000, message: 'stack underflow (0 <=> 2)' },
  // Nethermind
  {
    status: 200,
    code: -32015,
    message: 'VM execution error.',
    data: 'invalid code: must not begin with 0xef',
  },
  { status: 200, code: -32015, message: 'VM execution error.', data: 'InvalidCode' },
  // Besu
  { status: 200, code: -32000, message: 'INVALID_CODE' },
  { status: 200, code: -32603, message: 'Internal error', data: 'Code is invalid' },
  // Reth, anvil
  { status: 200, code: -32003, message: 'EVM error: CreateContractStartingWithEF' },
  { status: 200, code: -32603, message: 'EVM error CreateContractStartingWithEF' },
  { status: 200, code: -32603, message: 'EVM error OpcodeNotFound' },
]

/** Refusals that depend on the node or on what the contract says. */
const REVERTS: readonly NodeErrorText[] = [
  { status: 200, code: 3, message: 'execution reverted: no', data: '0x08c379a0' },
  { status: 200, code: -32000, message: 'out of gas' },
  {
    status: 200,
    code: -32601,
    message: 'the method eth_call does not exist/is not available: method not found',
  },
]

/** Refusals of a range of 1,429 blocks where 429 are allowed. The number must not be mistaken for HTTP status 429. */
const TOO_WIDE: readonly NodeErrorText[] = [
  ...RANGE_LIMIT_ERRORS,
  // Alchemy, with and without a plan
  {
    status: 400,
    code: -32600,
    message:
      'up to a 429 block range. Based on your parameters, this block range should work: [0x1, 0x2]',
  },
  {
    status: 200,
    code: -32602,
    message: 'Log response size exceeded. You can make requests with up to a 429 block range',
  },
  // Infura
  { status: 200, code: -32602, message: 'range 1429 exceeds limit of 429' },
  {
    status: 200,
    code: -32005,
    message: 'query returned more than 10000 results. Try with this block range [0x1, 0x2].',
  },
  // dRPC, Ankr, Chainstack, BlockPI, Cloudflare
  { status: 400, code: 35, message: 'ranges over 429 blocks are not supported on freetier' },
  { status: 200, code: -32600, message: 'block range is too wide' },
  { status: 200, code: -32000, message: 'Block range limit exceeded.' },
  { status: 200, code: -32602, message: 'eth_getLogs is limited to 429 block range.' },
  { status: 200, code: -32047, message: 'Invalid eth_getLogs request. Max range: 429' },
  // reth, besu, Avalanche's coreth, Sonic, Moonbeam's frontier
  { status: 200, code: -32602, message: 'query exceeds max block range 429' },
  { status: 200, code: -32005, message: 'Requested range exceeds maximum RPC range limit' },
  {
    status: 200,
    code: -32000,
    message: 'requested too many blocks from 1 to 1429, maximum is set to 429',
  },
  { status: 200, code: -32000, message: 'too wide blocks range, the limit is 429' },
  { status: 200, code: -32603, message: 'block range is too wide (maximum 429)' },
]

const LAGS = { status: 200, code: -32000 }

/** Refusals of too frequent requests. */
const TOO_OFTEN: readonly NodeErrorText[] = [
  ...RATE_LIMIT_ERRORS,
  {
    status: 429,
    code: 429,
    message: 'Your app has exceeded its compute units per second capacity.',
  },
  {
    status: 429,
    code: -32007,
    message: '50/second request limit reached - reduce calls per second',
  },
]

const anvil = useWorld(() => startAnvil({ chainId: CHAIN_ID }))
let node: Pick<FaultProxy, 'stop'> | undefined
afterEach(async () => {
  await node?.stop()
  node = undefined
})

/** The classified error of a pool with one node. Checks that the callback gets the same error. */
async function faultOf(url: string, method: string): Promise<RpcError> {
  const faults: RpcError[] = []
  const rpc = createEvmRpc({
    label: '1',
    urls: [url],
    chainId: CHAIN_ID,
    onFault: (_, error) => faults.push(error),
  })
  const thrown = await rpc.call(method, []).catch((error) => error as RpcError)
  return faults[0] ?? (thrown as RpcError)
}

/** A node of the chain that answers one method with a provider's error. */
async function sayer(
  { status, code, message, data }: NodeErrorText,
  headers: Record<string, string> = {},
): Promise<string> {
  const server = await serve(async (request, response) => {
    const { id, method } = JSON.parse(await bodyOf(request))
    if (method === 'eth_chainId')
      response.end(JSON.stringify({ id, result: `0x${CHAIN_ID.toString(16)}` }))
    else if (method === 'eth_getBlockByNumber')
      response.end(JSON.stringify({ id, result: { hash: '0xab' } }))
    else {
      const text =
        code === 0 ? message : JSON.stringify({ id: null, error: { code, message, data } })
      response.writeHead(status, headers).end(text)
    }
  })
  node = server
  return server.url
}

describe('what nodes and providers say', () => {
  it.each([
    ...TOO_WIDE.map((wording) => ({ ...wording, fault: 'too_much' })),
    ...PROXY_SERVER_ERRORS.map((wording) => ({ ...wording, fault: 'transient' })),
    // a node that lags does not refuse: another node may know the block
    ...['header not found', 'unknown block'].map((message) => ({
      ...LAGS,
      message,
      fault: 'transient',
    })),
  ])('$fault: $message', async ({ fault, ...wording }) => {
    const url = await sayer(wording)
    expect((await faultOf(url, 'eth_getLogs')).fault).toBe(fault)
  })

  it.each(TOO_OFTEN)('asked too often: $message', async (wording) => {
    const url = await sayer(wording, { 'retry-after': '3' })
    expect(await faultOf(url, 'eth_getLogs')).toMatchObject({
      fault: 'rate_limited',
      retryAfterMs: 3_000,
    })
  })

  it.each<NodeErrorText>([
    {
      status: 500,
      code: 0,
      message: '{"error":"no, https://node.example/v3/plantedSecret9 refuses plantedSecret9"}',
    },
    {
      status: 403,
      code: -32600,
      message: `invalid key plantedSecret9, asked 0x${'ab'.repeat(65)}`,
      data: 'plantedSecret9',
    },
    { status: 429, code: -32005, message: 'capacity of plantedSecret9 exceeded' },
  ])('its words without the keys and signatures in them: $message', async (wording) => {
    const { message } = await faultOf(await sayer(wording), 'eth_call')
    expect(message).toMatch(
      new RegExp(`^eth_call: HTTP ${wording.status}: .*(no|invalid|capacity|…)`),
    )
    expect(message).not.toMatch(/plantedSecret9|abab/)
  })

  it.each(EVM_FAILURES)(
    '$message $data: a failure by the rules of the EVM, the same on every node',
    async (wording) => {
      const error = await faultOf(await sayer(wording), 'eth_call')
      expect(error.fault).toBe('refused')
      expect(isEvmFailure(error)).toBe(true)
    },
  )

  it.each([...REVERTS, ...PROXY_SERVER_ERRORS])(
    '$message is no failure by the rules of the EVM',
    async (wording) => {
      expect(isEvmFailure(await faultOf(await sayer(wording), 'eth_call'))).toBe(false)
    },
  )
})

describe('an unusable answer', () => {
  it.each<[FaultKind, string]>([
    ['wrong_id', 'another id'],
    ['truncate', ''],
    ['drop', ''],
  ])('%s is a fault of the node', async (kind, words) => {
    const proxy = await startFaultProxy({
      target: anvil,
      seed: 3,
      faults: ({ method }) => (method === 'eth_gasPrice' ? kind : null),
    })
    node = proxy
    const error = await faultOf(proxy.rpcUrl, 'eth_gasPrice')
    expect(error.fault).toBe('transient')
    expect(error.message).toContain(words)
  })
})
