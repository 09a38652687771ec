import { answerAt, failure, type Question, type Reply } from './node.js'
import type { Recording } from './recording.js'

/** An honest node with faults: it may fail, or give the answer of an earlier height. */
interface Faltering {
  recording: Recording
  head: number
  /** A number of the run in [0, 1). */
  extent: number
}

/** Answer in place of the honest one; null for the honest one. */
type Fault = (question: Question, node: Faltering) => Reply | null

const widthOf = ([filter]: readonly unknown[]): number => {
  const { fromBlock, toBlock } = filter as Record<string, string>
  return fromBlock ? Number(toBlock) - Number(fromBlock) + 1 : 1
}
const isAboutLogs = ({ method }: Question): boolean => method === 'eth_getLogs'
const isAboutState = ({ method }: Question): boolean =>
  method === 'eth_call' || method === 'eth_getCode'
const page = (status: number, body: string, headers = {}): Reply => ({ status, body, headers })

/** Faults that end, in the wordings of several clients and providers. Backends catch up with each other. */
const PASSING: Readonly<Record<string, Fault>> = {
  'fails once': ({ count }) => (count === 0 ? failure(-32_000, 'header not found') : null),
  'fails at times': ({ count }, { extent }) =>
    (count * 7) % 10 < 10 * extent ? failure(-32_603, 'Internal error') : null,
  fails: () => failure(-32_603, 'Internal error'),
  'is rate limited once': ({ count }) => (count === 0 ? failure(429, 'Too many requests') : null),
  'is rate limited': () => page(429, 'Too Many Requests'),
  'asks to wait': () => page(429, 'Too Many Requests', { 'retry-after': '2' }),
  'has used its plan up': () =>
    failure(-32_005, 'daily request count exceeded, request rate limited'),
  'is forbidden': () => page(403, '{"error":"Forbidden"}'),
  'does not support all methods in its plan': (question) =>
    isAboutLogs(question) || isAboutState(question)
      ? failure(-32_601, `the method ${question.method} is not available on your plan`)
      : null,
  'is behind a broken proxy': () => page(502, '<html>Bad Gateway</html>'),
  hangs: () => 'hangs',
  'hangs over logs and state': (question) =>
    isAboutLogs(question) || isAboutState(question) ? 'hangs' : null,
  'cuts connections off': () => 'cuts off',
  'answers null': (question) =>
    isAboutLogs(question) || isAboutState(question) ? { result: null } : null,
  'has backends of different heights': (question, { recording, head, extent }) =>
    question.count % 2 === 1
      ? answerAt(recording, head - 1 - Math.floor(6 * extent), question)
      : null,
}

/** Limitations of a node that may last. */
const LASTING: Readonly<Record<string, Fault>> = {
  'allows ten blocks': ({ method, params }) =>
    method === 'eth_getLogs' && widthOf(params) > 10
      ? failure(
          -32_600,
          'Under the Free tier plan, you can make eth_getLogs requests with up to a 10 block range.',
        )
      : null,
  'has the state of its newest blocks': (question, { recording, head, extent }) => {
    if (!isAboutState(question)) return null
    const kept = [1, 3, 16, 64][Math.floor(4 * extent)]!
    const block = question.params[1] as string | { blockHash: string }
    const height =
      typeof block === 'string'
        ? Number(block)
        : recording.blocks.findIndex(({ hash }) => hash === block.blockHash)
    return height <= head - kept ? failure(-32_000, `missing trie node ${'5e'.repeat(32)}`) : null
  },
  'takes no block hashes': (question) =>
    isAboutState(question) && typeof question.params[1] === 'object'
      ? failure(
          -32_602,
          'invalid argument 1: json: cannot unmarshal object into Go value of type string',
        )
      : null,
}

export const FAULTS: Readonly<Record<string, Fault>> = { ...PASSING, ...LASTING }

export const isLasting = (fault: string): boolean => LASTING[fault] !== undefined
