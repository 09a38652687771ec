import { expect, it } from 'vitest'
import { ADDRESS_ATTEMPT_MS } from '../../src/ops/connectAttemptTimeout.js'
import { createTransparencyLogWorker } from '../../src/push/transparencyLog.js'
import { logKeysOfSeeds } from '../../src/registry/transparencyLog/signer.js'
import { bid, freshName, randomAddress, startApi } from '../api/support.js'
import { runCli } from '../support/cli.js'
import { readEpoch } from '../support/epoch.js'
import { useWorld } from '../support/useWorld.js'

const seed = Buffer.alloc(32, 7)
const keys = logKeysOfSeeds([seed])
const key = keys[0]!.publicKey.toString('base64')

const world = useWorld(async () => {
  const api = await startApi()
  const names = Array.from({ length: 3 }, () => bid({ from: randomAddress(), name: freshName() }))
  await api.append('mainnet', names)
  const epoch = await readEpoch(api.pool, 'mainnet', 'index')
  const ctx = { pool: api.pool, network: 'mainnet', epoch } as const
  const worker = createTransparencyLogWorker(ctx, { domain: 'names.example', keys })
  while ((await worker.step(new AbortController().signal, () => {})) !== 'idle');
  return api
})

it('clusterd log key shows the public key that readers pin', async () => {
  expect(await runCli(['log', 'key'], { LOG_KEY: `0x${seed.toString('hex')}` })).toBe(`${key}\n`)
  const ofLog = ['log', 'key', '--origin', 'names.example/mainnet/1']
  expect(await runCli(ofLog, { LOG_KEY: `0x${seed.toString('hex')}` })).toMatch(
    /^names\.example\/mainnet\/1\+[0-9a-f]{8}\+A[A-Za-z0-9+/]+=*\n$/,
  )
  await expect(runCli(['log', 'key'], { LOG_KEY: undefined })).rejects.toThrow(
    'LOG_KEY and LOG_KEYSTORE are not set',
  )
})

it('clusterd log verify verifies the log of a service, and refuses another key', async () => {
  const verify = (by: string) => runCli(['log', 'verify', world.url, '--key', by, '--json'], {})
  expect(JSON.parse(await verify(key))).toMatchObject({ origin: 'names.example/mainnet/1' })
  const elsewhere = ['log', 'verify', world.url, '--key', key, '--domain', 'other.example']
  await expect(runCli(elsewhere, {})).rejects.toThrow('is of another log, names.example/mainnet/1')
  await expect(verify(Buffer.alloc(32, 1).toString('base64'))).rejects.toThrow(
    'The checkpoint is signed by other keys than the one expected.',
  )
})

it('clusterd log verify gives each address of a name the time that the service gives it', async () => {
  const printLimit = `
    import { getDefaultAutoSelectFamilyAttemptTimeout } from 'node:net'
    process.on('exit', () => console.log('limit', getDefaultAutoSelectFamilyAttemptTimeout()))`
  const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(printLimit)}`
  const verify = ['log', 'verify', world.url, '--key', key]
  expect(await runCli(verify, { NODE_OPTIONS })).toContain(`limit ${ADDRESS_ATTEMPT_MS}\n`)
})

it('clusterd log verify requires the signatures of witnesses', async () => {
  const ofWitness = ['log', 'key', '--witness', 'w.example/1']
  const witnessKey = await runCli(ofWitness, { LOG_KEY: `0x${seed.toString('hex')}` })
  expect(witnessKey).toMatch(/^w\.example\/1\+[0-9a-f]{8}\+B[A-Za-z0-9+/]+=*\n$/)
  const witness = witnessKey.trim()
  const unsigned = ['log', 'verify', world.url, '--key', key, '--witness', witness]
  await expect(runCli(unsigned, {})).rejects.toThrow(
    'Of 1 witnesses, 0 have signed the checkpoint, and 1 must have.',
  )
  await expect(runCli([...unsigned, '--required', '2'], {})).rejects.toThrow(
    '2 can not be required',
  )
})
