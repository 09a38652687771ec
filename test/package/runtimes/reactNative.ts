import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { build, type Plugin } from 'esbuild'

type Babel = { transformAsync(code: string, options: object): Promise<{ code: string }> }

/**
 * Bundles a program for React Native: its own network code (`setUpXHR`), and everything through its Babel preset, as
 * Metro does. The folder `native` has the native modules below it.
 * @param runtimes folder in whose node_modules React Native and its preset are
 * @param setUp statements after React Native has set its globals up
 */
export async function bundleForReactNative(
  runtimes: string,
  { program, setUp, outfile }: { program: string; setUp: string; outfile: string },
): Promise<void> {
  const require = createRequire(join(runtimes, 'package.json'))
  const babel = require('@babel/core') as Babel
  // for any engine: Hermes had no classes for long
  const ofPreset = { enableBabelRuntime: false, unstable_transformProfile: 'default' }
  const preset = [require.resolve('@react-native/babel-preset'), ofPreset]
  const throughBabel: Plugin = {
    name: 'babel',
    setup({ onLoad }) {
      onLoad({ filter: /\.[cm]?js$/ }, async ({ path }) => {
        const options = { presets: [preset], babelrc: false, configFile: false, filename: path }
        const { code } = await babel.transformAsync(await readFile(path, 'utf8'), options)
        return { contents: code, loader: 'js' }
      })
    },
  }
  const contents = [
    `require('react-native/Libraries/Core/setUpGlobals')`,
    `require('react-native/Libraries/Core/setUpXHR')`,
    setUp,
    `require(${JSON.stringify(program)})`,
  ]
  await build({
    stdin: { contents: contents.join('\n'), resolveDir: runtimes },
    outfile,
    bundle: true,
    format: 'iife',
    platform: 'neutral',
    mainFields: ['react-native', 'browser', 'main'],
    conditions: ['react-native', 'require'],
    resolveExtensions: ['.ios.js', '.native.js', '.js', '.json'],
    nodePaths: [join(runtimes, 'node_modules')],
    define: { global: 'globalThis', __DEV__: 'false' },
    plugins: [throughBabel],
    logLevel: 'silent',
  })
}
