import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import bs58 from 'bs58'
import { privateKeyToAccount } from 'viem/accounts'
import type { World } from '../../src/testing/index.js'
import { messageOf, proofOf, solanaAccount } from '../api/wallets.js'
import { apiOf } from '../e2e/sharedApi.js'
import type { Recorded, Request } from './answers.js'
import type { Scene } from './fill.js'
import { type ChainsFile, type Quiet, type QuietOptions, startQuiet } from './quiet.js'
import { type Deployment, RECORDED, readJson, readRecorded } from './recorded.js'
import { settledRequests } from './requests.js'
import { type Issued, unsettledRequests } from './requestsOfChanges.js'

/** Answers of quiet processes: of the recorded deployment, or of one that is being recorded. */

/** The recorded deployment, for quiet processes. @param folder for their databases */
export function recordedOptions(folder: string): QuietOptions & { deployment: Deployment } {
  const deployment = readJson<Deployment>('answers.json')
  return {
    folder,
    dumps: {
      service: readRecorded('database.sql').toString('utf8'),
      mirror: readRecorded('mirror.sql').toString('utf8'),
    },
    deployment,
    chainsFile: JSON.parse(readFileSync(join(RECORDED, 'chains.json'), 'utf8')) as ChainsFile,
    nodes: deployment.nodes,
  }
}

/** Starts quiet processes in a folder of their own, and stops them after the work. */
export async function withQuiet<T>(
  optionsIn: (folder: string) => QuietOptions,
  work: (quiet: Quiet) => Promise<T>,
): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'clusterd-quiet-'))
  try {
    const quiet = await startQuiet(optionsIn(folder))
    try {
      return await work(quiet)
    } finally {
      await quiet.stop()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Every request of this checkout to a deployment, with signatures over messages of the quiet service. */
export async function requestsFor(
  quiet: Quiet,
  { scene, world }: { scene: Scene; world: Pick<World, 'accounts'> },
): Promise<Request[]> {
  const api = apiOf({ api: quiet.apiOf('changed') })
  const alice = privateKeyToAccount(world.accounts.evm[1]!.privateKey)
  const { secretKey } = world.accounts.solana[3]!
  const sol = solanaAccount(bs58.decode(secretKey).subarray(0, 32))
  const recovery = async (address: string) => {
    const query = `type=evm&wallet=${alice.address}&recover=${address}`
    const { message, signingDate } = await messageOf(api, `?${query}`)
    return { signature: await alice.signMessage({ message }), signingDate }
  }
  const issued: Issued = {
    evm: await proofOf(api, alice),
    solana: await proofOf(api, sol),
    recovery: await recovery(scene.generated.address),
    recoveryOfOther: await recovery(scene.addresses.hot!),
    resume: (await api.get('/v1/events?limit=1')).body.resume,
  }
  return [...settledRequests(scene), ...unsettledRequests(scene, issued)]
}

/** Sends requests in order. */
export async function answersTo(quiet: Quiet, requests: readonly Request[]): Promise<Recorded[]> {
  const answered: Recorded[] = []
  for (const request of requests) answered.push({ ...request, answer: await quiet.ask(request) })
  return answered
}

/** What identifies a request: everything that is sent. */
export const keyOf = ({ answer: _, moving: __, ...request }: Request & Partial<Recorded>): string =>
  JSON.stringify(Object.entries(request).sort(([a], [b]) => (a < b ? -1 : 1)))
