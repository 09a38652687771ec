import { spawnSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ed25519 } from '@noble/curves/ed25519'
import { privateKeyToAddress } from 'viem/accounts'
import { describe, expect, it } from 'vitest'
import { createDraftChainsFile, type InitOptions } from '../../src/cli/init/init.js'
import { readConfig } from '../../src/config/index.js'
import { decryptKeystore } from '../../src/config/keystore.js'
import type { DoctorFinding } from '../../src/ops/finding.js'
import { toHex } from '../../src/registry/primitives/bytes.js'
import { startAnvil } from '../../src/testing/chains/anvil.js'
import { runCli } from '../support/cli.js'
import { useFolder } from '../support/folder.js'
import { useWorld } from '../support/useWorld.js'

const folder = useFolder()
const at = (name: string) => join(folder, name)
const anvil = useWorld(() => startAnvil({ chainId: 11_155_111 }))

/** Variables that could come from the environment of the test run are read from the file here. */
const NOTHING = { DATABASE_URL: undefined, CLUSTERD_CHAINS: undefined, PORT: '1', OPS_PORT: '2' }
const run = (args: readonly string[], cwd = folder) => runCli(args, NOTHING, cwd)
const variables = (file: string) =>
  Object.fromEntries(
    [...readFileSync(file, 'utf8').matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name, value]) => [
      name,
      value,
    ]),
  )

describe('clusterd init', () => {
  const flags = ['--hub', '11155111', '--spokes', '17000', '--solana']
  const urls = () => [
    `11155111=${anvil.rpcUrl}`,
    '17000=http://127.0.0.1:9',
    'solana=http://127.0.0.1:9',
  ]
  const rpc = () => urls().flatMap((url) => ['--rpc', url])

  it('writes files that only the user may read, with new keys, and prints none of the keys', async () => {
    const out = await run(['init', ...flags, ...rpc(), '--out', at('first')])
    const files = readdirSync(at('first'))
    expect(files.toSorted()).toEqual(
      [
        '.env',
        'chains.json',
        'relayer-keystore.json',
        'relayer-password',
        'solana-relayer.json',
      ].toSorted(),
    )
    for (const file of files)
      expect(statSync(join(at('first'), file)).mode & 0o777, file).toBe(0o600)
    const { TOKEN_KEY, SHARE_KEY, QUOTE_KEY, LOG_KEY } = variables(join(at('first'), '.env'))
    const keys = { TOKEN_KEY, SHARE_KEY, QUOTE_KEY, LOG_KEY }
    expect(new Set(Object.values(keys)).size).toBe(4)
    for (const [variable, key] of Object.entries(keys)) {
      expect(key, variable).toMatch(/^0x[0-9a-f]{64}$/)
      expect(out, variable).not.toContain(key)
    }
    expect(out).not.toContain(readFileSync(join(at('first'), 'relayer-password'), 'utf8').trim())
  })

  it('changes nothing where a file exists already, and names it', async () => {
    const before = readFileSync(join(at('first'), '.env'), 'utf8')
    await expect(run(['init', ...flags, ...rpc(), '--out', at('first')])).rejects.toThrow(
      /already holds chains\.json, \.env, .*nothing was written/,
    )
    expect(readFileSync(join(at('first'), '.env'), 'utf8')).toBe(before)
    mkdirSync(at('half'))
    writeFileSync(join(at('half'), 'relayer-password'), 'kept')
    await expect(run(['init', ...flags, ...rpc(), '--out', at('half')])).rejects.toThrow(
      /holds relayer-password: /,
    )
    expect(readdirSync(at('half'))).toEqual(['relayer-password'])
  })

  it('prints the next steps, and a command without its settings names them', async () => {
    const out = await run(['init', ...flags, ...rpc(), '--out', at('next')])
    const [, relayer] = /The relayer is .*(0x[0-9a-fA-F]{40})/.exec(out)!
    const [, relay] = /relay authority on Solana is \W*(\w+)/.exec(out)!
    const lines = out.split('\n').map((line) => line.trim())
    const lineOf = (start: string) => lines.findIndex((line) => line.startsWith(start))
    const steps = [
      'see DATABASE_URL in .env',
      `name the owners of the contracts, in chains.json: "deployment": { "testnet": { "owner": "<address>", "relayer": "${relayer}" } }`,
      ...['contracts deploy --testnet --write --keystore', 'solana deploy --testnet --keypair'].map(
        (command) => `clusterd ${command} <file>`,
      ),
      `clusterd solana init --testnet --upgrade-authority <its key> --admin <key> --relay ${relay} `,
      ...['put what they print into chains.json', 'clusterd doctor', 'clusterd start'],
    ].map(lineOf)
    expect(steps).not.toContain(-1)
    expect(steps).toEqual(steps.toSorted((a, b) => a - b))
    await expect(run(['contracts', 'deploy'], at('next'))).rejects.toThrow(
      /has no `deployment\.testnet`: say owner/,
    )
  })

  it('writes a draft that `doctor` finds through `.env`, with findings about contracts, nodes and keys', async () => {
    const examine = async () => {
      const out = await run(['doctor', '--json'], at('first')).catch(
        (error: { stdout: string }) => error.stdout,
      )
      return JSON.parse(out) as DoctorFinding[]
    }
    expect(await examine()).toMatchObject([
      { about: 'configuration', found: expect.stringContaining('`clusterd contracts deploy`') },
      { about: 'TRUST_PROXY' },
      { about: 'database' },
    ])
    // as after a deployment
    const file = join(at('first'), 'chains.json')
    const chains = JSON.parse(readFileSync(file, 'utf8'))
    for (const chain of chains.chains)
      Object.assign(chain, { contract: `0x${'0a'.repeat(20)}`, startBlock: 1 })
    const feeds = { solUsd: `0x${'0b'.repeat(20)}`, ethUsd: `0x${'0c'.repeat(20)}` }
    Object.assign(chains.solana.testnet, {
      programId: 'Stake11111111111111111111111111111111111111',
      feeds,
    })
    writeFileSync(file, JSON.stringify(chains))
    const found = Object.fromEntries(
      (await examine()).map(({ about, level, found }) => [about, `${level}: ${found}`]),
    )
    expect(found).toMatchObject({
      configuration: 'ok: read',
      relayer: 'ok: has a key',
      database: expect.stringMatching(/^bad/),
    })
    // anvil has the chain id of Sepolia, but not its genesis
    expect(found[`chain 11155111, ${new URL(anvil.rpcUrl).host}`]).toMatch(
      /bad: .*genesis.*0x25a5cc10/,
    )
  }, 60_000)

  it('configures the relayer with the keys that it has written', async () => {
    const names = [
      'RELAYER_KEYSTORE',
      'RELAYER_PASSWORD_FILE',
      'SOLANA_RELAYER_KEY_FILE',
      'CLUSTERD_CHAINS',
    ]
    const env = variables(join(at('first'), '.env'))
    for (const name of names) env[name] = join(at('first'), env[name])
    const { relayerKey, relayKeys } = readConfig(env)
    const { address } = JSON.parse(readFileSync(env.RELAYER_KEYSTORE, 'utf8'))
    if (!relayerKey || !('privateKey' in relayerKey)) throw new Error('no key')
    expect(privateKeyToAddress(relayerKey.privateKey).toLowerCase()).toBe(`0x${address}`)
    expect(relayKeys.solana!.subarray(32)).toEqual(
      ed25519.getPublicKey(relayKeys.solana!.subarray(0, 32)),
    )
  })

  it('writes a compose file whose database has the password of `.env`', async () => {
    const out = await run([
      'init',
      '--compose',
      '--rpc',
      `11155111=${anvil.rpcUrl}`,
      '--out',
      at('composed'),
    ])
    const { DATABASE_URL, POSTGRES_PASSWORD } = variables(join(at('composed'), '.env'))
    expect(DATABASE_URL).toBe(`postgresql://clusterd:${POSTGRES_PASSWORD}@postgres:5432/clusterd`)
    expect(POSTGRES_PASSWORD).toMatch(/^[0-9a-f]{48}$/)
    const compose = readFileSync(join(at('composed'), 'compose.yaml'), 'utf8')
    expect(compose).toBe(readFileSync('examples/deploy/compose.yaml', 'utf8'))
    expect(compose).not.toContain(POSTGRES_PASSWORD)
    // the database's host is known only inside the compose network
    expect(out).toContain('\n  docker compose run --rm clusterd doctor ')
    expect(out).not.toContain('\n  clusterd doctor')
  })

  it('names the owner of the contracts, and refuses one that is no address', async () => {
    const rpcUrl = ['--rpc', `11155111=${anvil.rpcUrl}`]
    const owner = `0x${'0e'.repeat(20)}`
    await expect(run(['init', ...rpcUrl, '--owner', '0x0e', '--out', at('owned')])).rejects.toThrow(
      /deployment\.testnet\.owner/,
    )
    const out = await run(['init', ...rpcUrl, '--owner', owner, '--out', at('owned')])
    const { deployment } = JSON.parse(readFileSync(join(at('owned'), 'chains.json'), 'utf8'))
    const { address } = JSON.parse(readFileSync(join(at('owned'), 'relayer-keystore.json'), 'utf8'))
    expect(deployment.testnet.owner).toBe(owner)
    expect(deployment.testnet.relayer.toLowerCase()).toBe(`0x${address}`)
    expect(out).not.toContain('name the owners')
  })

  it('takes no rehearsal where none runs', async () => {
    const init = run(['init', '--rehearsal', '--out', at('unrehearsed')])
    await expect(init).rejects.toThrow(/run `clusterd rehearse` here first/)
    const fund = run(['rehearse', '--fund', `0x${'0e'.repeat(20)}`])
    await expect(fund).rejects.toThrow(/run `clusterd rehearse` here first/)
  })

  it('knows a rehearsal that was killed from one that runs, and writes over neither', async () => {
    const rehearsed = at('rehearsed')
    mkdirSync(rehearsed)
    const leave = (pid: number) => {
      const chains = [{ label: '11155111', chainId: 1, rpcUrls: ['http://127.0.0.1:9'] }]
      const text = JSON.stringify({ pid, chains, database: 'postgresql://127.0.0.1:9/x' })
      writeFileSync(join(rehearsed, 'rehearsal.json'), text)
      return text
    }
    const { pid: ended } = spawnSync('true')
    leave(ended)
    await expect(run(['init', '--rehearsal'], rehearsed)).rejects.toThrow(/rehearse` here first/)
    const text = leave(process.pid)
    const fund = run(['rehearse', '--fund', `0x${'0e'.repeat(20)}`], rehearsed)
    await expect(fund).rejects.toThrow(/The chain at http:\/\/127\.0\.0\.1:9 funds nobody: HTTP/)
    await expect(run(['rehearse'], rehearsed)).rejects.toThrow(/is there already: end the rehears/)
    expect(readFileSync(join(rehearsed, 'rehearsal.json'), 'utf8')).toBe(text)
    expect(readdirSync(rehearsed)).toEqual(['rehearsal.json'])
  })

  it('refuses an invalid URL before it writes', async () => {
    await expect(run(['init', '--rpc', '11155111=sepolia', '--out', at('bad')])).rejects.toThrow(
      /rpcUrls\[0\]: must be an http\(s\) URL/,
    )
    expect(readdirSync(folder)).not.toContain('bad')
  })
})

describe('clusterd init app', () => {
  it('copies the example for the client of this version, and overwrites nothing', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'))
    expect(await run(['init', 'app', at('My App')])).toContain('npm install')
    const files = readdirSync(at('My App'))
    expect(files).toEqual(expect.arrayContaining(['.gitignore', 'README.md', 'index.html', 'src']))
    expect(files).not.toContain('node_modules')
    const { name, dependencies } = JSON.parse(readFileSync(at('My App/package.json'), 'utf8'))
    expect(name).toBe('my-app')
    expect(dependencies['clusterd-client']).toMatch(version)
    expect(dependencies['clusterd-client']).not.toContain('../')
    await expect(run(['init', 'app', at('My App')])).rejects.toThrow(/is not empty: nothing was/)
  })
})

describe('clusterd keys keystore', () => {
  it('writes a key that only the user may read, and never over another', async () => {
    const address = (await run(['keys', 'keystore', 'deployer'])).trim()
    const [keystore, password] = ['deployer.json', 'deployer.txt'].map((name) => {
      expect(statSync(at(name)).mode & 0o777).toBe(0o600)
      return readFileSync(at(name), 'utf8')
    })
    const key = decryptKeystore(keystore!, password!.trim())!
    expect(privateKeyToAddress(toHex(key))).toBe(address)
    await expect(run(['keys', 'keystore', 'deployer'])).rejects.toThrow(/nothing was written/)
    expect(readFileSync(at('deployer.json'), 'utf8')).toBe(keystore)
    await run(['keys', 'keystore', at('elsewhere')])
    expect(readdirSync(folder)).toEqual(expect.arrayContaining(['elsewhere.json', 'elsewhere.txt']))
  })
})

describe('`.env`', () => {
  it('is overridden by the environment, and is not read by the local world', async () => {
    const file = join(at('env'), '.env')
    mkdirSync(at('env'))
    writeFileSync(file, 'LOG_LEVEL=loud\n')
    const logLevelOf = (env: NodeJS.ProcessEnv) =>
      runCli(['doctor', '--json'], { ...NOTHING, ...env }, at('env'))
    const failure = (error: { stdout: string }) => error.stdout
    expect(await logLevelOf({ LOG_LEVEL: undefined }).catch(failure)).toContain('LOG_LEVEL')
    expect(await logLevelOf({ LOG_LEVEL: 'info' }).catch(failure)).toContain(
      'DATABASE_URL is not set',
    )
    expect(
      await logLevelOf({ LOG_LEVEL: undefined, CLUSTERD_CHILD: 'true' }).catch(failure),
    ).not.toContain('LOG_LEVEL')
    const dev = runCli(['dev'], { ...NOTHING, LOG_LEVEL: undefined, PORT: 'x' }, at('env'))
    await expect(dev).rejects.toThrow(/In the environment, PORT: .*\n$/)
  })
})

it.each<[Partial<InitOptions>, RegExp]>([
  [{ hub: '1' }, /--rpc 1=<url>/],
  [{ rpc: ['http://a'] }, /--rpc is <label>=<url>/],
  [{ hub: '1', rpc: ['1=http://a', '10=http://b'] }, /--rpc: "10" is not one of the chosen chains/],
])('invalid chains of a deployment are refused with one sentence: %o', (options, sentence) => {
  expect(() => createDraftChainsFile({ out: '.', hub: '11155111', ...options })).toThrow(sentence)
})

it.each<[string[], RegExp]>([
  [['--hub', '5', '--rpc', '5=http://a'], /label: is not a network label/],
  [
    ['--hub', '1,10', '--rpc', '1=http://a', '--rpc', '10=http://b'],
    /mainnet needs exactly one hub, has 2/,
  ],
  [['--rpc', '11155111=http://a', '--compose', '--database', 'x'], /leave --database out/],
])('`clusterd init %s` writes nothing', async (options, sentence) => {
  await expect(run(['init', ...options, '--out', at('refused')])).rejects.toThrow(sentence)
  expect(readdirSync(folder)).not.toContain('refused')
})
