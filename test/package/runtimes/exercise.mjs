/**
 * What the client has to do in every runtime: each case runs against a real service, and its result is the same
 * everywhere. This file is plain JavaScript, because each runtime reads it as it is.
 */

/** @param hex 64 digits */
const bytesOf = (hex) => Uint8Array.from(hex.match(/../g), (digits) => Number.parseInt(digits, 16))

const caught = (call) =>
  call.then(
    (answer) => {
      throw new Error(`it answered ${JSON.stringify(answer)}`)
    },
    (error) => error,
  )

/** @param value printed with BigInts as digits */
const textOf = (value) =>
  JSON.stringify(value, (_, one) => (typeof one === 'bigint' ? String(one) : one))

/** @throws Error where two values differ */
function same(found, wanted) {
  if (textOf(found) !== textOf(wanted))
    throw new Error(`it is ${textOf(found)}, not ${textOf(wanted)}`)
}

/** Cases by name. Each gets the modules of the package, and the service's addresses (`config`). */
const CASES = {
  'looks an address up': async ({ client, config }) => {
    const { clusterName } = await client.nameOf(config.known.address)
    same(clusterName, config.known.name)
  },
  'gives null for an unknown address, and a 404 as it is': async ({ client, config }) => {
    const nobody = `0x${'12'.repeat(20)}`
    same(await client.nameOf(nobody), null)
    same(await client.cluster(config.missing), null)
    const request = { params: { name: config.missing } }
    const { code, status } = await caught(
      client.request('GET', '/v1/clusters/name/{name}', request),
    )
    same({ code, status }, { code: 'not_found', status: 404 })
  },
  'sends a body, and a query': async ({ client, config }) => {
    const [found] = await client.availability([config.known.name])
    same(found.isAvailable, false)
    const owned = await client.ownedBy(config.known.address, { limit: 1 })
    same(owned.length, 1)
  },
  'reads lines': async ({ client, config }) => {
    const names = []
    const rows = client.wallets([config.known.address], { types: ['evm', 'solana'] })
    for await (const { clusterName } of rows) names.push(clusterName)
    same(names, [config.known.name])
  },
  'waits for a status': async ({ client, config }) => {
    const { status, names } = await client.waitForStatus(config.known.tx, { timeoutMs: 20_000 })
    same([status, names[0].name], ['finalized', config.known.name])
  },
  'ends at its time limit': async ({ Client, config }) => {
    const silent = new Client({ url: config.silentUrl })
    const { code, name } = await caught(silent.networks({ timeoutMs: 100 }))
    same({ code, name }, { code: 'timeout', name: 'ClusterdError' })
  },
  'ends by its signal, with the reason where signals have one': async ({ Client, config }) => {
    const silent = new Client({ url: config.silentUrl })
    const stop = new AbortController()
    const reason = new Error('enough')
    setTimeout(() => stop.abort(reason), 50)
    const error = await caught(silent.networks({ signal: stop.signal }))
    if (error !== reason) same(error.name, 'AbortError')
    if (error !== reason && 'reason' in stop.signal) throw new Error('it lost the reason')
    const again = await caught(silent.networks({ signal: stop.signal }))
    same(again.message, error.message)
  },
  'does not follow a redirect': async ({ Client, config }) => {
    if (config.followsRedirects) return
    const moved = new Client({ url: config.movedUrl })
    const { code, message } = await caught(moved.networks())
    same(code, 'unexpected')
    if (!/redirects/.test(message)) throw new Error(message)
  },
  'refuses what is no address of a service': async ({ Client }) => {
    for (const url of ['localhost:3000', '/api', 'http://me:key@names.example']) {
      const error = await caught(Promise.resolve().then(() => new Client({ url })))
      same(error.name, 'TypeError')
    }
  },
  'reads the feed to its end': async ({ client }) => {
    let count = 0
    for await (const { resume } of client.events({ follow: false, limit: 100 })) if (resume) count++
    if (count < 500) throw new Error(`it has ${count} events`)
  },
  'follows the feed, signs in, and names the element that is refused': async ({
    client,
    config,
    ed25519,
  }) => {
    const events = client.events({ from: config.wallet.address })
    const next = events.next()
    const seed = bytesOf(config.wallet.seed)
    await client.signIn({
      publicKey: { toBase58: () => config.wallet.address },
      signMessage: async (message) => ed25519.sign(message, seed),
    })
    await client.createCluster()
    const wallets = [`0x${config.wallet.seed.slice(0, 40)}`, 'no address'].map((address, i) => ({
      address,
      name: `wallet-${i}`,
    }))
    const refused = await caught(client.addWallets(wallets))
    same(refused.code, 'unsupported_address')
    if (!refused.message.includes('[1].address')) throw new Error(refused.message)
    const { value } = await next
    await events.return()
    same(value.from, config.wallet.address)
  },
  'proves the log': async ({ client, LogReader, config }) => {
    const reader = new LogReader(client, { key: config.key })
    const head = await reader.checkpoint()
    let count = 0
    for await (const { text } of reader.entries(head)) if (JSON.parse(text).v === 1) count++
    same(count, head.size)
    const { index } = await reader.event('m-1-300')
    same(index, 300)
    const { last } = reader
    same((await new LogReader(client, { key: config.key, last }).checkpoint()).size, head.size)
    const forged = head.note.replace(
      /\n(— \S+ ......)(.)/,
      (_, start, one) => `\n${start}${one === 'A' ? 'B' : 'A'}`,
    )
    const { code } = await caught(reader.take(forged))
    same(code, 'log_mismatch')
  },
}

/**
 * Runs the cases one after the other.
 * @param modules exports of `clusterd-client` and `clusterd-client/verify`, and `ed25519` of @noble/curves
 * @param config addresses of the services, and what they know
 * @returns names of the cases that passed, and the failure of each other one
 */
export async function exercise({ Client, LogReader, ed25519 }, config) {
  const passed = []
  const failed = []
  for (const [name, run] of Object.entries(CASES)) {
    const client = new Client({ url: config.url })
    try {
      await run({ Client, LogReader, ed25519, client, config })
      passed.push(name)
    } catch (error) {
      failed.push(`${name}: ${error.stack ?? error}`.slice(0, 500))
    }
  }
  return { passed, failed, cases: Object.keys(CASES).length }
}
