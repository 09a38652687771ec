import { expect, it } from 'vitest'
import { Client } from './client.js'

const MIB = 1024 * 1024
const chunk = new Uint8Array(4 * MIB).fill(0x20)

it('stops reading the wallets of addresses from a response of more than 64 MiB', async () => {
  let sent = 0
  const endless = new ReadableStream({
    pull(controller) {
      sent += chunk.length
      controller.enqueue(chunk)
      if (sent > 256 * MIB) controller.close()
    },
  })
  const client = new Client({
    url: 'http://service.example',
    fetch: async () => new Response(endless),
    retries: 0,
  })
  const rows = client.wallets(['0xa7580f28d5304b55594cfc1907f36d91b3d77ce5'])
  await expect(rows.next()).rejects.toMatchObject({ code: 'unexpected' })
  expect(sent).toBeLessThan(80 * MIB)
})
