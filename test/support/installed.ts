import { mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { testProgram } from '../setup/built.js'

/** Makes this package, as it is built, and others be found from a folder, as `npm install` would. */
export async function install(folder: string, packages: readonly string[]): Promise<void> {
  const modules = join(folder, 'node_modules')
  const clusterd = join(modules, 'clusterd')
  for (const name of ['@types', 'clusterd']) mkdirSync(join(modules, name), { recursive: true })
  for (const part of ['package.json', 'contracts']) symlinkSync(resolve(part), join(clusterd, part))
  symlinkSync(dirname(await testProgram('cli')), join(clusterd, 'dist'))
  for (const name of packages) {
    mkdirSync(dirname(join(modules, name)), { recursive: true })
    symlinkSync(resolve('node_modules', name), join(modules, name))
  }
}
