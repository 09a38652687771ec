import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SERVICE_VERSION } from '../../ops/version.js'

/** This package, three levels above `src/cli/init` and `dist/cli/init`. */
const PACKAGE_FOLDER = fileURLToPath(new URL('../../../', import.meta.url))
const TEMPLATE_FOLDER = join(PACKAGE_FOLDER, 'examples/register')
/** Files and folders that are not copied: npm and a build create them in the template's folder. */
const UNCOPIED_FILE_NAMES = ['node_modules', 'dist', 'package-lock.json']

/** `clusterd init app`: copies examples/register into a new folder, with this version's client as a dependency. */
export async function createAppFromTemplate(folder: string): Promise<void> {
  const target = resolve(folder)
  if (existsSync(target) && readdirSync(target).length > 0)
    throw new Error(`${target} is not empty: nothing was written. Name another folder.`)
  for (const entry of readdirSync(TEMPLATE_FOLDER).filter(
    (name) => !UNCOPIED_FILE_NAMES.includes(name),
  ))
    cpSync(join(TEMPLATE_FOLDER, entry), join(target, entry), { recursive: true })
  // npm leaves files with this name out of packages
  writeFileSync(join(target, '.gitignore'), 'node_modules\ndist\n')
  const file = join(target, 'package.json')
  const manifest = JSON.parse(readFileSync(file, 'utf8'))
  manifest.name = basename(target)
    .toLowerCase()
    .replaceAll(/[^a-z0-9-]+/g, '-')
  // in a checkout `npm run pack:client` has packed the client
  const packed = join(PACKAGE_FOLDER, `clusterd-client-${SERVICE_VERSION}.tgz`)
  manifest.dependencies['clusterd-client'] = existsSync(packed) ? `file:${packed}` : SERVICE_VERSION
  writeFileSync(file, `${JSON.stringify(manifest, null, 2)}\n`)
  console.log(`Written to ${target}. Next, in it: npm install, then npm run dev.`)
}
