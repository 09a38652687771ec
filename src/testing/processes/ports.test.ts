import os from 'node:os'
import path from 'node:path'
import { expect, it } from 'vitest'
import { tryLock } from './files.js'
import { freePort, releasePort } from './ports.js'

it('a picked port is held before other launchers until it is released, whoever listens there', async () => {
  const port = await freePort()
  const lock = () => tryLock(path.join(os.tmpdir(), `clusterd-port-${port}.lock`))
  expect(lock()).toEqual({ heldBy: process.pid })
  releasePort(port)
  const taken = lock()
  if (!('lock' in taken)) throw new Error('it is held after its release')
  taken.lock.release()
})
