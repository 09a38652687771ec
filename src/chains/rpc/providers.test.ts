import { describe, expect, it } from 'vitest'
import { bodyOf, serveInTest } from '../../../test/support/httpServer.js'
import { MissingDataError, type RpcError } from './errors.js'
import { STATUS_AND_REVERT_TABLE, matchesErrorRow, RPC_ERROR_TABLE } from './errorTable.js'
import { createEvmRpc, createJsonRpcCaller } from './evm.js'

const CHAIN_ID = 31_337

/** An error answer of a client or a provider. */
interface Said {
  by: string
  method?: string
  /** HTTP status, 200 where it is left out. */
  status?: number
  /** Absent where the body is only the text. */
  code?: number | string
  text: string
  data?: unknown
}

/** A node that answers one method with this error, and identifies its chain. */
const nodeSaying = ({ method: asked, status = 200, code, text, data }: Said): Promise<string> =>
  serveInTest(async (request, response) => {
    const { id, method } = JSON.parse(await bodyOf(request)) as { id: number; method: string }
    if (method !== asked && method === 'eth_chainId') {
      response.end(JSON.stringify({ id, result: `0x${CHAIN_ID.toString(16)}` }))
      return
    }
    if (method !== asked && method === 'eth_getBlockByNumber') {
      response.end(JSON.stringify({ id, result: { hash: '0xab' } }))
      return
    }
    const error = { code, message: text, data }
    response.writeHead(status, { 'retry-after': '2' })
    response.end(code === undefined ? text : JSON.stringify({ jsonrpc: '2.0', id, error }))
  })

async function errorOf(said: Said): Promise<RpcError> {
  const call = createJsonRpcCaller(await nodeSaying(said))
  return call(said.method ?? 'eth_call', []).then(
    () => Promise.reject(new Error('the node gave a result')),
    (error: RpcError) => error,
  )
}

const LOGS = { method: 'eth_getLogs' }
const FEES = { method: 'eth_feeHistory' }
const CUSTOM_ERROR = '0xd93c0665'

const TOO_MUCH: Said[] = [
  { by: 'a proxy', ...LOGS, status: 400, text: 'the response is over the maximum size' },
  { by: 'geth', ...LOGS, code: -32_000, text: 'query exceeds max limit of 10000 results' },
  { by: 'erigon', ...LOGS, code: -32_000, text: 'too many results, got more than 20000' },
  { by: 'reth', ...LOGS, code: -32_602, text: 'query exceeds max block range 900' },
  { by: 'besu', ...LOGS, code: -32_005, text: 'Requested range exceeds maximum RPC range limit' },
  {
    by: 'coreth',
    ...LOGS,
    code: -32_000,
    text: 'requested too many blocks from 7 to 5007, maximum is set to 900',
  },
  { by: 'sonic', ...LOGS, code: -32_000, text: 'too wide blocks range, the limit is 900' },
  {
    by: 'infura',
    ...LOGS,
    code: -32_005,
    text: 'query returned more than 10000 results. Try with this block range [0x7, 0x9].',
  },
  {
    by: 'alchemy',
    ...LOGS,
    status: 400,
    code: -32_600,
    text: 'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
  },
  {
    by: 'quicknode',
    ...LOGS,
    status: 413,
    code: -32_614,
    text: 'eth_getLogs is limited to a 10,000 range',
  },
  {
    by: 'quicknode without the status',
    ...LOGS,
    code: -32_614,
    text: 'eth_getLogs needs fewer blocks',
  },
  { by: 'ankr', ...LOGS, code: -32_600, text: 'block range is too wide' },
  { by: 'ankr, older', ...LOGS, code: -32_000, text: 'maximum [from, to] blocks distance: 900' },
  {
    by: 'drpc',
    ...LOGS,
    status: 400,
    code: 35,
    text: 'ranges over 10000 blocks are not supported on freetier',
  },
  {
    by: 'chainstack',
    ...LOGS,
    code: -32_000,
    text: 'Block range limit exceeded. See more details',
  },
  { by: 'blockpi', ...LOGS, code: -32_602, text: 'eth_getLogs is limited to 1024 block range' },
  {
    by: 'cloudflare',
    ...LOGS,
    code: -32_047,
    text: "Invalid eth_getLogs request. 'fromBlock'-'toBlock' too far apart",
  },
  {
    by: 'thirdweb',
    ...LOGS,
    code: -32_602,
    text: 'Maximum allowed number of requested blocks is 900',
  },
  { by: 'coinbase', ...LOGS, code: -32_602, text: 'please limit the query to at most 900 blocks' },
  { by: 'harmony', ...LOGS, code: -32_000, text: 'query must be smaller than size 900' },
  {
    by: 'publicnode',
    ...LOGS,
    status: 400,
    code: -32_701,
    text: 'exceed maximum block range: 50000',
  },
  {
    by: 'tenderly',
    ...LOGS,
    code: -32_602,
    text: 'invalid params',
    data: { payload: 'range 9000 is bigger than range limit 900' },
  },
  { by: 'a gateway', ...LOGS, status: 413, text: '<html>413 Request Entity Too Large</html>' },
  {
    by: 'a gateway in front of op-geth',
    ...LOGS,
    code: -32_020,
    text: 'backend response too large',
  },
  {
    by: 'coinbase, with a comma',
    ...LOGS,
    code: -32_602,
    text: 'please limit the query to at most 1,000 blocks',
  },
  { by: 'infura, of a slow query', ...LOGS, code: -32_005, text: 'query timed out' },
  { by: 'moralis', ...LOGS, code: -32_000, text: 'fromBlock to toBlock may not exceed 2000' },
  { by: 'metis', ...LOGS, code: -32_000, text: 'Range limit exceeded: 100' },
]

const RATE_LIMITED: Said[] = [
  { by: 'aws', code: -32_000, text: 'ThrottlingException: Rate exceeded' },
  {
    by: 'any gateway, whatever its body says',
    status: 429,
    code: -32_601,
    text: 'Method not found',
  },
  { by: 'a gateway with a page', status: 429, text: '<h1>slow</h1>' },
  {
    by: 'alchemy',
    status: 200,
    code: 429,
    text: 'Your app has exceeded its compute units per second capacity.',
  },
  { by: 'alchemy with its number as text', code: '429', text: 'try later' },
  { by: 'infura', code: -32_005, text: 'daily request count exceeded, request rate limited' },
  {
    by: 'quicknode',
    ...LOGS,
    code: -32_007,
    text: '50/second request limit reached - reduce calls per second',
  },
  {
    by: 'chainstack',
    ...LOGS,
    code: -32_005,
    text: "You've exceeded the RPS limit available on the current plan.",
  },
  {
    by: 'ankr and llamarpc',
    ...LOGS,
    code: -32_029,
    text: 'Too many requests, reason: call rate limit exhausted, retry in 10s',
  },
  { by: 'getblock', ...LOGS, code: -32_000, text: 'requests limited to 20 per second' },
  { by: 'a proxy by EIP-1474', ...LOGS, code: -32_005, text: 'limit exceeded' },
  { by: 'blast', status: 400, code: -32_000, text: 'You reached the rate limit of your plan' },
  { by: 'blockpi', ...LOGS, code: -32_005, text: 'request too fast' },
  { by: 'moralis', code: -32_000, text: 'Your plan is out of credits for today' },
  { by: 'grove', code: -32_068, text: 'the usage limit of this application is reached' },
  { by: 'cloudflare', code: -32_000, text: 'over rate limit' },
  { by: 'thirdweb', status: 400, code: -32_000, text: 'Rate limit exceeded for this chain' },
  { by: 'a public node', ...LOGS, code: -32_000, text: 'exceeded the maximum number of requests' },
  { by: 'onfinality', ...LOGS, code: -32_000, text: 'limited to 10 requests/sec' },
  { by: 'nodereal', ...LOGS, code: -32_005, text: 'you are above 20 RPS' },
  { by: 'omnia', ...LOGS, code: -32_000, text: 'monthly limit exceeded' },
]

const REFUSED: Said[] = [
  { by: 'geth', code: 3, text: 'execution reverted: no', data: '0x08c379a0' },
  { by: 'erigon', code: 3, text: 'execution reverted', data: '0x' },
  {
    by: 'nethermind',
    code: -32_015,
    text: 'VM execution error.',
    data: `Reverted ${CUSTOM_ERROR}`,
  },
  { by: 'besu', code: -32_000, text: 'Execution reverted', data: CUSTOM_ERROR },
  { by: 'reth', code: 3, text: 'execution reverted', data: CUSTOM_ERROR },
  {
    by: 'hardhat',
    code: -32_603,
    text: 'Internal error',
    data: { message: 'Error', data: CUSTOM_ERROR },
  },
  {
    by: 'a proxy with its own status',
    status: 500,
    code: 3,
    text: 'execution reverted',
    data: CUSTOM_ERROR,
  },
  {
    by: 'geth, whose contract speaks of rates',
    code: -32_000,
    text: 'execution reverted: rate limit exceeded',
  },
  { by: 'anvil', code: -32_003, text: 'EVM error OutOfGas' },
]

const UNABLE: Said[] = [
  { by: 'JSON-RPC 2.0', ...FEES, code: -32_601, text: 'Method not found' },
  {
    by: 'geth',
    ...FEES,
    code: -32_601,
    text: 'the method eth_feeHistory does not exist/is not available',
  },
  { by: 'a provider', ...FEES, code: -32_000, text: 'eth_feeHistory method not supported' },
  { by: 'EIP-1474', ...FEES, code: -32_004, text: 'unsupported' },
  { by: 'a provider with a status', ...FEES, status: 404, code: -32_601, text: 'no such method' },
  { by: 'harmony', code: -32_000, text: 'block tag finalized is not supported' },
  { by: 'pocket', code: -32_000, text: 'unsupported method: eth_feeHistory' },
  { by: 'drpc', code: -32_000, text: "The method 'eth_feeHistory' is not supported" },
  { by: 'publicnode', code: -32_000, text: 'rpc method is not whitelisted' },
  { by: 'an older client', code: -32_602, text: 'invalid block tag: finalized' },
]

const TRANSIENT: (Said & { reason: string })[] = [
  { by: 'a proxy', status: 407, text: 'Proxy Authentication Required', reason: 'no_access' },
  { by: 'a gateway', status: 502, text: '<html>502 Bad Gateway</html>', reason: 'server_error' },
  {
    by: 'a balancer',
    status: 503,
    code: -32_000,
    text: 'no healthy upstream',
    reason: 'server_error',
  },
  {
    by: 'a gateway whose page speaks of nonces',
    status: 500,
    text: 'nonce too low',
    reason: 'server_error',
  },
  { by: 'llamarpc', status: 403, code: -32_000, text: 'access denied', reason: 'no_access' },
  { by: 'tenderly', status: 401, code: -32_004, text: 'invalid access key', reason: 'no_access' },
  { by: 'a plan that has ended', status: 402, text: 'payment required', reason: 'no_access' },
  { by: 'geth', code: -32_000, text: 'header not found', reason: 'unknown_refusal' },
  { by: 'nethermind', code: -32_000, text: 'unknown block', reason: 'unknown_refusal' },
  {
    by: 'geth, of a block that it lacks',
    ...LOGS,
    code: -32_000,
    text: 'block range extends beyond current head block',
    reason: 'unknown_refusal',
  },
  {
    by: 'anybody',
    code: -32_000,
    text: 'something nobody has ever written',
    reason: 'unknown_refusal',
  },
  {
    by: 'anybody, of parameters',
    ...LOGS,
    code: -32_602,
    text: 'invalid argument 0',
    reason: 'unknown_refusal',
  },
  {
    by: 'anybody, with an internal error',
    code: -32_603,
    text: 'Internal error',
    reason: 'internal',
  },
  { by: 'geth', code: -32_002, text: 'request timed out', reason: 'internal' },
  // only a method that executes code or takes a transaction is refused
  ...['eth_getBalance', 'eth_feeHistory', 'eth_getTransactionCount', 'eth_getLogs'].flatMap(
    (method) => [
      { by: `a liar, of ${method}`, method, code: 3, text: 'reverted', reason: 'unknown_refusal' },
      {
        by: `a liar with data, of ${method}`,
        method,
        code: -32_000,
        text: 'no',
        data: CUSTOM_ERROR,
        reason: 'unknown_refusal',
      },
      {
        by: `a node that ends the work, of ${method}`,
        method,
        code: -32_000,
        text: 'out of gas',
        reason: 'unknown_refusal',
      },
    ],
  ),
  {
    by: 'anybody, without a number',
    status: 400,
    text: '{"error":"bad gateway token"}',
    reason: 'http_error',
  },
]

const named = (list: readonly Said[]) => list.map((said) => ({ ...said, said }))

describe('errors of clients and providers', () => {
  it.each(named(TOO_MUCH))('asks for less: $by, "$text"', async ({ said }) => {
    expect(await errorOf(said)).toMatchObject({ fault: 'too_much' })
  })

  it.each(named(RATE_LIMITED))('asks to wait: $by, "$text"', async ({ said }) => {
    expect(await errorOf(said)).toMatchObject({ fault: 'rate_limited', retryAfterMs: 2_000 })
  })

  it.each(named(REFUSED))('is a refusal by the rules: $by, "$text"', async ({ said }) => {
    expect(await errorOf(said)).toMatchObject({ fault: 'refused' })
  })

  it.each(named(UNABLE))('is what this node can’t do: $by, "$text"', async ({ said }) => {
    const error = await errorOf(said)
    expect(error).toBeInstanceOf(MissingDataError)
    expect(error.reason).toBe('method_missing')
  })

  it.each(TRANSIENT.map((said) => ({ ...said, said })))(
    'is one node’s failure, $reason: $by, "$text"',
    async ({ said, reason }) => {
      expect(await errorOf(said)).toMatchObject({ fault: 'transient', reason })
    },
  )
})

/** The answers above in the parts by which the table sorts them. */
const PARTS = [...TOO_MUCH, ...RATE_LIMITED, ...REFUSED, ...UNABLE, ...TRANSIENT].map(
  ({ method = 'eth_call', status = 200, code, text, data }) => ({
    method,
    status,
    code: code === undefined ? null : Number(code) || 0,
    text: `${text} ${JSON.stringify(data ?? '')}`,
    isRevert: data === CUSTOM_ERROR,
  }),
)
// errors.test.ts has the failures of the EVM
const ROWS = [...STATUS_AND_REVERT_TABLE, ...RPC_ERROR_TABLE].filter(
  ({ reason }) => reason !== 'evm_rule',
)

it.each(ROWS)('an answer above is as the row of $source has it: $reason, $words', (row) => {
  expect(PARTS.filter((parts) => matchesErrorRow(row, parts))).not.toEqual([])
})

describe('a second node', () => {
  const good = () =>
    serveInTest(async (request, response) => {
      const { id, method } = JSON.parse(await bodyOf(request)) as { id: number; method: string }
      const result = {
        eth_chainId: `0x${CHAIN_ID.toString(16)}`,
        eth_getBlockByNumber: { hash: '0xab' },
      }[method]
      response.end(JSON.stringify({ id, result: result ?? '0x07' }))
    })

  it.each(named([...UNABLE, ...TRANSIENT, ...RATE_LIMITED]))(
    'is asked after $by said "$text"',
    async ({ said }) => {
      const method = 'eth_gasPrice'
      const urls = [await nodeSaying({ ...said, method }), await good()]
      const rpc = createEvmRpc({ label: '1', urls, chainId: CHAIN_ID })
      expect(await rpc.call(method, [])).toBe('0x07')
    },
  )

  it('leaves the first node in use, where only a method is missing there', async () => {
    const [lacking] = UNABLE
    const urls = [await nodeSaying({ ...lacking!, method: 'eth_gasPrice' }), await good()]
    const rpc = createEvmRpc({ label: '1', urls, chainId: CHAIN_ID })
    await rpc.call('eth_gasPrice', [])
    expect(rpc.health()[0]!.nodes[0]).toMatchObject({ restMs: 0 })
  })
})
