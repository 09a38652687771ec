import fc from 'fast-check'

// shrinking a counterexample takes longer than finding it, and nobody reads those of mutants
fc.configureGlobal({ endOnFailure: true })
