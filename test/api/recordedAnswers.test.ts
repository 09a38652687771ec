import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import type { ErrorCode } from '../../src/api/http/errors.js'
import { errorsOfRoute } from '../../src/api/http/openapi.js'
import type { Route } from '../../src/api/http/route.js'
import { createRouter } from '../../src/api/serving/router.js'
import { useFolder } from '../support/folder.js'
import { errorOf } from '../upgrade/answers.js'
import { type Changed, changesOf, rowsOfChangelog, show } from '../upgrade/compare.js'
import { CHANGES, isListed, isOf, UNCOMPARED } from '../upgrade/differences.js'
import { type Quiet, startQuiet, type WebhookMessage } from '../upgrade/quiet.js'
import { answersTo, recordedOptions } from '../upgrade/quietAnswers.js'

/**
 * Quiet processes on a recorded deployment give the recorded answers, byte for byte, but for the changes that
 * test/upgrade/differences.ts lists. `npm run answers` shows what differs.
 */

const ADVICE =
  'answers changed. If that is intended: `npm run answers` shows them; list each in test/upgrade/differences.ts and in docs/run/changelog.md (CONTRIBUTING.md, "An answer that changes")'
const DEADLINE = { timeout: 60_000, interval: 20 }

/** What the deployment has to have, by a text of an answer. */
const SCENES: readonly { what: string; text: RegExp }[] = [
  { what: 'a payment that a contract holds', text: /"payout":"held"/ },
  { what: 'a refused payment', text: /"refund":"refused"/ },
  { what: 'a released payment', text: /"payout":"released"/ },
  { what: 'money that the hub owes for a lost bid', text: /"status":"lost_bid".*"credit":/ },
  { what: 'a message that is parked on its way', text: /"status":"bridging"/ },
  {
    what: 'a payment on Solana',
    text: /"network":"solana".*"status":"finalized"|"status":"finalized".*"network":"solana"/,
  },
  { what: 'names that moved', text: /"TRANSFER_NAME"/ },
  {
    what: 'a status of more than 100 names',
    text: /"status":"finalized","names":\[(\{[^\]]*?\},){100}/,
  },
  { what: 'a private wallet, for members', text: /"isPrivate":true/ },
  { what: 'a claim of an airdrop', text: /"claimed":true/ },
  { what: 'a claim that is open', text: /"claimed":false/ },
  { what: 'a generated wallet that is recovered', text: /"privateKey":"0x/ },
  { what: 'a signed checkpoint', text: /^localhost\/mainnet\/1\n\d+\n/ },
  { what: 'a mirror', text: /This is a mirror/ },
]

const folder = useFolder()
const options = recordedOptions(folder)
const recorded = options.deployment.answers

let quiet: Quiet
let messages: WebhookMessage[]
let changed: Changed[]

beforeAll(async () => {
  quiet = await startQuiet(options)
  const count = options.deployment.messages.length
  await vi.waitUntil(() => quiet.messages.length >= count, DEADLINE)
  messages = [...quiet.messages]
  const answers = await answersTo(quiet, recorded)
  changed = answers.flatMap(({ answer }, i) => changesOf(recorded[i]!, answer))
})
afterAll(() => quiet?.stop())

describe('answers on record', () => {
  it('each answer is what it was, but for the changes that are listed', () => {
    const unlisted = changed.filter(({ request, difference }) => !isListed(request, difference))
    expect(unlisted.map(show), ADVICE).toEqual([])
  })

  it('each listed change is one', () => {
    const unused = CHANGES.filter(
      (change) => !changed.some(({ request, difference }) => isOf(change, request, difference)),
    )
    expect(unused, 'nothing differs in this way: delete the entries').toEqual([])
  })

  it('the changelog has a row for each listed change, and no other', () => {
    const rows = rowsOfChangelog(readFileSync('docs/run/changelog.md', 'utf8'))
    const isRowOf = (row: string) => (change: (typeof CHANGES)[number]) =>
      row.startsWith(change.changelog)
    const missing = CHANGES.filter((change) => !rows.some((row) => isRowOf(row)(change)))
    const unexplained = rows.filter((row) => !CHANGES.some(isRowOf(row)))
    expect({ missing, unexplained }).toEqual({ missing: [], unexplained: [] })
  })

  it('webhooks get the recorded messages, with the recorded signatures', () => {
    expect(messages.length).toBeGreaterThan(0)
    expect(messages, ADVICE).toEqual(options.deployment.messages)
  })

  it('no question to a node is new, and no process has an error', () => {
    expect([...quiet.missing], '`npm run answers -- --add` records the answers').toEqual([])
    expect(quiet.errors()).toEqual([])
  })
})

describe('the recording', () => {
  const match = createRouter(routes)
  const found = recorded.map((request) => ({
    request,
    route: match({ method: request.method, url: request.path })?.route,
  }))
  const of = (route: Route) => found.filter((one) => one.route === route)
  const nameOf = ({ method, path }: Route) => `${method.toUpperCase()} ${path}`

  it('has a request of every route, under each of its paths, that is answered', () => {
    const isAnswered = (route: Route, path: string) => {
      const pattern = new RegExp(`^${path.replace(/[:*]\w+/g, '.+')}(\\?|$)`)
      return of(route).some(
        ({ request }) => request.answer.status < 400 && pattern.test(request.path),
      )
    }
    const missing = routes.flatMap((route) =>
      [route.path, ...(route.aliases ?? [])]
        .filter((path) => !isAnswered(route, path))
        .map((path) => `${route.method.toUpperCase()} ${path}`),
    )
    expect(
      missing,
      'write their requests in test/upgrade/requests*.ts, then `npm run answers -- --add`',
    ).toEqual([])
  })

  it('has every error that a route declares, where a quiet process can have it', () => {
    const missing = routes.flatMap((route) => {
      const codes = new Set(of(route).map(({ request }) => errorOf(request.answer)))
      return [...errorsOfRoute(route)]
        .filter((code) => !codes.has(code) && !isExcused(route, code))
        .map((code) => `${nameOf(route)} ${code}`)
    })
    expect(missing, 'requests of these errors').toEqual([])
  })

  it('excuses no error that it has', () => {
    const had = routes.flatMap((route) =>
      of(route)
        .map(({ request }) => errorOf(request.answer))
        .filter((code) => EXCUSED.some((one) => one.code === code && one.of?.test(route.path)))
        .map((code) => `${nameOf(route)} ${code}`),
    )
    expect(had).toEqual([])
  })

  it('names fields that are not compared, and why, only where there are such fields', () => {
    const unused = UNCOMPARED.filter(
      ({ requests }) => !recorded.some(({ method, path }) => requests.test(`${method} ${path}`)),
    )
    expect(unused).toEqual([])
  })

  it.each(SCENES)('has $what', ({ text }) => {
    expect(recorded.some(({ answer }) => text.test(answer.body))).toBe(true)
  })
})

interface Excuse {
  code: ErrorCode
  /** Paths of routes; all where absent. */
  of?: RegExp
  why: string
}

/** Errors that are not recorded of each route that declares them. */
const EXCUSED: readonly Excuse[] = [
  { code: 'rate_limited', why: 'one gate for all routes: recorded of some' },
  { code: 'unavailable', why: 'a broken database or chain; a mirror, recorded of some' },
  { code: 'internal', why: 'a fault of our own' },
  { code: 'too_many', of: /^\/v1\/wallets$/, why: 'a body of 8 MiB' },
  {
    code: 'wallet_limit',
    of: /\/(clusters|bundle|cluster)\//,
    why: 'a bundle of a thousand wallets',
  },
  { code: 'names_moving', of: /\/verify\//, why: 'a bundle of a thousand names, while they move' },
  { code: 'watch_only', of: /\/register/, why: 'a chain that the chains file marks so' },
  { code: 'bridge_failure', of: /\/register/, why: 'a bridge that does not quote' },
  { code: 'already_public', of: /\/update\/wallets$/, why: 'v0.1 adds no private wallets' },
]

function isExcused(route: Route, code: ErrorCode): boolean {
  return EXCUSED.some((one) => one.code === code && (one.of?.test(route.path) ?? true))
}
