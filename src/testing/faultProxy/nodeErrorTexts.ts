/**
 * An error answer in the wording of a node or provider. With code 0 the response is `message` as plain text, not JSON.
 */
export interface NodeErrorText {
  /** HTTP status. */
  status: number
  code: number
  message: string
  data?: unknown
}

/** Refusals of a range of `eth_getLogs` by QuickNode, Tenderly, erigon and geth. */
export const RANGE_LIMIT_ERRORS: readonly NodeErrorText[] = [
  { status: 413, code: -32614, message: 'eth_getLogs is limited to a 5 range' },
  {
    status: 200,
    code: -32602,
    message: 'invalid params',
    data: { payload: 'range 9 is bigger than range limit 5' },
  },
  { status: 200, code: -32701, message: 'exceed maximum block range: 5' },
  { status: 200, code: -32000, message: 'logs matched by query exceeds limit of 10000' },
]

/** Refusals for too many requests, with HTTP status 429. */
export const RATE_LIMIT_ERRORS: readonly NodeErrorText[] = [
  { status: 429, code: 0, message: 'Too Many Requests' },
  { status: 429, code: -32005, message: 'project ID request rate exceeded' },
]

/** Errors of a proxy in front of a node. */
export const PROXY_SERVER_ERRORS: readonly NodeErrorText[] = [
  { status: 500, code: 0, message: 'Internal Server Error' },
  { status: 502, code: 0, message: '<html><head><title>502 Bad Gateway</title></head></html>' },
  { status: 503, code: -32000, message: 'no healthy upstream' },
  { status: 504, code: 0, message: 'upstream request timeout' },
]
