import { errorsOfRoute } from '../../../src/api/http/openapi.js'
import { tally } from '../../chaos/lib/watchers.js'
import type { MixRequest } from './requests.js'
import type { MixAnswer } from './send.js'
import type { MixWorld } from './world.js'

/** What a mix has found. */

/** Faults after which a run ends. */
const MOST = 20
/** Characters of a request or an answer that are shown. */
const SHOWN_CHARS = 1_500
/** Level of pino from which a line counts as an error of the process. */
const ERROR_LEVEL = 50

export interface Fault {
  what: string
  request?: MixRequest
  /** Headers of the request. All keys of a local world are public. */
  headers?: Readonly<Record<string, string>>
  /** Answers by the process that made them. */
  answers?: Readonly<Record<string, MixAnswer>>
  /** Lines of the log of the process under test about the request. */
  log: readonly string[]
}

interface Line {
  level: number
  text: string
  /** The line without what differs from one occurrence to the next. */
  kind: string
}

/** The faults of a run. Of equal ones the first is kept. */
export class Faults {
  readonly #world: MixWorld
  readonly #known = new Set<string>()
  readonly #list: Fault[] = []
  /** Number of answers with a 5xx that the route declares. */
  readonly declared: Record<string, number> = {}
  readonly #tallyDeclared = tally(this.declared)
  /** Characters of each log that have been read. */
  readonly #read = new Map<string, number>()

  /** Lines that the world's start has logged do not count. */
  constructor(world: MixWorld) {
    this.#world = world
    for (const [name, log] of this.#logs()) this.#read.set(name, log.length)
  }

  get list(): readonly Fault[] {
    return this.#list
  }

  get isFull(): boolean {
    return this.#list.length >= MOST
  }

  /** @param kind equal for faults of which one is enough */
  add(kind: string, fault: Omit<Fault, 'log'>): void {
    if (this.#known.has(kind) || this.isFull) return
    this.#known.add(kind)
    this.#list.push({ ...fault, log: this.#linesOf(fault.headers?.['x-request-id']) })
  }

  /** Adds the fault of an answer by the process under test, if it has one. */
  check(request: MixRequest, headers: Fault['headers'] & {}, answer: MixAnswer): void {
    const { method, path, route } = request
    if (answer.status < 500) return
    const what = `${method} ${route?.path ?? path} answers ${answer.status} ${errorOf(answer)}`
    if (isDeclaredFailure(request, answer)) this.#tallyDeclared(what)
    else this.add(what, { what, request, headers, answers: { 'under test': answer } })
  }

  /** Adds the errors that the processes have logged since the last call. */
  readLogs(): void {
    for (const [name, log] of this.#logs()) {
      const end = log.lastIndexOf('\n') + 1
      const lines = linesOf(log.slice(this.#read.get(name), end))
      this.#read.set(name, end)
      for (const { level, text, kind } of lines)
        if (level >= ERROR_LEVEL)
          this.add(`${name} ${kind}`, { what: `the process ${name} logs an error: ${text}` })
    }
  }

  #logs(): [string, string][] {
    const { busy, quiet, mirror } = this.#world
    return [
      ['under test', busy.log()],
      ['for comparisons', quiet.log()],
      ['that mirrors', mirror.log()],
    ]
  }

  #linesOf(id: string | undefined): string[] {
    if (id === undefined) return []
    const own = linesOf(this.#world.busy.log()).filter(({ text }) => text.includes(`"${id}"`))
    return own.map(({ text }) => text)
  }
}

const errorOf = ({ body }: MixAnswer) => (body as { error?: string } | null)?.error

/** Whether an answer is a failure that its route declares, such as that of a request that took too long. */
export function isDeclaredFailure({ route }: MixRequest, answer: MixAnswer): boolean {
  if (answer.status <= 500 || !route) return false
  const declared: readonly (string | undefined)[] = [...errorsOfRoute(route)]
  return declared.includes(errorOf(answer))
}

function linesOf(log: string): Line[] {
  return log.split('\n').flatMap((text) => {
    // other lines are Node's own, such as the stack of an error that ended the process
    if (!text.startsWith('{'))
      return text.trim() === '' ? [] : [{ level: ERROR_LEVEL, text, kind: text }]
    const { level, route, msg, err } = JSON.parse(text) as LogFields
    return [{ level, text, kind: `${route} ${msg} ${err?.message}` }]
  })
}

interface LogFields {
  level: number
  msg: string
  route?: string
  err?: { message: string }
}

const shorten = (text: string): string =>
  text.length > SHOWN_CHARS ? `${text.slice(0, SHOWN_CHARS)}… (${text.length} characters)` : text

/** A fault in lines, with what somebody needs to send the request again. */
export function describeFault({ what, request, headers, answers = {}, log }: Fault): string {
  const lines = [shorten(what)]
  if (request) lines.push(`request: ${shorten(`${request.method} ${request.path}`)}`)
  if (headers) lines.push(`headers: ${JSON.stringify(headers)}`)
  if (request?.body !== undefined) lines.push(`body: ${shorten(request.body)}`)
  for (const [process, { status, body }] of Object.entries(answers))
    lines.push(`answer of the process ${process}: ${status} ${shorten(JSON.stringify(body))}`)
  return [...lines, ...log.map((line) => `log: ${shorten(line)}`)].join('\n    ')
}
