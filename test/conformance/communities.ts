import assert from 'node:assert/strict'
import { type Row, row } from './row.js'
import {
  bearer,
  freshAddress,
  freshName,
  member,
  NotChecked,
  ok,
  type Reply,
  registrant,
  registration,
  requireWrite,
  signIn,
  type Target,
} from './target.js'

/** Sections 4.7 and 4.8, the errors of section 7, and section 4.10 about a name after a claim. */

const FAR_AWAY = '2099-01-01T00:00:00Z'
const LIST = (...addresses: string[]) => ({ requirements: [{ kind: 'allowlist', addresses }] })

/** Sets these rules for the run's own name. @throws NotChecked where the deployment does not allow it */
async function community(target: Target, rules: object = {}): Promise<string> {
  const { name } = await registration(target)
  const owner = await registrant(target)
  const reply = await target.send('PUT', `/v1/communities/${name}`, rules, bearer(owner))
  if (reply.status === 404 || reply.status === 405)
    throw new NotChecked(
      'the deployment has no PUT /v1/communities/:name: nothing is known of its communities',
    )
  ok(reply)
  return name
}

/** Rules with a price, on the chain that the run pays on. */
const priced = (target: Target) => ({
  prices: [
    {
      network: requireWrite(target).label,
      token: 'native',
      amount: '7',
      recipient: freshAddress(),
    },
  ],
})

type Wallet = Awaited<ReturnType<typeof signIn>>

const registerOld = (target: Target, as: Wallet, body: object): Promise<Reply> =>
  target.post('/v0.1/community/register', body, bearer(as))

/** A row of v0.1. On the mainnet its routes have to answer that they are only for the testnet. */
const oldRow = (name: string, path: string, check: Row['check']): Row =>
  row('4.7', name, async (target) => {
    if (target.options.testnet) return check(target)
    const [method, route] = path.split(' ', 2) as [string, string]
    const body = method === 'POST' ? { clusterName: 'club', walletName: 'alice' } : undefined
    const { status, body: answer } = await target.send(
      method,
      route,
      body,
      bearer(await signIn(target)),
    )
    assert.deepEqual([status, answer.error], [400, 'testnet_only'])
  })

/** A request for a name below a community. */
const below = (clusterName: string, more: object = {}) => ({
  clusterName,
  walletName: freshName(),
  ...more,
})

const REGISTER = 'POST /v0.1/community/register'

/** A row for one error. The registration of v0.1 returns it first if several things are wrong. */
const errorRow = (
  code: string,
  status: number,
  ask: (target: Target, as: Wallet, owner: Wallet) => Promise<Reply>,
): Row =>
  row('7', code, async (target) => {
    if (!target.options.testnet)
      throw new NotChecked('communities of v0.1 are on the testnet alone')
    const reply = await ask(target, await signIn(target), await registrant(target))
    assert.deepEqual([reply.status, reply.body.error], [status, code])
    assert.equal(Object.keys(reply.body)[0], 'error')
  })

export const communityRows: readonly Row[] = [
  oldRow(
    'GET /v0.1/community/check/availability/:clusterName/:walletName',
    'GET /v0.1/community/check/availability/club/alice',
    async (target) => {
      const name = await community(target)
      const free = freshName()
      const path = `/v0.1/community/check/availability/${name}`
      assert.deepEqual(ok(await target.get(`${path}/${free}`)), {
        name: `${name}/${free}`,
        isAvailable: true,
      })
      assert.deepEqual(ok(await target.get(`${path}/main`)), {
        name: `${name}/main`,
        isAvailable: false,
      })
    },
  ),
  oldRow(
    'GET /v0.1/community/check/requirements/:clusterName',
    'GET /v0.1/community/check/requirements/club',
    async (target) => {
      const walletAddress = freshAddress()
      const clusterName = await community(target, LIST(walletAddress))
      const ask = (wallet: string) =>
        target.get(`/v0.1/community/check/requirements/${clusterName}?walletAddress=${wallet}`)
      assert.deepEqual(ok(await ask(walletAddress)), {
        clusterName,
        walletAddress,
        isRequirementsMet: true,
      })
      assert.equal(ok(await ask(freshAddress())).isRequirementsMet, false)
    },
  ),
  oldRow(REGISTER, REGISTER, async (target) => {
    const clusterName = await community(target)
    const walletName = freshName()
    const alice = await signIn(target)
    const answer = ok(await registerOld(target, alice, { clusterName, walletName }))
    assert.deepEqual(answer, { clusterName, walletName })
    assert.equal(
      ok(await target.get(`/v0.1/address/${clusterName}/${walletName}`)).address,
      alice.address,
    )
    assert.equal(
      (await target.post('/v0.1/community/register', { clusterName, walletName })).status,
      401,
    )
  }),
  oldRow(
    'GET /v0.1/community/tx/:tx',
    `GET /v0.1/community/tx/0x${'ab'.repeat(32)}`,
    async (target) => {
      const tx = `0x${'00'.repeat(31)}01`
      assert.deepEqual(ok(await target.get(`/v0.1/community/tx/${tx}`)), {
        tx,
        status: 'not_found',
      })
    },
  ),
  oldRow('clusterName', REGISTER, async (target) => {
    const reply = await registerOld(target, await signIn(target), {
      clusterName: freshName(),
      walletName: 'alice',
    })
    assert.deepEqual([reply.status, reply.body.error], [404, 'not_found'])
    assert.equal(
      (await registerOld(target, await signIn(target), { walletName: 'alice' })).status,
      400,
    )
  }),
  oldRow('walletName', REGISTER, async (target) => {
    const clusterName = await community(target)
    const body = { clusterName, walletName: 'no name' }
    assert.equal((await registerOld(target, await signIn(target), body)).status, 400)
    assert.equal((await registerOld(target, await signIn(target), { clusterName })).status, 400)
  }),
  oldRow('chainId', REGISTER, async (target) => {
    const { label } = requireWrite(target)
    const clusterName = await community(target, priced(target))
    const ask = async (more: object) =>
      registerOld(target, await signIn(target), { clusterName, walletName: freshName(), ...more })
    for (const more of [{}, { chainId: label }]) {
      const { transactionInfo } = ok(await ask(more))
      assert.equal(transactionInfo.type, 'evm')
      assert.match(transactionInfo.transaction.to, /^0x[0-9a-fA-F]{40}$/)
      assert.match(transactionInfo.transaction.data, /^0x[0-9a-f]+$/)
      assert.equal(transactionInfo.transaction.value, '7')
    }
    assert.equal((await ask({ chainId: '424242' })).body.error, 'invalid_chain_id')
  }),
  oldRow('walletAddress', REGISTER, async (target) => {
    const clusterName = await community(target, { ownersOnly: true })
    const walletName = freshName()
    const walletAddress = freshAddress()
    ok(
      await registerOld(target, await registrant(target), {
        clusterName,
        walletName,
        walletAddress,
      }),
    )
    assert.equal(
      ok(await target.get(`/v0.1/address/${clusterName}/${walletName}`)).address,
      walletAddress,
    )
  }),
  row('4.8', 'GET /v1/names/community/:communityName/check/:name', async (target) => {
    const name = await community(target)
    const free = freshName()
    const path = `/v1/names/community/${name}/check`
    assert.deepEqual(ok(await target.get(`${path}/${free}`)), {
      name: `${name}/${free}`,
      isAvailable: true,
    })
    assert.equal(ok(await target.get(`${path}/main`)).isAvailable, false)
    assert.equal((await target.get(`/v1/names/community/${freshName()}/check/${free}`)).status, 404)
  }),
  row('4.8', 'POST /v1/names/community/:communityName/register', async (target) => {
    const name = await community(target)
    const mine = freshName()
    const theirs = freshName()
    const guest = freshAddress()
    const path = `/v1/names/community/${name}/register`
    const alice = await signIn(target)
    ok(await target.post(path, { name: mine }, bearer(alice)))
    const record = ok(await target.get(`/v1/names/address/${alice.address}`))
    assert.deepEqual([record.clusterName, record.walletName], [name, mine])
    const gift = { name: theirs, walletAddress: guest }
    ok(await target.post(path, gift, bearer(await registrant(target))))
    assert.equal(ok(await target.get(`/v1/names/address/${guest}`)).walletName, theirs)
    assert.equal((await target.post(path, { name: freshName() })).status, 401)
    assert.equal(
      (await target.post(path, { ...gift, name: freshName() }, bearer(alice))).status,
      403,
    )
  }),
  row('4.10', 'POST /bundles/assign', async (target) => {
    const name = await community(target)
    const body = { community: name, name: freshName() }
    assert.equal((await target.post('/bundles/assign', body)).status, 401)
    const reply = await target.post('/bundles/assign', body, bearer(await member(target)))
    assert.deepEqual([reply.status, reply.body.error], [403, 'requirements_not_met'])
  }),
  row('7', 'testnet_only', async (target) => {
    const as = await signIn(target)
    // without `testnet=true`, which the suite otherwise adds
    const response = await fetch(
      `${target.options.url.replace(/\/+$/, '')}/v0.1/community/register`,
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(as) },
        body: JSON.stringify({ clusterName: 'club', walletName: 'alice' }),
      },
    )
    const answer = (await response.json()) as { error: string }
    assert.deepEqual(
      [response.status, answer.error, Object.keys(answer)[0]],
      [400, 'testnet_only', 'error'],
    )
  }),
  errorRow('not_found', 404, async (target, as) => registerOld(target, as, below(freshName()))),
  errorRow('not_verified', 403, async (target, as) =>
    registerOld(target, as, below(await community(target, { ownersOnly: true }))),
  ),
  errorRow('no_walletAddress_found', 400, async (target, _as, owner) =>
    registerOld(target, owner, below(await community(target, { ownersOnly: true }))),
  ),
  errorRow('not_active', 403, async (target, as) =>
    registerOld(
      target,
      as,
      below(await community(target, { startsAt: FAR_AWAY, ownersOnly: true })),
    ),
  ),
  errorRow('not_available', 409, async (target, as) =>
    registerOld(
      target,
      as,
      below(await community(target, LIST(freshAddress())), { walletName: 'main' }),
    ),
  ),
  errorRow('requirements_not_met', 403, async (target, as) =>
    registerOld(target, as, below(await community(target, LIST(freshAddress())))),
  ),
  errorRow('invalid_chain_id', 400, async (target, as) => {
    const clusterName = await community(target, { startsAt: FAR_AWAY, ...priced(target) })
    return registerOld(target, as, below(clusterName, { chainId: '424242' }))
  }),
]
