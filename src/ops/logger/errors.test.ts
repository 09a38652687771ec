import { readdirSync, readFileSync } from 'node:fs'
import net, { type AddressInfo } from 'node:net'
import { fileURLToPath, pathToFileURL } from 'node:url'
import pg from 'pg'
import { getHttpRpcClient } from 'viem/utils'
import { beforeAll, describe, expect, it } from 'vitest'
import { serve } from '../../../test/support/httpServer.js'
import { useWorld } from '../../../test/support/useWorld.js'
import { NodeError, RpcError } from '../../chains/rpc/errors.js'
import { errorSentence, toLoggedError } from './errors.js'

const SECRET = 'planted-secret-1'
const SRC = fileURLToPath(new URL('../..', import.meta.url))

const node = useWorld(() =>
  serve((_, response) => void response.writeHead(500).end(`no ${SECRET}`)),
)
let ofLibrary: Error
beforeAll(async () => {
  ofLibrary = await getHttpRpcClient(`${node.url}/v3/${SECRET}`)
    .request({ body: { method: 'eth_call', params: [SECRET] } })
    .then(
      () => expect.unreachable(),
      (error: Error) => error,
    )
})

const logged = (error: unknown): string => JSON.stringify(toLoggedError(error))

describe('an error in the log', () => {
  it('keeps the message of our own code, and of causes by others their type, status and code', () => {
    expect(ofLibrary.message).toContain(SECRET)
    const cause = Object.assign(ofLibrary, {
      cause: Object.assign(new Error('own'), { code: 'ECONNRESET' }),
    })
    const own = new RpcError('transient', 'eth_call: no answer', null, { cause })
    expect(toLoggedError(own)).toEqual({
      type: 'RpcError',
      message: 'eth_call: no answer',
      cause: {
        type: 'HttpRequestError',
        status: 500,
        cause: { type: 'Error', code: 'ECONNRESET', message: 'own' },
      },
    })
    expect(toLoggedError(new NodeError({ code: -32_000, message: `no ${SECRET}` }))).toEqual({
      type: 'NodeError',
      code: -32_000,
      message: 'no …',
    })
  })

  it('shows the place of a bug, and of an error that a library threw', () => {
    const { message, stack } = toLoggedError(new TypeError('x is not iterable'))
    expect(message).toBe('x is not iterable')
    expect(stack![0]).toMatch(/src\/ops\/logger\/errors\.test\.ts:\d+:\d+$/)
    expect(toLoggedError(ofLibrary).stack!.join()).toContain('viem')
  })

  it('is identified by its place where a library gives it neither a type nor a code', () => {
    const error = new Error(`no ${SECRET}`)
    error.stack = `Error: no ${SECRET}\n    at call (/x/node_modules/pg/lib/client.js:1:2)`
    expect(errorSentence(error)).toBe('Error in pg/lib/client.js:1:2')
  })

  it('of the driver is logged as a sentence of ours', async () => {
    const silent = net.createServer((socket) => socket.destroy())
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const client = new pg.Client({
      host: '127.0.0.1',
      port,
      user: SECRET,
      password: SECRET,
      database: SECRET,
    })
    const error = await client.connect().then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown,
    )
    silent.close()
    expect(errorSentence(error)).toBe('the connection to the database broke')
  })

  it('names the violated constraint of PostgreSQL, and no content of the row', () => {
    const error = new pg.DatabaseError('duplicate key', 1, 'error')
    const words = {
      code: '23505',
      severity: 'ERROR',
      table: 'names',
      constraint: 'won',
      routine: '_bt_check_unique',
    }
    expect(
      toLoggedError(Object.assign(error, words, { detail: SECRET, where: SECRET })),
    ).toMatchObject(words)
    expect(logged(error)).not.toContain(SECRET)
  })

  it.each([
    ['a path', SRC],
    ['a URL', pathToFileURL(SRC).href],
  ])('takes libraries that a build holds for libraries, by %s', (_, place) => {
    const message = `no ${SECRET}`
    const bundled = Object.assign(new Error(message), { stack: '' })
    bundled.stack = `Error: ${message}\n    at call (${place}libraries/viem.mjs:1:2)`
    expect(logged(bundled)).not.toContain(SECRET)
    bundled.stack = bundled.stack.replace('libraries/viem', 'registry/own')
    expect(logged(bundled)).toContain(SECRET)
  })

  it.each<[string, () => unknown]>([
    ['an HTTP request', () => Promise.reject(ofLibrary)],
    ['invalid JSON', () => JSON.parse(`{"key":${SECRET}}`)],
    ['an invalid number', () => BigInt(SECRET)],
    ['an unknown encoding', () => Buffer.from('', SECRET as 'hex')],
    ['an invalid URL', () => new URL(SECRET)],
    ['something else than an error', () => Promise.reject(SECRET)],
  ])('says nothing of %s', async (_, work) => {
    const error = await (async () => void (await work()))().catch((thrown: unknown) => thrown)
    expect(error).toBeDefined()
    expect(logged(error)).not.toContain(SECRET)
    expect(errorSentence(error)).not.toContain(SECRET)
  })

  it('does not trust a message that resembles our stack, odd names or a circle of causes', () => {
    const frame = `no\n    at own (${SRC}ops/logger/errors.ts:1:2)\n    at own (${SRC}ops/logger/errors.ts:1:3)`
    const stack = `Error: ${frame}${SECRET}\n    at theirs (/node_modules/x.js:1:2)`
    const foreign = Object.assign(new Error(frame + SECRET), { stack })
    expect(logged(foreign)).not.toContain(SECRET)
    const odd = Object.assign(new Error('odd'), {
      name: `Bad ${SECRET}`,
      code: `code of ${SECRET}`,
      cause: foreign,
    })
    Object.assign(foreign, { cause: odd })
    expect(logged(odd)).not.toContain(SECRET)
  })
})

/** Names of the error classes of which a source creates errors. */
const madeBy = (text: string): string[] =>
  [...text.matchAll(/\bnew (\w+(?:Error|Exception))\(/g)].map(([, name]) => name!)

it('our code creates errors only of its own classes and of the language, which toLoggedError relies on', () => {
  const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
    (file) => /\.ts$/.test(file) && !/\.test\.ts$|generated|^testing|^web/.test(file),
  )
  const sources = files.map((file) => readFileSync(SRC + file, 'utf8'))
  const own = new Set(
    sources.flatMap((text) => [...text.matchAll(/class (\w+) extends/g)].map(([, name]) => name!)),
  )
  const foreign = sources
    .flatMap(madeBy)
    .filter((name) => !own.has(name) && !/^(Type|Range|Syntax)?Error$/.test(name))
  expect(sources.flatMap(madeBy).length).toBeGreaterThan(100)
  expect(foreign).toEqual([])
})
