import { setMaxListeners } from 'node:events'
import { type Hex, keccak256, toHex } from 'viem'
import type { PrivateKeyAccount } from 'viem/accounts'
import { integerBetween, pickElement } from '../../../src/testing/faultProxy/random.js'
import { seededRandomSequence } from '../../support/random.js'
import { actAtPace } from './wallets.js'
import { askApi, type Question, tally } from './watchers.js'

const PACE_MS = { min: 1_500, max: 5_000 }
const MEMBERS = 5

/** Addresses that members added privately. They never register, so nobody else may see them. */
export interface Members {
  readonly secrets: ReadonlySet<string>
  /** Number of changes that the API accepted, and of refusals by reason. */
  readonly counts: Readonly<Record<string, number>>
  done: Promise<void>
}

/** Lets some of the wallets sign in and edit their clusters, which other wallets join, until the signal. */
export function runMembers(
  apis: readonly string[],
  wallets: readonly PrivateKeyAccount[],
  seed: number,
  signal: AbortSignal,
): Members {
  setMaxListeners(0, signal)
  const secrets = new Set<string>()
  const counts: Record<string, number> = {}
  const members = wallets.slice(0, MEMBERS)
  const done = Promise.all(
    members.map((account, i) =>
      runMember(
        apis,
        members,
        account,
        seededRandomSequence(seed, 'member', i),
        { secrets, counts },
        signal,
      ),
    ),
  ).then(() => {})
  return { secrets, counts, done }
}

async function runMember(
  apis: readonly string[],
  members: readonly PrivateKeyAccount[],
  account: PrivateKeyAccount,
  next: () => number,
  { secrets, counts }: { secrets: Set<string>; counts: Record<string, number> },
  signal: AbortSignal,
): Promise<void> {
  let headers: Record<string, string> | null = null
  const added: string[] = []
  await actAtPace(next, PACE_MS, signal, async () => {
    headers ??= await signIn(apis, account)
    if (!headers) return
    const count = tally(counts)
    if (await act(apis, members, account, next, { headers, added, secrets, onFailure: count }))
      count('taken')
  })
}

async function signIn(
  apis: readonly string[],
  account: PrivateKeyAccount,
): Promise<Record<string, string> | null> {
  const asked = await askApi<{ message: string; signingDate: string }>(apis, '/v1/auth/message')
  if (!asked) return null
  const { message, signingDate } = asked
  const signature = await account.signMessage({ message })
  const proof = { signature, signingDate, type: 'evm', wallet: account.address }
  const answer = await askApi<{ token: string }>(apis, '/v1/auth/token', {
    method: 'POST',
    body: proof,
  })
  return answer && { authorization: `Bearer ${answer.token}` }
}

/** Makes one change. @returns whether the API accepted it */
async function act(
  apis: readonly string[],
  members: readonly PrivateKeyAccount[],
  account: PrivateKeyAccount,
  next: () => number,
  {
    headers,
    onFailure,
    added,
    secrets,
  }: Pick<Question, 'headers' | 'onFailure'> & { added: string[]; secrets: Set<string> },
): Promise<boolean> {
  const change = async (method: string, path: string, body?: unknown) =>
    (await askApi(apis, path, { method, body, headers, onFailure })) !== null
  const someone = added.length > 0 ? pickElement(next(), added) : account.address.toLowerCase()
  const name = `w-${integerBetween(next(), 1, 30)}`
  const chance = next()
  if (chance < 0.45) {
    const isPrivate = next() < 0.5
    const address = randomAddress(next)
    if (isPrivate) secrets.add(address)
    const invited =
      next() < 0.4 ? [{ address: pickElement(next(), members).address, name: `m-${name}` }] : []
    const isTaken = await change('POST', '/v1/clusters/wallets', [
      { address, name, isPrivate },
      ...invited,
    ])
    if (isTaken) added.push(address)
    return isTaken
  }
  if (chance < 0.65)
    return change('PUT', '/v1/clusters/wallets/names', [{ address: someone, name }])
  if (chance < 0.8) return change('DELETE', '/v1/clusters/wallets', [someone])
  // joins a cluster to which it was invited; names move with the last wallet of a cluster
  const host = pickElement(next(), members).address
  const cluster = await askApi<{ clusterId: string | null }>(apis, `/v1/clusters/address/${host}`)
  return cluster?.clusterId
    ? change('POST', `/v1/clusters/verify/${cluster.clusterId}`)
    : change('POST', '/v1/clusters')
}

function randomAddress(next: () => number): Hex {
  return `0x${keccak256(toHex(`${next()}/${next()}`)).slice(26)}`
}
