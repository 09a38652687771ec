/** Reaction to a failing RPC call, classified from its error. */
export type RpcFault =
  /** Range or response too large: request less. */
  | 'too_much'
  /** Rate limit: wait. */
  | 'rate_limited'
  /**
   * The call itself fails, such as by a revert in the EVM: another node would give the same answer. Only for
   * `REFUSABLE_METHODS`.
   */
  | 'refused'
  /** Any other error: try another node, or try later. */
  | 'transient'

/** Parts of a node's error with which the rows of the tables are compared. */
interface RpcErrorParts {
  /** RPC method of the call. */
  method: string
  /** HTTP status; 0 without a response. */
  status: number
  /** Code of the JSON-RPC error; null where the response holds none. */
  code: number | null
  /** Message of the error, and its data as JSON. */
  text: string
  /** True if the error's data is revert data. */
  isRevert: boolean
}

/**
 * Methods of our calls that execute code or take a transaction. Only these can be refused. A refusal ends a call, so a
 * node that refuses any other question would stop the caller: such an error is transient, and the next node is asked.
 */
const REFUSABLE_METHODS: ReadonlySet<string> = new Set([
  'eth_call',
  'eth_estimateGas',
  'eth_sendRawTransaction',
  'eth_signTransaction',
  'eth_signTypedData',
  'sendTransaction',
  'simulateTransaction',
])

/** Meaning of an error: a fault, or `unable` if this node does not support the call, so that the next node is asked. */
type RpcErrorMeaning = RpcFault | 'unable'

/** Row of an error table. A row matches an error if all of its conditions hold. */
export interface ErrorRow {
  /** Clients and providers that answer with this error, or the standard that defines it. */
  source: string
  fault: RpcErrorMeaning
  /** Reason in snake_case. */
  reason: string
  statuses?: readonly [least: number, most: number]
  codes?: readonly number[]
  hasRevertData?: true
  words?: RegExp
}

type Wordings = readonly (readonly [source: string, words: RegExp])[]

/** Creates table rows for several wordings of the same meaning. */
const wordRows = (fault: RpcErrorMeaning, reason: string, wordings: Wordings): ErrorRow[] =>
  wordings.map(([source, words]) => ({ source, fault, reason, words }))

/**
 * Failures by the rules of the EVM itself, which every node reports. Wordings of geth, Erigon, Nethermind, Besu, Reth
 * and anvil. Running out of gas is not among these failures, because nodes cap gas differently.
 */
const EVM_FAILURE_WORDINGS: Wordings = [
  ['geth, Erigon', /must not begin with 0xef/i],
  ['geth, Erigon', /invalid (opcode|jump)|stack ?(under|over)flow/i],
  ['geth', /code size exceeded|write protection/i],
  ['Nethermind', /starts with invalid bytes 0xef|\binvalid[_ ]?code\b|bad ?instruction/i],
  ['Besu', /code is invalid|code[_ ]too[_ ]large/i],
  ['Reth, anvil', /starting ?with ?ef\b|opcode ?not ?found|invalid ?fe ?opcode/i],
  ['Reth, anvil', /contract ?size ?limit/i],
]

/** True if a node's message reports a failure by the rules of the EVM. */
export const isEvmFailureText = (text: string): boolean =>
  EVM_FAILURE_WORDINGS.some(([, words]) => words.test(text))

/** Wordings for a range or response that is too large. */
const TOO_LARGE_WORDINGS: Wordings = [
  ['geth', /exceed(s|ed)? (the )?(max|limit|range)/i],
  ['geth behind a proxy', /maximum size|body size/i],
  ['reth', /max(imum)? (block )?range|range limit/i],
  ['Avalanche, Erigon', /too many (results|logs|blocks)/i],
  ['Moonbeam, Ankr', /range (is )?too (large|wide|big)/i],
  ['Sonic', /too wide blocks range/i],
  ['Infura', /query returned more than|query time(d )?out|more than \d[\d,]* (results|logs)/i],
  ['Alchemy', /up to an? \d[\d,]* block|log response size|response size (should|exceed)/i],
  ['Alchemy, Infura', /(this|smaller|your) block range/i],
  ['Chainstack, BSC', /block range (is )?(limit|exceed|must|should|over|above|greater|larger)/i],
  ['QuickNode, BlockPI', /limited to (an? )?\d/i],
  ['Tenderly', /(bigger|greater|larger) than (the )?(range )?limit/i],
  ['dRPC, Coinbase', /(over|at most|up to|only|than|maximum of) \d[\d,]* blocks/i],
  ['thirdweb', /allowed number of requested blocks/i],
  ['Moralis', /toBlock.{0,60}(exceed|limit|range|larger|greater)/i],
  ['Harmony', /must be smaller than size \d/i],
  ['Ankr', /blocks? distance/i],
  ['several providers', /response (body |size )?(is )?too (large|big)/i],
]

/** Rows that are compared first: HTTP statuses and reverts. */
export const STATUS_AND_REVERT_TABLE: readonly ErrorRow[] = [
  { source: 'RFC 6585', fault: 'rate_limited', reason: 'http_429', statuses: [429, 429] },
  { source: 'RFC 9110', fault: 'too_much', reason: 'http_413', statuses: [413, 413] },
  // reverts come before the HTTP status, because some proxies return them with status 500
  { source: 'geth and its kin', fault: 'refused', reason: 'reverted', codes: [3] },
  { source: 'all clients', fault: 'refused', reason: 'reverted', hasRevertData: true },
  { source: 'RFC 9110', fault: 'transient', reason: 'server_error', statuses: [500, 599] },
  { source: 'RFC 9110', fault: 'transient', reason: 'no_access', statuses: [401, 403] },
  { source: 'RFC 9110', fault: 'transient', reason: 'no_access', statuses: [407, 408] },
]

/**
 * Rows for all other errors. The first matching row counts. Unambiguous codes come first, then wordings, then codes
 * that nodes also use for reverts and rate limits. A row is `refused` only for a revert, an EVM rule or running out of
 * gas, because a refusal ends the call. There are no wordings for errors of sent transactions: `broadcastTransaction`
 * asks the node for the transaction's hash. Wordings for pruned state are in evm/transactions.ts, for mints in
 * solana/tokens.ts.
 */
export const RPC_ERROR_TABLE: readonly ErrorRow[] = [
  { source: 'JSON-RPC 2.0', fault: 'unable', reason: 'method_missing', codes: [-32_601] },
  { source: 'EIP-1474', fault: 'unable', reason: 'method_missing', codes: [-32_004] },
  { source: 'Alchemy, Helius', fault: 'rate_limited', reason: 'rate', codes: [429, -32_429] },
  { source: 'QuickNode', fault: 'rate_limited', reason: 'rate', codes: [-32_007] },
  { source: 'QuickNode', fault: 'too_much', reason: 'range', codes: [-32_614] },
  { source: 'Cloudflare', fault: 'too_much', reason: 'range', codes: [-32_047] },

  // wordings of EVM failures come first: a contract chooses the text of its revert, which could match a later row
  ...wordRows('refused', 'reverted', [
    ['all clients', /execution reverted|vm exception|\brevert(ed)?\b/i],
  ]),
  ...wordRows('refused', 'evm_rule', EVM_FAILURE_WORDINGS),

  // rate limits come before ranges that are too large: some messages about a rate limit also match a row of
  // `TOO_LARGE_WORDINGS`
  {
    source: 'EIP-1474, proxies',
    fault: 'rate_limited',
    reason: 'rate',
    codes: [-32_005],
    words: /^\W*limit exceeded\b/i,
  },
  ...wordRows('rate_limited', 'rate', [
    ['Infura, Ankr, LlamaRPC, Cloudflare', /rate.?limit|request.?rate|over.?rate/i],
    ['Chainstack, BlockPI, Infura', /\b(rps|qps)\b|\bcu limit|requests? (count|limit)\b/i],
    ['public nodes', /too many (concurrent )?(requests|calls|connections)|concurren/i],
    ['public nodes', /(number|amount|max(imum)?) (of )?requests|(daily|monthly) (\w+ )?limit/i],
    ['BlockPI', /requests? too fast|slow down/i],
    ['QuickNode, GetBlock', /(\bper|\ba|\/) ?(sec|second|min|minute|hour|day|month)\b/i],
  ]),
  ...wordRows('rate_limited', 'quota', [
    ['Alchemy', /capacity|compute units/i],
    ['AWS, Tenderly', /throttl|quota/i],
    ['Moralis, Grove', /\bcredits\b|usage limit/i],
  ]),

  ...wordRows('too_much', 'range', TOO_LARGE_WORDINGS),

  ...wordRows('refused', 'out_of_gas', [['all clients', /out ?of ?gas/i]]),

  ...wordRows('unable', 'method_missing', [
    ['geth, Erigon', /(method|module|namespace|tag|eth_\w+) .{0,80}(does ?n.t|does not) exist/i],
    [
      'providers',
      /(method|module|namespace|tag|eth_\w+) .{0,40}not (supported|available|allowed|found|enabled|implemented|whitelisted)/i,
    ],
    [
      'providers',
      /(unsupported|unknown|disabled|invalid) (rpc )?(method|module|namespace|block ?tag)/i,
    ],
  ]),

  // last: some nodes use these codes for reverts and rate limits too, and explain them in words
  { source: 'JSON-RPC 2.0', fault: 'transient', reason: 'internal', codes: [-32_603] },
  { source: 'EIP-1474, geth', fault: 'transient', reason: 'internal', codes: [-32_002] },
]

const isBetween = (value: number, [least, most]: readonly [number, number]): boolean =>
  least <= value && value <= most

/**
 * Classifies an error: by HTTP status or revert, then by the rows of the chain family, then by `RPC_ERROR_TABLE`. The
 * first matching row counts.
 * @returns the meaning, with a reason in snake_case
 */
export function classifyErrorParts(
  parts: RpcErrorParts,
  familyTable: readonly ErrorRow[],
): { fault: RpcErrorMeaning; reason: string } {
  const rows = [...STATUS_AND_REVERT_TABLE, ...familyTable, ...RPC_ERROR_TABLE]
  return (
    rows.find((row) => matchesErrorRow(row, parts)) ?? {
      fault: 'transient',
      reason: reasonOfUnknownError(parts.status, parts.code),
    }
  )
}

export function matchesErrorRow(
  row: ErrorRow,
  { method, status, code, text, isRevert }: RpcErrorParts,
): boolean {
  const { fault, statuses, codes, hasRevertData, words } = row
  // nodes refuse only in JSON-RPC: a proxy's HTML page is no refusal
  if (fault === 'refused' && (code === null || !REFUSABLE_METHODS.has(method))) return false
  if (statuses && !isBetween(status, statuses)) return false
  if (codes && (code === null || !codes.includes(code))) return false
  if (hasRevertData && !isRevert) return false
  return words === undefined || words.test(text)
}

function reasonOfUnknownError(status: number, code: number | null): string {
  if (code !== null) return UNKNOWN_REFUSAL_REASON
  return status >= 400 ? 'http_error' : 'unreachable'
}

/** Reason of a JSON-RPC error that no row of the tables matches. */
const UNKNOWN_REFUSAL_REASON = 'unknown_refusal'
