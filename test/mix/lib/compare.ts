import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { waitForCondition } from '../../../src/testing/processes/processes.js'
import { differences } from '../../upgrade/answers.js'
import { type Faults, isDeclaredFailure } from './faults.js'
import { isRead, type MixRequest, routeOf } from './requests.js'
import { type MixAnswer, send } from './send.js'
import { readState } from './stillness.js'
import type { Traffic } from './traffic.js'
import type { MixWorld } from './world.js'

/**
 * Compares the answers of the process under test with those of the quiet process, while the world stands still.
 *
 * The quiet process answers each request before and after the other one. A field that differs between these two depends
 * on time or chance, and is not compared. All others have to be equal, if the state was the same before and after.
 */

const TRIES = 10
/** Times that a request is sent which the process is too busy for, and the pause before each. */
const MOST_SENDINGS = 5
const AGAIN_MS = 1_000
/** Pages by which a mirror is compared, and the time that it has for its next copy. */
const FEEDS = ['', '&testnet=true'].map(
  (network) => `/v1/events?orderBy=newest&limit=1000${network}`,
)
const MIRROR_MS = 30_000
const MIRROR_POLL_MS = 200

/** Fields that follow Solana, whose blocks go on. Each process reads them at its own moments. */
const OF_SOLANA = [
  {
    path: /^\/v1\/overview/,
    field: /^(headers\.etag|body\.chains\[\]\.(block|confirmed|behindSeconds))$/,
  },
  { path: /register/, field: /^body\.(transactionData\[\].*|expiresAt)$/ },
]

interface Compared {
  request: MixRequest
  headers: Readonly<Record<string, string>>
  /** Of the quiet process. */
  before: MixAnswer | null
  /** Of the process under test. */
  answer: MixAnswer | null
  /** Of the quiet process. */
  after: MixAnswer | null
}

/** The answer of a process that is not too busy for it. A mix injects no fault: no refusal lasts. */
async function ask(api: string, { request, headers }: Compared): Promise<MixAnswer | null> {
  for (let i = 1; ; i++) {
    const answer = await send(api, request, headers)
    const isTransient = answer && (answer.status === 429 || isDeclaredFailure(request, answer))
    if (i === MOST_SENDINGS || !isTransient) return answer
    await sleep(AGAIN_MS)
  }
}

/** @returns number of compared answers @throws Error where the state does not stay the same for long enough */
export async function compare(
  world: MixWorld,
  pool: pg.Pool,
  faults: Faults,
  traffic: Traffic,
): Promise<number> {
  const requests = traffic.requests({ hasLongest: false }).filter(isRead)
  for (let i = 0; i < TRIES; i++) {
    const state = await readState(pool)
    const all = requests.map(
      (request): Compared => ({
        request,
        headers: traffic.headersOf(request),
        before: null,
        answer: null,
        after: null,
      }),
    )
    await traffic.each(all, async (one) => {
      one.before = await ask(world.quiet.api, one)
    })
    await traffic.each(all, async (one) => {
      one.answer = await ask(world.busy.api, one)
    })
    await traffic.each(all, async (one) => {
      one.after = await ask(world.quiet.api, one)
    })
    for (const { request, headers, answer } of all) faults.check(request, headers, answer!)
    faults.readLogs()
    if ((await readState(pool)) !== state) continue
    for (const one of all) addDifference(one, faults)
    return all.length
  }
  throw new Error('the state did not stay the same during any comparison')
}

/** Adds the fault of an answer that differs from those of the quiet process, if it does. */
function addDifference({ request, headers, before, answer, after }: Compared, faults: Faults) {
  const varying = new Set(differences(before, after).map(({ field }) => field))
  const differing = differences(after, answer).filter(
    ({ field }) => !varying.has(field) && !isOfSolana(request, field),
  )
  // the tag follows from the body, which says more
  const said = differing.find(({ field }) => field !== 'headers.etag') ?? differing[0]
  if (!said) return
  const kind = `${request.method} ${request.route?.path ?? request.path} differs in ${said.field}`
  const what = `${kind}: ${JSON.stringify(said.after)} in place of ${JSON.stringify(said.before)}`
  const answers = { 'under test': answer!, 'for comparisons': after! }
  faults.add(kind, { what, request, headers, answers })
}

/** Checks that a mirror comes to have the newest pages of the feed of the process that it copies. */
export async function compareMirror({ mirror, quiet }: MixWorld, faults: Faults): Promise<void> {
  for (const path of FEEDS) {
    const request: MixRequest = { method: 'GET', path, route: routeOf({ method: 'GET', path }) }
    const answerOf = async (api: string) => (await send(api, request, {}))!
    const isEqual = async () => {
      const [source, copy] = await Promise.all([answerOf(quiet.api), answerOf(mirror.api)])
      return differences(itemsOf(source), itemsOf(copy)).length === 0
    }
    if (await waitForCondition(isEqual, MIRROR_MS, MIRROR_POLL_MS)) continue
    const answers = {
      'for comparisons': await answerOf(quiet.api),
      'that mirrors': await answerOf(mirror.api),
    }
    const what = `the mirror does not have the feed within ${MIRROR_MS / 1_000} s`
    faults.add(what, { what, request, answers })
  }
}

const itemsOf = ({ body }: MixAnswer): unknown => (body as { items?: unknown }).items

const isOfSolana = ({ path }: MixRequest, field: string): boolean =>
  OF_SOLANA.some((one) => one.path.test(path) && one.field.test(field))
