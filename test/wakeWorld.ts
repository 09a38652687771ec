import { inject } from 'vitest'
import { signalAll } from './support/signals.js'

// see globalSetup.ts; a process that runs already goes on
signalAll(inject('pids'), 'SIGCONT')
