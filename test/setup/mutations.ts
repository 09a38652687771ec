import fc from 'fast-check'

// shrinking a counterexample takes longer than finding it, and nobody reads the counterexamples of mutants
fc.configureGlobal({ endOnFailure: true })
