#!/usr/bin/env node
/**
 * The compiler of this checkout (npm's solc) as forge calls one (`forge --use scripts/solc.mjs`): `--version` prints its
 * version, `--standard-json` reads the compiler's input from stdin and prints its output. Forge puts every source into
 * the input, so no import is read here.
 */
import { readFileSync } from 'node:fs'
import solc from 'solc'

if (process.argv.includes('--version')) console.log(`Version: ${solc.version()}`)
else process.stdout.write(solc.compile(readFileSync(0, 'utf8')))
