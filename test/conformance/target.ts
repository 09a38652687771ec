import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { createWalletClient, type Hex, http } from 'viem'
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from 'viem/accounts'

/** The deployment under test. */
export interface TargetOptions {
  /** Base address of the API. */
  url: string
  testnet: boolean
  /** Transactions with a known status, by that status. */
  transactions?: Readonly<Record<string, string>>
  /** A community with an airdrop. */
  airdrop?: string
  /** Permits changes: a funded account on the chain of a network label. */
  write?: WriteOptions
}

export interface WriteOptions {
  privateKey: Hex
  rpcUrl: string
  /** Network label of that chain: "1", "11155111", ... */
  label: string
}

export interface Reply {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: what a client sees before it has checked the shape
  body: any
  text: string
  headers: Headers
}

/** A row can't be checked, because the deployment does not have the required data. It never counts as passed. */
export class NotChecked extends Error {
  override name = 'NotChecked'
}

/** A wallet that has signed in. */
export interface SignedIn {
  account: PrivateKeyAccount
  address: string
  key: string
  proof: { signature: string; signingDate: string; type: string; wallet: string }
}

/** A name that somebody holds, found in the deployment's own feed. */
export interface Sample {
  name: string
  address: string
  walletName: string
  clusterId: string
}

/** The deployment under test, and the data that rows share. Each is found or created once. */
export interface Target {
  options: TargetOptions
  get(path: string, headers?: Record<string, string>): Promise<Reply>
  send(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Reply>
  post(path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>
  once<T>(key: string, make: () => Promise<T>): Promise<T>
}

const DEADLINE_MS = 20_000
/** Longest wait for a rate limit. A run of all rows reaches the default limits. */
const PATIENCE_MS = 30_000
const SHORTEST_WAIT_MS = 1_000
const JSON_HEADERS = { 'content-type': 'application/json' }

export function createTarget(options: TargetOptions): Target {
  const made = new Map<string, Promise<unknown>>()
  const base = options.url.replace(/\/+$/, '')
  const ask: Target['send'] = async (method, path, body, headers = {}) => {
    const url = new URL(`${base}${path}`)
    if (options.testnet) url.searchParams.set('testnet', 'true')
    const response = await fetch(url, {
      method,
      headers: { ...JSON_HEADERS, ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    })
    const text = await response.text()
    const isJson = response.headers.get('content-type')?.startsWith('application/json')
    return {
      status: response.status,
      body: isJson ? JSON.parse(text) : undefined,
      text,
      headers: response.headers,
    }
  }
  const send: Target['send'] = async (...request) => {
    const endMs = performance.now() + PATIENCE_MS
    for (;;) {
      const reply = await ask(...request)
      const waitMs = Math.max(Number(reply.headers.get('retry-after')) * 1_000, SHORTEST_WAIT_MS)
      if (reply.status !== 429 || !(performance.now() + waitMs < endMs)) return reply
      await sleep(waitMs)
    }
  }
  return {
    options,
    send,
    get: (path, headers) => send('GET', path, undefined, headers),
    post: (path, body, headers) => send('POST', path, body, headers),
    once<T>(key: string, make: () => Promise<T>) {
      const kept = (made.get(key) as Promise<T> | undefined) ?? make()
      made.set(key, kept)
      return kept
    },
  }
}

/** The body of a response with status 200. */
export function ok({ status, body, text }: Reply) {
  assert.equal(status, 200, text)
  return body
}

/** @throws NotChecked where the run may only read */
export function requireWrite({ options }: Target): WriteOptions {
  if (!options.write) throw new NotChecked('it makes changes: run with --write, --key and --rpc')
  return options.write
}

/** A name that somebody holds. @throws NotChecked where the feed has none */
export const sampleOf = (target: Target): Promise<Sample> =>
  target.once('sample', async () => {
    const { items } = ok(await target.get('/v1/events?limit=1000'))
    for (const { type, from } of items) {
      if (type !== 'REGISTER_NAME') continue
      const { status, body } = await target.get(`/v1/names/address/${from}`)
      if (status !== 200 || body.clusterName === null) continue
      const { clusterId } = ok(await target.get(`/v1/clusters/address/${from}`))
      return {
        name: body.clusterName,
        address: body.address,
        walletName: body.walletName,
        clusterId,
      }
    }
    throw new NotChecked('the feed has no name that is held by the wallet that registered it')
  })

export const freshName = (): string => `conformance-${randomBytes(8).toString('hex')}`
export const freshAddress = (): string => `0x${randomBytes(20).toString('hex')}`

/** Signs in with a new wallet. Needs no funds. */
export async function signIn(
  target: Target,
  account = privateKeyToAccount(generatePrivateKey()),
): Promise<SignedIn> {
  const { message, signingDate } = ok(await target.get('/v1/auth/message'))
  const address = account.address.toLowerCase()
  const proof = {
    signature: await account.signMessage({ message }),
    signingDate,
    type: 'evm',
    wallet: account.address,
  }
  const { token } = ok(await target.post('/v1/auth/token', proof))
  return { account, address, key: token, proof }
}

/** The wallet that keeps a cluster with a name on chain for the whole run. */
export const registrant = (target: Target): Promise<SignedIn> =>
  target.once('registrant', () =>
    signIn(target, privateKeyToAccount(requireWrite(target).privateKey)),
  )

/** A signed-in wallet with its own cluster. */
export async function member(target: Target): Promise<SignedIn & { id: string }> {
  requireWrite(target)
  const wallet = await signIn(target)
  const { id } = ok(await target.post('/v1/clusters', undefined, bearer(wallet)))
  return { ...wallet, id }
}

export const bearer = ({ key }: Pick<SignedIn, 'key'>): Record<string, string> => ({
  authorization: `Bearer ${key}`,
})
export const authKey = ({ key }: Pick<SignedIn, 'key'>): Record<string, string> => ({
  'x-auth-key': key,
})

export interface Registration {
  name: string
  second: string
  tx: Hex
  sentMs: number
}

/** Registers two names in one transaction of the funded account, and waits until it is final. Done once per run. */
export const registration = (target: Target): Promise<Registration> =>
  target.once('registration', async () => {
    const { rpcUrl, label, privateKey } = requireWrite(target)
    const account = privateKeyToAccount(privateKey)
    const name = freshName()
    const second = freshName()
    const quote = ok(
      await target.post('/v0.1/register', {
        network: label,
        sender: account.address,
        names: [{ name }, { name: second }],
      }),
    )
    const { to, data, value } = quote.transactionData
    const wallet = createWalletClient({ account, transport: http(rpcUrl) })
    const sentMs = Date.now()
    const tx = await wallet.sendTransaction({ chain: null, to, data, value: BigInt(value) })
    await waitFor('the registration to be final', async () => {
      const { status } = ok(await target.get(`/v1/names/register/tx/${tx}`))
      assert.ok(status !== 'invalid' && status !== 'lost_bid', `${tx} is ${status}`)
      return status === 'finalized'
    })
    return { name, second, tx, sentMs }
  })

const REGISTRATION_DEADLINE_MS = 30 * 60_000
const POLL_MS = 100

async function waitFor(what: string, isTrue: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + REGISTRATION_DEADLINE_MS
  while (!(await isTrue())) {
    assert.ok(Date.now() < end, `waited too long for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
