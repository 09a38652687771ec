import { beforeAll, expect, it } from 'vitest'
import { bid, freshName, randomAddress, randomHash, startApi } from '../api/support.js'
import { useWorld } from '../support/useWorld.js'

const world = useWorld(() => startApi())
const alice = randomAddress()
const name = freshName()
const tx = randomHash()

beforeAll(() => world.append('mainnet', [bid({ from: alice, name, tx })]))

/** Sends a request like a client that has a response already. @returns status and entity tag */
async function ask(path: string, known?: string) {
  const headers: Record<string, string> = known === undefined ? {} : { 'if-none-match': known }
  const response = await fetch(`${world.url}${path}`, { headers })
  const text = await response.text()
  if (response.status === 304)
    expect([text, response.headers.get('content-type')]).toEqual(['', null])
  return { status: response.status, etag: response.headers.get('etag') ?? undefined }
}

it.each([
  ['a name', () => `/v1/names/address/${alice}`],
  ['a page of the feed', () => '/v1/events?limit=1000'],
  ['the newest page', () => '/v1/events?orderBy=newest&limit=2'],
  ['the names of an owner', () => `/v1/names/owner/address/${alice}`],
])('%s is not sent again to a client that has it, until it changes', async (_what, path) => {
  for (let i = 0; i < 3; i++) {
    const { etag, status } = await ask(path())
    expect(status).toBe(200)
    expect(await ask(path(), etag)).toEqual({ status: 304, etag })
  }
  const { etag } = await ask(path())
  await world.append('mainnet', [bid({ from: alice, name: freshName() })])
  const now = await ask(path(), etag)
  // the name of an address is its oldest one, which has not changed
  expect(now.status).toBe(path().includes('names/address') ? 304 : 200)
})

it('a status is not sent again to a client that has it, and caches do not store it', async () => {
  const path = `/v1/names/register/tx/${tx}`
  const { etag } = await ask(path)
  expect(await ask(path, etag)).toEqual({ status: 304, etag })
  expect((await world.get(path)).headers.get('cache-control')).toBe('no-store')
})

it.each([`/v1/clusters/name/${name}`, `/v1/clusters/address/${alice}`])(
  'a response that depends on a key has no tag: %s',
  async (path) => {
    expect(await ask(path, '*')).toEqual({ status: 200, etag: undefined })
  },
)
