/** Error answer in a node's or provider's wording. */
export interface Wording {
  /** HTTP status. */
  status: number
  code: number
  message: string
  data?: unknown
}

/** Refusals of an `eth_getLogs` range. `%d` is the limit, `%r` the requested range. */
export const RANGE_LIMITS: readonly Wording[] = [
  // Alchemy, with and without a plan
  {
    status: 400,
    code: -32600,
    message:
      'You can make eth_getLogs requests with up to a %d block range. Based on your parameters, this block range should work: [0x1, 0x2]',
  },
  {
    status: 200,
    code: -32602,
    message:
      'Log response size exceeded. You can make eth_getLogs requests with up to a %d block range and no limit on the response size',
  },
  // Infura
  { status: 200, code: -32602, message: 'range %r exceeds limit of %d' },
  {
    status: 200,
    code: -32005,
    message: 'query returned more than 10000 results. Try with this block range [0x1, 0x2].',
  },
  // QuickNode
  { status: 413, code: -32614, message: 'eth_getLogs is limited to a %d range' },
  // Tenderly
  {
    status: 200,
    code: -32602,
    message: 'invalid params',
    data: { payload: 'range %r is bigger than range limit %d' },
  },
  // dRPC
  { status: 400, code: 35, message: 'ranges over %d blocks are not supported on freetier' },
  // Ankr, Chainstack, BlockPI, Cloudflare
  { status: 200, code: -32600, message: 'block range is too wide' },
  { status: 200, code: -32000, message: 'Block range limit exceeded.' },
  { status: 200, code: -32602, message: 'eth_getLogs is limited to %d block range.' },
  { status: 200, code: -32047, message: 'Invalid eth_getLogs request. Max range: %d' },
  // erigon, reth, besu, Avalanche's coreth, Arbitrum's nitro, Sonic, Moonbeam's frontier
  { status: 200, code: -32701, message: 'exceed maximum block range: %d' },
  { status: 200, code: -32602, message: 'query exceeds max block range %d' },
  { status: 200, code: -32005, message: 'Requested range exceeds maximum RPC range limit' },
  { status: 200, code: -32000, message: 'requested too many blocks from 1 to %r, maximum is set to %d' },
  { status: 200, code: -32000, message: 'logs matched by query exceeds limit of %d' },
  { status: 200, code: -32000, message: 'too wide blocks range, the limit is %d' },
  { status: 200, code: -32603, message: 'block range is too wide (maximum %d)' },
]

/** Answers of status 429; those with code 0 are plain text. */
export const RATE_LIMITS: readonly Wording[] = [
  { status: 429, code: 0, message: 'Too Many Requests' },
  {
    status: 429,
    code: 429,
    message: 'Your app has exceeded its compute units per second capacity. If you have retries enabled, ignore this.',
  },
  { status: 429, code: -32005, message: 'project ID request rate exceeded' },
  { status: 429, code: -32007, message: '50/second request limit reached - reduce calls per second' },
]

/** Errors of a proxy in front of a node. */
export const SERVER_ERRORS: readonly Wording[] = [
  { status: 500, code: 0, message: 'Internal Server Error' },
  { status: 502, code: 0, message: '<html><head><title>502 Bad Gateway</title></head></html>' },
  { status: 503, code: -32000, message: 'no healthy upstream' },
  { status: 504, code: 0, message: 'upstream request timeout' },
]

/** Fills the numbers into a wording. */
export function fill<T>(value: T, limit: number, range: number): T {
  const text = JSON.stringify(value).replaceAll('%d', String(limit)).replaceAll('%r', String(range))
  return JSON.parse(text) as T
}
