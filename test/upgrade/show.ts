/**
 * `npm run answers`: shows which recorded answers are other ones now, and the entries to write for them.
 *
 *   npm run answers             what no entry of differences.ts lists
 *   npm run answers -- --all    what entries list, too
 *   npm run answers -- --add    records answers to requests that the recording does not have (of a new route), and of
 *                               EVM nodes to questions that it does not have
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Recorded } from './answers.js'
import { type Changed, changesOf } from './compare.js'
import { isListed } from './differences.js'
import type { Quiet } from './quiet.js'
import { answersTo, keyOf, recordedOptions, requestsFor, withQuiet } from './quietAnswers.js'
import { type Deployment, keep } from './recorded.js'
import { startChains } from './restored.js'

/** Longest value that is shown. */
const SHOWN_CHARS = 160

const shown = (value: unknown): string => (JSON.stringify(value) ?? 'absent').slice(0, SHOWN_CHARS)

/** A pattern of the requests of a path, without its query. */
const patternOf = (method: string, path: string): string =>
  `/^${method} ${path.replace(/\?.*/s, '').replace(/[.$+*()[\]{}|\\/^]/g, '\\$&')}(\\?|$)/`

/** Prints changes of one field together, with an entry for them. */
function print(changed: readonly Changed[]): void {
  const groups = new Map<string, Changed[]>()
  for (const one of changed) {
    const key = `${one.request.method} ${one.difference.field}`
    groups.set(key, [...(groups.get(key) ?? []), one])
  }
  for (const group of groups.values()) {
    const { request, difference } = group[0]!
    const { method, path, as, stage } = request
    console.log(`${group.length} answers: ${difference.field}`)
    console.log(`  first    ${method} ${path.slice(0, SHOWN_CHARS)} ${as ?? ''} (${stage})`)
    console.log(`  before   ${shown(difference.before)}`)
    console.log(`  after    ${shown(difference.after)}`)
    console.log('  entry    {')
    console.log(`             requests: ${patternOf(method, path)},`)
    console.log(`             fields: /^${difference.field.replace(/[.[\]]/g, '\\$&')}$/,`)
    console.log("             reason: '…',")
    console.log("             changelog: '| …',")
    console.log('           },')
  }
}

/** Header with the newest block, which moves while a service runs. */
const AS_OF = 'x-clusterd-as-of'
const withMovingHeader = (one: Recorded): Recorded =>
  AS_OF in one.answer.headers ? { ...one, moving: [`headers.${AS_OF}`] } : one

const isSettled = ({ stage }: { stage: string }): boolean => stage === 'settled'

/** Asks all that is recorded, prints what differs, and with `--add` keeps answers to new requests. */
async function compare(quiet: Quiet, deployment: Deployment): Promise<void> {
  const recorded = deployment.answers
  // before the changes: the signatures are over messages, and tokens are of the feed, as recorded
  const requests = await requestsFor(quiet, deployment)
  const known = new Set(recorded.map(keyOf))
  const wanted = options.has('--add')
    ? requests.filter((request) => !known.has(keyOf(request)))
    : []
  // a running service is asked for these before anything changes
  const settled = await answersTo(quiet, wanted.filter(isSettled))
  const answers = await answersTo(quiet, recorded)
  const changed = answers.flatMap(({ answer }, i) => changesOf(recorded[i]!, answer))
  const unlisted = changed.filter(({ request, difference }) => !isListed(request, difference))
  print(options.has('--all') ? changed : unlisted)
  console.log(
    `${recorded.length} answers, ${changed.length} differences, ${unlisted.length} of them not listed`,
  )
  const rest = await answersTo(
    quiet,
    wanted.filter((request) => !isSettled(request)),
  )
  for (const question of quiet.missing)
    console.log(`a question to a node that is not recorded: ${question}`)
  if (!options.has('--add')) return
  if (unlisted.length > 0) throw new Error('list or undo these differences first')
  if (quiet.missing.size > 0)
    throw new Error(
      'nodes were asked what is not recorded: `npm run record-answers` records a new deployment',
    )
  for (const { method, path, answer } of [...settled, ...rest])
    console.log(`added ${method} ${path.slice(0, SHOWN_CHARS)}: ${answer.status}`)
  keep(
    'answers.json',
    JSON.stringify({
      ...deployment,
      answers: [...settled.map(withMovingHeader), ...recorded, ...rest.map(withMovingHeader)],
    }),
  )
}

const options = new Set(process.argv.slice(2))
const folder = mkdtempSync(join(tmpdir(), 'clusterd-answers-'))
const recording = recordedOptions(folder)
// new questions go to the chains as they were
const { chains } = recording.chainsFile
const anvils = options.has('--add') ? await startChains(folder, chains) : []
const live = Object.fromEntries(anvils.map(({ rpcUrl }, i) => [chains[i]!.label, rpcUrl]))
try {
  const start = (own: string) => ({ ...recording, folder: own, live })
  await withQuiet(start, (quiet) => compare(quiet, recording.deployment))
} finally {
  await Promise.all(anvils.map((anvil) => anvil.stop()))
  rmSync(folder, { recursive: true, force: true })
}
process.exit()
