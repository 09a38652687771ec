import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { useServer } from '../../../test/support/database.js'
import { errorSentence } from '../../ops/logger/errors.js'
import { createPool, withConnection } from './pool.js'
import { isDatabaseUnavailable } from './unavailable.js'

const database = useServer()
const pool = (url: string, answerMs = 300) =>
  createPool({ url, max: 1, applicationName: 'test', answerMs })

/** A server that accepts connections and never answers. */
async function silent() {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return { url: `postgresql://user:secret@127.0.0.1:${port}/x`, port, server }
}

it('a connection that is refused names the server', async () => {
  const { port, server } = await silent()
  await new Promise((resolve) => server.close(resolve))
  const error = await pool(`postgresql://user:secret@127.0.0.1:${port}/x`)
    .query('SELECT 1')
    .catch((thrown: unknown) => thrown)
  expect(errorSentence(error)).toBe(
    `the database at 127.0.0.1:${port}: it can not be reached (ECONNREFUSED)`,
  )
  expect(isDatabaseUnavailable(error)).toBe(true)
})

it('a refused connection of its own names the server too', async () => {
  const { url, port, server } = await silent()
  await new Promise((resolve) => server.close(resolve))
  const error = await withConnection({ url, applicationName: 'test' }, async () => {}).catch(
    (thrown: unknown) => thrown,
  )
  expect(errorSentence(error)).toBe(
    `the database at 127.0.0.1:${port}: it can not be reached (ECONNREFUSED)`,
  )
  expect(isDatabaseUnavailable(error)).toBe(true)
})

it('the error about a silent server names the time limit', async () => {
  const { url, port, server } = await silent()
  const error = await pool(url)
    .connect()
    .catch((thrown: unknown) => thrown)
  expect(errorSentence(error)).toBe(`the database at 127.0.0.1:${port}: no connection within 0.3 s`)
  expect(isDatabaseUnavailable(error)).toBe(true)
  server.close()
})

it('the error of a pool whose connections are all in use says so', async () => {
  const busy = pool(database.url)
  const client = await busy.connect()
  const error = await busy.query('SELECT 1').catch((thrown: unknown) => thrown)
  expect(errorSentence(error)).toMatch(
    /^no connection within 0\.3 s: all 1 of the pool "test \w+" are in use, or the database at \S+:\d+ takes none$/,
  )
  expect(isDatabaseUnavailable(error)).toBe(true)
  client.release()
  await busy.end()
})
