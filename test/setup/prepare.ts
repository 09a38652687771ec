import { inject } from 'vitest'
import {
  type SharedPostgresSetup,
  setSharedPostgresSetup,
} from '../../src/testing/processes/prepared.js'
import { useBuiltPrograms } from '../../src/testing/processes/programs.js'

declare module 'vitest' {
  export interface ProvidedContext {
    /** The folder of this run's built programs, which is made when the first of them is started. */
    programs: string
    postgres: SharedPostgresSetup
  }
}

// every file loads this: what only some need is imported when they need it
useBuiltPrograms(async (program) => {
  const { builtProgram } = await import('./built.js')
  return builtProgram(inject('programs'), program)
})
setSharedPostgresSetup(inject('postgres'))
