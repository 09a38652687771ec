/** Server that answers a constant: `express` as one route, `http` with Node alone. Prints its address. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import express from 'express'

/** Constant answer, as long as the answer to a look-up. */
const ANSWER = {
  address: '0x0123456789abcdef0123456789abcdef01234567',
  type: 'evm',
  clusterName: 'b0000123',
  walletName: 'main',
  isVerified: true,
}

function bareExpress(): Server {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.get('/constant', (_req, res) => {
    res.json(ANSWER)
  })
  return createServer(app)
}

function bareHttp(): Server {
  return createServer((_req, res) => {
    const body = JSON.stringify(ANSWER)
    res
      .writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      })
      .end(body)
  })
}

const server = process.argv[2] === 'express' ? bareExpress() : bareHttp()
server.listen(0, '127.0.0.1', () =>
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
)
