import { expect, it } from 'vitest'
import { memberOf } from '../api/members.js'
import { freshName, world } from '../support/world.js'
import { apiOf } from './sharedApi.js'

it('a bundle generates a wallet, confirms its backup once, and drops it', async () => {
  const member = await memberOf(apiOf(world()))
  await member.create()
  const made = await member.call('POST', '/v1/clusters/generate/wallet', {
    ...{ type: 'solana', name: freshName(), isPrivate: true },
  })
  expect(made.status).toBe(200)
  const { address } = made.body
  expect((await member.confirm(address)).status).toBe(200)
  const { status, body } = await member.call('GET', '/v1/events?limit=100&order=desc')
  expect(status).toBe(200)
  expect(JSON.stringify(body)).not.toContain(address)
  expect((await member.remove(address)).status).toBe(200)
})
