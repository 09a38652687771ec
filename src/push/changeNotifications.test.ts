import { expect, it } from 'vitest'
import { ChangeNotifications } from './changeNotifications.js'

it('a change during a read causes another read', async () => {
  const notifications = new ChangeNotifications()
  let reads = 0
  const found = await notifications.waitFor('mainnet', async () => {
    reads += 1
    if (reads === 1) notifications.onNotify('mainnet')
    return reads === 1 ? null : reads
  })
  expect(found).toBe(2)
})

it('a wait ends by its signal, and all waits by the end of the process', async () => {
  const notifications = new ChangeNotifications()
  const nothing = async () => null
  const stop = new AbortController()
  const stopped = notifications.waitFor('mainnet', nothing, stop.signal)
  const others = [
    notifications.waitFor('mainnet', nothing),
    notifications.waitFor('testnet', nothing, new AbortController().signal),
  ]
  stop.abort()
  expect(await stopped).toBeNull()
  notifications.end()
  expect(await Promise.all(others)).toEqual([null, null])
  const unread = async () => expect.unreachable()
  expect(await notifications.waitFor('mainnet', unread)).toBeNull()
})
