import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { routes } from '../../scripts/declaredRoutes.js'
import { bodyLimitBytes } from '../../src/api/http/body.js'
import { MAX_LONG_POLL_MS } from '../../src/api/http/route.js'
import { directSessionConfig } from '../../src/db/pg/session.js'
import {
  checkEnvironment,
  END_S,
  PORTS,
  unknownVariables,
  VARIABLES,
} from '../support/deployFiles.js'
import { useFolder } from '../support/folder.js'
import { HAPROXY, NGINX } from '../support/proxies.js'
import {
  FOLDER,
  initStatements,
  interpolate,
  placed,
  read,
  readCompose,
  settingsOf,
} from '../support/topologyFiles.js'

/** Checks that examples/deploy/topology agrees with the code. */

const services = readCompose()
const names = Object.keys(services)
const ours = names.filter((name) => /^(api|worker)-/.test(name))
const haproxy = read('haproxy.cfg')
const nginx = read('nginx.conf')
const folder = useFolder()
const PLACES = new Map([1, 2, 3].map((n) => [`api-${n}:${PORTS.api}`, 20_000 + n]))
const LONG_POLL_S = MAX_LONG_POLL_MS / 1_000
/** Variables that `clusterd init --compose` writes into .env. */
const WRITTEN = [...readFileSync('src/cli/init/init.ts', 'utf8').matchAll(/`([A-Z_]+)=\$\{/g)].map(
  ([, name]) => name!,
)

const environmentOf = (name: string, file: Record<string, string>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(services[name]!.environment).map(([key, value]) => [
      key,
      interpolate(value, file),
    ]),
  )
/** Variables of commands, of local worlds and of tests, and variables that the image or the command line sets. */
const OF_NO_CONTAINER = new Set(
  ['CLUSTERD_HOME', 'PORT', 'OPS_PORT', 'ROLES', 'SOLANA_RPC_URL'].concat([
    'CLUSTERD_TEST_WALLET',
    'CLUSTERD_SEEDED_ALARMS',
    'CLUSTERD_FAILPOINT',
    'MIRROR_URL',
    'MIRROR_KEY',
    'MIRROR_DOMAIN',
    'MIRROR_ACCEPT',
    'MIRROR_WITNESS',
    'MIRROR_API_KEY',
  ]),
)
const FILE = {
  POSTGRES_PASSWORD: 'secret',
  TOKEN_KEY: `0x${'11'.repeat(32)}`,
  RELAYER_KEYSTORE: 'relayer-keystore.json',
}

describe('the compose file of many processes', () => {
  it('has three API processes, two leaders, and a migration before them', () => {
    expect(ours).toEqual(['worker-1', 'worker-2', 'api-1', 'api-2', 'api-3'])
    for (const name of ours)
      expect(services[name], name).toMatchObject({ depends_on: { migrate: {} } })
    expect(services.migrate!.command).toEqual(['migrate'])
  })

  it('checks the health of every process', () => {
    for (const name of ours)
      expect(services[name]!.healthcheck?.test.join(' '), name).toContain(
        `http://127.0.0.1:${PORTS.ops}/health`,
      )
  })

  it.each([...ours, 'migrate'])('sets only known variables of %s', (name) => {
    expect(unknownVariables(Object.keys(environmentOf(name, FILE)))).toEqual([])
  })

  it('passes every variable that .env may set to some process', () => {
    const passedOn = ours.flatMap((name) =>
      Object.entries(services[name]!.environment).flatMap(([key, value]) =>
        value.startsWith(`\${${key}:`) ? [key] : [],
      ),
    )
    const decided = ours.flatMap((name) => Object.keys(services[name]!.environment))
    const missing = [...VARIABLES].filter(
      (name) => !passedOn.includes(name) && !decided.includes(name) && !OF_NO_CONTAINER.has(name),
    )
    expect(missing).toEqual([])
  })

  it('passes values of .env to the processes that need them', () => {
    const file = { ...FILE, LIMIT_ADDRESS: '9/99', SQL_VIEWS: 'on', LOG_LEVEL: 'debug' }
    const of = (name: string) =>
      checkEnvironment(environmentOf(name, file), { ROLES: services[name]!.command[2] })
    expect(of('api-1').limits?.address).toEqual({ perSecond: 9, burst: 99 })
    expect(of('worker-1').isSqlServed).toBe(true)
    for (const name of ours) expect(of(name).logLevel).toBe('debug')
  })

  it('sets valid variables of the migration', () => {
    const variables = environmentOf('migrate', FILE)
    const roles = { ROLES: services.migrate!.command[2] }
    expect(() => checkEnvironment(variables, roles)).not.toThrow()
  })

  it.each(ours)('sets valid variables of %s', (name) => {
    const { roles, migrates, drainMs } = checkEnvironment(environmentOf(name, FILE), {
      ROLES: services[name]!.command[2],
    })
    expect(roles).toEqual(name.startsWith('worker') ? ['index', 'relay'] : ['api'])
    expect(migrates).toBe(false)
    const grace = (services[name] as unknown as { stop_grace_period: string }).stop_grace_period
    expect(Number(grace.replace('s', ''))).toBeGreaterThan(drainMs / 1_000 + END_S)
  })

  it.each(ours)(
    'gives the relayer’s key, and the database owner’s role, only to leaders: %s',
    (name) => {
      const { RELAYER_KEYSTORE: keystore = '', DATABASE_URL: url } = environmentOf(name, FILE)
      const isApi = name.startsWith('api')
      expect([keystore === '', url!.includes('//clusterd_api:')]).toEqual([isApi, isApi])
      const mounted = isApi ? './chains.json:/etc/clusterd/chains.json:ro' : '.:/etc/clusterd:ro'
      expect(services[name]).toMatchObject({ volumes: [mounted] })
    },
  )

  it('gives the airdrop operator’s key only to API processes', () => {
    const file = { ...FILE, AIRDROP_OPERATOR_PRIVATE_KEY: `0x${'22'.repeat(32)}` }
    const holders = ours.filter((name) => environmentOf(name, file).AIRDROP_OPERATOR_PRIVATE_KEY)
    expect(holders).toEqual(['api-1', 'api-2', 'api-3'])
  })

  it.each(['enable_seqscan', 'enable_bitmapscan', 'jit', 'plan_cache_mode'])(
    'sets %s for the roles behind pgbouncer like the daemon on direct connections',
    (setting) => {
      const { options } = directSessionConfig('postgres://h/d', 'test', { isByIndex: true })
      const value = new RegExp(`-c ${setting}=(\\w+)`).exec(options!)![1]
      const [statements] = initStatements('p')
      for (const role of ['clusterd', 'clusterd_api'])
        expect(statements).toContain(`ALTER ROLE ${role} SET ${setting} = ${value}`)
    },
  )

  it('requires only variables that `clusterd init --compose` writes, and refers to existing files', () => {
    const text = read('compose.yaml')
    for (const [, name] of text.matchAll(/\$\{(\w+):\?/g)) expect(WRITTEN, name).toContain(name)
    for (const [, file] of text.matchAll(/\.\/([\w.]+):\//g))
      expect(file === 'chains.json' || existsSync(join(FOLDER, file!)), file).toBe(true)
  })

  it('stays below the connection limit of PostgreSQL', () => {
    const most = Number(settingsOf(services.postgres!).max_connections)
    const pooled = Number(/max_db_connections = (\d+)/.exec(read('pgbouncer.ini'))![1])
    // of each process: leases, notifications, and queries on new connections; three are reserved for superusers
    expect(pooled + ours.length * 6).toBeLessThan(most - 3)
    expect(settingsOf(services.replica!)).toEqual(settingsOf(services.postgres!))
    expect(initStatements('p').flat().join(';')).not.toMatch(/password'?:|\\/)
  })
})

describe('HAProxy', () => {
  it('has each API process as a backend, and checks readiness on its operator’s port', () => {
    const servers = [...haproxy.matchAll(/^ {2}server (\S+) (\S+):(\d+)/gm)].map(
      ([, name, host, port]) => {
        expect([host, Number(port)]).toEqual([name, PORTS.api])
        return name
      },
    )
    expect(servers).toEqual(ours.filter((name) => name.startsWith('api')))
    expect(haproxy).toContain('http-check send meth GET uri /ready ')
    expect(Number(/check port (\d+)/.exec(haproxy)![1])).toBe(PORTS.ops)
  })

  it('notices "not ready" within the drain, and allows long polls of thirty seconds', () => {
    const everyMs = Number(/ inter (\d+)ms fall 1 /.exec(haproxy)![1])
    const { DRAIN_SECONDS: drain } = environmentOf('api-1', FILE)
    expect(everyMs * 2).toBeLessThan((Number(drain) * 1_000) / 2)
    expect(Number(/timeout server (\d+)s/.exec(haproxy)![1])).toBeGreaterThan(2 * LONG_POLL_S)
  })

  it.each([502, 503, 504])('answers %d like clusterd, with CORS headers', (status) => {
    const line = haproxy.split('\n').find((one) => one.includes(`http-error status ${status} `))!
    const body = JSON.parse(/string '(.+?)'/.exec(line)![1]!)
    expect(body).toEqual({ status, error: 'unavailable', message: expect.any(String) })
    expect(line).toContain('content-type application/json')
    expect(line).toContain('hdr access-control-allow-origin "*"')
    expect(line).toContain('hdr retry-after 2')
  })

  it('routes a page and its files to one process', () => {
    expect(haproxy).toMatch(/^ {2}stick on src if \{ path_beg \/assets\/ \}/m)
  })

  it.skipIf(!HAPROXY.isInstalled)('accepts the configuration (skipped without haproxy)', () => {
    const file = join(folder, 'haproxy.cfg')
    writeFileSync(file, placed(haproxy, PLACES))
    const said = spawnSync(HAPROXY.command!, ['-c', '-f', file], { encoding: 'utf8' })
    expect([said.status, said.stderr]).toEqual([0, ''])
  })
})

describe('nginx', () => {
  it('has each API process, and allows long polls of thirty seconds', () => {
    const servers = [...nginx.matchAll(/^ {4}server (\S+):(\d+) /gm)].map(([, host, port]) => {
      expect(Number(port)).toBe(PORTS.api)
      return host
    })
    expect(servers).toEqual(ours.filter((name) => name.startsWith('api')))
    const timeout = Number(/proxy_read_timeout (\d+)s/.exec(nginx)![1])
    expect(timeout).toBeGreaterThan(2 * LONG_POLL_S)
  })

  it.each([
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::9', true],
    ['2001:db8:1::1', '2001:db8:1::2:3:4:5', true],
    ['2001:db8::1', '2001:db8::ffff:1', true],
    ['2001:db8:1:2::1', '2001:db8:1:3::1', false],
    ['2001:db8:1::1', '2001:db8:2::1', false],
    ['2001:db8::1', '2001:db8:1::1', false],
  ])('counts an IPv6 address by its /64: %s and %s', (one, other, isSame) => {
    const patterns = [...nginx.matchAll(/^ {4}"~(.+)" \$1;/gm)].map(([, text]) => new RegExp(text!))
    expect(patterns).toHaveLength(2)
    const sourceOf = (address: string) => {
      const pattern = patterns.find((regExp) => regExp.test(address))
      return pattern?.exec(address)?.[1] ?? address
    }
    expect(sourceOf(one) === sourceOf(other)).toBe(isSame)
  })

  it.skipIf(!NGINX.isInstalled)('accepts the configuration (skipped without nginx)', () => {
    const file = join(folder, 'nginx.conf')
    writeFileSync(file, placed(nginx, PLACES))
    const said = spawnSync(NGINX.command!, ['-t', '-p', folder, '-c', file], { encoding: 'utf8' })
    expect(said.stderr).toMatch(/test is successful\n$/)
    expect(said.stderr).not.toMatch(/\[(?:warn|emerg)\]/)
  })
})

/** Limits for which the files of HAProxy and nginx have the same value: a pattern of each file. */
const SHARED_LIMITS = {
  'connections of an address': [/sc_conn_cur\(0\) gt (\d+)/, /limit_conn sources (\d+);/, 1],
  'joins of an address': [/sc_conn_cur\(1\) gt (\d+)/, /limit_conn joins (\d+);/, 1],
  'requests of an address': [/sc_http_req_rate\(0\) gt (\d+)/, /rate=(\d+)r/, 10],
  'requests without a key': [/sc_gpc0_rate\(0\) gt (\d+)/, /keyless:16m rate=(\d+)r/, 10],
  'seconds for a head': [/http-request (\d+)s/, /client_header_timeout (\d+)s/, 1],
  'seconds without a reader': [/timeout client (\d+)s/, /send_timeout (\d+)s/, 1],
  'bytes of a body': [/!is_join \{ req.body_size gt (\d+)/, /max_body_size (\d+)k/, 1_024],
  'bytes of a join': [/if \{ req.body_size gt (\d+)/, /max_body_size (\d+)m/, 1_024 * 1_024],
} as const

describe('the two proxies', () => {
  it.each(Object.entries(SHARED_LIMITS))(
    'have one limit for %s',
    (_, [ofHaproxy, ofNginx, factor]) => {
      const inHaproxy = Number(ofHaproxy.exec(haproxy)?.[1])
      const inNginx = Number(ofNginx.exec(nginx)?.[1])
      expect(inHaproxy).toBeGreaterThan(0)
      expect(inHaproxy).toBe(inNginx * factor)
    },
  )

  it('allow no smaller bodies than the routes', () => {
    const limitOf = (name: 'bytes of a body' | 'bytes of a join') =>
      Number(SHARED_LIMITS[name][0].exec(haproxy)![1])
    const largest = (isBulk: boolean) =>
      Math.max(...routes.filter((route) => !!route.isBulk === isBulk).map(bodyLimitBytes))
    expect(limitOf('bytes of a body')).toBe(largest(false))
    expect(limitOf('bytes of a join')).toBe(largest(true))
    const bulk = routes.filter(({ isBulk }) => isBulk)
    expect(bulk.map(({ method, path, aliases }) => [method, path, aliases])).toEqual([
      ['post', '/v1/wallets', undefined],
    ])
  })
})
