import { expect, it } from 'vitest'
import { Client } from '../../src/client/index.js'
import { startStack } from '../../src/testing/index.js'
import { useWorld } from '../support/useWorld.js'
import { freshName, freshWallet, registerOn } from '../support/world.js'

const CATCH_UP_MS = 60_000

const stack = useWorld(() => startStack({ chains: ['1'], blockMs: 200, seeds: false }))

it('a status that is waited for and a feed that is followed go on over a kill of the daemon', async () => {
  const client = new Client({ url: stack.api })
  const account = await freshWallet('mainnet', stack)
  const seen: string[] = []
  const stop = new AbortController()
  const following = (async () => {
    for await (const { id } of client.events({ signal: stop.signal })) seen.push(id)
  })()
  for (let kills = 0; kills < 2; kills++) {
    const tx = await registerOn('1', account, [{ name: freshName() }], stack)
    const waited = client.waitForStatus(tx, { timeoutMs: CATCH_UP_MS })
    await stack.daemon.kill('SIGKILL')
    await stack.daemon.restart()
    expect((await waited).status).toBe('finalized')
  }
  const { items } = await client.eventsPage()
  expect(items.filter(({ type }) => type === 'REGISTER_NAME')).toHaveLength(2)
  await expect.poll(() => seen, { timeout: CATCH_UP_MS }).toEqual(items.map(({ id }) => id))
  stop.abort()
  await following
})
