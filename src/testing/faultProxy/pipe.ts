import { setTimeout as sleep } from 'node:timers/promises'
import { answerWithFault, type FaultSeverity, type FaultyAnswer } from './answers.js'
import {
  chooseFault,
  FAULT_KINDS,
  type FaultKind,
  type Faults,
  isAnswerFault,
  METHOD_LABEL_OF_BATCH,
  NOTIFICATION_METHOD,
  type ProxiedCall,
} from './kinds.js'
import { type NodeErrorText, PROXY_SERVER_ERRORS, RATE_LIMIT_ERRORS } from './nodeErrorTexts.js'
import { integerBetween, pickElement, seededRandomNumber } from './random.js'
import type { RpcAnswer, RpcCall, UpstreamCaller } from './upstream.js'

/** HTTP answer to the client. Null: the connection is reset without an answer. */
type ProxyHttpReply = {
  status: number
  headers: Record<string, string>
  text: string
} | null

const JSON_HEADERS = { 'content-type': 'application/json' }

/**
 * Creates the part that numbers requests and chooses their faults. `counts` has the numbers of injected faults by kind:
 * the caller of `take` increments them.
 */
function createFaultChooser(seed: number) {
  let faults: Faults = {}
  const ordinals = new Map<string, number>()
  return {
    counts: Object.fromEntries(FAULT_KINDS.map((kind) => [kind, 0])) as Record<FaultKind, number>,
    set(next: Faults) {
      faults = next
    },
    /** Gives a request its ordinal, and chooses its fault. */
    take(method: string, params: readonly unknown[] = []) {
      const ordinal = (ordinals.get(method) ?? 0) + 1
      ordinals.set(method, ordinal)
      const request: ProxiedCall = { method, ordinal, params }
      return { request, kind: chooseFault(seed, faults, request) }
    },
  }
}

export type FaultyPipe = ReturnType<typeof createFaultyPipe>

/** Creates the part of the proxy that passes requests to a node and the node's answers back, with faults. */
export function createFaultyPipe(upstream: UpstreamCaller, seed: number, limits: FaultSeverity) {
  const { counts, set, take } = createFaultChooser(seed)
  /** Newest response by method, which the fault `wrong_id` returns to the next call of the method. */
  const latestResponses = new Map<string, object>()

  const randomFor = (purpose: string, { method, ordinal }: ProxiedCall) =>
    seededRandomNumber(seed, purpose, method, ordinal)
  const delayFor = (request: ProxiedCall) =>
    integerBetween(randomFor('delay', request), 1, limits.delayMs)

  /** Answers one call. The answer is wrong if `kind` is a fault of answers that applies to the call. */
  const answer = async (
    call: RpcCall,
    request: ProxiedCall,
    kind: FaultKind | null,
  ): Promise<FaultyAnswer> => {
    if (kind !== null && isAnswerFault(kind)) {
      const random = randomFor('answer', request)
      const wrong = await answerWithFault(kind, call, upstream, limits, random)
      if (wrong) {
        counts[kind] += 1
        return wrong
      }
    }
    return upstream(call.method, call.params)
  }

  const answerOne = async (call: RpcCall, request: ProxiedCall, kind: FaultKind | null) => {
    const { status = 200, ...rest } = await answer(call, request, kind)
    const before = latestResponses.get(call.method)
    const body = responseTo(call.id, rest)
    latestResponses.set(call.method, body)
    // the answer to the previous call of this method, else this call's answer with another id
    const wrongBody = before ?? responseTo(`${call.id}0`, rest)
    return { status, text: JSON.stringify(kind === 'wrong_id' ? wrongBody : body) }
  }

  const answerBatch = async (calls: readonly RpcCall[], kind: FaultKind | null) => {
    const answers = await Promise.all(
      calls.map(async (call, i) => {
        const taken = take(call.method, call.params)
        const { status: _, ...rest } = await answer(call, taken.request, taken.kind)
        return responseTo(kind === 'wrong_id' ? calls.at(i - 1)!.id : call.id, rest)
      }),
    )
    return { status: 200, text: JSON.stringify(answers) }
  }

  /** Answers a call or a batch, with the fault that is chosen for the whole request, if any. */
  const answerRequest = async (body: RpcCall | RpcCall[]): Promise<ProxyHttpReply> => {
    const isBatch = Array.isArray(body)
    const { request, kind } = isBatch ? take(METHOD_LABEL_OF_BATCH) : take(body.method, body.params)
    if (kind !== null && !isAnswerFault(kind)) counts[kind] += 1
    const retryAfter = { 'retry-after': String(limits.retryAfterS) }
    if (kind === 'rate_limit')
      return errorReply(pickElement(randomFor('wording', request), RATE_LIMIT_ERRORS), retryAfter)
    if (kind === 'server_error')
      return errorReply(pickElement(randomFor('wording', request), PROXY_SERVER_ERRORS))
    if (kind === 'hang') return new Promise<never>(() => {})
    // half of the dropped requests reach the node, so a transaction may be sent without an answer
    if (kind === 'drop' && randomFor('half', request) < 0.5) return null

    const { status, text } = await (isBatch
      ? answerBatch(body, kind)
      : answerOne(body, request, kind))
    if (kind === 'drop') return null
    if (kind === 'delay') await sleep(delayFor(request))
    const cutAt = integerBetween(randomFor('cut', request), 1, text.length - 1)
    const sent = kind === 'truncate' ? text.slice(0, cutAt) : text
    return { status, headers: JSON_HEADERS, text: sent }
  }

  return {
    /** Numbers of injected faults so far, by kind. */
    counts,
    /** Replaces the faults to inject. */
    set,
    /** Answers the body of a request: a call or a batch. */
    async handle(body: string): Promise<ProxyHttpReply> {
      const parsed = JSON.parse(body) as RpcCall | RpcCall[]
      try {
        return await answerRequest(
          Array.isArray(parsed) ? parsed.map(withParams) : withParams(parsed),
        )
      } catch (error) {
        const message = `the node is away: ${(error as Error).message}`
        return errorReply({ status: 502, code: -32000, message })
      }
    },
    /** Chooses the fault and delay of a message that the node sends over a WebSocket. */
    notification(): { kind: FaultKind | null; delayMs: number } {
      const { request, kind } = take(NOTIFICATION_METHOD)
      if (kind) counts[kind] += 1
      return { kind, delayMs: delayFor(request) }
    },
  }
}

const responseTo = (id: RpcCall['id'], answer: RpcAnswer) => ({ jsonrpc: '2.0', id, ...answer })

const withParams = (call: RpcCall): RpcCall => ({ ...call, params: call.params ?? [] })

function errorReply(
  { status, code, message }: NodeErrorText,
  headers: Record<string, string> = {},
): ProxyHttpReply {
  if (code === 0)
    return { status, headers: { ...headers, 'content-type': 'text/html' }, text: message }
  const text = JSON.stringify(responseTo(null, { error: { code, message } }))
  return { status, headers: { ...headers, ...JSON_HEADERS }, text }
}
