import { once } from 'node:events'
import net from 'node:net'
import { Worker } from 'node:worker_threads'
import { onTestFinished } from 'vitest'

/** Forwards connections to another port. Its event loop stands still until it is resumed, so it accepts none. */
const FORWARDER = `
  const { parentPort, workerData } = require('node:worker_threads')
  const net = require('node:net')
  const { address, port, target, gate } = workerData
  const server = net.createServer((client) => {
    const upstream = net.connect(target, '127.0.0.1')
    for (const [from, to] of [[client, upstream], [upstream, client]]) {
      from.on('error', () => to.destroy())
      from.pipe(to)
    }
  })
  server.listen({ port, host: address, backlog: 1 }, () => {
    parentPort.postMessage(server.address().port)
    Atomics.wait(gate, 0, 0)
  })
`
/** More connections than a listening socket with a backlog of one keeps. */
const BACKLOG = 4

export interface StalledServer {
  port: number
  /** Accepts connections from now on. The kernel of a waiting client repeats its SYN one second after the first. */
  resume(): void
}

/** Starts a server whose handshakes get no answer until it is resumed. It ends with the test. Linux only. */
export async function stallInTest(
  address: string,
  target: number,
  port = 0,
): Promise<StalledServer> {
  const gate = new Int32Array(new SharedArrayBuffer(4))
  const workerData = { address, port, target, gate }
  const worker = new Worker(FORWARDER, { eval: true, workerData })
  const resume = () => {
    Atomics.store(gate, 0, 1)
    Atomics.notify(gate, 0)
  }
  const [bound] = (await once(worker, 'message')) as [number]
  const fillers = Array.from({ length: BACKLOG }, () => net.connect(bound, address))
  for (const filler of fillers) filler.on('error', () => {})
  onTestFinished(async () => {
    for (const filler of fillers) filler.destroy()
    resume()
    await worker.terminate()
  })
  // the kernel completes the handshakes of the first ones
  await once(fillers[0]!, 'connect')
  return { port: bound, resume }
}
